// port-forward: ports of this machine that lead to ports of a pod. Each connection is a session of the server's own: a
// stream from it, and calls to it, each on a thread.
#include "base/error.h"
#include "cli/command.h"
#include "cli/frames.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    PORTS_MAX = 32,
    CONNECTIONS_MAX = 128,
    BACKLOG = 128,
    INPUT_SIZE = 128 * 1024,
    LINGER_S = 5, // for the near end to close, when the far one has
    PAUSE_MS = 100
};

struct forward {
    struct cli *cli;
    const char *workload_uuid;
    const char *pod_name; // NULL: the newest
    struct pollfd listens[PORTS_MAX];
    uint16_t remote[PORTS_MAX];
    size_t count;
    pthread_mutex_t lock; // of what follows
    int connection_count;
};

struct connection {
    struct forward *forward;
    int fd;
    uint16_t port;
    struct client down, up; // the stream, and calls beside it
    struct arena arena;     // of the stream's thread
    struct arena up_arena;  // of the other one's
    char *path;             // of the session, in arena
    pthread_t thread;
    bool is_over;
    atomic_bool is_near_gone, is_broken; // the near end; what it sent was not taken
    unsigned char input[INPUT_SIZE];
    char text[sodium_base64_ENCODED_LEN(INPUT_SIZE, sodium_base64_VARIANT_ORIGINAL)]; // of it
};

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

static int parse_address(const char *text, union address *out, socklen_t *out_size, struct error *err)
{
    *out = (union address){0};
    if (strcmp(text, "localhost") == 0)
        text = "127.0.0.1";
    if (inet_pton(AF_INET, text, &out->four.sin_addr) == 1) {
        out->four.sin_family = AF_INET;
        *out_size = sizeof(out->four);
        return 0;
    }
    if (inet_pton(AF_INET6, text, &out->six.sin6_addr) == 1) {
        out->six.sin6_family = AF_INET6;
        *out_size = sizeof(out->six);
        return 0;
    }
    return error_set(err, ERROR_INVALID, "--address: expected an address in numbers, got \"%.60s\"", text);
}

// Up to the end, or to a colon.
static bool parse_port(const char *text, char end, long least, uint16_t *out_port, const char **out_rest)
{
    char *rest;
    long number = text[0] >= '0' && text[0] <= '9' ? strtol(text, &rest, 10) : -1;
    if (number < least || number > UINT16_MAX || *rest != end)
        return false;
    *out_port = (uint16_t)number;
    *out_rest = rest;
    return true;
}

static int parse_ports(const char *text, uint16_t *out_local, uint16_t *out_remote, struct error *err)
{
    const char *rest = text;
    if (parse_port(text, ':', 0, out_local, &rest) && parse_port(rest + 1, '\0', 1, out_remote, &rest))
        return 0;
    if (parse_port(text, '\0', 1, out_remote, &rest)) {
        *out_local = *out_remote;
        return 0;
    }
    return error_set(err, ERROR_INVALID, "expected LOCAL:REMOTE or REMOTE, numbers of ports, got \"%.60s\"", text);
}

static int listen_at(struct forward *forward, const char *text, const char *ports, struct error *err)
{
    union address address;
    socklen_t size;
    uint16_t local;
    int on = 1;
    if (forward->count == PORTS_MAX)
        return error_set(err, ERROR_INVALID, "at most %d ports", PORTS_MAX);
    if (parse_address(text, &address, &size, err) < 0 ||
        parse_ports(ports, &local, &forward->remote[forward->count], err) < 0)
        return -1;
    bool is_four = address.any.sa_family == AF_INET;
    uint16_t *number = is_four ? &address.four.sin_port : &address.six.sin6_port;
    *number = htons(local);
    int fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    forward->listens[forward->count] = (struct pollfd){.fd = fd, .events = POLLIN};
    if (fd >= 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (fd < 0 || bind(fd, &address.any, size) < 0 || listen(fd, BACKLOG) < 0 ||
        getsockname(fd, &address.any, &size) < 0) {
        error_set(err, ERROR_CONFLICT, "%s:%u: %s", text, (unsigned)local, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    printf(is_four ? "Forwarding from %s:%u -> %u\n" : "Forwarding from [%s]:%u -> %u\n",
           strcmp(text, "localhost") == 0 ? "127.0.0.1" : text, (unsigned)ntohs(*number),
           (unsigned)forward->remote[forward->count]);
    forward->count++;
    return 0;
}

static int listen_at_all(struct forward *forward, struct error *err)
{
    const struct arguments *arguments = &forward->cli->arguments;
    const char *address = flag_text(arguments, "address");
    const struct flag_value *ports = flag_values(arguments, "port");
    for (size_t i = 0; ports && i < ports->count; i++)
        if (listen_at(forward, address ? address : "127.0.0.1", ports->texts[i], err) < 0)
            return -1;
    for (size_t i = 1; i < arguments->word_count; i++)
        if (listen_at(forward, address ? address : "127.0.0.1", arguments->words[i], err) < 0)
            return -1;
    if (forward->count == 0)
        return error_set(err, ERROR_INVALID, "a port is missing: %s %s %s", forward->cli->program,
                         forward->cli->command->words, forward->cli->command->usage);
    fflush(stdout);
    return 0;
}

// The pod as it is now: another one may have taken its place. Borrowed from the answer; NULL: there is none.
static const json_t *choose_pod(const struct forward *forward, const json_t *answer)
{
    const json_t *pod, *chosen = NULL;
    size_t i;
    json_array_foreach(json_object_get(answer, "pods"), i, pod) {
        bool is_named = !forward->pod_name || strcmp(cli_text(pod, "name"), forward->pod_name) == 0;
        if (is_named && (!chosen || strcmp(cli_text(pod, "createdAt"), cli_text(chosen, "createdAt")) > 0))
            chosen = pod;
    }
    return chosen;
}

// Whoever signed in since the command began has left another token.
static bool renew_token(struct connection *connection)
{
    const char *token, *usual = connection->forward->cli->client.token;
    if (profile_read_token(&connection->forward->cli->profile, &connection->arena, &token, NULL) < 0 || !token ||
        (usual && strcmp(token, usual) == 0))
        return false;
    connection->down.token = connection->up.token = token;
    return true;
}

static int list_pods(struct connection *connection, json_t **out_pods, struct error *err)
{
    struct error why = {0};
    const char *path =
        arena_printf(&connection->arena, "/api/v1/workloads/%s/pods?limit=500", connection->forward->workload_uuid);
    int rc = client_call(&connection->down, "GET", path, NULL, out_pods, &why);
    if (rc < 0 && why.code == ERROR_UNAUTHORIZED && renew_token(connection))
        rc = client_call(&connection->down, "GET", path, NULL, out_pods, &why);
    if (rc < 0)
        *err = why;
    return rc;
}

static int open_session(struct connection *connection, struct error *err)
{
    const struct forward *forward = connection->forward;
    json_t *pods, *answer, *body;
    if (list_pods(connection, &pods, err) < 0)
        return -1;
    const json_t *pod = choose_pod(forward, pods);
    if (!pod) {
        json_decref(pods);
        return error_set(err, ERROR_NOT_FOUND, "the workload has no such pod now");
    }
    const char *path = arena_printf(&connection->arena, "/api/v1/workloads/%s/pods/%s/port-forward",
                                    forward->workload_uuid, cli_text(pod, "id"));
    json_decref(pods);
    body = json_pack("{s:i}", "port", (int)connection->port);
    int rc = client_call(&connection->down, "POST", path, body, &answer, err);
    json_decref(body);
    if (rc < 0)
        return -1;
    connection->path = arena_printf(&connection->arena, "/api/v1/workloads/%s/exec/%s", forward->workload_uuid,
                                    cli_text(answer, "sessionId"));
    json_decref(answer);
    return 0;
}

static bool take_frame(void *context, char kind, const char *data, size_t length)
{
    struct connection *connection = context;
    if (kind == 'x')
        connection->is_over = true;
    for (size_t done = 0; kind == '1' && done < length;) {
        ssize_t sent = send(connection->fd, data + done, length - done, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            atomic_store(&connection->is_near_gone, true);
            return false;
        }
        done += sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

static bool call(struct connection *connection, const char *method, const char *path, json_t *body)
{
    int rc = client_call(&connection->up, method, path, body, NULL, NULL);
    json_decref(body);
    arena_clear(&connection->up_arena);
    return rc == 0;
}

static bool tell(struct connection *connection, json_t *body)
{
    return call(connection, "POST", arena_printf(&connection->up_arena, "%s/input", connection->path), body);
}

// Until the near end sends no more. What it sends after the far end took its last is dropped; where the far end is
// still there, something is lost, and it is hung up.
static void *bring_input(void *context)
{
    struct connection *connection = context;
    bool is_taken = true;
    for (;;) {
        ssize_t length = recv(connection->fd, connection->input, sizeof(connection->input), 0);
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0) {
            if (is_taken)
                (void)tell(connection, json_pack("{s:b}", "close", 1));
            return NULL;
        }
        if (!is_taken)
            continue;
        sodium_bin2base64(connection->text, sizeof(connection->text), connection->input, (size_t)length,
                          sodium_base64_VARIANT_ORIGINAL);
        is_taken = tell(connection, json_pack("{s:s}", "data", connection->text));
        if (!is_taken && call(connection, "DELETE", connection->path, NULL))
            atomic_store(&connection->is_broken, true);
    }
}

// The close of it is a reset: without one a far end that was never reached looks like one that said nothing.
static void mark_lost(int fd)
{
    struct linger at_once = {.l_onoff = 1};
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

// The near end learns whether the far one ended, or was lost.
static void end_near(struct connection *connection)
{
    struct timeval patience = {.tv_sec = LINGER_S};
    (void)setsockopt(connection->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (!connection->is_over || atomic_load(&connection->is_broken)) {
        mark_lost(connection->fd);
        (void)shutdown(connection->fd, SHUT_RD);
    } else {
        (void)shutdown(connection->fd, SHUT_WR);
    }
}

static int carry(struct connection *connection, struct error *err)
{
    struct frames frames;
    if (pthread_create(&connection->thread, NULL, bring_input, connection) != 0)
        return error_set(err, ERROR_INTERNAL, "no thread for a connection");
    frames_init(&frames, take_frame, connection);
    int rc = client_stream(&connection->down, connection->path, frames_take, &frames, err);
    frames_done(&frames);
    end_near(connection);
    pthread_join(connection->thread, NULL);
    if (!connection->is_over) // it is not to wait until the server finds that nobody reads it
        (void)client_call(&connection->down, "DELETE", connection->path, NULL, NULL, NULL);
    return connection->is_over || atomic_load(&connection->is_near_gone) ? 0 : rc;
}

static int open_clients(struct connection *connection, struct error *err)
{
    const struct client *usual = &connection->forward->cli->client;
    if (client_open(usual->url, usual->token, &connection->arena, &connection->down, err) < 0 ||
        client_open(usual->url, usual->token, &connection->up_arena, &connection->up, err) < 0)
        return -1;
    connection->down.url = connection->up.url = usual->url; // an arena is cleared after each call
    connection->down.socket = connection->up.socket = usual->socket;
    return 0;
}

static void *run_connection(void *context)
{
    struct connection *connection = context;
    struct forward *forward = connection->forward;
    struct error err = {0};
    arena_init(&connection->arena);
    arena_init(&connection->up_arena);
    if (open_clients(connection, &err) < 0 || open_session(connection, &err) < 0 || carry(connection, &err) < 0) {
        fprintf(stderr, "port %u: %s\n", (unsigned)connection->port, err.message);
        mark_lost(connection->fd);
    }
    close(connection->fd);
    client_close(&connection->down);
    client_close(&connection->up);
    arena_done(&connection->arena);
    arena_done(&connection->up_arena);
    free(connection);
    pthread_mutex_lock(&forward->lock);
    forward->connection_count--;
    pthread_mutex_unlock(&forward->lock);
    return NULL;
}

static void start_connection(struct forward *forward, int fd, uint16_t port)
{
    pthread_t thread;
    struct connection *connection = memory_array(1, sizeof(*connection));
    connection->forward = forward;
    connection->fd = fd;
    connection->port = port;
    pthread_mutex_lock(&forward->lock);
    forward->connection_count++;
    pthread_mutex_unlock(&forward->lock);
    if (pthread_create(&thread, NULL, run_connection, connection) == 0) {
        pthread_detach(thread);
        return;
    }
    fprintf(stderr, "port %u: no thread for a connection\n", (unsigned)port);
    mark_lost(fd);
    close(fd);
    free(connection);
    pthread_mutex_lock(&forward->lock);
    forward->connection_count--;
    pthread_mutex_unlock(&forward->lock);
}

static bool is_full(struct forward *forward)
{
    pthread_mutex_lock(&forward->lock);
    bool is = forward->connection_count >= CONNECTIONS_MAX;
    pthread_mutex_unlock(&forward->lock);
    return is;
}

// Until a signal ends the process: who connects beyond the bound waits.
static int serve(struct forward *forward, struct error *err)
{
    for (;;) {
        if (is_full(forward)) {
            (void)poll(NULL, 0, PAUSE_MS);
            continue;
        }
        if (poll(forward->listens, forward->count, -1) < 0 && errno != EINTR)
            return error_set(err, ERROR_INTERNAL, "waiting for connections: %s", strerror(errno));
        for (size_t i = 0; i < forward->count; i++) {
            int fd = forward->listens[i].revents ? accept4(forward->listens[i].fd, NULL, NULL, SOCK_CLOEXEC) : -1;
            if (fd >= 0)
                start_connection(forward, fd, forward->remote[i]);
            else if (forward->listens[i].revents && (errno == EMFILE || errno == ENFILE))
                (void)poll(NULL, 0, PAUSE_MS);
        }
    }
}

int run_workload_port_forward(struct cli *cli, struct error *err)
{
    struct forward forward = {
        .cli = cli, .pod_name = flag_text(&cli->arguments, "pod"), .lock = PTHREAD_MUTEX_INITIALIZER};
    const char *name;
    json_t *workload;
    if (cli_name(cli, &name, err) < 0 || cli_find_workload(cli, name, &workload, err) < 0)
        return -1;
    forward.workload_uuid = arena_strdup(&cli->arena, cli_text(workload, "id"));
    json_decref(workload);
    int rc = listen_at_all(&forward, err);
    if (rc == 0)
        rc = serve(&forward, err);
    for (size_t i = 0; i < forward.count; i++)
        close(forward.listens[i].fd);
    pthread_mutex_destroy(&forward.lock);
    return rc;
}
