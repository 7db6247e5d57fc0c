#include "api/http/connection_cuts.h"
#include "api/http/connections.h"
#include "api/http/peers.h"
#include "api/http/sockets.h"
#include "base/arena.h"
#include "base/timestamp.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ANSWER_IS_SLOW_US = 25000,
    CUT_IS_DONE_US = 1000000
};

// In the order in which they are worth keeping.
enum worth {
    WORTH_BUSY,    // a worker is at work for it
    WORTH_WAITING, // has sent something that no worker has read yet
    WORTH_SLOW,    // a worker waits for it
    WORTH_IDLE     // and there is nothing begun
};

struct held {
    int fd;
    uint64_t ends;
    uint64_t group; // who it is counted for
    uint32_t address;
    enum worker_state state;
    enum worth worth;
    int64_t since_us;
    struct worker *worker; // NULL where none names it
    size_t rank;           // among its group's, from what is most worth keeping
    bool has_share;
    bool is_cut;
};

struct held_list {
    struct arena arena;
    struct held *items;
    size_t count, capacity;
};

void connection_cuts_done(struct connection_cuts *cuts)
{
    free(cuts->seen);
    *cuts = (struct connection_cuts){0};
}

static bool is_ours(const struct connections *connections, const struct connection_ends *ends)
{
    size_t port_count = atomic_load(&connections->port_count);
    for (size_t i = 0; i < port_count; i++) {
        if (connections->ports[i] == ends->local_port)
            return ends->remote_port != 0;
    }
    return false;
}

static struct seen_socket *seen_before(struct connection_cuts *cuts, int fd, uint64_t ends, int64_t now_us)
{
    size_t index = (size_t)fd;
    if (index >= cuts->seen_count) {
        size_t count = (index + 1) * 2;
        struct seen_socket *seen = memory_array(count, sizeof(*seen));
        for (size_t i = 0; i < cuts->seen_count; i++)
            seen[i] = cuts->seen[i];
        free(cuts->seen);
        cuts->seen = seen;
        cuts->seen_count = count;
    }
    if (cuts->seen[index].ends != ends)
        cuts->seen[index] = (struct seen_socket){.ends = ends, .since_us = now_us};
    return &cuts->seen[index];
}

static struct worker *find_worker(const struct connections *connections, uint64_t ends)
{
    for (size_t i = 0; i < connections->worker_count; i++) {
        if (atomic_load_explicit(&connections->workers[i].ends, memory_order_relaxed) == ends)
            return &connections->workers[i];
    }
    return NULL;
}

static bool has_unread(int fd)
{
    int size = 0;
    return ioctl(fd, FIONREAD, &size) == 0 && size > 0;
}

static enum worth worth_of(const struct held *held, int64_t now_us)
{
    switch (held->state) {
    case WORKER_BODY:
        return WORTH_SLOW;
    case WORKER_ANSWER:
        return now_us - held->since_us > ANSWER_IS_SLOW_US ? WORTH_SLOW : WORTH_BUSY;
    case WORKER_HEAD:
    case WORKER_IDLE:
        if (has_unread(held->fd))
            return WORTH_WAITING;
        return held->state == WORKER_HEAD ? WORTH_SLOW : WORTH_IDLE;
    default:
        return WORTH_BUSY;
    }
}

struct look {
    struct connection_cuts *cuts;
    const struct connections *connections;
    struct held_list *list;
    int64_t now_us;
};

static bool look_at(int fd, const struct connection_ends *ends, void *context)
{
    const struct look *look = context;
    struct held_list *list = look->list;
    uint64_t packed = connection_ends_pack(ends);
    if (!is_ours(look->connections, ends))
        return false;
    struct held held = {.fd = fd,
                        .ends = packed,
                        .state = WORKER_HEAD,
                        .group = ends->remote_address,
                        .address = ends->remote_address,
                        .has_share = true};
    const struct seen_socket *seen = seen_before(look->cuts, fd, packed, look->now_us);
    held.since_us = seen->since_us;
    // It goes as soon as its worker looks. The ends may come back with another connection, so this is believed for a
    // while.
    held.is_cut = seen->cut_us != 0 && look->now_us - seen->cut_us < CUT_IS_DONE_US;
    held.worker = find_worker(look->connections, packed);
    if (held.worker) {
        held.state = (enum worker_state)atomic_load(&held.worker->state);
        held.since_us = atomic_load_explicit(&held.worker->since_us, memory_order_relaxed);
    }
    if (connections_is_proxy(look->connections, ends->remote_address)) {
        uint32_t client = held.worker ? atomic_load_explicit(&held.worker->client, memory_order_relaxed) : 0;
        held.group = client != 0 && client != ends->remote_address ? client : packed;
        held.address = client ? client : ends->remote_address;
        held.has_share = false;
    }
    // Its user's share is kept where it comes in: daemon/socket_relay.h.
    if (look->connections->peers && peers_is_relay(look->connections->peers, ends)) {
        held.group = packed;
        held.has_share = false;
    }
    held.worth = worth_of(&held, look->now_us);
    list->items = arena_grow(&list->arena, list->items, &list->capacity, list->count + 1, sizeof(*list->items));
    list->items[list->count++] = held;
    return false;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

// Groups together; in one, the most worth first: by what is done for it, then younger first.
static int compare_worth(const void *left, const void *right)
{
    const struct held *a = left, *b = right;
    if (a->group != b->group)
        return compare_numbers(a->group, b->group);
    if (a->worth != b->worth)
        return (int)a->worth - (int)b->worth;
    if (a->since_us != b->since_us)
        return a->since_us > b->since_us ? -1 : 1;
    return compare_numbers(a->ends, b->ends);
}

// Who goes first: of who holds most; then what is idle; then the oldest.
static int compare_loss(const void *left, const void *right)
{
    const struct held *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    if (a->worth != b->worth)
        return (int)b->worth - (int)a->worth;
    if (a->since_us != b->since_us)
        return a->since_us < b->since_us ? -1 : 1;
    return compare_numbers(a->ends, b->ends);
}

static void rank(struct held_list *list)
{
    if (list->count > 0)
        qsort(list->items, list->count, sizeof(*list->items), compare_worth);
    for (size_t i = 1; i < list->count; i++)
        list->items[i].rank = list->items[i].group == list->items[i - 1].group ? list->items[i - 1].rank + 1 : 0;
}

// Returns whether it was still the same. The descriptor may have been closed since, and given to something else: only a
// copy of it can be looked at and then cut without becoming another one in between.
static bool cut(struct connection_cuts *cuts, struct held *held)
{
    int how = held->worth == WORTH_BUSY || held->state == WORKER_ANSWER ? SHUT_RDWR : SHUT_RD;
    struct connection_ends ends;
    int copy = fcntl(held->fd, F_DUPFD_CLOEXEC, 3);
    held->is_cut = true;
    if (copy < 0)
        return false;
    bool has_moved_on = held->worker && (atomic_load(&held->worker->state) != (int)held->state ||
                                         atomic_load(&held->worker->ends) != held->ends);
    bool is_same = !has_moved_on && socket_ends(copy, &ends) && connection_ends_pack(&ends) == held->ends;
    if (is_same) {
        if (held->worker)
            atomic_store_explicit(&held->worker->was_cut, true, memory_order_relaxed);
        shutdown(copy, how);
        cuts->cut_address = held->address;
        cuts->seen[held->fd].cut_us = timestamp_monotonic_us();
    }
    close(copy);
    return is_same;
}

static void cut_beyond_shares(struct connection_cuts *cuts, const struct connections *connections,
                              struct held_list *list, size_t out_counts[CUT_REASON_COUNT])
{
    for (size_t i = 0; i < list->count; i++) {
        struct held *held = &list->items[i];
        if (held->has_share && !held->is_cut && held->rank >= connections->max_per_address)
            out_counts[CUT_SHARE] += cut(cuts, held);
    }
}

static enum cut_reason reason_of(const struct held *held)
{
    switch (held->state) {
    case WORKER_IDLE:
        return CUT_IDLE;
    case WORKER_BODY:
        return CUT_BODY;
    case WORKER_ANSWER:
        return CUT_ANSWER;
    default:
        return CUT_HEAD;
    }
}

// How many may be slow. Requests that run have the better right to a worker.
static size_t slow_max(const struct connections *connections)
{
    size_t counts[WORKER_STATE_COUNT], half = connections->worker_count / 2, quarter = connections->worker_count / 4;
    connections_count(connections, counts);
    size_t busy = counts[WORKER_REQUEST] + counts[WORKER_STREAM];
    return busy < half - quarter ? half - busy : quarter;
}

static void cut_slow(struct connection_cuts *cuts, const struct connections *connections, struct held_list *list,
                     size_t out_counts[CUT_REASON_COUNT])
{
    size_t slow_count = 0, max = slow_max(connections);
    qsort(list->items, list->count, sizeof(*list->items), compare_loss);
    for (size_t i = 0; i < list->count; i++)
        slow_count += !list->items[i].is_cut && list->items[i].worth >= WORTH_SLOW;
    for (size_t i = 0; i < list->count && slow_count > max; i++) {
        struct held *held = &list->items[i];
        if (held->is_cut || held->worth < WORTH_SLOW)
            continue;
        out_counts[reason_of(held)] += cut(cuts, held);
        slow_count--;
    }
}

void connection_cuts_pass(struct connection_cuts *cuts, struct connections *connections,
                          size_t out_counts[CUT_REASON_COUNT])
{
    struct held_list list = {0};
    arena_init(&list.arena);
    sockets_visit(look_at, &(struct look){cuts, connections, &list, timestamp_monotonic_us()});
    rank(&list);
    cut_beyond_shares(cuts, connections, &list, out_counts);
    if (list.count > 0 && connections_are_scarce(connections))
        cut_slow(cuts, connections, &list, out_counts);
    arena_done(&list.arena);
}
