#include "daemon/socket_relay.h"

#include "api/audit/audit.h"
#include "api/http/peers.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/places.h"
#include "base/timestamp.h"
#include "daemon/socket_pipe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    HEAD_US = 5 * 1000000,
    SILENT_US = PLACE_SECONDS_SOCKET_CONNECTIONS * 1000000, // streams say something more often
    REST_US = 2 * 1000000,                                  // for a last answer to be read
    TICK_MS = 500,
    ACCEPTS_A_TURN = 16,
    LOG_EVERY_US = 1000000,
    NOBODY = -1 // stands for all that are refused
};

enum stage {
    STAGE_FREE,
    STAGE_HEAD,   // its first head is not whole
    STAGE_SERVER, // the server has it
    STAGE_ENDED   // its last answer is being read
};

struct slot {
    enum stage stage;
    int client, server; // -1: not there
    int number;         // among the peers; -1: none
    int64_t uid;        // NOBODY
    int64_t since_us, moved_us;
    char *refusal; // what it is told once its head is there; NULL: nothing is against it
    struct pipe up, down;
};

struct relay {
    struct relay_options options;
    struct slot *slots;
    struct pollfd *polled; // listening, wake, then two of each slot
    int wake_fd;
    pthread_t thread;
    int64_t logged_us;
    bool is_full; // of descriptors: accepting waits for a tick
};

static void close_slot(struct relay *relay, struct slot *slot)
{
    close(slot->client);
    if (slot->server >= 0)
        close(slot->server);
    peers_forget(relay->options.peers, slot->number);
    free(slot->refusal);
    pipe_done(&slot->up);
    pipe_done(&slot->down);
    *slot = (struct slot){.client = -1, .server = -1, .number = -1};
}

// An answer of the server's form, with a head. The caller's, to be freed.
static char *write_answer(int status, const char *reason, const struct error *why)
{
    json_t *body = json_pack("{s:i, s:s}", "code", status, "message", why->message);
    if (why->details[0])
        json_object_set_new(body, "details", json_string(why->details));
    char *text = json_dumps(body, JSON_COMPACT), *answer = NULL;
    json_decref(body);
    const char *form =
        "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\nConnection: close\r\n"
        "\r\n%s";
    int length = snprintf(NULL, 0, form, status, reason, strlen(text), text);
    answer = memory_alloc((size_t)length + 1);
    snprintf(answer, (size_t)length + 1, form, status, reason, strlen(text), text);
    free(text);
    return answer;
}

// The client hears it as soon as it reads; what it still sends is thrown away until it has.
static void refuse(struct relay *relay, struct slot *slot, char *answer, int64_t now_us)
{
    pipe_put(&slot->down, answer, strlen(answer));
    free(answer);
    if (slot->server >= 0)
        close(slot->server);
    slot->server = -1;
    peers_forget(relay->options.peers, slot->number);
    slot->number = -1;
    slot->stage = STAGE_ENDED;
    slot->since_us = slot->moved_us = now_us;
}

static char *write_busy(void)
{
    struct error why = {0};
    error_set(&why, ERROR_UNAVAILABLE, "too many connections by the socket at present: try again");
    return write_answer(503, "Service Unavailable", &why);
}

// There is no place in which it could wait for the answer to be read.
static void turn_away(int client)
{
    char *answer = write_busy();
    (void)!send(client, answer, strlen(answer), MSG_NOSIGNAL);
    free(answer);
    close(client);
}

static void refuse_busy(struct relay *relay, struct slot *slot, int64_t now_us)
{
    refuse(relay, slot, write_busy(), now_us);
}

// Connects from a port of loopback that nobody else can have while it is bound, and which is known before.
static bool reach_server(struct relay *relay, struct slot *slot)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in server = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(relay->options.port)};
    socklen_t size = sizeof(own);
    char greeting[PEER_GREETING_SIZE];
    int on = 1;
    slot->server = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (slot->server < 0 || bind(slot->server, (struct sockaddr *)&own, sizeof(own)) < 0 ||
        getsockname(slot->server, (struct sockaddr *)&own, &size) < 0)
        return false;
    setsockopt(slot->server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    slot->number = peers_expect(relay->options.peers, ntohs(own.sin_port), slot->uid, greeting);
    if (slot->number < 0)
        return false;
    if (connect(slot->server, (struct sockaddr *)&server, sizeof(server)) < 0 && errno != EINPROGRESS)
        return false;
    pipe_put_first(&slot->up, greeting, strlen(greeting));
    slot->stage = STAGE_SERVER;
    return true;
}

static void begin_request(struct relay *relay, struct slot *slot, int64_t now_us)
{
    if (slot->refusal) {
        char *answer = slot->refusal;
        slot->refusal = NULL;
        refuse(relay, slot, answer, now_us);
    } else if (!reach_server(relay, slot)) {
        refuse_busy(relay, slot, now_us);
    }
}

static void read_head(struct relay *relay, struct slot *slot, int64_t now_us)
{
    pipe_fill(&slot->up, slot->client);
    if (pipe_has_head(&slot->up))
        begin_request(relay, slot, now_us);
    else if (slot->up.is_ended)
        close_slot(relay, slot);
}

// The server closes once it has refused a request whose body it did not read: the client is still sending that.
static void end_answer(struct relay *relay, struct slot *slot, int64_t now_us)
{
    close(slot->server);
    slot->server = -1;
    peers_forget(relay->options.peers, slot->number);
    slot->number = -1;
    slot->stage = STAGE_ENDED;
    slot->since_us = now_us;
    pipe_forget(&slot->up);
    slot->up.is_ended = false;
}

static void move_bytes(struct relay *relay, struct slot *slot, short client_events, int64_t now_us)
{
    bool has_moved = false;
    if (client_events & (POLLIN | POLLHUP))
        has_moved |= pipe_fill(&slot->up, slot->client);
    has_moved |= pipe_drain(&slot->up, slot->server);
    has_moved |= pipe_fill(&slot->down, slot->server);
    has_moved |= pipe_drain(&slot->down, slot->client);
    if (has_moved)
        slot->moved_us = now_us;
    bool is_answered = slot->down.is_ended && pipe_is_empty(&slot->down);
    bool is_still_sending = !slot->up.is_ended || slot->up.is_target_gone;
    bool is_left = (client_events & POLLHUP) && slot->up.is_ended && pipe_is_empty(&slot->up);
    if (is_left || slot->up.is_source_gone || slot->down.is_target_gone || (is_answered && !is_still_sending))
        close_slot(relay, slot);
    else if (is_answered)
        end_answer(relay, slot, now_us);
}

// Once it is written the client closes; until then what it sends goes nowhere, or it would hear of a reset first.
static void finish_answer(struct relay *relay, struct slot *slot)
{
    bool was_empty = pipe_is_empty(&slot->down);
    pipe_drain(&slot->down, slot->client);
    pipe_forget(&slot->up);
    pipe_fill(&slot->up, slot->client);
    if (pipe_is_empty(&slot->down) && !was_empty)
        shutdown(slot->client, SHUT_WR);
    if (slot->up.is_ended || slot->down.is_target_gone)
        close_slot(relay, slot);
}

static bool is_late(const struct slot *slot, int64_t now_us)
{
    switch (slot->stage) {
    case STAGE_HEAD:
        return now_us - slot->since_us > HEAD_US;
    case STAGE_ENDED:
        return now_us - slot->since_us > REST_US;
    case STAGE_SERVER:
        return now_us - slot->moved_us > SILENT_US;
    case STAGE_FREE:
        break;
    }
    return false;
}

static void run_slot(struct relay *relay, struct slot *slot, short client_events, short server_events, int64_t now_us)
{
    if (is_late(slot, now_us))
        close_slot(relay, slot);
    else if (slot->stage == STAGE_HEAD && client_events)
        read_head(relay, slot, now_us);
    else if (slot->stage == STAGE_ENDED && client_events)
        finish_answer(relay, slot);
    else if (slot->stage == STAGE_SERVER && (client_events || server_events))
        move_bytes(relay, slot, client_events, now_us);
}

static size_t count_of(const struct relay *relay, int64_t uid)
{
    size_t count = 0;
    for (size_t i = 0; i < relay->options.max; i++)
        count += relay->slots[i].stage != STAGE_FREE && relay->slots[i].uid == uid;
    return count;
}

static size_t most_of(const struct relay *relay, int64_t uid)
{
    size_t most = places_part(PLACE_SOCKET_CONNECTIONS, relay->options.max);
    return uid == NOBODY && most > 1 ? most / 2 : most;
}

// Whether a is the one to give way, rather than b: of who holds more, then one without a head, then the older.
static bool gives_way(const struct relay *relay, const struct slot *a, const struct slot *b)
{
    size_t held_a = count_of(relay, a->uid), held_b = count_of(relay, b->uid);
    if (held_a != held_b)
        return held_a > held_b;
    if ((a->stage == STAGE_HEAD) != (b->stage == STAGE_HEAD))
        return a->stage == STAGE_HEAD;
    return a->since_us < b->since_us;
}

// A place for one more of the user's: a free one, else one that gives way. NULL: there is none.
static struct slot *find_place(struct relay *relay, int64_t uid)
{
    size_t held = count_of(relay, uid);
    bool has_too_many = held >= most_of(relay, uid);
    struct slot *found = NULL;
    for (size_t i = 0; i < relay->options.max; i++) {
        struct slot *slot = &relay->slots[i];
        if (slot->stage == STAGE_FREE && !has_too_many)
            return slot;
        bool may_go = has_too_many ? slot->uid == uid && slot->stage == STAGE_HEAD
                                   : slot->stage != STAGE_FREE && count_of(relay, slot->uid) > held + 1;
        if (slot->stage != STAGE_FREE && may_go && (!found || gives_way(relay, slot, found)))
            found = slot;
    }
    if (found)
        close_slot(relay, found);
    return found;
}

static void record_refusal(struct relay *relay, int64_t uid)
{
    char address[PEER_ADDRESS_SIZE], details[PEER_ADDRESS_SIZE + 16];
    snprintf(address, sizeof(address), "unix:%" PRId64, uid);
    snprintf(details, sizeof(details), "{\"from\":\"%s\"}", address);
    struct audit_record record = {.time_ms = timestamp_now_ms(),
                                  .subject_type = "User",
                                  .subject = "",
                                  .address = address,
                                  .operation = "socket",
                                  .action = "sign-in",
                                  .method = "",
                                  .url = "",
                                  .entity_type = "",
                                  .entity_id = "",
                                  .entity_name = "",
                                  .status = 403,
                                  .count = 1,
                                  .last_ms = timestamp_now_ms(),
                                  .request = "",
                                  .details_json = details,
                                  .changes_json = "[]"};
    if (relay->options.audit)
        audit_refuse(relay->options.audit, &record, NULL, NULL);
}

static void log_refusal(struct relay *relay, int64_t uid, const struct error *why, int64_t now_us)
{
    record_refusal(relay, uid);
    if (now_us - relay->logged_us < LOG_EVERY_US)
        return;
    relay->logged_us = now_us;
    log_write(LOG_WARN, "daemon", "refused by the socket uid=%" PRId64 " reason=\"%s\"", uid, why->message);
}

static void take_in(struct relay *relay, int client, int64_t now_us)
{
    struct error why = {0};
    int64_t uid;
    bool is_refused = socket_peer_read(client, &relay->options.marks, &uid, &why) < 0;
    if (is_refused)
        log_refusal(relay, uid, &why, now_us);
    struct slot *slot = find_place(relay, is_refused ? NOBODY : uid);
    if (!slot) {
        char user[PEER_ADDRESS_SIZE];
        snprintf(user, sizeof(user), "unix:%" PRId64, uid);
        place_book_refuse(relay->options.places, PLACE_SOCKET_CONNECTIONS, user, 1);
        turn_away(client);
        return;
    }
    *slot = (struct slot){.stage = STAGE_HEAD,
                          .client = client,
                          .server = -1,
                          .number = -1,
                          .uid = is_refused ? NOBODY : uid,
                          .since_us = now_us,
                          .moved_us = now_us,
                          .refusal = is_refused ? write_answer(403, "Forbidden", &why) : NULL};
    pipe_init(&slot->up);
    pipe_init(&slot->down);
    read_head(relay, slot, now_us);
}

static void accept_some(struct relay *relay, int64_t now_us)
{
    for (int i = 0; i < ACCEPTS_A_TURN; i++) {
        int client = accept4(relay->options.listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (client < 0) {
            relay->is_full = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS;
            return;
        }
        take_in(relay, client, now_us);
    }
}

static void set_poll(struct relay *relay)
{
    relay->polled[0] = (struct pollfd){.fd = relay->is_full ? -1 : relay->options.listen_fd, .events = POLLIN};
    relay->polled[1] = (struct pollfd){.fd = relay->wake_fd, .events = POLLIN};
    size_t count = 0;
    for (size_t i = 0; i < relay->options.max; i++) {
        const struct slot *slot = &relay->slots[i];
        struct pollfd *client = &relay->polled[2 + 2 * i], *server = client + 1;
        bool is_used = slot->stage != STAGE_FREE;
        *client = (struct pollfd){.fd = -1};
        *server = (struct pollfd){.fd = -1};
        if (!is_used)
            continue;
        count++;
        client->events =
            (short)((pipe_wants_more(&slot->up) ? POLLIN : 0) | (pipe_is_empty(&slot->down) ? 0 : POLLOUT));
        server->events =
            (short)((pipe_wants_more(&slot->down) ? POLLIN : 0) | (pipe_is_empty(&slot->up) ? 0 : POLLOUT));
        // Without an event to wait for, an end that has hung up would be told again and again.
        client->fd = client->events ? slot->client : -1;
        server->fd = server->events ? slot->server : -1;
    }
    relay->is_full = false;
    place_book_set(relay->options.places, PLACE_SOCKET_CONNECTIONS, relay->options.max, count);
}

static void *relay_main(void *context)
{
    struct relay *relay = context;
    size_t count = 2 + 2 * relay->options.max;
    for (;;) {
        set_poll(relay);
        if (poll(relay->polled, count, TICK_MS) < 0 && errno != EINTR)
            abort(); // our own mistake
        if (relay->polled[1].revents)
            return NULL;
        int64_t now_us = timestamp_monotonic_us();
        for (size_t i = 0; i < relay->options.max; i++)
            run_slot(relay, &relay->slots[i], relay->polled[2 + 2 * i].revents, relay->polled[3 + 2 * i].revents,
                     now_us);
        if (relay->polled[0].revents)
            accept_some(relay, now_us);
    }
}

int relay_start(const struct relay_options *options, struct relay **out_relay, struct error *err)
{
    struct relay *relay = memory_array(1, sizeof(*relay));
    relay->options = *options;
    relay->slots = memory_array(options->max, sizeof(*relay->slots));
    relay->polled = memory_array(2 + 2 * options->max, sizeof(*relay->polled));
    relay->wake_fd = eventfd(0, EFD_CLOEXEC);
    int rc = relay->wake_fd < 0 ? errno : pthread_create(&relay->thread, NULL, relay_main, relay);
    if (rc == 0) {
        *out_relay = relay;
        return 0;
    }
    if (relay->wake_fd >= 0)
        close(relay->wake_fd);
    free(relay->polled);
    free(relay->slots);
    free(relay);
    return error_set(err, ERROR_INTERNAL, "socket: no thread: %s", strerror(rc));
}

void relay_stop(struct relay *relay)
{
    if (!relay)
        return;
    if (eventfd_write(relay->wake_fd, 1) < 0)
        abort(); // it would never look
    pthread_join(relay->thread, NULL);
    for (size_t i = 0; i < relay->options.max; i++)
        if (relay->slots[i].stage != STAGE_FREE)
            close_slot(relay, &relay->slots[i]);
    close(relay->wake_fd);
    free(relay->polled);
    free(relay->slots);
    free(relay);
}
