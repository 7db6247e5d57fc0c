// What is left of a workload that is deleted: pods that have ended, kept for their logs, and its services. And pods
// that no row asks for, and which run nowhere.
#include "backends/kubernetes/client/kube_path.h"
#include "backends/kubernetes/kubernetes_state.h"
#include "base/buffer.h"
#include "base/log.h"
#include "base/timestamp.h"

#include <stdlib.h>
#include <string.h>

enum {
    EXPIRE_EVERY_S = 5
};

struct clearing {
    struct kubernetes *kubernetes;
    const char *resource; // static
};

static void note_deleted(void *context, struct kube_answer *answer)
{
    char text[KUBE_MESSAGE_SIZE], quoted[LOG_TEXT_SIZE];
    (void)context;
    if (answer->outcome == KUBE_ANSWERED && !kube_answer_is_good(answer) && answer->status.code != 404 &&
        answer->status.code != 409) // 409: it is gone, and another has its name
        log_write(LOG_WARN, "backends", "what is left of a workload stays: %s",
                  log_text(kube_answer_text(answer, text, sizeof(text)), quoted));
}

static void note_cleared(void *context, struct kube_answer *answer)
{
    struct kubernetes *kubernetes = context;
    note_deleted(NULL, answer);
    atomic_fetch_sub(&kubernetes->clearings, 1);
}

void kube_clearing_delete(struct kubernetes *kubernetes, const char *path, const char *uid, kube_done_fn done,
                          void *context)
{
    json_t *options = kube_manifest_delete(uid, -1);
    char *body = json_dumps(options, JSON_COMPACT);
    struct kube_call call = {.method = KUBE_DELETE,
                             .path = path,
                             .body = body,
                             .limit = KUBE_LIMIT_SHORT,
                             .is_repeatable = true,
                             .try_for_ms = -1};
    kube_client_submit(kubernetes->client, &call, done, context);
    free(body);
    json_decref(options);
}

void kube_clearing_remove(struct kubernetes *kubernetes, const char *path, const char *uid)
{
    atomic_fetch_add(&kubernetes->clearings, 1);
    kube_clearing_delete(kubernetes, path, uid, note_cleared, kubernetes);
}

static void take_list(void *context, struct kube_answer *answer)
{
    struct clearing *clearing = context;
    json_t *item;
    size_t i;
    json_array_foreach(json_object_get(answer->body, "items"), i, item) {
        const char *namespace = kube_text_at(item, "metadata.namespace"), *name = kube_text_at(item, "metadata.name");
        struct buffer path;
        buffer_init(&path, 0);
        kube_path(&path, "/api/v1/namespaces/%s/", namespace);
        buffer_text(&path, clearing->resource);
        kube_path(&path, "/%s", name);
        kube_clearing_remove(clearing->kubernetes, path.data, kube_text_at(item, "metadata.uid"));
        buffer_done(&path);
    }
    atomic_fetch_sub(&clearing->kubernetes->clearings, 1);
    free(clearing);
}

void pod_steps_clear(struct kubernetes *kubernetes, const char *workload_uuid)
{
    static const char *const RESOURCES[] = {"pods", "services"};
    free(kube_index_take(&kubernetes->refusals, workload_uuid));
    for (size_t i = 0; i < sizeof(RESOURCES) / sizeof(RESOURCES[0]); i++) {
        struct clearing *clearing = memory_array(1, sizeof(*clearing));
        struct buffer path, query, selector;
        *clearing = (struct clearing){kubernetes, RESOURCES[i]};
        buffer_init(&path, 0);
        buffer_init(&query, 0);
        buffer_init(&selector, 0);
        buffer_printf(&path, "/api/v1/%s", RESOURCES[i]);
        buffer_printf(&selector, KUBE_INSTANCE_LABEL "=%s," KUBE_WORKLOAD_LABEL "=%s", kubernetes->instance,
                      workload_uuid);
        kube_query(&query, "labelSelector", selector.data);
        struct kube_call call = {.method = KUBE_GET, .path = path.data, .query = query.data, .try_for_ms = -1};
        atomic_fetch_add(&kubernetes->clearings, 1);
        kube_client_submit(kubernetes->client, &call, take_list, clearing);
        buffer_done(&path);
        buffer_done(&query);
        buffer_done(&selector);
    }
}

static void expire(struct kubernetes *kubernetes, const struct kube_pod *pod)
{
    struct buffer path;
    json_t *options = kube_manifest_delete(pod->meta.uid, 0);
    char *body = json_dumps(options, JSON_COMPACT);
    buffer_init(&path, 0);
    kube_path(&path, "/api/v1/namespaces/%s/pods/%s", pod->meta.namespace, pod->meta.name);
    struct kube_call call = {
        .method = KUBE_DELETE, .path = path.data, .body = body, .limit = KUBE_LIMIT_SHORT, .is_repeatable = true};
    kube_client_submit(kubernetes->client, &call, note_deleted, NULL);
    buffer_done(&path);
    free(body);
    json_decref(options);
}

// Its order was carried out after its row had ended: it has no node, and nobody gives it one.
static bool is_late(const struct own_object *object)
{
    return object->uuid[0] && !object->pod.node_name[0] && !kube_pod_is_over(&object->pod) &&
           !object->pod.meta.deletion_ms;
}

void kube_clearing_expire(struct kubernetes *kubernetes)
{
    size_t position = 0;
    struct kube_index_slot *place = NULL;
    int64_t now_us = timestamp_monotonic_us(), before_ms = timestamp_now_ms() - kubernetes->finished_ms;
    if (!kubernetes->has_rows || !kubernetes->has_own || !kubernetes_may_write(kubernetes) ||
        now_us - kubernetes->cleared_us < (int64_t)EXPIRE_EVERY_S * 1000000)
        return;
    kubernetes->cleared_us = now_us;
    for (const struct own_object *object; (object = kube_index_next(&kubernetes->objects, &position, &place));) {
        const struct kube_pod *pod = &object->pod;
        int64_t ended_ms = pod->finished_ms ? pod->finished_ms : pod->meta.created_ms;
        if (kube_index_find(&kubernetes->pods, object->uuid))
            continue;
        if ((kube_pod_is_over(pod) && ended_ms < before_ms) || is_late(object))
            expire(kubernetes, pod);
    }
}
