// Where inferences and their replicas answer on this machine. A replica listens on a port of its own, which it is told
// in PORT; the inference's own port is held by the relay.
#include "backends/local/local_state.h"
#include "backends/local/serving/listener.h"
#include "backends/local/serving/relay.h"
#include "base/arena.h"
#include "base/timestamp.h"

#include <stdio.h>

static void note_call(void *context)
{
    struct local *local = context;
    pthread_mutex_lock(&local->lock);
    bool is_known = local->facts.count > 0 && local->facts.items[local->facts.count - 1].kind == BACKEND_SERVICE_CALLED;
    if (!is_known)
        report_fact(local, BACKEND_SERVICE_CALLED, "", 0, timestamp_now_ms());
    pthread_mutex_unlock(&local->lock);
    if (local->wake)
        local->wake(local->wake_context);
}

int addresses_open(struct local *local, struct error *err)
{
    return inference_relay_create(local->options.inference_address, local->options.places, note_call, local,
                                  &local->relay, err);
}

int addresses_choose(void *backend, const char *workload_uuid, char *out, size_t size, struct error *err)
{
    const struct local *local = backend;
    return inference_relay_choose(local->relay, workload_uuid, out, size, err);
}

// False: it has none.
static bool find_target(const struct local *local, const char *pod_uuid, struct relay_target *out_target)
{
    const struct local_pod *pod = local_pods_find(&local->pods, pod_uuid);
    if (!pod || pod->ports.count != 2)
        return false;
    *out_target = (struct relay_target){(uint16_t)pod->ports.first, pod->user};
    return true;
}

bool addresses_find(void *backend, const char *pod_uuid, bool is_page, char *out, size_t size)
{
    struct local *local = backend;
    pthread_mutex_lock(&local->lock);
    struct relay_target target;
    bool is_there = find_target(local, pod_uuid, &target);
    pthread_mutex_unlock(&local->lock);
    uint16_t port = is_there ? (uint16_t)(target.port + is_page) : 0;
    if (!is_there || listener_owner_of(port, target.user) == LISTENER_FOREIGN)
        return false;
    snprintf(out, size, "127.0.0.1:%u", (unsigned)port);
    return true;
}

// The relay's lock is never taken under ours: its thread takes ours under its own.
void addresses_serve(void *backend, const struct backend_service *services, size_t count)
{
    struct local *local = backend;
    struct arena arena;
    arena_init(&arena);
    struct relay_service *held = arena_array(&arena, count, sizeof(*held));
    pthread_mutex_lock(&local->lock);
    for (size_t i = 0; i < count; i++) {
        struct relay_target *targets = arena_array(&arena, services[i].pod_count, sizeof(*targets));
        held[i] = (struct relay_service){.uuid = services[i].workload_uuid,
                                         .address = services[i].address,
                                         .targets = targets,
                                         .wait_ms = services[i].wait_ms};
        for (size_t k = 0; k < services[i].pod_count; k++) {
            struct relay_target target;
            if (find_target(local, services[i].pod_uuids[k], &target))
                targets[held[i].target_count++] = target;
        }
    }
    pthread_mutex_unlock(&local->lock);
    inference_relay_set(local->relay, held, count);
    arena_done(&arena);
}

bool addresses_read(void *backend, const char *workload_uuid, struct backend_service_state *out)
{
    const struct local *local = backend;
    struct relay_state state;
    if (!inference_relay_read(local->relay, workload_uuid, &state))
        return false;
    *out = (struct backend_service_state){state.open, state.waiting, state.quiet_ms};
    return true;
}
