// The GPUs of this machine through NVIDIA's management library (libnvidia-ml.so.1), which is loaded at run time: a
// machine without a driver is a machine without GPUs.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct arena;
struct error;
struct nvml;

enum {
    NVML_DEVICES_MAX = 64,
    NVML_MIG_MAX = 64,
    NVML_PROCESSES_MAX = 256, // of one device that are looked at
    NVML_TEXT_SIZE = 96
};

struct nvml_gpu {
    const char *uuid; // what CUDA_VISIBLE_DEVICES takes
    const char *name; // NVIDIA H100 80GB HBM3
    int64_t memory_mib;
};

// An instance of a GPU that MIG divides.
struct nvml_mig {
    char uuid[NVML_TEXT_SIZE];
    char profile[NVML_TEXT_SIZE];       // 1g.10gb
    int gpu_minor;                      // of its GPU's device node; -1: the driver does not tell
    int gpu_instance, compute_instance; // its numbers; -1: likewise
};

struct nvml_process {
    pid_t pid;
    int64_t memory_mib; // 0 where the driver does not tell
};

// A device at one moment.
struct nvml_sample {
    bool is_healthy;
    char reason[NVML_TEXT_SIZE]; // of not being healthy
    int utilization;             // percent; -1: not known
    int64_t memory_used_mib;     // -1: not known
    int64_t memory_mib;          // in all; 0: not known
    int temperature;             // degrees Celsius; -1: not known
    struct nvml_process processes[NVML_PROCESSES_MAX];
    size_t process_count;
    bool tells_processes; // which they are, and the memory of each
};

// `name` is the library's file name; NULL: the usual one. 0 and NULL where there is no library or no driver; -1: there
// is one, and it fails.
int nvml_open(const char *name, struct nvml **out_nvml, struct error *err);
void nvml_close(struct nvml *nvml); // NULL is fine
// Devices that MIG does not divide.
size_t nvml_count(const struct nvml *nvml);
size_t nvml_mig_count(const struct nvml *nvml);
struct nvml_mig nvml_mig(const struct nvml *nvml, size_t index);
// N of the device's node /dev/nvidiaN; -1: the driver does not tell.
int nvml_minor(const struct nvml *nvml, size_t index);
// Texts are the arena's. -1: the device does not answer; its number stays its own.
int nvml_describe(const struct nvml *nvml, size_t index, struct arena *arena, struct nvml_gpu *out_gpu,
                  struct error *err);
// A device that does not answer, has fallen off the bus or counts memory errors that could not be corrected is not
// healthy. One thread at a time.
void nvml_look(const struct nvml *nvml, size_t index, struct nvml_sample *out_sample);
