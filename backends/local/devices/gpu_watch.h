// Looks at the GPUs again and again, on a thread of its own: the driver may take its time.
#pragma once
#include "backends/local/devices/nvml.h"
#include "backends/local/users/origin.h"

enum {
    GPU_USER_SIZE = 33
};

// A process on a device.
struct gpu_process {
    pid_t pid;
    int64_t memory_mib;
    struct origin origin;
    char pod_uuid[UUID_SIZE];    // the pod that it belongs to, for the caller to find; "": nobody submitted it
    char user[GPU_USER_SIZE];    // its user's name
    char command[GPU_USER_SIZE]; // its name
};

struct gpu_state {
    bool is_healthy;
    char reason[NVML_TEXT_SIZE];
    int utilization; // percent; -1: not known
    int64_t memory_used_mib, memory_mib;
    int temperature; // degrees Celsius; -1: not known
    struct gpu_process processes[NVML_PROCESSES_MAX];
    size_t process_count;
    bool tells_processes; // which they are, and the memory of each
};

struct gpu_watch;
typedef void (*gpu_watch_fn)(void *context, const struct gpu_state *states, size_t count);

// Calls seen with the state of all devices each interval_ms, and soon after gpu_watch_hurry. nvml and the texts of
// places stay the caller's.
int gpu_watch_start(const struct nvml *nvml, const struct origin_places *places, int interval_ms, gpu_watch_fn seen,
                    void *context, struct gpu_watch **out_watch, struct error *err);
void gpu_watch_hurry(struct gpu_watch *watch); // NULL is fine
void gpu_watch_stop(struct gpu_watch *watch);  // NULL is fine
