// What is sent for a pod next. One call at a time for each pod; what comes of it is pod_answers.c's.
#include "backends/kubernetes/pod_steps.h"

#include "backends/kubernetes/client/kube_path.h"
#include "backends/kubernetes/kube_lease.h"
#include "backends/kubernetes/pod_state.h"
#include "base/buffer.h"
#include "base/timestamp.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REFUSAL_WAIT_MS = 5000,
    SHORT_TRY_MS = 3000,
    REFUSAL_DOUBLINGS = 6, // 5 s to 5 min
    AVOID_MS = 30 * 1000,
    STUCK_AFTER_MS = 60 * 1000,
    WAIT_TOLD_AFTER_MS = 5 * 1000,
    AVOID_MAX_MS = 10 * 60 * 1000,
    MS_PER_S = 1000
};

void pod_steps_submit(struct kubernetes *kubernetes, struct ordered_pod *pod, enum pod_call kind,
                      struct kube_call *call)
{
    struct flight *flight = memory_array(1, sizeof(*flight));
    flight->kubernetes = kubernetes;
    flight->kind = kind;
    flight->call = pod->call = ++kubernetes->calls;
    memcpy(flight->uuid, pod->uuid, sizeof(flight->uuid));
    // No longer than a lease is worth: what is sent late might meet another server's doing.
    call->try_for_ms = kind == CALL_BIND || kind == CALL_DELETE ? SHORT_TRY_MS : -1;
    call->is_repeatable = true;
    kube_client_submit(kubernetes->client, call, pod_answers_take, flight);
}

// A call about the pod itself; under: "/binding" or "". body is freed.
static void submit_own(struct kubernetes *kubernetes, struct ordered_pod *pod, enum pod_call kind,
                       enum kube_method method, const char *under, json_t *body)
{
    struct buffer path;
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    buffer_init(&path, 0);
    kube_path(&path, "/api/v1/namespaces/%s/pods/%s", pod->namespace, pod->name);
    buffer_text(&path, under);
    struct kube_call call = {.method = method,
                             .path = path.data,
                             .body = text,
                             .content_type = method == KUBE_PATCH ? KUBE_MERGE_PATCH : NULL,
                             .limit = method == KUBE_GET ? KUBE_LIMIT_LONG : KUBE_LIMIT_SHORT};
    pod_steps_submit(kubernetes, pod, kind, &call);
    buffer_done(&path);
    free(text);
    json_decref(body);
}

static void submit_creation(struct kubernetes *kubernetes, struct ordered_pod *pod, enum pod_call kind,
                            const char *path, const char *body)
{
    struct kube_call call = {.method = KUBE_POST, .path = path, .query = "fieldValidation=Strict", .body = body};
    pod_steps_submit(kubernetes, pod, kind, &call);
}

static void submit_change(struct kubernetes *kubernetes, struct ordered_pod *pod, const struct preparation *preparation)
{
    struct kube_call call = {.method = KUBE_PATCH,
                             .path = preparation->own_path,
                             .body = preparation->change,
                             .content_type = KUBE_JSON_PATCH};
    pod_steps_submit(kubernetes, pod, CALL_CHANGE, &call);
}

void pod_steps_make_namespace(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    json_t *object = kube_manifest_namespace(&kubernetes->site, pod->project_name, pod->namespace);
    char *body = json_dumps(object, JSON_COMPACT);
    submit_creation(kubernetes, pod, CALL_NAMESPACE, "/api/v1/namespaces", body);
    free(body);
    json_decref(object);
}

static void create(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    struct buffer path;
    buffer_init(&path, 0);
    kube_path(&path, "/api/v1/namespaces/%s/pods", pod->namespace);
    pod_object_doubt(pod, true);
    submit_creation(kubernetes, pod, CALL_CREATE, path.data, pod->body);
    buffer_done(&path);
}

static void look(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    pod->is_looking = true;
    submit_own(kubernetes, pod, CALL_LOOK, KUBE_GET, "", NULL);
}

static void erase(struct kubernetes *kubernetes, struct ordered_pod *pod, int64_t grace_ms)
{
    submit_own(kubernetes, pod, CALL_DELETE, KUBE_DELETE, "",
               kube_manifest_delete(pod->uid, (grace_ms + MS_PER_S - 1) / MS_PER_S));
}

static void evict(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    struct kube_target target = {.namespace = pod->namespace, .name = pod->name, .uid = pod->uid};
    submit_own(kubernetes, pod, CALL_DELETE, KUBE_POST, "/eviction",
               kube_manifest_eviction(&target, (pod->grace_ms + MS_PER_S - 1) / MS_PER_S));
}

void pod_steps_label(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    submit_own(kubernetes, pod, CALL_LABEL, KUBE_PATCH, "",
               json_pack("{s:{s:s, s:{s:s}}}", "metadata", "uid", pod->uid, "labels", KUBE_INSTANCE_LABEL,
                         kubernetes->instance));
}

static void bind(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    struct kube_target target = {.namespace = pod->namespace, .name = pod->name, .uid = pod->uid};
    pod->step = POD_BINDS;
    submit_own(kubernetes, pod, CALL_BIND, KUBE_POST, "/binding",
               kube_manifest_binding(&target, pod->node_name, kube_lease_term(kubernetes->lease), timestamp_now_ms()));
}

static bool may_bind(const struct ordered_pod *pod, int64_t now_us)
{
    return pod->step == POD_CREATED && !pod->call && pod->uid && pod->wish == WISH_RUN && !pod_is_refused(pod) &&
           !pod->is_looking && pod->again_us <= now_us;
}

// When the last pod of a gang exists, all are bound at once.
static void bind_gang(struct kubernetes *kubernetes, const struct gang *gang)
{
    size_t position = 0;
    struct kube_index_slot *place = NULL;
    int64_t now_us = timestamp_monotonic_us();
    for (struct ordered_pod *pod; (pod = kube_index_next(&kubernetes->pods, &position, &place));)
        if (pod->gang == gang && may_bind(pod, now_us))
            bind(kubernetes, pod);
}

static void go_on_bound_for(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    if (!pod->gang || pod->gang->wanted == 1)
        bind(kubernetes, pod);
    else if (pod->gang->created >= pod->gang->wanted)
        bind_gang(kubernetes, pod->gang);
}

void pod_steps_note_created(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    (void)kubernetes;
    if (pod->step >= POD_CREATED)
        return;
    pod->step = POD_CREATED;
    pod->created_us = timestamp_monotonic_us();
    pod->told &= ~(unsigned)TOLD_WAITING;
    if (pod->gang)
        pod->gang->created++;
}

void pod_steps_note_bound(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    if (pod->step >= POD_BOUND)
        return;
    pod_steps_note_created(kubernetes, pod);
    pod->step = POD_BOUND;
    if (pod->refusal == REFUSAL_OF_BINDING)
        pod->refusal = REFUSAL_NONE;
    kubernetes_tell(kubernetes, BACKEND_POD_STARTING, pod->uuid, pod->decision);
}

// Nothing of it is left, or ever was.
static void end_stopped(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    kubernetes_tell(kubernetes, BACKEND_POD_GONE, pod->uuid, pod->decision);
    ordered_pods_remove(kubernetes, pod);
}

// Of a node that is gone nobody is left to end the pod gently.
static int64_t grace_of(const struct kubernetes *kubernetes, const struct ordered_pod *pod)
{
    return pod->node_name && pod->step >= POD_BOUND && machines_is_gone(kubernetes, pod->node_name) ? 0 : pod->grace_ms;
}

// A node that does not end a pod is told of, and never forced: its devices may still be in use.
static void tell_if_stuck(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    if (pod->told & TOLD_STUCK || timestamp_monotonic_us() < pod->deleted_us + (pod->grace_ms + STUCK_AFTER_MS) * 1000)
        return;
    pod->told |= TOLD_STUCK;
    backend_fact_say(kubernetes_tell(kubernetes, BACKEND_POD_WARNING, pod->uuid, pod->decision), "StuckTerminating",
                     "was told to stop and is still there: its node or a finalizer holds it; its devices stay counted");
}

static void end_told(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    if (pod->stop_reason[0])
        kube_reports_stopped(kubernetes, pod);
    pod->stop_reason[0] = '\0';
    if (kubernetes->respects_budgets && pod->gives_way)
        evict(kubernetes, pod);
    else
        erase(kubernetes, pod, grace_of(kubernetes, pod));
}

static void stop(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    ordered_pods_leave_gang(pod);
    switch (pod->object) {
    case OBJECT_NONE:
        end_stopped(kubernetes, pod);
        break;
    case OBJECT_UNSURE:
        look(kubernetes, pod);
        break;
    case OBJECT_THERE:
        end_told(kubernetes, pod);
        break;
    case OBJECT_GOING:
        tell_if_stuck(kubernetes, pod);
        break;
    }
}

// One that ran already, before a mate was refused, is lost: it did hold something.
static void tell_refused(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    bool did_run = pod->told & TOLD_RUNNING;
    struct backend_fact *fact =
        kubernetes_tell(kubernetes, did_run ? BACKEND_POD_LOST : BACKEND_POD_REFUSED, pod->uuid, pod->decision);
    fact->is_final = pod->refusal == REFUSAL_FOR_GOOD;
    fact->avoid_ms = pod->avoid_ms;
    if (pod->node_terms)
        snprintf(fact->node_terms, sizeof(fact->node_terms), "%s", pod->node_terms);
    backend_fact_say(fact, did_run ? "Lost" : pod->reason, pod->message);
    ordered_pods_remove(kubernetes, pod);
}

static void go_on_refused(struct kubernetes *kubernetes, struct ordered_pod *pod, int64_t now_us)
{
    switch (pod->object) {
    case OBJECT_NONE:
        if (pod->wish != WISH_RUN)
            end_stopped(kubernetes, pod);
        else if (now_us >= pod->refused_until_us)
            tell_refused(kubernetes, pod);
        break;
    case OBJECT_UNSURE:
        look(kubernetes, pod);
        break;
    case OBJECT_THERE:
        erase(kubernetes, pod, pod->told & TOLD_RUNNING ? pod->grace_ms : 0);
        break;
    case OBJECT_GOING:
        break;
    }
}

static bool is_next_there(const struct ordered_pod *pod)
{
    return pod->prepared < pod->preparation_count && pod->preparations[pod->prepared].is_there;
}

static void go_on_started(struct kubernetes *kubernetes, struct ordered_pod *pod, int64_t now_us)
{
    if (pod->step == POD_PREPARES && pod->uid)
        pod_volumes_begin(kubernetes, pod);
    else if (pod->step == POD_PREPARES && is_next_there(pod))
        submit_change(kubernetes, pod, &pod->preparations[pod->prepared]);
    else if (pod->step == POD_PREPARES && pod->prepared < pod->preparation_count)
        submit_creation(kubernetes, pod, CALL_PREPARE, pod->preparations[pod->prepared].path,
                        pod->preparations[pod->prepared].body);
    else if (pod->step == POD_PREPARES)
        create(kubernetes, pod);
    if (pod->step == POD_CLAIMS && !pod->call)
        pod_volumes_go_on(kubernetes, pod);
    if (may_bind(pod, now_us))
        go_on_bound_for(kubernetes, pod);
}

void pod_steps_go_on(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    int64_t now_us = timestamp_monotonic_us();
    assert(ordered_pod_is_legal(pod));
    if (!kubernetes->has_own || !kubernetes_may_write(kubernetes) || pod->call || kubernetes->stopping ||
        pod->step == POD_ADOPTED || pod->again_us > now_us)
        return;
    if (pod->is_looking)
        look(kubernetes, pod);
    else if (pod_is_refused(pod))
        go_on_refused(kubernetes, pod, now_us); // it may be gone then
    else if (pod->wish != WISH_RUN)
        stop(kubernetes, pod); // likewise
    else
        go_on_started(kubernetes, pod, now_us);
}

// wait_ms, doubling with each refusal of its workload.
static int64_t count_refusal(struct kubernetes *kubernetes, const struct ordered_pod *pod, int64_t wait_ms)
{
    struct refusals *refusals = kube_index_find(&kubernetes->refusals, pod->workload_uuid);
    if (!refusals) {
        refusals = memory_array(1, sizeof(*refusals));
        snprintf(refusals->workload_uuid, sizeof(refusals->workload_uuid), "%s", pod->workload_uuid);
        kube_index_set(&kubernetes->refusals, refusals->workload_uuid, refusals);
    }
    return wait_ms << (refusals->count < REFUSAL_DOUBLINGS ? refusals->count++ : REFUSAL_DOUBLINGS);
}

void pod_steps_forget_refusals(struct kubernetes *kubernetes, const struct ordered_pod *pod)
{
    free(kube_index_take(&kubernetes->refusals, pod->workload_uuid));
}

static void mark_refused(struct kubernetes *kubernetes, struct ordered_pod *pod, const char *reason,
                         const char *message, bool is_for_good, int64_t until_us)
{
    pod->refusal = is_for_good ? REFUSAL_FOR_GOOD : REFUSAL_FOR_NOW;
    pod->refused_until_us = is_for_good ? 0 : until_us;
    pod->again_us = 0;
    snprintf(pod->reason, sizeof(pod->reason), "%s", reason);
    snprintf(pod->message, sizeof(pod->message), "%s", message);
    if (!is_for_good)
        backend_fact_say(kubernetes_tell(kubernetes, BACKEND_POD_WARNING, pod->uuid, pod->decision), reason, message);
}

void pod_steps_refuse(struct kubernetes *kubernetes, struct ordered_pod *pod, const char *reason, const char *message,
                      bool is_for_good)
{
    char about_gang[240];
    size_t position = 0;
    struct kube_index_slot *place = NULL;
    struct gang *gang = pod->gang;
    if (pod_is_refused(pod))
        return;
    int64_t until_us = timestamp_monotonic_us() + count_refusal(kubernetes, pod, REFUSAL_WAIT_MS) * 1000;
    mark_refused(kubernetes, pod, reason, message, is_for_good, until_us);
    snprintf(about_gang, sizeof(about_gang), "starts with %.60s or not at all: %.140s", pod->name, message);
    for (struct ordered_pod *other; gang && (other = kube_index_next(&kubernetes->pods, &position, &place));)
        if (other != pod && other->gang == gang && !pod_is_refused(other) && other->wish == WISH_RUN &&
            other->step != POD_ENDED) {
            mark_refused(kubernetes, other, reason, about_gang, is_for_good, until_us);
            kubernetes->must_attend = true;
        }
    kubernetes->must_attend = true; // the caller may still look at this one
}

void pod_steps_reject(struct kubernetes *kubernetes, struct ordered_pod *pod, const char *reason, const char *message)
{
    int64_t wait_ms = count_refusal(kubernetes, pod, AVOID_MS);
    pod->avoid_ms = wait_ms < AVOID_MAX_MS ? wait_ms : AVOID_MAX_MS;
    ordered_pods_leave_gang(pod);
    mark_refused(kubernetes, pod, reason, message, false, 0);
    kubernetes->must_attend = true;
}

// Its mates are longer in coming than it takes to make them: kubectl describe tells why it has no node.
static void tell_if_waits(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    char message[120];
    if (pod->step != POD_CREATED || pod->told & TOLD_WAITING || !pod->uid || !pod->gang || pod_is_refused(pod) ||
        pod->wish != WISH_RUN || pod->gang->created >= pod->gang->wanted ||
        timestamp_monotonic_us() < pod->created_us + (int64_t)WAIT_TOLD_AFTER_MS * 1000)
        return;
    pod->told |= TOLD_WAITING;
    snprintf(message, sizeof(message), "waits: %d of the %d pods that start with it are not ready to be bound",
             pod->gang->wanted - pod->gang->created, pod->gang->wanted);
    kube_reports_waits(kubernetes, pod, message);
}

void pod_steps_attend(struct kubernetes *kubernetes)
{
    size_t position = 0;
    struct kube_index_slot *place = NULL;
    kubernetes->must_attend = false;
    for (struct ordered_pod *pod; (pod = kube_index_next(&kubernetes->pods, &position, &place));) {
        tell_if_waits(kubernetes, pod);
        if (!pod->call && (pod_is_refused(pod) || pod->wish != WISH_RUN || pod->is_looking || pod->step < POD_BOUND))
            pod_steps_go_on(kubernetes, pod);
    }
}
