// This machine as a node.
#pragma once
#include "backends/local/local.h"

struct arena;
struct nvml;

struct machine {
    const char *name;        // the host's
    int64_t cpu_milli;       // less the reserve
    int64_t memory_bytes;    // less the reserve
    const char *const *gpus; // what CUDA calls them
    size_t gpu_count;
    const struct mig_instance *mig;
    size_t mig_count;
    const char *mig_json; // how many of each profile
    const char *gpu_type; // "" where there is none
    int64_t gpu_memory_mib;
    bool has_pretended_gpus;
    struct nvml *nvml; // NULL: no driver, or pretended GPUs; the caller's to close
};

struct machine_wishes {
    int64_t pretended_gpus; // -1: look for real ones
    int64_t reserved_cpu_milli;
    int64_t reserved_memory_bytes;
    const char *nvml; // the library's file name; NULL: the usual one
};

// Everything is the arena's. -1: err (a driver that answers with errors, a reserve that leaves nothing).
int machine_look(const struct machine_wishes *wishes, struct arena *arena, struct machine *out_machine,
                 struct error *err);
