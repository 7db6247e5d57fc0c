// What one pod asks for, and what pods are called. All pods of a role in a workload ask for the same.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
    POD_NAME_SIZE = 96,
};

#define POD_ROLE_TEXT_WORKER "worker"
#define POD_ROLE_TEXT_MASTER "master"

struct pod_request {
    const char *role;          // POD_ROLE_TEXT_*
    int64_t gpu_devices;       // whole devices, or how many devices a portion or an amount of memory is taken of
    int64_t gpu_portion_milli; // of each device; 0: whole devices
    int64_t gpu_memory_mib;    // of each device; 0: none
    int64_t cpu_milli;
    int64_t memory_bytes;
    // NULL, or what a snapshot's pod says, as an object: nodeSelector, nodeTypes, nodeAffinity, tolerations, extended,
    // migInstances. podAffinity, which a snapshot's workload has, stands here too: {"type": "Required", "key": "..."}.
    const char *constraints_json;
};

// <workload>-<index>-<attempt>; of a distributed workload <workload>-worker-<index> and <workload>-master-0, whatever
// the attempt. Returns out.
char *pod_name(const char *workload_name, const char *workload_type, const char *role, int64_t index, int64_t attempt,
               char out[POD_NAME_SIZE]);
