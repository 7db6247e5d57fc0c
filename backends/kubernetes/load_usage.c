// What metrics.k8s.io says of pods of ours and of nodes: CPU and memory that they use, as facts. A fact costs a turn
// and a row of each series, so only what has changed by much is told, and of many pods some each round.
#include "backends/kubernetes/kubernetes_state.h"
#include "backends/kubernetes/metrics/kube_usage_reader.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    FACTS_MAX = 2000,    // of pods in a round, and of nodes
    CHANGE_PARTS = 20,   // a change of a twentieth counts,
    CPU_LEAST_MILLI = 10 // and of so much
};
#define MEMORY_LEAST (4 << 20)

static bool is_change(int64_t told, int64_t now, int64_t least)
{
    int64_t change = llabs(now - told);
    return change > 0 && (now == 0 || (change >= least && change >= told / CHANGE_PARTS));
}

// Whether it is to be told; it counts as told then.
static bool note(struct told_load *told, int64_t decision, const struct kube_usage *usage)
{
    if (told->is_told && told->decision == decision && !is_change(told->cpu_milli, usage->cpu_milli, CPU_LEAST_MILLI) &&
        !is_change(told->memory_bytes, usage->memory_bytes, MEMORY_LEAST))
        return false;
    *told = (struct told_load){true, decision, usage->cpu_milli, usage->memory_bytes};
    return true;
}

static void tell(struct backend_fact *fact, const struct kube_usage *usage)
{
    fact->cpu_milli = usage->cpu_milli;
    fact->memory_bytes = usage->memory_bytes;
}

// What was measured before the pod was made is of an earlier one of its name.
static bool is_of(const struct own_object *object, const struct kube_usage *usage)
{
    return object->pod.life == KUBE_POD_RUNNING &&
           (usage->time_ms == 0 || usage->time_ms >= object->pod.meta.created_ms);
}

static size_t take_pod(struct kubernetes *kubernetes, const struct own_object *object, const struct kube_index *by_name,
                       struct arena *arena)
{
    const struct kube_meta *meta = &object->pod.meta;
    struct ordered_pod *pod = kube_index_find(&kubernetes->pods, object->uuid);
    const struct kube_usage *usage =
        pod ? kube_index_find(by_name, arena_printf(arena, "%s/%s", meta->namespace, meta->name)) : NULL;
    if (!usage || !is_of(object, usage) || !note(&pod->load, pod->decision, usage))
        return 0;
    tell(kubernetes_tell(kubernetes, BACKEND_POD_LOAD, pod->uuid, pod->decision), usage);
    return 1;
}

static void take_pods(void *context, const struct kube_usage *usages, size_t count)
{
    struct kubernetes *kubernetes = context;
    struct kube_index by_name = {0};
    struct kube_index_slot *place = NULL;
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < count; i++)
        kube_index_set(&by_name, arena_printf(&arena, "%s/%s", usages[i].namespace, usages[i].name),
                       (void *)&usages[i]);
    pthread_mutex_lock(&kubernetes->lock);
    size_t told = 0, position = kubernetes->loads_next;
    for (size_t seen = 0; seen < kubernetes->objects.count && told < FACTS_MAX; seen++) {
        const struct own_object *object = kube_index_next(&kubernetes->objects, &position, &place);
        if (!object) { // from the beginning on, once
            position = 0;
            place = NULL;
            object = kube_index_next(&kubernetes->objects, &position, &place);
        }
        told += take_pod(kubernetes, object, &by_name, &arena);
    }
    kubernetes->loads_next = told == FACTS_MAX ? position : 0;
    if (told > 0)
        pthread_cond_signal(&kubernetes->changed);
    pthread_mutex_unlock(&kubernetes->lock);
    kube_index_done(&by_name);
    arena_done(&arena);
}

static void take_nodes(void *context, const struct kube_usage *usages, size_t count)
{
    struct kubernetes *kubernetes = context;
    size_t told = 0, seen = 0;
    pthread_mutex_lock(&kubernetes->lock);
    for (; seen < count && told < FACTS_MAX; seen++) {
        const struct kube_usage *usage = &usages[(kubernetes->node_loads_next + seen) % count];
        struct told_load *load = machines_find_load(kubernetes, usage->name);
        if (!load || !note(load, 0, usage))
            continue;
        struct backend_fact *fact = kubernetes_tell(kubernetes, BACKEND_NODE_LOAD, "", 0);
        snprintf(fact->node_name, sizeof(fact->node_name), "%s", usage->name);
        tell(fact, usage);
        told++;
    }
    kubernetes->node_loads_next += seen;
    if (told > 0)
        pthread_cond_signal(&kubernetes->changed);
    pthread_mutex_unlock(&kubernetes->lock);
}

int load_usage_start(struct kubernetes *kubernetes, struct error *err)
{
    static const struct kube_usage_reader_ops OPS = {take_pods, take_nodes};
    char selector[200];
    snprintf(selector, sizeof(selector), KUBE_INSTANCE_LABEL "=%s", kubernetes->instance);
    return kube_usage_reader_create(kubernetes->client, selector, &OPS, kubernetes, &kubernetes->usage_reader, err);
}
