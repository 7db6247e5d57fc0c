// The pods that were ordered: what orders and rows say of them.
#include "backends/kubernetes/pod_state.h"
#include "backends/kubernetes/pod_steps.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/log.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy_or_null(const char *text)
{
    return text ? memory_strdup(text) : NULL;
}

static void forget_preparations(struct ordered_pod *pod)
{
    for (size_t i = 0; i < pod->preparation_count; i++) {
        struct preparation *one = &pod->preparations[i];
        explicit_bzero(one->body, strlen(one->body)); // it may hold a secret
        if (one->change)
            explicit_bzero(one->change, strlen(one->change));
        free(one->path);
        free(one->body);
        free(one->own_path);
        free(one->change);
    }
    free(pod->preparations);
    pod->preparations = NULL;
    pod->preparation_count = pod->prepared = 0;
}

void ordered_pods_leave_gang(struct ordered_pod *pod)
{
    struct gang *gang = pod->gang;
    pod->gang = NULL;
    if (!gang)
        return;
    gang->wanted--;
    gang->created -= pod->step >= POD_CREATED;
    if (--gang->members == 0)
        free(gang);
}

static void forget_secrets(struct ordered_pod *pod)
{
    for (size_t i = 0; i < pod->secret_count; i++)
        free(pod->secrets[i]);
    free(pod->secrets);
    pod->secrets = NULL;
    pod->secret_count = 0;
}

static void note_secrets(struct ordered_pod *pod, const struct backend_pod *row, struct arena *arena)
{
    const char *const *names;
    forget_secrets(pod);
    size_t count = kube_manifest_secret_names(row, arena, &names);
    if (count == 0)
        return;
    pod->secrets = memory_array(count, sizeof(*pod->secrets));
    for (; pod->secret_count < count; pod->secret_count++)
        pod->secrets[pod->secret_count] = memory_strdup(names[pod->secret_count]);
}

static void destroy(struct ordered_pod *pod)
{
    forget_secrets(pod);
    ordered_pods_leave_gang(pod);
    forget_preparations(pod);
    pod_volumes_done(pod);
    free(pod->node_terms);
    free(pod->workload_uuid);
    free(pod->project_name);
    free(pod->namespace);
    free(pod->name);
    free(pod->node_name);
    free(pod->uid);
    free(pod->body);
    free(pod);
}

void ordered_pods_remove(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    kube_index_take(&kubernetes->pods, pod->uuid);
    destroy(pod);
}

void ordered_pods_done(struct kubernetes *kubernetes)
{
    size_t position = 0;
    struct kube_index_slot *place = NULL;
    for (struct ordered_pod *pod; (pod = kube_index_next(&kubernetes->pods, &position, &place));)
        destroy(pod);
    kube_index_done(&kubernetes->pods);
}

// What rows say of it; what was known of its object stays.
static struct ordered_pod *note_pod(struct kubernetes *kubernetes, const struct backend_pod *row)
{
    struct arena arena;
    struct ordered_pod *pod = kube_index_find(&kubernetes->pods, row->uuid);
    if (!pod) {
        pod = memory_array(1, sizeof(*pod));
        snprintf(pod->uuid, sizeof(pod->uuid), "%s", row->uuid);
        kube_index_set(&kubernetes->pods, pod->uuid, pod);
    }
    arena_init(&arena);
    free(pod->workload_uuid);
    free(pod->project_name);
    free(pod->namespace);
    free(pod->name);
    free(pod->node_name);
    pod->workload_uuid = memory_strdup(row->workload_uuid);
    pod->project_name = memory_strdup(row->project_name);
    pod->namespace = memory_strdup(kube_manifest_namespace_of(&kubernetes->site, row, &arena));
    pod->name = memory_strdup(kube_manifest_pod_name(row, &arena));
    pod->node_name = copy_or_null(row->node_name);
    pod->grace_ms = row->grace_ms;
    note_secrets(pod, row, &arena);
    arena_done(&arena);
    return pod;
}

static char *dump(json_t *object)
{
    char *text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    return text;
}

// make_change NULL: what is there already stays as it is.
static void add_preparations(struct ordered_pod *pod, json_t *list, const char *resource,
                             json_t *(*make_change)(const json_t *object))
{
    json_t *object;
    size_t i;
    json_array_foreach(list, i, object) {
        struct buffer path;
        buffer_init(&path, 0);
        buffer_printf(&path, "/api/v1/namespaces/%s/%s", pod->namespace, resource);
        pod->preparations =
            memory_realloc(pod->preparations, (pod->preparation_count + 1) * sizeof(*pod->preparations));
        struct preparation *one = &pod->preparations[pod->preparation_count++];
        *one = (struct preparation){.path = buffer_take(&path), .body = json_dumps(object, JSON_COMPACT)};
        if (!make_change)
            continue;
        buffer_printf(&path, "%s/%s", one->path, kube_text_at(object, "metadata.name"));
        one->own_path = buffer_take(&path);
        one->change = dump(make_change(object));
    }
    json_decref(list);
}

// Credentials that the server keeps stand for secrets of their names: those are made before the pod that reads them.
static int write_secrets(struct kubernetes *kubernetes, const struct backend_pod *row, struct arena *arena,
                         json_t *out_list, struct error *err)
{
    const char *const *names;
    size_t name_count = kube_manifest_secret_names(row, arena, &names);
    for (size_t i = 0; kubernetes->vault && i < name_count; i++) {
        struct backend_secret_key *keys;
        struct error why = {0};
        size_t count;
        if (kubernetes->vault->read(kubernetes->vault->context, row->project_name, names[i], arena, &keys, &count,
                                    &why) == 0) {
            struct backend_made_secret made = {kube_manifest_namespace_of(&kubernetes->site, row, arena), names[i],
                                               row->project_name};
            json_array_append_new(out_list, kube_manifest_secret(&kubernetes->site, row, names[i], keys, count, arena));
            for (size_t k = 0; k < count; k++)
                sodium_memzero((char *)keys[k].value, keys[k].length);
            if (kubernetes->vault->note(kubernetes->vault->context, &made, &why) < 0)
                return error_set(err, why.code, "the credential %s: %s", names[i], why.message);
        } else if (why.code != ERROR_NOT_FOUND) {
            return error_set(err, why.code, "the credential %s: %s", names[i], why.message);
        }
    }
    return 0;
}

// The objects that the order asks for.
static int write_objects(struct kubernetes *kubernetes, struct ordered_pod *pod, const struct backend_pod *row,
                         struct error *err)
{
    json_t *object = NULL, *services = NULL, *claims = NULL;
    struct arena arena;
    arena_init(&arena);
    int rc = kube_manifest_pod(&kubernetes->site, row, &arena, &object, err);
    if (rc == 0)
        rc = kube_manifest_services(&kubernetes->site, row, &arena, &services, err);
    if (rc == 0)
        rc = kube_manifest_claims(&kubernetes->site, row, &arena, &claims, err);
    json_t *secrets = json_array();
    if (rc == 0)
        rc = write_secrets(kubernetes, row, &arena, secrets, err);
    forget_preparations(pod);
    free(pod->body);
    pod->body = NULL;
    if (rc == 0) {
        add_preparations(pod, secrets, "secrets", kube_manifest_secret_change);
        add_preparations(pod, services, "services", NULL);
        add_preparations(pod, claims, "persistentvolumeclaims", NULL);
        pod->body = dump(object);
    } else {
        json_decref(object);
        json_decref(services);
        json_decref(claims);
        json_decref(secrets);
    }
    arena_done(&arena);
    return rc;
}

// The gang that a pod of these orders belongs to: pods of one workload. NULL: it is alone.
static struct gang *find_gang(const struct kubernetes *kubernetes, const struct backend_order *orders, size_t until)
{
    for (size_t i = 0; i < until; i++) {
        if (orders[i].verb != BACKEND_START ||
            strcmp(orders[i].pod.workload_uuid, orders[until].pod.workload_uuid) != 0)
            continue;
        struct ordered_pod *pod = kube_index_find(&kubernetes->pods, orders[i].pod.uuid);
        if (pod && pod->gang && pod->decision == orders[i].decision)
            return pod->gang;
    }
    return NULL;
}

static void join(struct ordered_pod *pod, struct gang *gang)
{
    pod->gang = gang ? gang : memory_array(1, sizeof(*gang));
    pod->gang->members++;
    pod->gang->wanted++;
}

// Only noted: who is of a gang is known when all orders have been.
static void note_start(struct kubernetes *kubernetes, const struct backend_order *orders, size_t at)
{
    const struct backend_order *order = &orders[at];
    struct ordered_pod *pod = kube_index_find(&kubernetes->pods, order->pod.uuid);
    struct error err = {0};
    if (pod && (pod->decision >= order->decision || pod->wish != WISH_RUN ||
                (pod->step != POD_LACKING && pod->step != POD_ADOPTED))) {
        if (pod->decision < order->decision)
            pod->decision = order->decision;
        return;
    }
    pod = note_pod(kubernetes, &order->pod);
    pod->decision = order->decision;
    pod->step = POD_PREPARES;
    join(pod, find_gang(kubernetes, orders, at));
    if (write_objects(kubernetes, pod, &order->pod, &err) < 0)
        pod_steps_refuse(kubernetes, pod, "Invalid", err.message, err.code == ERROR_INVALID);
    else
        pod_notes_tell(kubernetes, &order->pod, order->decision);
}

// Takes over what the object says of it: rows know no more than whose it is.
static struct ordered_pod *note_stray(struct kubernetes *kubernetes, const char *uuid, int64_t grace_ms,
                                      const struct kube_pod *object)
{
    const char *workload = kube_meta_label(&object->meta, KUBE_WORKLOAD_LABEL);
    const char *project = kube_meta_label(&object->meta, KUBE_PROJECT_LABEL);
    struct ordered_pod *pod = memory_array(1, sizeof(*pod));
    snprintf(pod->uuid, sizeof(pod->uuid), "%s", uuid);
    pod->workload_uuid = memory_strdup(workload ? workload : "");
    pod->project_name = memory_strdup(project ? project : "");
    pod->namespace = memory_strdup(object->meta.namespace);
    pod->name = memory_strdup(object->meta.name);
    pod->node_name = memory_strdup(object->node_name);
    pod_object_found(pod, object->meta.uid);
    pod->grace_ms = grace_ms;
    pod->step = POD_BOUND;
    kube_index_set(&kubernetes->pods, pod->uuid, pod);
    return pod;
}

static void note_adoption(struct kubernetes *kubernetes, const struct backend_order *order)
{
    const struct own_object *object = kube_index_find(&kubernetes->objects, order->pod.uuid);
    if (kube_index_find(&kubernetes->pods, order->pod.uuid))
        return;
    if (!object) {
        kubernetes_tell(kubernetes, BACKEND_POD_UNKNOWN, order->pod.uuid, order->decision);
        return;
    }
    struct ordered_pod *pod = note_stray(kubernetes, order->pod.uuid, order->pod.grace_ms, &object->pod);
    kubernetes->nodes_changed = true; // what it holds is ours again
    own_objects_take(kubernetes, pod, &object->pod);
}

// Its mates were refused with it, and that is not told yet: whoever takes it elsewhere must not count on them.
static void tell_mates_refused(struct kubernetes *kubernetes, const struct ordered_pod *pod)
{
    size_t position = 0;
    struct kube_index_slot *place = NULL;
    for (struct ordered_pod *other; (other = kube_index_next(&kubernetes->pods, &position, &place));)
        if (other != pod && pod_is_refused(other) && strcmp(other->workload_uuid, pod->workload_uuid) == 0) {
            other->refused_until_us = 0;
            pod_steps_go_on(kubernetes, other);
        }
}

static void note_stop(struct kubernetes *kubernetes, const struct backend_order *order)
{
    struct ordered_pod *pod = kube_index_find(&kubernetes->pods, order->pod.uuid);
    if (!pod && !kubernetes->has_own) { // it may be there
        pod = note_pod(kubernetes, &order->pod);
        pod->step = POD_ADOPTED;
    }
    const struct own_object *object = kube_index_find(&kubernetes->objects, order->pod.uuid);
    if (!pod && object && !kube_pod_is_over(&object->pod)) { // a stray
        pod = note_stray(kubernetes, order->pod.uuid, order->pod.grace_ms, &object->pod);
    }
    if (!pod || pod->step == POD_ENDED) {
        kubernetes_tell(kubernetes, BACKEND_POD_GONE, order->pod.uuid, order->decision);
        return;
    }
    if (pod_is_refused(pod) && pod->wish == WISH_RUN)
        tell_mates_refused(kubernetes, pod);
    if (pod->decision < order->decision || pod->wish == WISH_RUN) {
        pod->decision = order->decision;
        pod->grace_ms = order->pod.grace_ms;
        pod->wish = pod->wish == WISH_FORGET ? WISH_FORGET : WISH_STOP;
        pod->again_us = 0;
        pod->gives_way = order->pod.stop_reason && (strcmp(order->pod.stop_reason, "Preempted") == 0 ||
                                                    strcmp(order->pod.stop_reason, "Consolidated") == 0);
        snprintf(pod->stop_reason, sizeof(pod->stop_reason), "%s",
                 order->pod.stop_reason ? order->pod.stop_reason : "");
    }
}

// Its end is written. What is left of it in the cluster stays, with its log, until its workload goes.
static void note_forget(struct kubernetes *kubernetes, const struct backend_order *order)
{
    struct ordered_pod *pod = kube_index_find(&kubernetes->pods, order->pod.uuid);
    if (pod && (pod->step == POD_ENDED || pod->object == OBJECT_NONE))
        ordered_pods_remove(kubernetes, pod);
    else if (pod) {
        pod->wish = WISH_FORGET;
        kubernetes->nodes_changed = true;
    }
}

static void go_on_all(struct kubernetes *kubernetes, const struct backend_order *orders, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ordered_pod *pod =
            orders[i].verb == BACKEND_CLEAR ? NULL : kube_index_find(&kubernetes->pods, orders[i].pod.uuid);
        if (pod)
            pod_steps_go_on(kubernetes, pod);
    }
}

void ordered_pods_apply(void *backend, const struct backend_order *orders, size_t count)
{
    struct kubernetes *kubernetes = backend;
    pthread_mutex_lock(&kubernetes->lock);
    for (size_t i = 0; i < count; i++) {
        switch (orders[i].verb) {
        case BACKEND_START:
            note_start(kubernetes, orders, i);
            break;
        case BACKEND_STOP:
            note_stop(kubernetes, &orders[i]);
            break;
        case BACKEND_FORGET:
            note_forget(kubernetes, &orders[i]);
            break;
        case BACKEND_CLEAR:
            pod_steps_clear(kubernetes, orders[i].pod.workload_uuid);
            break;
        case BACKEND_ADOPT:
            note_adoption(kubernetes, &orders[i]);
            break;
        }
    }
    go_on_all(kubernetes, orders, count);
    pthread_cond_signal(&kubernetes->changed);
    pthread_mutex_unlock(&kubernetes->lock);
}

void ordered_pods_ask_again(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    if (!(pod->told & TOLD_UNKNOWN))
        kubernetes_tell(kubernetes, BACKEND_POD_UNKNOWN, pod->uuid, pod->decision);
    pod->told |= TOLD_UNKNOWN;
}

static void compare(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    const struct own_object *object = kube_index_find(&kubernetes->objects, pod->uuid);
    pod->step = POD_LACKING;
    if (!object) {
        pod->is_looking = true; // somebody may have taken its label off: then it is there, and holds its devices
        return;
    }
    if (!object->pod.node_name[0] && pod->wish == WISH_RUN && !kube_pod_is_over(&object->pod)) {
        pod_object_found(pod, object->pod.meta.uid);
        ordered_pods_ask_again(kubernetes, pod); // it is to be bound with its gang
        return;
    }
    own_objects_take(kubernetes, pod, &object->pod);
}

void ordered_pods_compare(struct kubernetes *kubernetes)
{
    size_t position = 0, adopted = 0;
    struct kube_index_slot *place = NULL;
    for (struct ordered_pod *pod; (pod = kube_index_next(&kubernetes->pods, &position, &place));)
        if (pod->step == POD_ADOPTED) {
            adopted++;
            compare(kubernetes, pod);
        }
    if (adopted)
        log_write(LOG_INFO, "backends", "compared pods with the cluster rows=%zu objects=%zu", adopted,
                  kubernetes->objects.count);
    position = 0;
    place = NULL;
    for (struct ordered_pod *pod; (pod = kube_index_next(&kubernetes->pods, &position, &place));)
        pod_steps_go_on(kubernetes, pod);
}

int ordered_pods_adopt(void *backend, const struct backend_rows *rows, struct error *err)
{
    struct kubernetes *kubernetes = backend;
    (void)err;
    pthread_mutex_lock(&kubernetes->lock);
    for (size_t i = 0; i < rows->pod_count; i++) {
        const struct backend_pod *row = &rows->pods[i];
        if (row->completed_ms || !row->node_name || kube_index_find(&kubernetes->pods, row->uuid))
            continue;
        struct ordered_pod *pod = note_pod(kubernetes, row);
        pod->step = POD_ADOPTED;
        pod->wish = row->stopping_ms ? WISH_STOP : WISH_RUN;
        pod->told = row->started_ms ? TOLD_RUNNING : 0;
    }
    kubernetes->has_rows = true;
    if (kubernetes->has_own)
        ordered_pods_compare(kubernetes);
    pthread_mutex_unlock(&kubernetes->lock);
    return 0;
}
