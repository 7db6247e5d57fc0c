// Services of workloads that are deleted, which a server that was killed has left: asked for at the start and now and
// then, compared with rows, and taken away. What a stray may still use stays.
#include "backends/kubernetes/client/kube_client.h"
#include "backends/kubernetes/client/kube_path.h"
#include "backends/kubernetes/kubernetes_state.h"
#include "base/buffer.h"
#include "base/timestamp.h"

#include <stdlib.h>
#include <string.h>

enum {
    EVERY_S = 3600,
    AFTER_FAILURE_S = 60
};

// Of a list that has come.
struct kube_leftover {
    char *path, *uid, *workload_uuid;
};

static void forget(struct kubernetes *kubernetes)
{
    for (size_t i = 0; i < kubernetes->leftover_count; i++) {
        free(kubernetes->leftovers[i].path);
        free(kubernetes->leftovers[i].uid);
        free(kubernetes->leftovers[i].workload_uuid);
    }
    free(kubernetes->leftovers);
    kubernetes->leftovers = NULL;
    kubernetes->leftover_count = 0;
}

static void keep(struct kube_leftover *out, const json_t *service)
{
    const char *workload =
        json_string_value(json_object_get(kube_value_at(service, "metadata.labels"), KUBE_WORKLOAD_LABEL));
    struct buffer path;
    buffer_init(&path, 0);
    kube_path(&path, "/api/v1/namespaces/%s/services/%s", kube_text_at(service, "metadata.namespace"),
              kube_text_at(service, "metadata.name"));
    *out = (struct kube_leftover){.path = buffer_take(&path),
                                  .uid = memory_strdup(kube_text_at(service, "metadata.uid")),
                                  .workload_uuid = memory_strdup(workload ? workload : "")};
}

static void take_list(void *context, struct kube_answer *answer)
{
    struct kubernetes *kubernetes = context;
    const json_t *items = json_object_get(answer->body, "items"), *item;
    bool is_good = kube_answer_is_good(answer);
    size_t i;
    pthread_mutex_lock(&kubernetes->lock);
    kubernetes->is_looking_for_leftovers = false;
    kubernetes->leftovers_us = timestamp_monotonic_us() + (int64_t)(is_good ? EVERY_S : AFTER_FAILURE_S) * 1000000;
    if (is_good && json_array_size(items)) {
        kubernetes->leftovers = memory_array(json_array_size(items), sizeof(*kubernetes->leftovers));
        json_array_foreach(items, i, item)
            keep(&kubernetes->leftovers[kubernetes->leftover_count++], item);
        kubernetes_tell(kubernetes, BACKEND_LEFTOVERS, "", 0);
        pthread_cond_signal(&kubernetes->changed);
    } else {
        atomic_fetch_sub(&kubernetes->clearings, 1);
    }
    pthread_mutex_unlock(&kubernetes->lock);
}

void kube_leftovers_look(struct kubernetes *kubernetes)
{
    if (!kubernetes->has_rows || !kubernetes->has_own || kubernetes->is_looking_for_leftovers ||
        kubernetes->leftover_count || timestamp_monotonic_us() < kubernetes->leftovers_us ||
        !kubernetes_may_write(kubernetes))
        return;
    struct buffer query, selector;
    buffer_init(&query, 0);
    buffer_init(&selector, 0);
    buffer_printf(&selector, KUBE_INSTANCE_LABEL "=%s," KUBE_WORKLOAD_LABEL, kubernetes->instance);
    kube_query(&query, "labelSelector", selector.data);
    struct kube_call call = {.method = KUBE_GET, .path = "/api/v1/services", .query = query.data, .try_for_ms = -1};
    kubernetes->is_looking_for_leftovers = true;
    atomic_fetch_add(&kubernetes->clearings, 1); // who finds one in his way waits until it is known whose it is
    kube_client_submit(kubernetes->client, &call, take_list, kubernetes);
    buffer_done(&query);
    buffer_done(&selector);
}

static bool is_in_use(const struct kubernetes *kubernetes, const char *workload_uuid)
{
    size_t position = 0;
    struct kube_index_slot *place = NULL;
    for (const struct own_object *object; (object = kube_index_next(&kubernetes->objects, &position, &place));) {
        const char *workload = kube_meta_label(&object->pod.meta, KUBE_WORKLOAD_LABEL);
        if (workload && strcmp(workload, workload_uuid) == 0 && !kube_pod_is_over(&object->pod))
            return true;
    }
    return false;
}

bool kube_leftovers_clear(void *backend, const struct backend_known *known)
{
    struct kubernetes *kubernetes = backend;
    struct arena arena;
    arena_init(&arena);
    pthread_mutex_lock(&kubernetes->lock);
    for (size_t i = 0; i < kubernetes->leftover_count; i++) {
        const struct kube_leftover *one = &kubernetes->leftovers[i];
        if (!known->find_project(one->workload_uuid, &arena, known->context) &&
            !is_in_use(kubernetes, one->workload_uuid))
            kube_clearing_remove(kubernetes, one->path, one->uid);
        arena_clear(&arena);
    }
    if (kubernetes->leftover_count)
        atomic_fetch_sub(&kubernetes->clearings, 1);
    forget(kubernetes);
    pthread_mutex_unlock(&kubernetes->lock);
    arena_done(&arena);
    return false;
}

void kube_leftovers_done(struct kubernetes *kubernetes)
{
    forget(kubernetes);
}
