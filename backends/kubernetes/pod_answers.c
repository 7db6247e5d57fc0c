// What comes of the calls for a pod. An answer that is lost or leaves it open is no failure: the object is asked for.
#include "backends/kubernetes/objects/kube_requests.h"
#include "backends/kubernetes/pod_state.h"
#include "backends/kubernetes/pod_steps.h"
#include "base/timestamp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EARLY_MAX = 4,
    AGAIN_MS = 1000,
    AGAIN_DOUBLINGS = 5 // 1 s to 32 s
};

// What may pass.
static void try_later(struct ordered_pod *pod)
{
    int64_t doublings = pod->failures < AGAIN_DOUBLINGS ? pod->failures : AGAIN_DOUBLINGS;
    pod->failures++;
    pod->again_us = timestamp_monotonic_us() + (AGAIN_MS << doublings) * 1000;
}

static int code_of(const struct kube_answer *answer)
{
    return answer->outcome == KUBE_ANSWERED ? answer->status.code : 0;
}

static void refuse_by(struct kubernetes *kubernetes, struct ordered_pod *pod, const struct kube_answer *answer,
                      bool is_for_good)
{
    char text[240];
    pod_steps_refuse(kubernetes, pod, answer->status.reason[0] ? answer->status.reason : "Refused",
                     kube_answer_text(answer, text, sizeof(text)), is_for_good);
}

// Of something that was to be made.
static void take_creation_failure(struct kubernetes *kubernetes, struct ordered_pod *pod,
                                  const struct kube_answer *answer)
{
    int code = code_of(answer);
    // The account that every pod has comes a moment after its namespace; nothing but words tells.
    bool is_too_early = code == 403 && strstr(answer->status.message, "service account") && pod->failures < EARLY_MAX;
    if (code == 404 && strcmp(answer->status.kind, "namespaces") == 0)
        pod_steps_make_namespace(kubernetes, pod);
    else if (is_too_early)
        try_later(pod);
    else if (code == 400 || code == 413 || code == 422)
        refuse_by(kubernetes, pod, answer, true);
    else if (code == 403 || code == 404 || code == 409)
        refuse_by(kubernetes, pod, answer, false);
    else
        try_later(pod);
}

// Admission may have changed what was sent. What came back is what would be bound. NULL: nothing is wrong with it.
static const char *why_changed(const struct ordered_pod *pod, const struct kube_pod *object, struct arena *arena)
{
    struct kube_amounts asked;
    if (object->has_gates)
        return "something in the cluster put a scheduling gate on it";
    json_t *sent = pod->body ? json_loads(pod->body, 0, NULL) : NULL;
    if (sent && strcmp(object->scheduler_name, kube_text_at(sent, "spec.schedulerName")) != 0) {
        json_decref(sent);
        return arena_printf(arena, "something in the cluster gave it to the scheduler %s", object->scheduler_name);
    }
    if (!sent)
        return NULL;
    kube_requests_read(sent, arena, &asked);
    bool is_larger = object->requests.cpu_milli > asked.cpu_milli || object->requests.memory_bytes > asked.memory_bytes;
    for (size_t i = 0; i < object->requests.other_count; i++)
        is_larger |= object->requests.others[i].units > kube_amounts_get(&asked, object->requests.others[i].name);
    json_decref(sent);
    return is_larger ? "something in the cluster made it ask for more than was planned" : NULL;
}

static void take_created(struct kubernetes *kubernetes, struct ordered_pod *pod, const json_t *body)
{
    struct arena arena;
    struct kube_pod object;
    arena_init(&arena);
    if (kube_pod_read(body, &arena, &object) < 0) {
        try_later(pod); // and is told that it exists
        arena_done(&arena);
        return;
    }
    if (!pod->uid)
        pod_object_found(pod, object.meta.uid);
    pod->failures = 0;
    const char *why = why_changed(pod, &object, &arena);
    if (why)
        pod_steps_refuse(kubernetes, pod, "ChangedByAdmission", why, false);
    else
        pod_volumes_begin(kubernetes, pod);
    arena_done(&arena);
}

// Rows have it, and the cluster has no such pod of ours.
static void tell_unknown(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    ordered_pods_ask_again(kubernetes, pod);
    ordered_pods_remove(kubernetes, pod);
}

static bool is_lacking(const struct ordered_pod *pod)
{
    return pod->step == POD_LACKING && pod->wish == WISH_RUN && !pod_is_refused(pod);
}

// The object as it is now. It has our label again where somebody took it off.
static void take_look(struct kubernetes *kubernetes, struct ordered_pod *pod, const struct kube_answer *answer)
{
    struct arena arena;
    struct kube_pod object;
    char uuid[UUID_SIZE];
    arena_init(&arena);
    pod->is_looking = false;
    memcpy(uuid, pod->uuid, sizeof(uuid));
    if (kube_pod_read(answer->body, &arena, &object) < 0) {
        pod->is_looking = true;
        try_later(pod);
        arena_done(&arena);
        return;
    }
    const char *owner = kube_meta_annotation(&object.meta, KUBE_POD_ANNOTATION);
    bool is_another = pod->uid && strcmp(pod->uid, object.meta.uid) != 0;
    if (owner && strcmp(owner, pod->uuid) == 0)
        pod->failures = 0;
    if (is_another) {
        own_objects_take_gone(kubernetes, pod);
    } else if (is_lacking(pod) && (!owner || strcmp(owner, pod->uuid) != 0)) {
        tell_unknown(kubernetes, pod);
        arena_done(&arena);
        return;
    } else if (is_lacking(pod) && !object.node_name[0] && !kube_pod_is_over(&object)) {
        pod_object_found(pod, object.meta.uid);
        ordered_pods_ask_again(kubernetes, pod); // to be bound with its gang
    } else if (owner && strcmp(owner, pod->uuid) != 0 && pod->failures < EARLY_MAX) {
        pod_object_doubt(pod, false); // what a deleted workload of the same name has left: it goes
        try_later(pod);
    } else if (!owner || strcmp(owner, pod->uuid) != 0) {
        pod_object_doubt(pod, false);
        pod_steps_refuse(kubernetes, pod, "NameTaken", "another pod of this name is in its namespace", false);
    } else {
        own_objects_take(kubernetes, pod, &object);
    }
    pod = kube_index_find(&kubernetes->pods, uuid);
    if (pod && pod->step == POD_BINDS && pod->refusal == REFUSAL_OF_BINDING)
        pod_steps_refuse(kubernetes, pod, "FailedBinding", arena_strdup(&arena, pod->message), false);
    else if (pod && pod->step == POD_BINDS)
        pod->step = POD_CREATED;
    const char *instance = kube_meta_label(&object.meta, KUBE_INSTANCE_LABEL);
    if (pod && !is_another && (!instance || strcmp(instance, kubernetes->instance) != 0))
        pod_steps_label(kubernetes, pod);
    arena_done(&arena);
}

static void take_binding(struct kubernetes *kubernetes, struct ordered_pod *pod, const struct kube_answer *answer)
{
    int code = code_of(answer);
    if (kube_answer_is_good(answer)) {
        pod->failures = 0;
        kube_reports_bound(kubernetes, pod);
        pod_steps_note_bound(kubernetes, pod);
        return;
    }
    if (pod->step != POD_BINDS)
        return; // the watch has said how it went
    pod->is_looking = true;
    bool is_refused = code >= 400 && code < 500 && code != 429;
    if (!pod_is_refused(pod))
        pod->refusal = is_refused ? REFUSAL_OF_BINDING : REFUSAL_NONE;
    kube_answer_text(answer, pod->message, sizeof(pod->message));
    if (!is_refused)
        try_later(pod);
}

static void tell_held(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    if (pod->told & TOLD_HELD)
        return;
    pod->told |= TOLD_HELD;
    backend_fact_say(kubernetes_tell(kubernetes, BACKEND_POD_WARNING, pod->uuid, pod->decision), "DisruptionBudget",
                     "is to give way, and a PodDisruptionBudget holds it: it goes as soon as the budget allows");
}

static void take_deletion(struct kubernetes *kubernetes, struct ordered_pod *pod, const struct kube_answer *answer)
{
    int code = code_of(answer);
    if (kube_answer_is_good(answer)) {
        pod_object_goes(pod);
        pod->deleted_us = timestamp_monotonic_us();
    } else if (code == 404)
        own_objects_take_gone(kubernetes, pod);
    else {
        if (code == 429 && kube_status_has_cause(&answer->status, "DisruptionBudget"))
            tell_held(kubernetes, pod);
        pod->is_looking |= code == 409;
        try_later(pod);
    }
}

static bool must_change_again(int code)
{
    return code == 0 || code == 401 || code == 429 || code >= 500;
}

// What is there may be a deleted workload's of the same name, or a deleted credential's, which goes.
static bool is_going(struct kubernetes *kubernetes, const struct preparation *preparation)
{
    return atomic_load(preparation->change ? &kubernetes->secrets_going : &kubernetes->clearings) > 0;
}

static void take(struct kubernetes *kubernetes, struct ordered_pod *pod, enum pod_call kind,
                 const struct kube_answer *answer)
{
    bool is_good = kube_answer_is_good(answer), is_there = code_of(answer) == 409;
    switch (kind) {
    case CALL_PREPARE:
        if (is_there && is_going(kubernetes, &pod->preparations[pod->prepared]))
            try_later(pod);
        else if (is_there && pod->preparations[pod->prepared].change)
            pod->preparations[pod->prepared].is_there = true;
        else if (is_good || is_there)
            pod->prepared++;
        else
            take_creation_failure(kubernetes, pod, answer);
        break;
    case CALL_CHANGE: // a refusal: it is somebody else's, or of another kind, and counts as it is
        pod->preparations[pod->prepared].is_there = must_change_again(code_of(answer));
        if (pod->preparations[pod->prepared].is_there)
            try_later(pod);
        else if (code_of(answer) != 404) // gone meanwhile: it is made
            pod->prepared++;
        break;
    case CALL_NAMESPACE:
        if (!is_good && !is_there)
            take_creation_failure(kubernetes, pod, answer);
        break;
    case CALL_CREATE:
        if (is_good) {
            take_created(kubernetes, pod, answer->body);
            break;
        }
        pod_object_doubt(pod, code_of(answer) == 0 || is_there || code_of(answer) >= 500);
        if (is_there)
            pod->is_looking = true;
        else
            take_creation_failure(kubernetes, pod, answer);
        break;
    case CALL_LOOK:
        if (is_good)
            take_look(kubernetes, pod, answer);
        else if (code_of(answer) == 404) {
            pod->is_looking = false;
            if (is_lacking(pod))
                tell_unknown(kubernetes, pod);
            else if (pod->uid || pod->wish != WISH_RUN || pod_is_refused(pod))
                own_objects_take_gone(kubernetes, pod);
            else
                pod_object_gone(pod);
        } else
            try_later(pod);
        break;
    case CALL_VOLUME:
        pod_volumes_take(kubernetes, pod, answer);
        break;
    case CALL_BIND:
        take_binding(kubernetes, pod, answer);
        break;
    case CALL_DELETE:
        take_deletion(kubernetes, pod, answer);
        break;
    case CALL_LABEL:
        if (!is_good)
            try_later(pod);
        break;
    }
}

void pod_answers_take(void *context, struct kube_answer *answer)
{
    struct flight *flight = context;
    struct kubernetes *kubernetes = flight->kubernetes;
    pthread_mutex_lock(&kubernetes->lock);
    struct ordered_pod *pod = kube_index_find(&kubernetes->pods, flight->uuid);
    if (pod && pod->call == flight->call) {
        pod->call = 0;
        if (answer->outcome != KUBE_STOPPED) {
            take(kubernetes, pod, flight->kind, answer);
            pod = kube_index_find(&kubernetes->pods, flight->uuid);
            if (pod)
                pod_steps_go_on(kubernetes, pod);
        }
    }
    pthread_cond_signal(&kubernetes->changed);
    pthread_mutex_unlock(&kubernetes->lock);
    free(flight);
}
