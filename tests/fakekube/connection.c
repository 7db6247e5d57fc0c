#include "tests/fakekube/connection.h"
#include <arpa/inet.h>
#include <civetweb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <zlib.h>

enum {
    DESCRIPTORS_MAX = 4096,
    GZIP_FROM_BYTES = 128 * 1024
};

// civetweb shows no descriptor: the one whose peer is the client's port.
static int find_socket(const struct call *call)
{
    int port = mg_get_request_info(call->connection)->remote_port;
    for (int fd = 3; fd < DESCRIPTORS_MAX; fd++) {
        struct sockaddr_in peer;
        socklen_t size = sizeof(peer);
        if (getpeername(fd, (struct sockaddr *)&peer, &size) == 0 && peer.sin_family == AF_INET &&
            ntohs(peer.sin_port) == port)
            return fd;
    }
    return -1;
}

void connection_reset(struct call *call)
{
    int fd = find_socket(call);
    mg_disable_connection_keep_alive(call->connection);
    // Dissolving the association of a connected socket sends a reset at once.
    struct sockaddr nothing = {.sa_family = AF_UNSPEC};
    if (fd >= 0 && connect(fd, &nothing, sizeof(nothing)) < 0)
        shutdown(fd, SHUT_RDWR);
    call->is_sent = true;
}

int connection_take(struct call *call)
{
    mg_disable_connection_keep_alive(call->connection);
    call->is_sent = true;
    call->code = 101;
    return find_socket(call);
}

bool connection_is_gone(struct call *call)
{
    char byte;
    int fd = find_socket(call);
    return fd < 0 || recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static const char *reason_phrase(int code)
{
    return mg_get_response_code_text(NULL, code);
}

// The first lines of every answer; the date is by the server's clock.
static void write_head(const struct call *call, int code, bool is_last, struct buffer *head)
{
    char date[64];
    struct tm parts;
    time_t seconds = (time_t)(kube_now_ms(call->kube) / 1000);
    gmtime_r(&seconds, &parts);
    strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", &parts);
    buffer_printf(head, "HTTP/1.1 %d %s\r\nConnection: %s\r\nCache-Control: no-cache, private\r\nDate: %s\r\n", code,
                  reason_phrase(code), is_last ? "close" : "keep-alive", date);
}

static void write_warnings(struct call *call, struct buffer *head)
{
    size_t index;
    json_t *warning;
    json_array_foreach(call->warnings, index, warning) {
        buffer_text(head, "Warning: 299 - \"");
        for (const char *c = json_string_value(warning); *c; c++)
            buffer_printf(head, "%s%c", *c == '"' ? "\\" : "", *c);
        buffer_text(head, "\"\r\n");
    }
}

static bool wants_gzip(const struct call *call, size_t length)
{
    const char *accepts = mg_get_header(call->connection, "Accept-Encoding");
    return length > GZIP_FROM_BYTES && strcmp(call->verb, "list") == 0 && accepts && strstr(accepts, "gzip");
}

// Replaces the text by its gzip form.
static void compress_text(struct buffer *text)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return;
    uLong bound = deflateBound(&stream, text->length);
    char *out = memory_alloc(bound);
    stream.next_in = (Bytef *)text->data;
    stream.avail_in = (uInt)text->length;
    stream.next_out = (Bytef *)out;
    stream.avail_out = (uInt)bound;
    deflate(&stream, Z_FINISH);
    buffer_clear(text);
    buffer_append(text, out, stream.total_out);
    deflateEnd(&stream);
    free(out);
}

void connection_send(struct call *call, int64_t bytes)
{
    struct buffer head;
    buffer_init(&head, 0);
    if (call->value) {
        char *text = json_dumps(call->value, JSON_COMPACT);
        buffer_clear(&call->text);
        buffer_text(&call->text, text);
        call->text_type = "application/json";
        free(text);
    }
    bool is_zipped = wants_gzip(call, call->text.length);
    if (is_zipped)
        compress_text(&call->text);
    if (bytes >= 0)
        mg_disable_connection_keep_alive(call->connection);
    write_head(call, call->code, bytes >= 0, &head);
    write_warnings(call, &head);
    if (call->headers.length)
        buffer_text(&head, call->headers.data);
    if (is_zipped)
        buffer_text(&head, "Content-Encoding: gzip\r\n");
    if (call->code != 204)
        buffer_printf(&head, "Content-Type: %s\r\nContent-Length: %zu\r\n",
                      call->text_type ? call->text_type : "text/plain", call->text.length);
    buffer_text(&head, "\r\n");
    mg_write(call->connection, head.data, head.length);
    size_t length = bytes >= 0 && (size_t)bytes < call->text.length ? (size_t)bytes : call->text.length;
    if (length && call->code != 204)
        mg_write(call->connection, call->text.data, length);
    buffer_done(&head);
    call->is_sent = true;
}

void connection_begin_stream(struct call *call, const char *type)
{
    struct buffer head;
    buffer_init(&head, 0);
    write_head(call, 200, false, &head);
    buffer_printf(&head, "Content-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n", type);
    mg_write(call->connection, head.data, head.length);
    buffer_done(&head);
    call->is_sent = true;
    call->code = 200;
}

int connection_send_chunk(struct call *call, const char *data, size_t length)
{
    return mg_send_chunk(call->connection, data, (unsigned)length) > 0 ? 0 : -1;
}

void connection_end_stream(struct call *call, enum connection_end end)
{
    if (end == CONNECTION_ENDS)
        mg_send_chunk(call->connection, "", 0);
    else
        mg_disable_connection_keep_alive(call->connection);
    if (end == CONNECTION_RESET)
        connection_reset(call);
}
