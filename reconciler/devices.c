// What the backend measures of devices, what it runs that no row asks for, and which volumes it makes, for who asks.
#include "base/error.h"
#include "reconciler/state.h"

#include <string.h>

size_t reconciler_read_devices(const struct reconciler *reconciler, const char *node_name, struct arena *arena,
                               struct reconciler_device **out_devices)
{
    const struct backend *backend = reconciler->backend;
    struct backend_device *devices;
    size_t count =
        backend->ops->read_devices ? backend->ops->read_devices(backend->self, node_name, arena, &devices) : 0;
    *out_devices = arena_array(arena, count, sizeof(**out_devices));
    for (size_t i = 0; i < count; i++) {
        const struct backend_device *from = &devices[i];
        struct reconciler_device *to = &(*out_devices)[i];
        *to = (struct reconciler_device){
            from->name,        from->is_healthy,  from->reason, from->memory_mib,   from->memory_used_mib,
            from->utilization, from->temperature, NULL,         from->process_count};
        to->processes = arena_array(arena, from->process_count, sizeof(*to->processes));
        for (size_t k = 0; k < from->process_count; k++) {
            const struct backend_process *process = &from->processes[k];
            to->processes[k] = (struct reconciler_process){process->pid, process->memory_mib, process->user,
                                                           process->command, process->pod_uuid};
        }
    }
    return count;
}

const char *reconciler_cluster_uuid(struct reconciler *reconciler, struct arena *arena)
{
    const struct reconciler_view *view = reconciler_acquire_view(reconciler);
    const char *uuid = arena_strdup(arena, reconciler_view_cluster_uuid(view));
    reconciler_release_view(reconciler, view);
    return uuid;
}

int reconciler_list_storage_classes(const struct reconciler *reconciler, struct arena *arena,
                                    struct reconciler_storage_class **out_classes, size_t *out_count, struct error *err)
{
    const struct backend *backend = reconciler->backend;
    struct backend_storage_class *classes;
    *out_count = 0;
    *out_classes = NULL;
    if (!backend->ops->list_storage_classes)
        return 0;
    if (backend->ops->list_storage_classes(backend->self, arena, &classes, out_count, err) < 0)
        return -1;
    *out_classes = arena_array(arena, *out_count, sizeof(**out_classes));
    for (size_t i = 0; i < *out_count; i++)
        (*out_classes)[i] = (struct reconciler_storage_class){classes[i].name, classes[i].provisioner,
                                                              classes[i].can_expand, classes[i].is_default};
    return 0;
}

size_t reconciler_list_strays(const struct reconciler *reconciler, struct arena *arena,
                              struct reconciler_stray **out_strays)
{
    const struct backend *backend = reconciler->backend;
    struct backend_stray *strays;
    size_t count = backend->ops->list_strays ? backend->ops->list_strays(backend->self, arena, &strays) : 0;
    *out_strays = arena_array(arena, count, sizeof(**out_strays));
    for (size_t i = 0; i < count; i++) {
        const struct backend_stray *from = &strays[i];
        (*out_strays)[i] = (struct reconciler_stray){arena_strdup(arena, from->uuid),
                                                     from->project_name,
                                                     from->workload_name,
                                                     from->gpus,
                                                     from->pid,
                                                     from->since_ms,
                                                     from->is_ending,
                                                     from->record,
                                                     from->node_name};
    }
    return count;
}

int reconciler_end_stray(const struct reconciler *reconciler, const char *uuid, struct error *err)
{
    enum {
        GRACE_MS = 30 * 1000 // as of a workload that says nothing of it
    };
    const struct backend *backend = reconciler->backend;
    struct reconciler_stray *strays;
    struct arena arena;
    bool is_found = false;
    arena_init(&arena);
    size_t count = reconciler_list_strays(reconciler, &arena, &strays);
    for (size_t i = 0; i < count && !is_found; i++)
        is_found = strcmp(strays[i].uuid, uuid) == 0;
    arena_done(&arena);
    if (!is_found)
        return error_set(err, ERROR_NOT_FOUND, "pod %s: not among those that run without a row", uuid);
    struct backend_order order = {.verb = BACKEND_STOP, .pod = {.uuid = uuid, .grace_ms = GRACE_MS}};
    backend->ops->apply(backend->self, &order, 1);
    return 0;
}

void reconciler_adopt_strays(struct reconciler *reconciler, const struct reconciler_adopted *pods, size_t count)
{
    const struct backend *backend = reconciler->backend;
    for (size_t i = 0; i < count; i++) {
        struct backend_order order = {.verb = BACKEND_ADOPT,
                                      .pod = {.uuid = pods[i].uuid,
                                              .workload_uuid = pods[i].workload_uuid,
                                              .project_name = pods[i].project_name,
                                              .gpu_indices = pods[i].gpu_indices,
                                              .gpu_index_count = pods[i].gpu_index_count,
                                              .gpu_milli = pods[i].gpu_milli,
                                              .grace_ms = pods[i].grace_ms}};
        backend->ops->apply(backend->self, &order, 1);
    }
}

size_t devices_count_strays(const struct reconciler *reconciler)
{
    struct reconciler_stray *strays;
    struct arena arena;
    arena_init(&arena);
    size_t count = reconciler_list_strays(reconciler, &arena, &strays);
    arena_done(&arena);
    return count;
}
