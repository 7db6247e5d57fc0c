// Which of NVIDIA's device nodes the processes of a cgroup may open, kept by the kernel: a program of a few
// instructions, attached to the cgroup, that is asked at each open (cgroup v2; kernel documentation:
// admin-guide/cgroup-v2, "Device controller", and bpf(2)). It knows GPUs and the nodes of MIG instances; nodes that
// control the driver, and devices of others, stay as they are. What a process has open already, it keeps. Root alone
// may do this.
#pragma once
#include "backends/local/cgroups/nvidia_nodes.h"
#include <stdbool.h>
#include <stddef.h>

struct bpf_insn; // linux/bpf.h
struct error;

enum {
    DEVICE_CAPS_MAX = 128,
    DEVICE_PROGRAM_MAX = 400 // instructions; more than the most rules make
};

struct device_rules {
    bool opens_gpu[NVIDIA_GPU_MINORS]; // /dev/nvidiaN; the others are shut
    int caps_major;                    // of MIG's nodes; -1: there are none
    int caps[DEVICE_CAPS_MAX];         // their minors that may be opened; the others are shut
    size_t cap_count;
};

// The program, of at most DEVICE_PROGRAM_MAX instructions; returns how many.
size_t device_filter_write(const struct device_rules *rules, struct bpf_insn *out_program);
// Whether the kernel takes such programs, without changing anything. -1: it does not, and err says why.
int device_filter_check(struct error *err);
// Holds the cgroup at the path to the rules from now on, in place of those from before: there is no moment without.
// They go with the cgroup.
int device_filter_attach(const char *cgroup, const struct device_rules *rules, struct error *err);
