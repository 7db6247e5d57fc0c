// The GPUs of this machine through NVIDIA's management library (libnvidia-ml.so.1), which is loaded at run time: a
// machine without a driver is a machine without GPUs.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;

struct nvml_gpu {
    const char *uuid; // what CUDA_VISIBLE_DEVICES takes
    const char *name; // NVIDIA H100 80GB HBM3
    int64_t memory_mib;
};

// Lists the devices by index. 0 and no device where there is no library or no driver; -1: there is one, and it fails.
// `library` is its file name; NULL: the usual one.
int nvml_list(const char *library, struct arena *arena, struct nvml_gpu **out_gpus, size_t *out_count,
              struct error *err);
