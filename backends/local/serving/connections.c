#include "backends/local/serving/callers.h"
#include "backends/local/serving/listener.h"
#include "backends/local/serving/relay_state.h"
#include "base/arena.h"
#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ANSWER_GOES_ON_MS = 5000 // after its last byte
};
static const int64_t SILENT_MS = PLACE_SECONDS_INFERENCES * INT64_C(1000);

static void close_end(struct relay *relay, struct end *end)
{
    if (end->fd < 0)
        return;
    relay_watch(relay, end, 0);
    close(end->fd);
    end->fd = -1;
}

// Freed by the next tick: an event of the present turn may still name it.
static void end_connection(struct relay *relay, struct connection *connection)
{
    if (connection->is_dead)
        return;
    struct held_service *service = connection->service;
    close_end(relay, &connection->client);
    close_end(relay, &connection->replica);
    if (connection->is_open)
        service->open--;
    else
        service->waiting--;
    service->quiet_since_ms = relay_now_ms();
    connection->is_dead = true;
    relay->holders[connection->place] = NULL;
    places_give_back(&relay->places, connection->place);
}

static bool begin_connect(struct relay *relay, struct connection *connection)
{
    struct held_service *service = connection->service;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (connection->replica.fd >= 0 || service->target_count == 0 || connection->tries >= service->target_count)
        return false;
    connection->tries++;
    connection->target = service->targets[service->next_target++ % service->target_count];
    address.sin_port = htons(connection->target.port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 && errno != EINPROGRESS) {
        close(fd);
        return false;
    }
    connection->replica.fd = fd;
    connection->replica.events = 0;
    relay_watch(relay, &connection->replica, EPOLLOUT);
    return true;
}

static void try_targets(struct relay *relay, struct connection *connection)
{
    while (connection->tries < connection->service->target_count)
        if (begin_connect(relay, connection))
            return;
}

// Whether a place is had, for which another's connection may have ended.
static bool take_place(struct relay *relay, const struct held_service *service, int fd, int *out_place)
{
    char caller[CALLER_SIZE];
    caller_of(fd, caller);
    struct place_claim claim = {.holder = caller, .workload = service->uuid, .socket = -1};
    int way = places_find_way(&relay->places, &claim, relay_now_ms());
    if (way >= 0)
        end_connection(relay, relay->holders[way]);
    return places_take(&relay->places, &claim, out_place, NULL) == 0;
}

// Idle is a connection on which nothing was asked, or what was asked has been answered a while ago.
static void note_use(struct relay *relay, struct connection *connection, bool is_asked)
{
    connection->moved_ms = relay_now_ms();
    places_note_use(&relay->places, connection->place, connection->moved_ms,
                    is_asked ? INT64_MAX : connection->moved_ms + (connection->is_open ? ANSWER_GOES_ON_MS : 0));
}

void connections_accept(struct relay *relay, struct held_service *service)
{
    int fd = accept4(service->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
            relay_watch(relay, &service->listener, 0); // the next tick listens again
        return;
    }
    int place;
    if (!take_place(relay, service, fd, &place)) {
        close(fd);
        return;
    }
    struct connection *connection = memory_array(1, sizeof(*connection));
    connection->service = service;
    connection->place = place;
    connection->client = (struct end){.kind = END_CLIENT, .fd = fd, .owner = connection};
    connection->replica = (struct end){.kind = END_REPLICA, .fd = -1, .owner = connection};
    connection->until_ms = relay_now_ms() + service->wait_ms;
    connection->next = relay->connections;
    relay->connections = connection;
    relay->holders[place] = connection;
    note_use(relay, connection, false);
    service->waiting++;
    relay_watch(relay, &connection->client, EPOLLRDHUP);
    try_targets(relay, connection);
    if (connection->replica.fd < 0)
        relay->wake(relay->context);
}

// From one end towards the other, as far as both go. False: it is broken.
static bool pump(struct end *source, struct end *sink, struct pipe_buffer *buffer, bool *out_has_moved)
{
    if (buffer->begin == buffer->end && !buffer->is_ended) {
        ssize_t count = recv(source->fd, buffer->bytes, sizeof(buffer->bytes), 0);
        if (count < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        buffer->is_ended = count == 0;
        buffer->begin = 0;
        buffer->end = count > 0 ? (size_t)count : 0;
    }
    if (buffer->begin < buffer->end) {
        ssize_t count =
            send(sink->fd, buffer->bytes + buffer->begin, buffer->end - buffer->begin, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        buffer->begin += count > 0 ? (size_t)count : 0;
        *out_has_moved |= count > 0;
    }
    if (buffer->begin == buffer->end && buffer->is_ended && !buffer->is_shut) {
        buffer->is_shut = true;
        (void)shutdown(sink->fd, SHUT_WR); // its other side may be gone already
    }
    return true;
}

static uint32_t wants_of(const struct pipe_buffer *from, const struct pipe_buffer *to)
{
    return (from->begin == from->end && !from->is_ended ? (uint32_t)EPOLLIN : 0) |
           (to->begin < to->end ? (uint32_t)EPOLLOUT : 0);
}

static void hand_on(struct relay *relay, struct connection *connection)
{
    bool is_asked = false, is_answered = false;
    bool is_whole = pump(&connection->client, &connection->replica, connection->up, &is_asked) &&
                    pump(&connection->replica, &connection->client, connection->down, &is_answered);
    if (!is_whole || (connection->up->is_shut && connection->down->is_shut)) {
        end_connection(relay, connection);
        return;
    }
    if (is_asked || is_answered)
        note_use(relay, connection, !is_answered);
    relay_watch(relay, &connection->client, wants_of(connection->up, connection->down));
    relay_watch(relay, &connection->replica, wants_of(connection->down, connection->up));
}

// Looked at once the connection stands: whoever listens then has it, and has not seen a byte of it.
static bool is_foreign(struct connection *connection)
{
    const struct relay_target *target = &connection->target;
    struct held_service *service = connection->service;
    if (listener_owner_of(target->port, target->user) != LISTENER_FOREIGN)
        return false;
    if (!service->is_foreign_told)
        log_write(LOG_WARN, "backends",
                  "another user than %" PRId64 " listens at port %u of an inference's replica workload=%s",
                  target->user, (unsigned)target->port, service->uuid);
    service->is_foreign_told = true;
    return true;
}

static void take_connected(struct relay *relay, struct connection *connection)
{
    int cause = 0;
    socklen_t size = sizeof(cause);
    if (getsockopt(connection->replica.fd, SOL_SOCKET, SO_ERROR, &cause, &size) < 0 || cause ||
        is_foreign(connection)) {
        close_end(relay, &connection->replica);
        try_targets(relay, connection);
        return;
    }
    connection->up = memory_array(1, sizeof(*connection->up));
    connection->down = memory_array(1, sizeof(*connection->down));
    connection->is_open = true;
    connection->service->waiting--;
    connection->service->open++;
    hand_on(relay, connection);
}

void connections_event(struct relay *relay, struct end *end, uint32_t events)
{
    struct connection *connection = end->owner;
    if (connection->is_dead)
        return;
    if (connection->is_open && events & (EPOLLERR | EPOLLHUP) && !(events & (EPOLLIN | EPOLLOUT)) && end->events == 0)
        end_connection(relay, connection);
    else if (connection->is_open)
        hand_on(relay, connection);
    else if (end->kind == END_REPLICA)
        take_connected(relay, connection);
    else if (events & (EPOLLHUP | EPOLLERR)) // who waited has left
        end_connection(relay, connection);
    else { // sends no more: the next tick looks whether there is a replica
        connection->has_ended = true;
        relay_watch(relay, end, 0);
    }
}

bool connections_tick(struct relay *relay)
{
    bool waits = false;
    int64_t now_ms = relay_now_ms();
    for (struct connection **at = &relay->connections; *at;) {
        struct connection *connection = *at;
        if (!connection->is_dead && !connection->is_open) {
            if (now_ms >= connection->until_ms)
                end_connection(relay, connection);
            else if (connection->replica.fd < 0) {
                connection->tries = 0;
                try_targets(relay, connection);
                if (connection->replica.fd < 0 && connection->has_ended)
                    end_connection(relay, connection); // most likely it has left
            }
        } else if (!connection->is_dead && now_ms - connection->moved_ms >= SILENT_MS) {
            end_connection(relay, connection);
        }
        waits |= !connection->is_dead && !connection->is_open;
        if (!connection->is_dead) {
            at = &connection->next;
            continue;
        }
        *at = connection->next;
        free(connection->up);
        free(connection->down);
        free(connection);
    }
    return waits;
}

void connections_end_all(struct relay *relay, const struct held_service *service)
{
    for (struct connection *connection = relay->connections; connection; connection = connection->next)
        if (!service || connection->service == service)
            end_connection(relay, connection);
}
