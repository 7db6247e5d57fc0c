#include "tests/fakekube/kubelet.h"
#include "base/arena.h"
#include "base/timestamp.h"
#include "tests/fakekube/pods.h"
#include <stdlib.h>
#include <string.h>

enum step {
    STEP_NODE_READY,
    STEP_ADMIT,
    STEP_END,
    STEP_STOP,
    STEP_REMOVE
};

struct task {
    int64_t due_us;
    enum step step;
    char *key;
    char uid[40];
};

struct kubelet {
    struct kube *kube;
    pthread_t thread;
    struct task *tasks; // the next one last
    size_t count;
    size_t capacity;
};

static void add_task(struct kubelet *kubelet, enum step step, const char *key, const char *uid, int64_t delay_us)
{
    if (kubelet->count == kubelet->capacity) {
        kubelet->capacity = kubelet->capacity ? 2 * kubelet->capacity : 64;
        kubelet->tasks = memory_realloc(kubelet->tasks, kubelet->capacity * sizeof(*kubelet->tasks));
    }
    int64_t due_us = timestamp_monotonic_us() + delay_us;
    size_t low = 0;
    for (size_t high = kubelet->count; low < high;) {
        size_t middle = (low + high) / 2;
        if (kubelet->tasks[middle].due_us > due_us)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(kubelet->tasks + low + 1, kubelet->tasks + low, (kubelet->count - low) * sizeof(*kubelet->tasks));
    kubelet->tasks[low] = (struct task){.due_us = due_us, .step = step, .key = memory_strdup(key)};
    snprintf(kubelet->tasks[low].uid, sizeof(kubelet->tasks[low].uid), "%s", uid ? uid : "");
    kubelet->count++;
}

static const char *annotation(const json_t *pod, const char *name)
{
    char full[80];
    snprintf(full, sizeof(full), "test.prorata.io/%s", name);
    return json_string_value(json_object_get(json_at(pod, "metadata.annotations"), full));
}

static int64_t duration_us(const char *text)
{
    char *end;
    double number = strtod(text, &end);
    return (int64_t)(number * (strcmp(end, "ms") == 0 ? 1e3 : strcmp(end, "m") == 0 ? 60e6 : 1e6));
}

static int64_t annotated_us(const json_t *pod, const char *name, int64_t without_us)
{
    const char *text = annotation(pod, name);
    return text ? duration_us(text) : without_us;
}

static void notice_pod(struct kubelet *kubelet, const struct change *change, const json_t *pod)
{
    const char *uid = json_text_at(pod, "metadata.uid");
    const char *before =
        change->before ? json_string_value(json_object_get(change->before->fields, "spec.nodeName")) : NULL;
    const char *phase = json_text_at(pod, "status.phase");
    int64_t start_us = kube_setting_int(kubelet->kube, "startMs", 20) * 1000;
    if (!pod_is_bound(pod) || !phase)
        return;
    if (!before && strcmp(phase, "Pending") == 0)
        add_task(kubelet, STEP_ADMIT, change->after->key, uid, annotated_us(pod, "start-after", start_us));
    if (!json_at(pod, "metadata.deletionTimestamp") || annotation(pod, "stuck") || pod_is_terminal(pod))
        return;
    int64_t grace_us = json_integer_value(json_at(pod, "metadata.deletionGracePeriodSeconds")) * 1000000;
    int64_t stop_us = annotated_us(pod, "stop-delay", kube_setting_int(kubelet->kube, "stopMs", 20) * 1000);
    add_task(kubelet, STEP_STOP, change->after->key, uid, stop_us < grace_us ? stop_us : grace_us);
}

static void on_change(void *context, const struct change *change)
{
    struct kubelet *kubelet = context;
    if (change->is_gone)
        return;
    if (change->resource == RESOURCE_NODES && !change->before)
        add_task(kubelet, STEP_NODE_READY, change->after->key, NULL, 0);
    if (change->resource != RESOURCE_PODS)
        return;
    json_t *pod = revision_value(change->after);
    notice_pod(kubelet, change, pod);
    json_decref(pod);
}

// The node's object if its kubelet is alive: a new reference, or NULL.
static json_t *living_node(struct kubelet *kubelet, const json_t *pod)
{
    const struct revision *found =
        store_find(&kubelet->kube->store, RESOURCE_NODES, json_text_at(pod, "spec.nodeName"));
    return found && !json_object_get(found->labels, "test.prorata.io/dead") ? revision_value(found) : NULL;
}

static void make_ready(struct kubelet *kubelet, const char *key)
{
    const struct revision *found = store_find(&kubelet->kube->store, RESOURCE_NODES, key);
    if (!found || json_object_get(found->labels, "test.prorata.io/dead"))
        return;
    json_t *node = revision_value(found);
    if (json_array_size(json_at(node, "status.conditions")) == 0) {
        json_t *condition;
        pod_set_condition(node, "Ready", "True", "KubeletReady");
        condition = json_array_get(json_at(node, "status.conditions"), 0);
        json_object_del(condition, "lastProbeTime");
        json_object_set(condition, "lastHeartbeatTime", json_object_get(condition, "lastTransitionTime"));
        store_put(&kubelet->kube->store, RESOURCE_NODES, key, node);
    }
    json_decref(node);
}

static int64_t used_milli(struct kubelet *kubelet, const json_t *pod, const char *resource, size_t *out_pods)
{
    const struct shelf *shelf = &kubelet->kube->store.shelves[RESOURCE_PODS];
    const char *node = json_text_at(pod, "spec.nodeName"), *uid = json_text_at(pod, "metadata.uid");
    int64_t used = 0;
    *out_pods = 0;
    for (size_t i = 0; i < shelf->count; i++) {
        const char *where = json_string_value(json_object_get(shelf->items[i]->fields, "spec.nodeName"));
        if (!where || strcmp(where, node) != 0)
            continue;
        json_t *other = revision_value(shelf->items[i]);
        const char *phase = json_text_at(other, "status.phase");
        // One that was bound but not yet admitted holds nothing.
        if (strcmp(json_text_at(other, "metadata.uid"), uid) != 0 && strcmp(phase, "Running") == 0) {
            used += pod_asks_milli(other, resource);
            (*out_pods)++;
        }
        json_decref(other);
    }
    return used;
}

// The reason for which the node refuses the pod, or NULL. out has room for 200 bytes.
static const char *refusal(struct kubelet *kubelet, const json_t *pod, const json_t *node, char out[200])
{
    json_t *allocatable = json_at(node, "status.allocatable");
    const char *name, *asked = annotation(pod, "reject");
    json_t *amount;
    if (asked)
        return asked;
    json_object_foreach(allocatable, name, amount) {
        // What the node does not list is dropped from the pod without a word, as kubelets do.
        size_t pods;
        bool is_pods = strcmp(name, "pods") == 0;
        int64_t asks = is_pods ? 1000 : pod_asks_milli(pod, name);
        if (asks == 0)
            continue;
        int64_t used = used_milli(kubelet, pod, name, &pods);
        if ((is_pods ? (int64_t)pods * 1000 : used) + asks <= quantity_milli(amount))
            continue;
        snprintf(out, 200, "OutOf%s", name);
        return out;
    }
    return NULL;
}

static json_t *container_status(const json_t *container, const char *state, json_t *details)
{
    json_t *status =
        json_pack("{s:s,s:b,s:i,s:s*}", "name", json_text_at(container, "name"), "ready", strcmp(state, "running") == 0,
                  "restartCount", 0, "image", json_text_at(container, "image"));
    json_object_set_new(status, "state", json_pack("{s:o}", state, details));
    return status;
}

static void set_containers(json_t *pod, const char *state, int code)
{
    char time[32];
    kube_time(timestamp_now_ms(), time);
    json_t *statuses = json_array();
    size_t index;
    json_t *container;
    json_array_foreach(json_at(pod, "spec.containers"), index, container) {
        json_t *details = strcmp(state, "running") == 0 ? json_pack("{s:s}", "startedAt", time)
                                                        : json_pack("{s:i,s:s,s:s}", "exitCode", code, "reason",
                                                                    code ? "Error" : "Completed", "finishedAt", time);
        json_array_append_new(statuses, container_status(container, state, details));
    }
    json_object_set_new(json_object_made(pod, "status"), "containerStatuses", statuses);
}

// What a kubelet says of a pod, where settings.kubeletEvents asks for it.
static void tell(struct kubelet *kubelet, const json_t *pod, const char *reason, const char *message)
{
    char time[32], key[600], name[340];
    const char *pod_name = json_text_at(pod, "metadata.name"), *namespace = json_text_at(pod, "metadata.namespace");
    struct store *store = &kubelet->kube->store;
    if (!kube_setting_is(kubelet->kube, "kubeletEvents"))
        return;
    kube_time(timestamp_now_ms(), time);
    snprintf(name, sizeof(name), "%s.%" PRIx64, pod_name, store->number);
    snprintf(key, sizeof(key), "%s/%s", namespace, name);
    json_t *event = json_pack(
        "{s:{s:s,s:s,s:s},s:{s:s,s:s,s:s,s:s,s:s},s:s,s:s,s:s,s:s,s:s,s:i,s:{s:s,s:s}}", "metadata", "name", name,
        "namespace", namespace, "creationTimestamp", time, "involvedObject", "kind", "Pod", "apiVersion", "v1", "name",
        pod_name, "namespace", namespace, "uid", json_text_at(pod, "metadata.uid"), "reason", reason, "message",
        message, "type", strcmp(reason, "Started") == 0 ? "Normal" : "Warning", "firstTimestamp", time, "lastTimestamp",
        time, "count", 1, "source", "component", "kubelet", "host", json_text_at(pod, "spec.nodeName"));
    store_put(store, RESOURCE_EVENTS, key, event);
    json_decref(event);
}

static void set_phase(json_t *pod, const char *phase)
{
    json_object_set_new(json_object_made(pod, "status"), "phase", json_string(phase));
}

static void admit(struct kubelet *kubelet, const char *key, json_t *pod)
{
    char text[200], time[32];
    json_t *node = living_node(kubelet, pod);
    if (!node || strcmp(json_text_at(pod, "status.phase"), "Pending") != 0) {
        json_decref(node);
        return;
    }
    const char *reason = refusal(kubelet, pod, node, text);
    json_t *status = json_object_made(pod, "status");
    json_object_set_new(status, "startTime", json_string(kube_time(timestamp_now_ms(), time)));
    if (reason) {
        set_phase(pod, "Failed");
        json_object_set_new(status, "reason", json_string(reason));
        json_object_set_new(status, "message",
                            json_sprintf("Pod was rejected: Node didn't have enough resource: %s", reason));
    } else {
        set_phase(pod, "Running");
        set_containers(pod, "running", 0);
        pod_set_condition(pod, "Ready", "True", NULL);
        json_object_set_new(status, "podIP", json_string("10.99.0.1"));
        if (annotation(pod, "ends-after"))
            add_task(kubelet, STEP_END, key, json_text_at(pod, "metadata.uid"), annotated_us(pod, "ends-after", 0));
    }
    store_put(&kubelet->kube->store, RESOURCE_PODS, key, pod);
    tell(kubelet, pod, reason ? reason : "Started", reason ? "the node refuses the pod" : "Started container main");
    json_decref(node);
}

static void end_pod(struct kubelet *kubelet, const char *key, json_t *pod, int code)
{
    if (pod_is_terminal(pod))
        return;
    set_phase(pod, code ? "Failed" : "Succeeded");
    set_containers(pod, "terminated", code);
    pod_set_condition(pod, "Ready", "False", code ? "PodFailed" : "PodCompleted");
    store_put(&kubelet->kube->store, RESOURCE_PODS, key, pod);
}

static void remove_pod(struct kubelet *kubelet, const char *key, json_t *pod)
{
    json_object_set_new(json_object_get(pod, "metadata"), "deletionGracePeriodSeconds", json_integer(0));
    if (json_array_size(json_at(pod, "metadata.finalizers")))
        store_put(&kubelet->kube->store, RESOURCE_PODS, key, pod);
    else
        store_remove(&kubelet->kube->store, RESOURCE_PODS, key, pod);
}

static int annotated_code(const json_t *pod, const char *name, int without)
{
    const char *text = annotation(pod, name);
    return text ? atoi(text) : without;
}

static bool node_lives(struct kubelet *kubelet, const json_t *pod)
{
    json_t *node = living_node(kubelet, pod);
    json_decref(node);
    return node != NULL;
}

static void stop(struct kubelet *kubelet, const char *key, json_t *pod)
{
    if (!node_lives(kubelet, pod))
        return;
    if (kubelet->kube->traits.minor >= 27)
        end_pod(kubelet, key, pod, annotated_code(pod, "stop-code", 143));
    add_task(kubelet, STEP_REMOVE, key, json_text_at(pod, "metadata.uid"),
             kube_setting_int(kubelet->kube, "removeMs", 10) * 1000);
}

static void do_task(struct kubelet *kubelet, const struct task *task)
{
    const struct revision *found = store_find(&kubelet->kube->store, RESOURCE_PODS, task->key);
    if (task->step == STEP_NODE_READY) {
        make_ready(kubelet, task->key);
        return;
    }
    json_t *pod = found ? revision_value(found) : NULL;
    if (pod && strcmp(json_text_at(pod, "metadata.uid"), task->uid) == 0) {
        if (task->step == STEP_ADMIT)
            admit(kubelet, task->key, pod);
        else if (task->step == STEP_END)
            end_pod(kubelet, task->key, pod, annotated_code(pod, "exit-code", 0));
        else if (task->step == STEP_STOP)
            stop(kubelet, task->key, pod);
        else if (node_lives(kubelet, pod))
            remove_pod(kubelet, task->key, pod);
    }
    json_decref(pod);
}

static void *run(void *context)
{
    struct kubelet *kubelet = context;
    struct store *store = &kubelet->kube->store;
    store_lock(store);
    while (!kubelet->kube->stops) {
        int64_t now_us = timestamp_monotonic_us();
        if (kubelet->count && kubelet->tasks[kubelet->count - 1].due_us <= now_us) {
            struct task task = kubelet->tasks[--kubelet->count];
            do_task(kubelet, &task);
            free(task.key);
            continue;
        }
        int64_t until_us = kubelet->count ? kubelet->tasks[kubelet->count - 1].due_us : now_us + 1000000;
        struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};
        pthread_cond_timedwait(&store->changed, &store->lock, &until);
    }
    store_unlock(store);
    return NULL;
}

struct kubelet *kubelet_create(struct kube *kube)
{
    struct kubelet *kubelet = memory_array(1, sizeof(*kubelet));
    *kubelet = (struct kubelet){.kube = kube};
    kube->store.on_change = on_change;
    kube->store.context = kubelet;
    if (pthread_create(&kubelet->thread, NULL, run, kubelet) == 0)
        return kubelet;
    kube->store.on_change = NULL;
    free(kubelet);
    return NULL;
}

void kubelet_destroy(struct kubelet *kubelet)
{
    if (!kubelet)
        return;
    pthread_join(kubelet->thread, NULL);
    for (size_t i = 0; i < kubelet->count; i++)
        free(kubelet->tasks[i].key);
    free(kubelet->tasks);
    free(kubelet);
}
