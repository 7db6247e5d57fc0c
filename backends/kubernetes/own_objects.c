// Pods of ours as the cluster shows them: each change becomes steps and facts of the pod that was ordered.
#include "backends/kubernetes/pod_state.h"
#include "base/timestamp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *keep(void *context, const json_t *object)
{
    (void)context;
    struct own_object *own = memory_array(1, sizeof(*own));
    arena_init(&own->arena);
    if (kube_pod_read(object, &own->arena, &own->pod) == 0) {
        const char *uuid = kube_meta_annotation(&own->pod.meta, KUBE_POD_ANNOTATION);
        own->uuid = uuid ? uuid : "";
        return own;
    }
    arena_done(&own->arena);
    free(own);
    return NULL;
}

static void release(void *context, void *kept)
{
    (void)context;
    arena_done(&((struct own_object *)kept)->arena);
    free(kept);
}

static int64_t time_or_now(int64_t time_ms)
{
    return time_ms ? time_ms : timestamp_now_ms();
}

static void tell_end(struct kubernetes *kubernetes, struct ordered_pod *pod, const struct kube_pod *object)
{
    bool is_good = object->life == KUBE_POD_SUCCEEDED;
    struct backend_fact *fact = kubernetes_tell(kubernetes, BACKEND_POD_ENDED, pod->uuid, pod->decision);
    fact->time_ms = time_or_now(object->finished_ms);
    fact->exit_code = object->has_exit_code ? object->exit_code : !is_good;
    if (!is_good && fact->exit_code == 0)
        fact->exit_code = 1; // the cluster says that it failed
    backend_fact_say(fact, object->reason[0] ? object->reason : is_good ? "Completed" : "Error", object->message);
    pod->step = POD_ENDED;
}

// Somebody else ended it. An order that is on its way makes it again. Were it lost too, another would take its place.
static void tell_deleted(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    if (pod->step == POD_LACKING)
        ordered_pods_ask_again(kubernetes, pod);
    else
        backend_fact_say(kubernetes_tell(kubernetes, BACKEND_POD_LOST, pod->uuid, pod->decision), "Lost",
                         "was deleted, not by this server");
    ordered_pods_remove(kubernetes, pod);
}

// Its devices are free.
static void take_over(struct kubernetes *kubernetes, struct ordered_pod *pod, const struct kube_pod *object)
{
    if (pod_is_refused(pod))
        return; // its object goes first
    if (pod->wish != WISH_RUN) {
        kubernetes_tell(kubernetes, BACKEND_POD_GONE, pod->uuid, pod->decision);
        ordered_pods_remove(kubernetes, pod);
    } else if (object->life == KUBE_POD_REJECTED) {
        pod_steps_reject(kubernetes, pod, object->reason, object->message);
    } else if (pod->step != POD_ENDED && object->life == KUBE_POD_FAILED && object->meta.deletion_ms) {
        tell_deleted(kubernetes, pod); // its node stopped it before it goes
    } else if (pod->step != POD_ENDED) {
        tell_end(kubernetes, pod, object);
    }
}

static void take_running(struct kubernetes *kubernetes, struct ordered_pod *pod, const struct kube_pod *object)
{
    if (pod->told & TOLD_RUNNING)
        return;
    pod->told |= TOLD_RUNNING;
    pod_steps_forget_refusals(kubernetes, pod);
    kubernetes_tell(kubernetes, BACKEND_POD_RUNNING, pod->uuid, pod->decision)->time_ms =
        time_or_now(object->started_ms);
}

// Why it does not come up: of a container that waits.
static void take_trouble(struct kubernetes *kubernetes, struct ordered_pod *pod, const struct kube_pod *object)
{
    char message[200];
    if (!object->reason[0] || strcmp(object->reason, pod->told_reason) == 0)
        return;
    snprintf(pod->told_reason, sizeof(pod->told_reason), "%s", object->reason);
    if (strcmp(object->reason, "ContainerCreating") == 0 || strcmp(object->reason, "PodInitializing") == 0)
        return;
    snprintf(message, sizeof(message), "%s%.180s", object->message[0] ? "" : "does not come up yet",
             object->message[0] ? object->message : "");
    backend_fact_say(kubernetes_tell(kubernetes, BACKEND_POD_WARNING, pod->uuid, pod->decision), object->reason,
                     message);
}

static void take_place(struct kubernetes *kubernetes, struct ordered_pod *pod, const struct kube_pod *object)
{
    if (!object->node_name[0] || pod->step >= POD_BOUND || pod_is_refused(pod))
        return;
    if (pod->node_name && strcmp(pod->node_name, object->node_name) != 0) {
        char message[240];
        snprintf(message, sizeof(message), "is on %.80s, though it was planned for %.80s", object->node_name,
                 pod->node_name);
        pod_steps_refuse(kubernetes, pod, "OtherNode", message, false);
        return;
    }
    pod_steps_note_bound(kubernetes, pod);
}

void own_objects_take(struct kubernetes *kubernetes, struct ordered_pod *pod, const struct kube_pod *object)
{
    if (pod->uid && strcmp(pod->uid, object->meta.uid) != 0)
        return;
    if (!pod->uid)
        pod_object_found(pod, object->meta.uid);
    take_place(kubernetes, pod, object);
    if (kube_pod_is_over(object)) {
        take_over(kubernetes, pod, object);
        return;
    }
    if (pod_is_refused(pod) || pod->step != POD_BOUND)
        return;
    if (object->life == KUBE_POD_RUNNING)
        take_running(kubernetes, pod, object);
    if (pod->wish == WISH_RUN)
        take_trouble(kubernetes, pod, object);
}

void own_objects_take_gone(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    pod_object_gone(pod);
    if (pod_is_refused(pod)) {
        pod_steps_go_on(kubernetes, pod);
    } else if (pod->wish != WISH_RUN) {
        kubernetes_tell(kubernetes, BACKEND_POD_GONE, pod->uuid, pod->decision);
        ordered_pods_remove(kubernetes, pod);
    } else if (pod->step == POD_ENDED) {
        ordered_pods_remove(kubernetes, pod);
    } else {
        tell_deleted(kubernetes, pod);
    }
}

// Whoever takes our label off a pod makes it look as if it were gone, to a watch and to a list, which tells no more
// than that it is not in it. What is really gone was given no time to end, at last.
static bool may_be_there(const struct kube_event *event, const struct own_object *own)
{
    const struct kube_meta *meta = &own->pod.meta;
    bool is_seen_off = event->object && meta->deletion_ms && meta->grace_s == 0;
    return !kube_pod_is_over(&own->pod) && !is_seen_off;
}

// What a pod holds that no row counts is counted with its node.
static void note_unasked(struct kubernetes *kubernetes, const struct ordered_pod *pod)
{
    kubernetes->nodes_changed |= !pod || pod->wish == WISH_FORGET;
}

static void tell_gone(struct kubernetes *kubernetes, const struct kube_event *event, const struct own_object *own)
{
    struct ordered_pod *pod = kube_index_find(&kubernetes->pods, own->uuid);
    note_unasked(kubernetes, pod);
    if (kube_index_find(&kubernetes->objects, own->uuid) == own)
        kube_index_take(&kubernetes->objects, own->uuid);
    if (kube_index_find(&kubernetes->objects_by_uid, own->pod.meta.uid) == own)
        kube_index_take(&kubernetes->objects_by_uid, own->pod.meta.uid);
    if (!pod || !pod->uid || strcmp(pod->uid, event->uid) != 0)
        return;
    if (may_be_there(event, own)) {
        pod->is_looking = true;
        pod_steps_go_on(kubernetes, pod);
        return;
    }
    own_objects_take_gone(kubernetes, pod);
}

// What came and went between two lists was in neither, and no event tells of its end.
static void look_for_unlisted(struct kubernetes *kubernetes)
{
    size_t position = 0;
    struct kube_index_slot *place = NULL;
    for (struct ordered_pod *pod; (pod = kube_index_next(&kubernetes->pods, &position, &place));)
        if (pod->uid && pod->step != POD_ADOPTED && pod->step != POD_ENDED &&
            !kube_index_find(&kubernetes->objects_by_uid, pod->uid))
            pod->is_looking = kubernetes->must_attend = true;
}

static void tell(void *context, const struct kube_event *event)
{
    struct kubernetes *kubernetes = context;
    struct own_object *own = event->kept;
    pthread_mutex_lock(&kubernetes->lock);
    if (event->kind == KUBE_SYNCED && event->is_first) {
        kubernetes->has_own = true;
        kubernetes->nodes_changed = true;
        ordered_pods_compare(kubernetes);
    } else if (event->kind == KUBE_SYNCED) {
        look_for_unlisted(kubernetes);
    } else if (own && event->kind == KUBE_GONE) {
        tell_gone(kubernetes, event, own);
    } else if (own) {
        const struct own_object *before = event->before;
        if (before && kube_index_find(&kubernetes->objects, before->uuid) == before)
            kube_index_take(&kubernetes->objects, before->uuid);
        kube_index_set(&kubernetes->objects, own->uuid, own);
        kube_index_set(&kubernetes->objects_by_uid, own->pod.meta.uid, own);
        struct ordered_pod *pod = kube_index_find(&kubernetes->pods, own->uuid);
        note_unasked(kubernetes, pod);
        if (pod && pod->step != POD_ADOPTED)
            own_objects_take(kubernetes, pod, &own->pod);
    }
    pthread_cond_signal(&kubernetes->changed);
    pthread_mutex_unlock(&kubernetes->lock);
}

int own_objects_watch(struct kubernetes *kubernetes, struct error *err)
{
    char selector[200];
    snprintf(selector, sizeof(selector), KUBE_INSTANCE_LABEL "=%s", kubernetes->instance);
    struct kube_watch_setup setup = {.name = "pods",
                                     .path = "/api/v1/pods",
                                     .label_selector = selector,
                                     .kind = "Pod",
                                     .ops = {keep, release, tell},
                                     .context = kubernetes};
    return kube_watch_create(kubernetes->access, &setup, &kubernetes->own_watch, err);
}
