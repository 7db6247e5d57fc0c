#include "tests/fakekube/exec.h"
#include "tests/fakekube/connection.h"
#include "tests/fakekube/pods.h"
#include <civetweb.h>
#include <errno.h>
#include <openssl/evp.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    FRAME_MAX = 1 << 20,
    TEXT_MAX = 256,
    TICK_MS = 200,
    V5_SINCE = 30, // minor version
    BINARY = 2,
    CLOSE = 8,
    PING = 9,
    PONG = 10,
    OUTPUT = 1,
    ERRORS = 2,
    END = 3,
    SIZE = 4,
    CLOSE_CHANNEL = 255,
    REFUSED_PORT = 1
};

struct shell {
    struct call *call;
    int fd, version;
    bool is_gone;
    int kind; // of the frame that was read
    struct buffer frame;
};

static bool is_port(const struct call *call)
{
    return strcmp(call->subresource, "portforward") == 0;
}

bool exec_is(const struct call *call)
{
    return call->resource == RESOURCE_PODS && strcmp(call->verb, "get") == 0 &&
           (strcmp(call->subresource, "exec") == 0 || strcmp(call->subresource, "attach") == 0 || is_port(call));
}

static void send_bytes(struct shell *shell, const void *data, size_t length)
{
    for (const char *at = data; length > 0 && !shell->is_gone;) {
        ssize_t sent = send(shell->fd, at, length, MSG_NOSIGNAL | MSG_DONTWAIT);
        struct pollfd wanted = {.fd = shell->fd, .events = POLLOUT};
        if (sent > 0) {
            at += sent;
            length -= (size_t)sent;
        } else if (errno != EAGAIN || shell->call->kube->stops) {
            shell->is_gone = true;
        } else {
            poll(&wanted, 1, TICK_MS);
        }
    }
}

static void send_part(struct shell *shell, int kind, bool is_last, const char *data, size_t length)
{
    unsigned char head[10] = {(unsigned char)((is_last ? 0x80 : 0) | kind)};
    size_t size = length < 126 ? 0 : length <= 65535 ? 2 : 8;
    head[1] = (unsigned char)(size == 0 ? length : size == 2 ? 126 : 127);
    for (size_t i = 0; i < size; i++)
        head[2 + i] = (unsigned char)((uint64_t)length >> (8 * (size - 1 - i)));
    send_bytes(shell, head, 2 + size);
    send_bytes(shell, data, length);
}

static void send_channel(struct shell *shell, int channel, const char *data, size_t length)
{
    struct buffer message;
    buffer_init(&message, 0);
    buffer_char(&message, (char)channel);
    buffer_append(&message, data, length);
    send_part(shell, BINARY, true, message.data, message.length);
    buffer_done(&message);
}

static void print(struct shell *shell, int channel, const char *text)
{
    send_channel(shell, channel, text, strlen(text));
}

static bool read_bytes(struct shell *shell, void *out, size_t length)
{
    for (char *at = out; length > 0 && !shell->is_gone;) {
        ssize_t got = recv(shell->fd, at, length, MSG_DONTWAIT);
        struct pollfd wanted = {.fd = shell->fd, .events = POLLIN};
        if (got > 0) {
            at += got;
            length -= (size_t)got;
        } else if (got == 0 || errno != EAGAIN || shell->call->kube->stops) {
            shell->is_gone = true;
        } else {
            poll(&wanted, 1, TICK_MS);
        }
    }
    return !shell->is_gone;
}

// The next frame of the client, unmasked. A frame that is not masked ends the session, as the real server has it.
static bool read_frame(struct shell *shell)
{
    unsigned char head[2], more[8], mask[4];
    uint64_t length = 0;
    if (!read_bytes(shell, head, 2))
        return false;
    size_t size = (head[1] & 0x7f) == 126 ? 2 : (head[1] & 0x7f) == 127 ? 8 : 0;
    if (size && !read_bytes(shell, more, size))
        return false;
    for (size_t i = 0; i < size; i++)
        length = length << 8 | more[i];
    length = size ? length : head[1] & 0x7f;
    if (!(head[1] & 0x80) || length > FRAME_MAX || !read_bytes(shell, mask, 4)) {
        shell->is_gone = true;
        return false;
    }
    buffer_clear(&shell->frame);
    shell->kind = head[0] & 0x0f;
    for (uint64_t i = 0; i < length; i++) {
        unsigned char byte;
        if (!read_bytes(shell, &byte, 1))
            return false;
        buffer_char(&shell->frame, (char)(byte ^ mask[i % 4]));
    }
    return true;
}

// The next message of a channel; what it says follows the channel's byte. False: the client has gone.
static bool read_message(struct shell *shell)
{
    while (read_frame(shell)) {
        if (shell->kind == CLOSE)
            return false;
        if (shell->kind == PING)
            send_part(shell, PONG, true, shell->frame.data ? shell->frame.data : "", shell->frame.length);
        else if (shell->frame.length > 0)
            return true;
    }
    return false;
}

static int channel_of(const struct shell *shell)
{
    return (unsigned char)shell->frame.data[0];
}

static void send_end(struct shell *shell, json_t *status)
{
    char *text = json_dumps(status, JSON_COMPACT);
    print(shell, END, text);
    free(text);
    json_decref(status);
}

static void end_with(struct shell *shell, const char *code)
{
    if (strcmp(code, "0") == 0)
        send_end(shell, json_pack("{s:{}, s:s}", "metadata", "status", "Success"));
    else
        send_end(shell,
                 json_pack("{s:{}, s:s, s:o, s:s, s:{s:[{s:s, s:s}]}}", "metadata", "status", "Failure", "message",
                           json_sprintf("command terminated with non-zero exit code: %s", code), "reason",
                           "NonZeroExitCode", "details", "causes", "reason", "ExitCode", "message", code));
}

static void run_echo(struct shell *shell, const json_t *words)
{
    struct buffer text;
    buffer_init(&text, 0);
    for (size_t i = 1; i < json_array_size(words); i++)
        buffer_printf(&text, "%s%s", i > 1 ? " " : "", json_string_value(json_array_get(words, i)));
    buffer_char(&text, '\n');
    print(shell, OUTPUT, text.data);
    buffer_done(&text);
    end_with(shell, "0");
}

static void run_cat(struct shell *shell, const json_t *words)
{
    (void)words;
    while (read_message(shell)) {
        if (channel_of(shell) == CLOSE_CHANNEL && shell->version == 5) {
            end_with(shell, "0");
            return;
        }
        if (channel_of(shell) == 0)
            send_channel(shell, OUTPUT, shell->frame.data + 1, shell->frame.length - 1);
    }
}

static void run_fail(struct shell *shell, const json_t *words)
{
    const char *code = json_string_value(json_array_get(words, 1)), *text = json_string_value(json_array_get(words, 2));
    print(shell, ERRORS, text ? text : "");
    end_with(shell, code ? code : "1");
}

static void run_protocol(struct shell *shell, const json_t *words)
{
    (void)words;
    print(shell, OUTPUT, shell->version == 5 ? "v5" : "v4");
    end_with(shell, "0");
}

static void run_big(struct shell *shell, const json_t *words)
{
    const char *count = json_string_value(json_array_get(words, 1));
    size_t size = count ? strtoul(count, NULL, 10) % FRAME_MAX : 0;
    char *data = memory_alloc(size + 1);
    memset(data, 'x', size + 1);
    data[0] = OUTPUT;
    send_part(shell, BINARY, false, data, size / 2);
    send_part(shell, PING, true, "", 0); // between fragments
    send_part(shell, 0, true, data + size / 2, size + 1 - size / 2);
    free(data);
    end_with(shell, "0");
}

static void run_size(struct shell *shell, const json_t *words)
{
    (void)words;
    while (read_message(shell)) {
        if (channel_of(shell) == SIZE)
            send_channel(shell, OUTPUT, shell->frame.data + 1, shell->frame.length - 1);
        if (channel_of(shell) == 0 && memchr(shell->frame.data, 'q', shell->frame.length)) {
            end_with(shell, "0");
            return;
        }
    }
}

static void run_ping(struct shell *shell, const json_t *words)
{
    (void)words;
    send_part(shell, PING, true, "hello", 5);
    while (read_frame(shell) && shell->kind != PONG)
        ;
    if (shell->is_gone)
        return;
    send_channel(shell, OUTPUT, shell->frame.data, shell->frame.length);
    end_with(shell, "0");
}

static void run_drop(struct shell *shell, const json_t *words)
{
    (void)words;
    print(shell, OUTPUT, "going");
}

static const struct {
    const char *word;
    void (*run)(struct shell *shell, const json_t *words);
} COMMANDS[] = {
    {"echo", run_echo}, {"cat", run_cat},   {"fail", run_fail}, {"protocol", run_protocol},
    {"big", run_big},   {"size", run_size}, {"ping", run_ping}, {"drop", run_drop},
};

static void run_words(struct shell *shell, const json_t *words)
{
    const char *first = json_string_value(json_array_get(words, 0));
    for (size_t i = 0; i < sizeof(COMMANDS) / sizeof(*COMMANDS); i++)
        if (strcmp(COMMANDS[i].word, first ? first : "") == 0) {
            COMMANDS[i].run(shell, words);
            return;
        }
    send_end(shell, json_pack("{s:{}, s:s, s:o, s:s, s:{s:[{s:s}]}, s:i}", "metadata", "status", "Failure", "message",
                              json_sprintf("exec: \"%s\": executable file not found in $PATH", first ? first : ""),
                              "reason", "InternalError", "details", "causes", "message", "exec failed", "code", 500));
}

// Both channels begin with the port's number.
static void run_port(struct shell *shell)
{
    const char *query = mg_get_request_info(shell->call->connection)->query_string;
    unsigned port = 0;
    (void)sscanf(query ? query : "", "ports=%u", &port);
    const char head[] = {(char)(port & 0xff), (char)(port >> 8)};
    send_channel(shell, 0, head, sizeof(head));
    send_channel(shell, 1, head, sizeof(head));
    if (port == REFUSED_PORT) {
        print(shell, 1, "error forwarding port 1 to pod: connection refused");
        return;
    }
    while (read_message(shell)) {
        if (channel_of(shell) == 0)
            send_channel(shell, 0, shell->frame.data + 1, shell->frame.length - 1);
        if (memmem(shell->frame.data, shell->frame.length, "bye", 3))
            return;
    }
}

// Every value of the query's "command", in order: the query as an object keeps the last alone.
static json_t *read_words(const struct call *call)
{
    const char *query = mg_get_request_info(call->connection)->query_string;
    json_t *words = json_array();
    for (const char *at = query ? query : ""; *at;) {
        size_t length = strcspn(at, "&");
        char text[TEXT_MAX];
        if (strncmp(at, "command=", 8) == 0 && mg_url_decode(at + 8, (int)length - 8, text, sizeof(text), 1) >= 0)
            json_array_append_new(words, json_string(text));
        at += length + (at[length] == '&');
    }
    return words;
}

// The newest that both know; 0: none.
static int choose_version(const struct call *call)
{
    const char *offered = mg_get_header(call->connection, "Sec-WebSocket-Protocol");
    if (offered && !is_port(call) && call->kube->traits.minor >= V5_SINCE && strstr(offered, "v5.channel.k8s.io"))
        return 5;
    return offered && strstr(offered, "v4.channel.k8s.io") ? 4 : 0;
}

static void upgrade(struct shell *shell)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    char text[TEXT_MAX], accept[64];
    const char *key = mg_get_header(shell->call->connection, "Sec-WebSocket-Key");
    snprintf(text, sizeof(text), "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", key ? key : "");
    EVP_Digest(text, strlen(text), digest, &length, EVP_sha1(), NULL);
    sodium_bin2base64(accept, sizeof(accept), digest, length, sodium_base64_VARIANT_ORIGINAL);
    int size = snprintf(text, sizeof(text),
                        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: "
                        "Upgrade\r\nSec-WebSocket-Accept: %s\r\nSec-WebSocket-Protocol: v%d.channel.k8s.io\r\n\r\n",
                        accept, shell->version);
    send_bytes(shell, text, (size_t)size);
}

// Each channel begins with an empty message.
static void begin(struct shell *shell)
{
    upgrade(shell);
    for (int channel = OUTPUT; channel <= END; channel++)
        send_channel(shell, channel, "", 0);
}

// What the pod is: -1: refused and answered; 0: it does not run; 1: it does. *out_log is the arena's.
static int look(struct call *call, const char **out_log)
{
    struct store *store = &call->kube->store;
    int rc = -1;
    store_lock(store);
    const struct revision *found = store_find(store, RESOURCE_PODS, call_key(call));
    json_t *pod = found ? revision_value(found) : NULL;
    const char *log = json_string_value(json_object_get(json_at(pod, "metadata.annotations"), "test.prorata.io/log"));
    const char *phase = json_text_at(pod, "status.phase");
    *out_log = arena_strdup(&call->arena, log ? log : "");
    if (!pod)
        call_fail_not_found(call);
    else if (!pod_is_bound(pod))
        call_fail(call, 400, "BadRequest", "pod %s does not have a host assigned", call->name);
    else
        rc = phase && strcmp(phase, "Running") == 0;
    json_decref(pod);
    store_unlock(store);
    return rc;
}

// Closed with a pong unread, a socket is reset, and what the client has not read yet is lost: so to its last byte.
static void leave(struct shell *shell)
{
    char byte;
    shutdown(shell->fd, SHUT_WR);
    while (read_bytes(shell, &byte, 1))
        ;
}

int exec_serve(struct call *call)
{
    const char *log;
    struct shell shell = {.call = call, .version = choose_version(call)};
    int runs = look(call, &log);
    if (runs < 0)
        return -1;
    if (!shell.version) { // what the real server answers to a protocol that it does not know: nothing more
        call->code = 403;
        return -1;
    }
    if (!runs && shell.version == 4)
        return call_fail(call, 500, "InternalError", "container not found (\"main\")");
    shell.fd = connection_take(call);
    buffer_init(&shell.frame, 0);
    if (is_port(call)) {
        upgrade(&shell);
        run_port(&shell);
        leave(&shell);
        buffer_done(&shell.frame);
        shutdown(shell.fd, SHUT_RDWR);
        return 0;
    }
    begin(&shell);
    json_t *words = read_words(call);
    if (!runs) {
        send_end(&shell, json_pack("{s:{}, s:s, s:s, s:s, s:i}", "metadata", "status", "Failure", "message",
                                   "container not found (\"main\")", "reason", "InternalError", "code", 500));
    } else if (strcmp(call->subresource, "attach") == 0) {
        print(&shell, OUTPUT, log);
        end_with(&shell, "0");
    } else {
        run_words(&shell, words);
    }
    json_decref(words);
    leave(&shell);
    buffer_done(&shell.frame);
    shutdown(shell.fd, SHUT_RDWR);
    return 0;
}
