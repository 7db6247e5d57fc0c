// What pods say, shells in them, and their ports: by the names that pods have in the cluster. Nothing waits with the
// lock held.
#include "backends/kubernetes/kubernetes_state.h"
#include "backends/kubernetes/streams/kube_logs.h"
#include "backends/kubernetes/streams/kube_sessions.h"
#include "base/error.h"

// What the cluster shows of a pod at present.
struct glance {
    bool is_known, runs, is_over;
};

static struct glance look_at(struct kubernetes *kubernetes, const char *pod_uuid)
{
    struct glance glance = {.is_known = false};
    pthread_mutex_lock(&kubernetes->lock);
    const struct own_object *object = kube_index_find(&kubernetes->objects, pod_uuid);
    if (object)
        glance = (struct glance){true, object->pod.life == KUBE_POD_RUNNING, kube_pod_is_over(&object->pod)};
    pthread_mutex_unlock(&kubernetes->lock);
    return glance;
}

int pod_streams_logs(void *backend, const struct backend_log_request *request, struct buffer *out,
                     int64_t *out_position, bool *out_ended, struct error *err)
{
    struct kubernetes *kubernetes = backend;
    struct arena arena;
    arena_init(&arena);
    struct kube_log_source source = {
        .access = kubernetes->access,
        .namespace = kube_manifest_namespace_of(&kubernetes->site, &request->pod, &arena),
        .name = kube_manifest_pod_name(&request->pod, &arena),
        .is_over = request->pod.completed_ms != 0 || look_at(kubernetes, request->pod.uuid).is_over,
    };
    int rc = kube_logs_read(&source, request, out, out_position, out_ended, err);
    arena_done(&arena);
    return rc;
}

int pod_streams_open(void *backend, const struct backend_session_request *request, struct backend_session *out,
                     struct error *err)
{
    struct kubernetes *kubernetes = backend;
    struct glance glance = look_at(kubernetes, request->pod.uuid);
    struct arena arena;
    if (glance.is_known && !glance.runs)
        return error_set(err, ERROR_CONFLICT, "the pod does not run");
    arena_init(&arena);
    int rc =
        kube_sessions_open(kubernetes->sessions, kube_manifest_namespace_of(&kubernetes->site, &request->pod, &arena),
                           kube_manifest_pod_name(&request->pod, &arena), request, out, err);
    arena_done(&arena);
    return rc;
}

int pod_streams_open_port(void *backend, const struct backend_port_request *request, int *out_fd, struct error *err)
{
    struct kubernetes *kubernetes = backend;
    struct glance glance = look_at(kubernetes, request->pod.uuid);
    struct arena arena;
    if (glance.is_known && !glance.runs)
        return error_set(err, ERROR_CONFLICT, "the pod does not run");
    arena_init(&arena);
    int rc = kube_sessions_open_port(kubernetes->sessions,
                                     kube_manifest_namespace_of(&kubernetes->site, &request->pod, &arena),
                                     kube_manifest_pod_name(&request->pod, &arena), request, out_fd, err);
    arena_done(&arena);
    return rc;
}
