// What the backend measures of devices, for who asks.
#include "reconciler/state.h"

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
