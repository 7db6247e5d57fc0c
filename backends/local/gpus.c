// What the watch has seen of the GPUs: devices that must take nothing new, pods on a device that failed, pods that use
// a device that they do not hold or more of a shared one than is theirs, utilization, and devices that are free at
// last.
#include "backends/local/local_state.h"
#include "base/log.h"
#include "base/timestamp.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEMORY_CHANGE_PARTS = 100, // of a hundredth is told,
    MEMORY_CHANGE_MIB = 16     // and of so much
};

static bool holds(const struct local_pod *pod, size_t gpu)
{
    return gpu < NVML_DEVICES_MAX && (pod->gpus >> gpu & 1) != 0;
}

// Whose the processes are that were seen; pods come and go.
static void find_pods(struct local *local)
{
    for (size_t i = 0; i < local->seen_count; i++)
        for (size_t k = 0; k < local->seen[i].process_count; k++) {
            struct gpu_process *process = &local->seen[i].processes[k];
            const struct local_pod *pod = belonging_find(local, &process->origin);
            snprintf(process->pod_uuid, sizeof(process->pod_uuid), "%s", pod ? pod->uuid : "");
        }
}

// What has no business on the device: a process that nobody submitted, or of a pod that does not hold it. Which pods
// there are is known once rows were compared with what runs.
static const struct gpu_process *find_stranger(const struct local *local, size_t gpu)
{
    const struct gpu_state *state = &local->seen[gpu];
    for (size_t i = 0; local->has_adopted && i < state->process_count; i++) {
        const struct local_pod *pod = local_pods_find(&local->pods, state->processes[i].pod_uuid);
        if (!pod || !(holding_gpus(local, pod) >> gpu & 1))
            return &state->processes[i];
    }
    return NULL;
}

// Who has it though no row gives it to him.
static const struct local_pod *find_keeper(const struct local *local, size_t gpu)
{
    for (const struct local_pod *pod = NULL; (pod = local_pods_next(&local->pods, pod));)
        if ((strays_is_one(pod) || pod->phase == LOCAL_LOST) && holds(pod, gpu))
            return pod;
    return NULL;
}

static void describe_stranger(const struct gpu_process *stranger, size_t gpu, char *message, size_t size)
{
    snprintf(message, size, "GPU %zu is used by %s (process %d of %s, %" PRId64 " MiB), which %s", gpu,
             stranger->command, (int)stranger->pid, stranger->user, stranger->memory_mib,
             stranger->pod_uuid[0] ? "is of a pod without this GPU" : "nobody submitted");
}

// A text for people, of the first device that must take nothing new and is not among those told before. Where nothing
// is seen of devices they are well.
static uint64_t find_unusable(const struct local *local, char *message, size_t size)
{
    uint64_t unusable = 0;
    bool is_new = false;
    size_t count = local->seen_count, all = count ? count : local->options.gpu_count;
    message[0] = '\0';
    for (size_t i = 0; i < all && i < NVML_DEVICES_MAX; i++) {
        const struct gpu_process *stranger =
            i < count && local->options.avoids_foreign ? find_stranger(local, i) : NULL;
        const struct local_pod *keeper = local->had_strays || local->has_lost ? find_keeper(local, i) : NULL;
        bool is_healthy = i >= count || local->seen[i].is_healthy;
        if (is_healthy && !stranger && !keeper)
            continue;
        unusable |= UINT64_C(1) << i;
        if (message[0] && (is_new || local->unusable >> i & 1))
            continue;
        is_new = !(local->unusable >> i & 1);
        if (is_healthy && keeper && keeper->phase == LOCAL_LOST)
            snprintf(message, size, "GPU %zu is lost: process %d of %s does not end", i, (int)keeper->unkilled,
                     keeper->name);
        else if (is_healthy && keeper)
            snprintf(message, size, "GPU %zu is held by pod %s, which no workload asks for: prorata pods list", i,
                     keeper->uuid);
        else if (!is_healthy)
            snprintf(message, size, "GPU %zu: %.90s", i, local->seen[i].reason);
        else
            describe_stranger(stranger, i, message, size);
    }
    return unusable;
}

void gpus_report(struct local *local)
{
    char message[256];
    find_pods(local);
    uint64_t unusable = find_unusable(local, message, sizeof(message));
    if (unusable == local->unusable && (local->has_reported_devices || local->seen_count == 0))
        return;
    local->unusable = unusable;
    local->has_reported_devices |= local->seen_count > 0;
    struct backend_fact *fact = report_fact(local, BACKEND_NODE_DEVICES, "", 0, timestamp_now_ms());
    snprintf(fact->node_name, sizeof(fact->node_name), "%s", local->options.node_name);
    fact->unusable_gpus = unusable;
    backend_fact_say(fact, unusable ? "GPUsUnusable" : "GPUsUsable", unusable ? message : "all GPUs may be used");
    log_write(unusable ? LOG_WARN : LOG_INFO, "backends", "unusable GPUs mask=%" PRIx64 " %s", unusable, message);
}

static void fail_pod(struct local *local, struct local_pod *pod, const char *reason, const char *message)
{
    if (pod->failure_reason)
        return;
    pod->failure_reason = reason;
    snprintf(pod->failure_message, sizeof(pod->failure_message), "%s", message);
    pod->grace_ms = 0;
    attend_stop(local, pod);
}

// Of the pod's processes on the device.
static int64_t memory_of(const struct gpu_state *state, const char *uuid)
{
    int64_t sum = 0;
    for (size_t i = 0; i < state->process_count; i++)
        if (strcmp(state->processes[i].pod_uuid, uuid) == 0)
            sum += state->processes[i].memory_mib;
    return sum;
}

static void check_memory(struct local *local, struct local_pod *pod, const struct gpu_state *state, size_t gpu)
{
    int64_t used = memory_of(state, pod->uuid);
    char message[sizeof(pod->failure_message)];
    if (pod->gpu_memory_limit_mib <= 0 || used <= pod->gpu_memory_limit_mib)
        return;
    snprintf(message, sizeof(message), "used %" PRId64 " MiB of GPU %zu, and %" PRId64 " MiB are its part", used, gpu,
             pod->gpu_memory_limit_mib);
    if (local->options.kills_over_memory) {
        fail_pod(local, pod, "GPUMemoryExceeded", message);
    } else if (!pod->is_warned) {
        pod->is_warned = true;
        struct backend_fact *fact =
            report_fact(local, BACKEND_POD_WARNING, pod->uuid, pod->decision, timestamp_now_ms());
        backend_fact_say(fact, "GPUMemoryExceeded", message);
    }
}

static void look_at_stranger(struct local *local, struct local_pod *pod, const struct gpu_process *process, size_t gpu)
{
    uint64_t bit = UINT64_C(1) << gpu;
    char message[sizeof(pod->failure_message)];
    bool kills = local->options.strays == LOCAL_STRAY_KILL ||
                 (local->options.strays == LOCAL_STRAY_AUTO && !local->holding.is_kept);
    snprintf(message, sizeof(message), "%s (process %d) uses GPU %zu, which the pod does not hold", process->command,
             (int)process->pid, gpu);
    if (kills) {
        fail_pod(local, pod, "GPUNotHeld", message);
    } else if (!(pod->warned_gpus & bit)) {
        pod->warned_gpus |= bit;
        backend_fact_say(report_fact(local, BACKEND_POD_WARNING, pod->uuid, pod->decision, timestamp_now_ms()),
                         "GPUNotHeld", message);
    }
}

// Pods on devices that they do not hold.
static void look_at_strangers(struct local *local)
{
    for (size_t i = 0; i < local->seen_count && i < NVML_DEVICES_MAX; i++)
        for (size_t k = 0; k < local->seen[i].process_count; k++) {
            const struct gpu_process *process = &local->seen[i].processes[k];
            struct local_pod *pod = local_pods_find(&local->pods, process->pod_uuid);
            if (pod && (pod->phase == LOCAL_RUNNING || pod->phase == LOCAL_STARTING) && !pod->is_stopping &&
                !pod->is_stray && !(holding_gpus(local, pod) >> i & 1))
                look_at_stranger(local, pod, process, i);
        }
}

// Whether nobody but the pod is on the device.
static bool is_alone(const struct local *local, const struct local_pod *pod, size_t gpu)
{
    const struct gpu_state *state = &local->seen[gpu];
    for (size_t i = 0; i < state->process_count; i++)
        if (strcmp(state->processes[i].pod_uuid, pod->uuid) != 0)
            return false;
    for (const struct local_pod *other = NULL; (other = local_pods_next(&local->pods, other));)
        if (other != pod && other->phase != LOCAL_OVER && holds(other, gpu))
            return false;
    return true;
}

// Of a device that it has alone, all that is used, as nvidia-smi and DCGM have it; of a shared one its processes'.
static int32_t gpu_memory_of(const struct local *local, const struct local_pod *pod, size_t gpu)
{
    const struct gpu_state *state = &local->seen[gpu];
    int64_t used = state->tells_processes ? memory_of(state, pod->uuid) : -1;
    if (state->memory_used_mib >= 0 && is_alone(local, pod, gpu))
        used = state->memory_used_mib;
    return (int32_t)(used < INT32_MAX ? used : INT32_MAX);
}

static bool is_memory_change(int64_t told, int64_t now)
{
    int64_t change = llabs(now - told);
    return (told < 0) != (now < 0) || (change > 0 && now == 0) ||
           (change >= MEMORY_CHANGE_MIB && change >= told / MEMORY_CHANGE_PARTS);
}

// Whether it has changed by so much that it is to be told; it counts as told then.
static bool note_gpu_memory(const struct local *local, struct local_pod *pod, size_t count)
{
    int32_t now[NVML_DEVICES_MAX];
    bool is_change = false;
    for (size_t i = 0; i < NVML_DEVICES_MAX; i++) {
        now[i] = i < count && holds(pod, i) ? gpu_memory_of(local, pod, i) : -1;
        is_change |= is_memory_change(pod->gpu_memory_mib[i], now[i]);
    }
    if (is_change)
        memcpy(pod->gpu_memory_mib, now, sizeof(now));
    return is_change;
}

static void tell_use(struct local *local, const struct local_pod *pod)
{
    struct backend_fact *fact = report_fact(local, BACKEND_POD_USAGE, pod->uuid, pod->decision, timestamp_now_ms());
    fact->gpu_utilization = pod->utilization;
    fact->has_gpu_memory = true;
    memcpy(fact->gpu_memory_mib, pod->gpu_memory_mib, sizeof(fact->gpu_memory_mib));
}

static void look_at_pod(struct local *local, struct local_pod *pod, const struct gpu_state *states, size_t count)
{
    int sum = 0, known = 0;
    for (size_t i = 0; i < count; i++) {
        if (!holds(pod, i))
            continue;
        if (!states[i].is_healthy) {
            char message[sizeof(pod->failure_message)];
            snprintf(message, sizeof(message), "GPU %zu failed: %.90s", i, states[i].reason);
            fail_pod(local, pod, "GPUFailed", message);
            return;
        }
        check_memory(local, pod, &states[i], i);
        sum += states[i].utilization >= 0 ? states[i].utilization : 0;
        known += states[i].utilization >= 0;
    }
    double mean = known ? (double)sum / known : pod->utilization; // not rounded: one of eight at work is no idle pod
    bool is_change = note_gpu_memory(local, pod, count);
    if (mean == pod->utilization && !is_change)
        return;
    pod->utilization = mean;
    tell_use(local, pod);
}

// Whether a process of the pod, which is over, is still on a device of it.
static bool is_on_device(const struct local_pod *pod, const struct gpu_state *states, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; holds(pod, i) && k < states[i].process_count; k++)
            if (strcmp(states[i].processes[k].pod_uuid, pod->uuid) == 0)
                return true;
    return false;
}

// For who asks.
static void keep(struct local *local, const struct gpu_state *states, size_t count)
{
    if (!local->seen)
        local->seen = memory_array(count ? count : 1, sizeof(*local->seen));
    local->seen_count = count; // it never changes
    for (size_t i = 0; i < count; i++)
        local->seen[i] = states[i];
}

static void describe(const struct gpu_state *state, const char *name, struct arena *arena, struct backend_device *out)
{
    *out = (struct backend_device){.name = name,
                                   .is_healthy = state->is_healthy,
                                   .reason = arena_strdup(arena, state->reason),
                                   .memory_mib = state->memory_mib ? state->memory_mib : -1,
                                   .memory_used_mib = state->memory_used_mib,
                                   .utilization = state->utilization,
                                   .temperature = state->temperature,
                                   .process_count = state->process_count};
    out->processes = arena_array(arena, state->process_count, sizeof(*out->processes));
    for (size_t i = 0; i < state->process_count; i++) {
        const struct gpu_process *process = &state->processes[i];
        out->processes[i] = (struct backend_process){.pid = process->pid,
                                                     .memory_mib = process->memory_mib,
                                                     .user = arena_strdup(arena, process->user),
                                                     .command = arena_strdup(arena, process->command),
                                                     .pod_uuid = arena_strdup(arena, process->pod_uuid)};
    }
}

size_t gpus_read(void *context, const char *node_name, struct arena *arena, struct backend_device **out_devices)
{
    struct local *local = context;
    if (strcmp(node_name, local->options.node_name) != 0)
        return 0;
    pthread_mutex_lock(&local->lock);
    size_t count = local->seen_count;
    *out_devices = arena_array(arena, count, sizeof(**out_devices));
    for (size_t i = 0; i < count; i++)
        describe(&local->seen[i], i < local->options.gpu_count ? local->options.gpus[i] : "", arena,
                 &(*out_devices)[i]);
    pthread_mutex_unlock(&local->lock);
    return count;
}

void gpus_take(void *context, const struct gpu_state *states, size_t count)
{
    struct local *local = context;
    pthread_mutex_lock(&local->lock);
    keep(local, states, count);
    gpus_report(local);
    states = local->seen; // with their pods
    if (local->has_adopted)
        look_at_strangers(local);
    for (struct local_pod *pod = local_pods_next(&local->pods, NULL), *next; pod; pod = next) {
        next = local_pods_next(&local->pods, pod);
        if (pod->phase == LOCAL_RUNNING && pod->gpus && !pod->is_stopping && !pod->is_stray)
            look_at_pod(local, pod, states, count);
        else if (pod->phase == LOCAL_LEAVING && !is_on_device(pod, states, count))
            report_left(local, pod);
        else if (pod->phase == LOCAL_LEAVING)
            gpu_watch_hurry(local->gpus);
    }
    bool any = local->facts.count > 0;
    pthread_mutex_unlock(&local->lock);
    if (any)
        local->wake(local->wake_context);
}
