// What the cluster says of pods of ours, as Warning events: a volume that cannot be mounted, a probe that fails. Each
// is told once, and again when its words change; what happened before this run was told by the one before.
#include "backends/kubernetes/kubernetes_state.h"
#include "base/timestamp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REASON_SIZE = 64,
    TEXT_SIZE = 240
};

// What is kept of an event.
struct kept_event {
    char pod_uid[64];
    char reason[REASON_SIZE], message[TEXT_SIZE];
    int64_t time_ms;
};

static int64_t time_of_event(const json_t *object)
{
    static const char *const PATHS[] = {"series.lastObservedTime", "lastTimestamp", "eventTime", "firstTimestamp",
                                        "metadata.creationTimestamp"};
    int64_t time_ms = 0;
    for (size_t i = 0; time_ms == 0 && i < sizeof(PATHS) / sizeof(PATHS[0]); i++)
        time_ms = kube_time_of(kube_value_at(object, PATHS[i]));
    return time_ms;
}

static void *keep(void *context, const json_t *object)
{
    (void)context;
    struct kept_event *kept = memory_array(1, sizeof(*kept));
    snprintf(kept->pod_uid, sizeof(kept->pod_uid), "%s", kube_text_at(object, "involvedObject.uid"));
    snprintf(kept->reason, sizeof(kept->reason), "%s", kube_text_at(object, "reason"));
    snprintf(kept->message, sizeof(kept->message), "%s", kube_text_at(object, "message"));
    kept->time_ms = time_of_event(object);
    return kept;
}

static void release(void *context, void *kept)
{
    (void)context;
    free(kept);
}

static struct ordered_pod *find_pod(const struct kubernetes *kubernetes, const char *uid)
{
    const struct own_object *object = kube_index_find(&kubernetes->objects_by_uid, uid);
    return object ? kube_index_find(&kubernetes->pods, object->uuid) : NULL;
}

static void tell(void *context, const struct kube_event *event)
{
    struct kubernetes *kubernetes = context;
    const struct kept_event *kept = event->kept, *before = event->before;
    if ((event->kind != KUBE_ADDED && event->kind != KUBE_CHANGED) || !kept || kept->time_ms < kubernetes->started_ms ||
        (before && strcmp(before->reason, kept->reason) == 0 && strcmp(before->message, kept->message) == 0))
        return;
    pthread_mutex_lock(&kubernetes->lock);
    const struct ordered_pod *pod = find_pod(kubernetes, kept->pod_uid);
    if (pod && pod->step != POD_ENDED && pod->wish == WISH_RUN) {
        char message[TEXT_SIZE];
        snprintf(message, sizeof(message), "has a problem: %.200s", kept->message);
        backend_fact_say(kubernetes_tell(kubernetes, BACKEND_POD_WARNING, pod->uuid, pod->decision), kept->reason,
                         message);
    }
    pthread_cond_signal(&kubernetes->changed);
    pthread_mutex_unlock(&kubernetes->lock);
}

int pod_events_watch(struct kubernetes *kubernetes, struct error *err)
{
    struct kube_watch_setup setup = {.name = "events of pods",
                                     .path = "/api/v1/events",
                                     .field_selector = "involvedObject.kind=Pod,type=Warning",
                                     .kind = "Event",
                                     .ops = {keep, release, tell},
                                     .context = kubernetes};
    kubernetes->started_ms = timestamp_now_ms() / 1000 * 1000; // events know no fractions of a second
    return kube_watch_create(kubernetes->access, &setup, &kubernetes->events_watch, err);
}
