#include "api/http/connections.h"
#include "api/http/sockets.h"
#include "base/arena.h"
#include "base/places.h"
#include "base/timestamp.h"
#include <stdlib.h>
#include <string.h>

void connections_init(struct connections *connections, size_t worker_count)
{
    connections->workers = memory_array(worker_count, sizeof(*connections->workers));
    connections->worker_count = worker_count;
    connections->max_per_address = places_part(PLACE_CONNECTIONS, worker_count);
}

void connections_done(struct connections *connections)
{
    free(connections->workers);
    connections->workers = NULL;
}

struct worker *connections_add_worker(struct connections *connections)
{
    size_t index = atomic_fetch_add(&connections->worker_next, 1);
    return index < connections->worker_count ? &connections->workers[index] : NULL;
}

enum worker_state worker_enter(struct worker *worker, enum worker_state state)
{
    if (!worker)
        return state;
    atomic_store_explicit(&worker->since_us, timestamp_monotonic_us(), memory_order_relaxed);
    atomic_store_explicit(&worker->was_cut, false, memory_order_relaxed);
    return (enum worker_state)atomic_exchange(&worker->state, (int)state);
}

void worker_know(struct worker *worker, const struct connection_ends *ends, uint32_t client)
{
    if (!worker)
        return;
    atomic_store_explicit(&worker->client, client, memory_order_relaxed);
    atomic_store(&worker->ends, connection_ends_pack(ends));
}

bool worker_was_cut(const struct worker *worker)
{
    return worker && atomic_load_explicit(&worker->was_cut, memory_order_relaxed);
}

void connections_open(struct connections *connections, struct worker *worker)
{
    atomic_fetch_add(&connections->held_count, 1);
    if (worker)
        atomic_store(&worker->ends, 0);
    worker_enter(worker, WORKER_HEAD);
}

void connections_close(struct connections *connections, struct worker *worker)
{
    if (worker)
        atomic_store(&worker->ends, 0);
    worker_enter(worker, WORKER_FREE);
    atomic_fetch_sub(&connections->held_count, 1);
}

bool connections_are_many(const struct connections *connections)
{
    return atomic_load_explicit(&connections->held_count, memory_order_relaxed) > connections->max_per_address;
}

bool connections_are_scarce(const struct connections *connections)
{
    return atomic_load_explicit(&connections->held_count, memory_order_relaxed) * 4 > connections->worker_count * 3;
}

bool connections_is_proxy(const struct connections *connections, uint32_t address)
{
    for (size_t i = 0; i < connections->proxy_count; i++) {
        if (connections->proxies[i] == address)
            return true;
    }
    return false;
}

void connections_count(const struct connections *connections, size_t out_counts[WORKER_STATE_COUNT])
{
    memset(out_counts, 0, WORKER_STATE_COUNT * sizeof(*out_counts));
    for (size_t i = 0; i < connections->worker_count; i++)
        out_counts[atomic_load_explicit(&connections->workers[i].state, memory_order_relaxed)]++;
}
