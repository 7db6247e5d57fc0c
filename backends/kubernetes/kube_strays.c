// Pods with our label that no row asks for: of a time after a backup that was put back. They hold what they hold as
// pods of others do, until somebody ends or adopts them.
#include "backends/kubernetes/kubernetes_state.h"

#include <stdio.h>
#include <string.h>

static void describe(const struct own_object *object, struct arena *arena, struct backend_stray *out)
{
    const struct kube_pod *pod = &object->pod;
    const char *project = kube_meta_label(&pod->meta, KUBE_PROJECT_LABEL);
    const char *workload = kube_meta_annotation(&pod->meta, KUBE_WORKLOAD_ANNOTATION);
    *out = (struct backend_stray){
        .project_name = arena_strdup(arena, project ? project : ""),
        .workload_name = arena_strdup(arena, workload ? workload : ""),
        .since_ms = pod->started_ms,
        .is_ending = pod->meta.deletion_ms != 0,
        .record = arena_strdup(arena, kube_meta_annotation(&pod->meta, KUBE_RECORD_ANNOTATION)),
        .node_name = arena_strdup(arena, pod->node_name),
    };
    snprintf(out->uuid, sizeof(out->uuid), "%s", object->uuid);
}

size_t kube_strays_list(void *backend, struct arena *arena, struct backend_stray **out_strays)
{
    struct kubernetes *kubernetes = backend;
    size_t position = 0, count = 0;
    struct kube_index_slot *place = NULL;
    pthread_mutex_lock(&kubernetes->lock);
    *out_strays = arena_array(arena, kubernetes->objects.count, sizeof(**out_strays));
    for (const struct own_object *object; (object = kube_index_next(&kubernetes->objects, &position, &place));)
        if (kubernetes->has_own && object->uuid[0] && object->pod.node_name[0] && !kube_pod_is_over(&object->pod) &&
            !kube_index_find(&kubernetes->pods, object->uuid))
            describe(object, arena, &(*out_strays)[count++]);
    pthread_mutex_unlock(&kubernetes->lock);
    return count;
}
