// Where inferences and their replicas answer on this machine. A replica listens on a port of its own, which it is told
// in PORT; the inference's own port is held by the relay.
#include "backends/local/local_state.h"
#include "backends/local/serving/relay.h"
#include "base/arena.h"
#include "base/timestamp.h"

#include <inttypes.h>
#include <stdio.h>

static void note_call(void *context)
{
    struct local *local = context;
    pthread_mutex_lock(&local->lock);
    bool is_known = local->fact_count > 0 && local->facts[local->fact_count - 1].kind == BACKEND_SERVICE_CALLED;
    if (!is_known)
        report_fact(local, BACKEND_SERVICE_CALLED, "", 0, timestamp_now_ms());
    pthread_mutex_unlock(&local->lock);
    if (local->wake)
        local->wake(local->wake_context);
}

int addresses_open(struct local *local, struct error *err)
{
    return inference_relay_create(local->options.inference_address, note_call, local, &local->relay, err);
}

int addresses_choose(void *backend, const char *workload_uuid, char *out, size_t size, struct error *err)
{
    const struct local *local = backend;
    return inference_relay_choose(local->relay, workload_uuid, out, size, err);
}

// 0: it has none.
static int64_t port_of(const struct local *local, const char *pod_uuid)
{
    const struct local_pod *pod = local_pods_find(&local->pods, pod_uuid);
    return pod && pod->ports.count == 2 ? pod->ports.first : 0;
}

bool addresses_find(void *backend, const char *pod_uuid, bool is_page, char *out, size_t size)
{
    struct local *local = backend;
    pthread_mutex_lock(&local->lock);
    int64_t port = port_of(local, pod_uuid);
    pthread_mutex_unlock(&local->lock);
    if (port)
        snprintf(out, size, "127.0.0.1:%" PRId64, port + is_page);
    return port != 0;
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
        uint16_t *ports = arena_array(&arena, services[i].pod_count, sizeof(*ports));
        held[i] = (struct relay_service){.uuid = services[i].workload_uuid,
                                         .address = services[i].address,
                                         .targets = ports,
                                         .wait_ms = services[i].wait_ms};
        for (size_t k = 0; k < services[i].pod_count; k++) {
            int64_t port = port_of(local, services[i].pod_uuids[k]);
            if (port)
                ports[held[i].target_count++] = (uint16_t)port;
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
