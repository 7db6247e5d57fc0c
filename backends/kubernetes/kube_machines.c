// Nodes as the cluster shows them, and what pods of others hold on each.
#include "backends/kubernetes/kubernetes_state.h"
#include "backends/kubernetes/objects/kube_requests.h"
#include "base/quantity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIG_PREFIX "nvidia.com/mig-"
#define HOSTNAME_LABEL "kubernetes.io/hostname"

// What the watch keeps of a node.
struct kept_node {
    struct arena arena;
    struct kube_node node;
};

struct kube_machine {
    char *name;
    const struct kept_node *kept; // NULL: pods name it, and it is not there
    struct kube_amounts others;   // of those that are no pods of ours
    struct arena arena;           // of others
    int64_t pods_of_others;
    struct told_load load;
};

static struct kube_machine *find_machine(struct kubernetes *kubernetes, const char *name)
{
    struct kube_machine *machine = kube_index_find(&kubernetes->machines, name);
    if (machine)
        return machine;
    machine = memory_array(1, sizeof(*machine));
    machine->name = memory_strdup(name);
    arena_init(&machine->arena);
    kube_index_set(&kubernetes->machines, machine->name, machine);
    return machine;
}

static void drop_if_empty(struct kubernetes *kubernetes, struct kube_machine *machine)
{
    if (machine->kept || machine->pods_of_others)
        return;
    kube_index_take(&kubernetes->machines, machine->name);
    arena_done(&machine->arena);
    free(machine->name);
    free(machine);
}

static void *keep_node(void *context, const json_t *object)
{
    (void)context;
    struct kept_node *kept = memory_array(1, sizeof(*kept));
    arena_init(&kept->arena);
    if (kube_node_read(object, &kept->arena, &kept->node) == 0)
        return kept;
    arena_done(&kept->arena);
    free(kept);
    return NULL;
}

static void release_node(void *context, void *kept)
{
    (void)context;
    arena_done(&((struct kept_node *)kept)->arena);
    free(kept);
}

static void tell_node(void *context, const struct kube_event *event)
{
    struct kubernetes *kubernetes = context;
    pthread_mutex_lock(&kubernetes->lock);
    kubernetes->nodes_changed = kubernetes->is_node_news = kubernetes->must_attend = true;
    if (event->kind == KUBE_SYNCED) {
        kubernetes->has_nodes = true;
    } else {
        struct kube_machine *machine = find_machine(kubernetes, event->name);
        machine->kept = event->kind == KUBE_GONE ? NULL : event->kept;
        drop_if_empty(kubernetes, machine);
    }
    pthread_cond_signal(&kubernetes->changed);
    pthread_mutex_unlock(&kubernetes->lock);
}

static void *keep_other(void *context, const json_t *object)
{
    (void)context;
    return kube_holding_create(object);
}

static void release_other(void *context, void *kept)
{
    (void)context;
    free(kept);
}

// sign: 1 or -1.
static void count_other(struct kubernetes *kubernetes, const struct kube_holding *holding, int sign)
{
    if (!holding || !holding->node_name[0] || holding->is_over)
        return;
    struct kube_machine *machine = find_machine(kubernetes, holding->node_name);
    struct kube_amounts *others = &machine->others;
    others->cpu_milli += sign * holding->amounts->cpu_milli;
    others->memory_bytes += sign * holding->amounts->memory_bytes;
    for (size_t i = 0; i < holding->amounts->other_count; i++) {
        const struct kube_amount *amount = &holding->amounts->others[i];
        size_t k = 0;
        while (k < others->other_count && strcmp(others->others[k].name, amount->name) != 0)
            k++;
        if (k == others->other_count) {
            size_t capacity = others->other_count;
            others->others = arena_grow(&machine->arena, others->others, &capacity, k + 1, sizeof(*others->others));
            others->others[others->other_count++] =
                (struct kube_amount){.name = arena_strdup(&machine->arena, amount->name)};
        }
        others->others[k].units += sign * amount->units;
    }
    machine->pods_of_others += sign;
    drop_if_empty(kubernetes, machine);
}

static void tell_other(void *context, const struct kube_event *event)
{
    struct kubernetes *kubernetes = context;
    pthread_mutex_lock(&kubernetes->lock);
    kubernetes->nodes_changed = true;
    if (event->kind == KUBE_SYNCED)
        kubernetes->has_others = true;
    if (event->kind == KUBE_CHANGED)
        count_other(kubernetes, event->before, -1);
    if (event->kind == KUBE_ADDED || event->kind == KUBE_CHANGED)
        count_other(kubernetes, event->kept, 1);
    if (event->kind == KUBE_GONE)
        count_other(kubernetes, event->kept, -1);
    pthread_cond_signal(&kubernetes->changed);
    pthread_mutex_unlock(&kubernetes->lock);
}

int machines_watch(struct kubernetes *kubernetes, struct error *err)
{
    struct kube_watch_setup nodes = {.name = "nodes",
                                     .path = "/api/v1/nodes",
                                     .kind = "Node",
                                     .unread_array = "images",
                                     .ops = {keep_node, release_node, tell_node},
                                     .context = kubernetes};
    char selector[200];
    snprintf(selector, sizeof(selector), KUBE_INSTANCE_LABEL "!=%s", kubernetes->instance);
    struct kube_watch_setup others = {.name = "pods of others",
                                      .path = "/api/v1/pods",
                                      .label_selector = selector,
                                      .field_selector = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed",
                                      .kind = "Pod",
                                      .ops = {keep_other, release_other, tell_other},
                                      .context = kubernetes};
    if (kube_watch_create(kubernetes->access, &nodes, &kubernetes->nodes_watch, err) < 0)
        return -1;
    return kube_watch_create(kubernetes->access, &others, &kubernetes->others_watch, err);
}

static const char *dump(json_t *json, struct arena *arena)
{
    char *text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
    char *copy = arena_strdup(arena, text);
    free(text);
    json_decref(json);
    return copy;
}

static const char *labels_of(const struct kube_node *node, struct arena *arena)
{
    json_t *labels = json_object();
    json_object_set_new(labels, HOSTNAME_LABEL, json_string(node->meta.name)); // its own wins
    for (size_t i = 0; i < node->meta.label_count; i++)
        json_object_set_new(labels, node->meta.labels[i].key, json_string(node->meta.labels[i].value));
    return dump(labels, arena);
}

static const char *taints_of(const struct kube_node *node, struct arena *arena)
{
    json_t *taints = json_array();
    for (size_t i = 0; i < node->taint_count; i++)
        json_array_append_new(taints, json_pack("{s:s, s:s, s:s}", "key", node->taints[i].key, "value",
                                                node->taints[i].value, "effect", node->taints[i].effect));
    return dump(taints, arena);
}

static const char *mig_of(const struct kube_node *node, const struct kube_amounts *others, struct arena *arena)
{
    json_t *instances = json_object();
    for (size_t i = 0; i < node->allocatable.other_count; i++) {
        const struct kube_amount *amount = &node->allocatable.others[i];
        int64_t left = amount->units - kube_amounts_get(others, amount->name);
        if (strncmp(amount->name, MIG_PREFIX, strlen(MIG_PREFIX)) == 0 && amount->units > 0)
            json_object_set_new(instances, amount->name, json_integer(left > 0 ? left : 0));
    }
    return dump(instances, arena);
}

// Devices that stand in for others (time slicing, MPS, slices as GPUs) are no devices to divide by quota.
static const char *why_no_devices(const struct kube_node *node)
{
    if (node->gpus.is_shared)
        return "GPUsAreShared";
    return strcmp(node->gpus.mig_strategy, "single") == 0 ? "MigStrategySingle" : NULL;
}

static void describe(const struct kube_machine *machine, const struct kube_amounts *others, int64_t pods,
                     struct arena *arena, struct backend_machine *out)
{
    const struct kube_node *node = &machine->kept->node;
    const char *why_none = why_no_devices(node), *mig = mig_of(node, others, arena);
    int64_t there = kube_amounts_get(&node->allocatable, KUBE_GPU), all = kube_amounts_get(&node->capacity, KUBE_GPU);
    all = why_none ? 0 : all > there ? all : there;
    *out = (struct backend_machine){
        .name = arena_strdup(arena, node->meta.name),
        .is_ready = node->is_ready,
        .is_cordoned = node->is_cordoned,
        .reason = arena_strdup(arena, !node->is_ready ? node->reason
                                      : why_none      ? why_none
                                                      : ""),
        .labels_json = labels_of(node, arena),
        .taints_json = taints_of(node, arena),
        .gpu_count = all,
        .gpus_withheld = why_none ? 0 : all - there + kube_amounts_get(others, KUBE_GPU),
        .gpu_memory_mib = node->gpus.memory_mib,
        .gpu_type = arena_strdup(arena, node->gpus.product),
        .mig_strategy = strcmp(mig, "{}") == 0 ? "none" : "mixed",
        .mig_instances_json = mig,
        .cpu_milli = node->allocatable.cpu_milli,
        .memory_bytes = node->allocatable.memory_bytes,
        .max_pods = node->allocatable.pods,
        .others_cpu_milli = quantity_within(others->cpu_milli, QUANTITY_AMOUNT_MAX),
        .others_memory_bytes = quantity_within(others->memory_bytes, QUANTITY_AMOUNT_MAX),
        .others_pods = pods,
        .address = arena_strdup(arena, node->address),
        .version = "",
    };
}

// Pods with our label that no row asks for, or that rows hold for lost, hold what they hold as those of others do.
static void count_strays(struct kubernetes *kubernetes, struct arena *arena, struct kube_index *out)
{
    size_t position = 0;
    struct kube_index_slot *place = NULL;
    for (struct own_object *object; (object = kube_index_next(&kubernetes->objects, &position, &place));) {
        const struct kube_pod *pod = &object->pod;
        const struct ordered_pod *ordered = kube_index_find(&kubernetes->pods, object->uuid);
        if (!pod->node_name[0] || kube_pod_is_over(pod) || (ordered && ordered->wish != WISH_FORGET))
            continue;
        struct kube_amounts *sum = kube_index_find(out, pod->node_name);
        if (!sum) {
            sum = arena_alloc(arena, sizeof(*sum));
            kube_index_set(out, pod->node_name, sum);
        }
        kube_amounts_add(sum, &pod->requests, arena);
    }
}

static int compare_machines(const void *a, const void *b)
{
    return strcmp(((const struct backend_machine *)a)->name, ((const struct backend_machine *)b)->name);
}

bool machines_read(void *backend, struct arena *arena, struct backend_machine **out_machines, size_t *out_count)
{
    struct kubernetes *kubernetes = backend;
    struct kube_index strays = {0};
    size_t position = 0;
    struct kube_index_slot *place = NULL;
    pthread_mutex_lock(&kubernetes->lock);
    bool is_known = kubernetes->has_own && kubernetes->has_others && kubernetes->has_nodes;
    *out_count = 0;
    *out_machines = arena_array(arena, kubernetes->machines.count, sizeof(**out_machines));
    count_strays(kubernetes, arena, &strays);
    for (struct kube_machine *machine;
         is_known && (machine = kube_index_next(&kubernetes->machines, &position, &place));) {
        if (!machine->kept)
            continue;
        struct kube_amounts others = {0};
        const struct kube_amounts *stray = kube_index_find(&strays, machine->name);
        kube_amounts_add(&others, &machine->others, arena);
        if (stray)
            kube_amounts_add(&others, stray, arena);
        describe(machine, &others, machine->pods_of_others + (stray ? stray->pods : 0), arena,
                 &(*out_machines)[(*out_count)++]);
    }
    pthread_mutex_unlock(&kubernetes->lock);
    kube_index_done(&strays);
    if (*out_count > 1)
        qsort(*out_machines, *out_count, sizeof(**out_machines), compare_machines);
    return is_known;
}

const struct kube_node *machines_find(const struct kubernetes *kubernetes, const char *name)
{
    const struct kube_machine *machine = name ? kube_index_find(&kubernetes->machines, name) : NULL;
    return machine && machine->kept ? &machine->kept->node : NULL;
}

struct told_load *machines_find_load(struct kubernetes *kubernetes, const char *name)
{
    struct kube_machine *machine = kube_index_find(&kubernetes->machines, name);
    return machine && machine->kept ? &machine->load : NULL;
}

bool machines_is_gone(const struct kubernetes *kubernetes, const char *name)
{
    return kubernetes->has_nodes && !machines_find(kubernetes, name);
}

void machines_done(struct kubernetes *kubernetes)
{
    size_t position = 0;
    struct kube_index_slot *place = NULL;
    for (struct kube_machine *machine; (machine = kube_index_next(&kubernetes->machines, &position, &place));) {
        arena_done(&machine->arena);
        free(machine->name);
        free(machine);
    }
    kube_index_done(&kubernetes->machines);
}
