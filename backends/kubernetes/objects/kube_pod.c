#include "backends/kubernetes/objects/kube_pod.h"

#include "backends/kubernetes/objects/kube_requests.h"
#include "base/arena.h"

#include <string.h>

// Reasons by which a kubelet refuses a pod before any container starts.
static const char *const REFUSALS[] = {
    "UnexpectedAdmissionError",
    "TopologyAffinityError",
    "NodeAffinity",
    "NodeShutdown",
    "NodeName",
    "NodePorts",
    "NodeUnschedulable",
    "TaintToleration",
    "Terminated",
    "Shutdown",
    "AppArmor",
    "PodOSSelectorNodeLabelDoesNotMatch",
    "PodOSNotSupported",
    "InvalidNodeInfo",
    "SupplementalGroupsPolicyNotSupported",
    "PodFeatureUnsupported",
};

static bool is_refusal(const char *reason)
{
    if (strncmp(reason, "OutOf", strlen("OutOf")) == 0)
        return true;
    for (size_t i = 0; i < sizeof(REFUSALS) / sizeof(REFUSALS[0]); i++)
        if (strcmp(reason, REFUSALS[i]) == 0)
            return true;
    return false;
}

static const json_t *find_status(const json_t *statuses, const char *name)
{
    size_t i;
    json_t *status;
    json_array_foreach(statuses, i, status) {
        if (strcmp(kube_text_at(status, "name"), name) == 0)
            return status;
    }
    return NULL;
}

static bool has_started(const json_t *statuses)
{
    size_t i;
    json_t *status;
    json_array_foreach(statuses, i, status) {
        const char *id = kube_text_at(status, "containerID");
        if (*id || kube_value_at(status, "state.running.startedAt") || kube_value_at(status, "lastState.terminated") ||
            *kube_text_at(status, "state.terminated.containerID") ||
            json_is_string(kube_value_at(status, "state.terminated.startedAt")))
            return true;
    }
    return false;
}

static enum kube_pod_life life_of(const json_t *pod)
{
    const char *phase = kube_text_at(pod, "status.phase");
    const json_t *statuses = kube_value_at(pod, "status.containerStatuses");
    if (strcmp(phase, "Succeeded") == 0)
        return KUBE_POD_SUCCEEDED;
    if (strcmp(phase, "Failed") == 0) {
        bool was_refused = is_refusal(kube_text_at(pod, "status.reason")) && !has_started(statuses) &&
                           !has_started(kube_value_at(pod, "status.initContainerStatuses"));
        return was_refused ? KUBE_POD_REJECTED : KUBE_POD_FAILED;
    }
    if (!*kube_text_at(pod, "spec.nodeName"))
        return KUBE_POD_UNBOUND;
    return strcmp(phase, "Running") == 0 ? KUBE_POD_RUNNING : KUBE_POD_STARTING;
}

// The first of some places that says something.
static const char *first_text(const json_t *const *objects, const char *const *paths, size_t count, struct arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = kube_text_at(objects[i], paths[i]);
        if (*text)
            return arena_strdup(arena, text);
    }
    return "";
}

// A container that keeps the pod from starting tells more than the main one, which waits for it.
static const json_t *find_waiting(const json_t *pod)
{
    static const char *const LISTS[] = {"status.initContainerStatuses", "status.containerStatuses"};
    for (size_t k = 0; k < 2; k++) {
        size_t i;
        json_t *status;
        json_array_foreach(kube_value_at(pod, LISTS[k]), i, status) {
            const char *reason = kube_text_at(status, "state.waiting.reason");
            if (*reason && strcmp(reason, "PodInitializing") != 0)
                return status;
        }
    }
    return NULL;
}

static void read_reason(const json_t *pod, const json_t *main, struct arena *arena, struct kube_pod *out)
{
    const json_t *waiting = out->life == KUBE_POD_STARTING || out->life == KUBE_POD_RUNNING ? find_waiting(pod) : NULL;
    const json_t *const objects[] = {pod, waiting, main};
    static const char *const REASONS[] = {"status.reason", "state.waiting.reason", "state.terminated.reason"};
    static const char *const MESSAGES[] = {"status.message", "state.waiting.message", "state.terminated.message"};
    out->reason = first_text(objects, REASONS, 3, arena);
    out->message = first_text(objects, MESSAGES, 3, arena);
}

static void read_main(const json_t *main, struct kube_pod *out)
{
    const json_t *ended = kube_value_at(main, "state.terminated");
    const json_t *code = json_object_get(ended, "exitCode");
    out->has_exit_code = json_is_integer(code);
    out->exit_code = json_integer_value(code);
    out->started_ms = kube_time_of(json_object_get(ended, "startedAt"));
    out->finished_ms = kube_time_of(json_object_get(ended, "finishedAt"));
    if (!ended)
        out->started_ms = kube_time_of(kube_value_at(main, "state.running.startedAt"));
    out->restarts = json_integer_value(json_object_get(main, "restartCount"));
}

static bool is_pod_ready(const json_t *pod)
{
    size_t i;
    json_t *condition;
    json_array_foreach(kube_value_at(pod, "status.conditions"), i, condition) {
        if (strcmp(kube_text_at(condition, "type"), "Ready") == 0)
            return strcmp(kube_text_at(condition, "status"), "True") == 0;
    }
    return false;
}

static void add_device(struct kube_pod *pod, size_t *capacity, const char *resource, const char *id,
                       struct arena *arena)
{
    pod->devices = arena_grow(arena, pod->devices, capacity, pod->device_count + 1, sizeof(*pod->devices));
    pod->devices[pod->device_count++] =
        (struct kube_device){.resource = arena_strdup(arena, resource), .id = arena_strdup(arena, id)};
}

static void read_devices(const json_t *pod, struct arena *arena, struct kube_pod *out)
{
    size_t i, k, n, capacity = 0;
    json_t *status, *resource, *device;
    json_array_foreach(kube_value_at(pod, "status.containerStatuses"), i, status) {
        json_array_foreach(json_object_get(status, "allocatedResourcesStatus"), k, resource) {
            json_array_foreach(json_object_get(resource, "resources"), n, device) {
                const char *id = kube_text_at(device, "resourceID");
                if (*id)
                    add_device(out, &capacity, kube_text_at(resource, "name"), id, arena);
            }
        }
    }
}

int kube_pod_read(const json_t *object, struct arena *arena, struct kube_pod *out_pod)
{
    struct kube_pod pod = {.life = life_of(object)};
    if (kube_meta_read(object, arena, &pod.meta) < 0)
        return -1;
    pod.node_name = arena_strdup(arena, kube_text_at(object, "spec.nodeName"));
    pod.scheduler_name = arena_strdup(arena, kube_text_at(object, "spec.schedulerName"));
    pod.pod_ip = arena_strdup(arena, kube_text_at(object, "status.podIP"));
    pod.host_ip = arena_strdup(arena, kube_text_at(object, "status.hostIP"));
    pod.is_ready = is_pod_ready(object);
    pod.has_gates = json_array_size(kube_value_at(object, "spec.schedulingGates")) > 0;
    const json_t *first = json_array_get(kube_value_at(object, "spec.containers"), 0);
    const json_t *main = find_status(kube_value_at(object, "status.containerStatuses"), kube_text_at(first, "name"));
    read_main(main, &pod);
    read_reason(object, main, arena, &pod);
    read_devices(object, arena, &pod);
    kube_requests_read(object, arena, &pod.requests);
    *out_pod = pod;
    return 0;
}

bool kube_pod_is_over(const struct kube_pod *pod)
{
    return pod->life == KUBE_POD_SUCCEEDED || pod->life == KUBE_POD_FAILED || pod->life == KUBE_POD_REJECTED;
}
