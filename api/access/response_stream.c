#include "api/access/response_stream.h"
#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/http/answer.h"
#include "api/http/sockets.h"
#include "api/server.h"
#include "base/error.h"
#include "base/timestamp.h"

#include <civetweb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

enum {
    CALLER_CHECK_MS = 500,
    PEER_SILENT_S = 60, // then the system asks whether it is still there
    PEER_PROBE_S = 15,
    PEER_PROBES = 4
};

struct wanted_socket {
    uint64_t ends;
    int fd;
};

static bool is_wanted(int fd, const struct connection_ends *ends, void *context)
{
    struct wanted_socket *wanted = context;
    if (connection_ends_pack(ends) != wanted->ends)
        return false;
    wanted->fd = fd;
    return true;
}

static int socket_of(const struct exchange *exchange)
{
    struct connection_ends ends;
    struct wanted_socket wanted = {.fd = -1};
    if (!connection_ends_of(exchange->info, &ends))
        return -1;
    wanted.ends = connection_ends_pack(&ends);
    sockets_visit(is_wanted, &wanted);
    return wanted.fd;
}

// A peer that vanished without a word: the stream may have nothing to write for days.
static void watch_peer(int fd)
{
    int on = 1, silent_s = PEER_SILENT_S, probe_s = PEER_PROBE_S, probes = PEER_PROBES;
    if (fd < 0)
        return;
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &silent_s, sizeof(silent_s));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &probe_s, sizeof(probe_s));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

int response_stream_begin(struct response *res, const char *content_type, struct error *err)
{
    struct exchange *exchange = res->request->exchange;
    const struct identity *caller = exchange->request.caller;
    if (caller->grants->count == 0)
        return error_set(err, ERROR_FORBIDDEN, "streams: your account has no role anywhere");
    const struct place_claim claim = access_place_claim(caller, socket_of(exchange));
    if (places_take(&exchange->server->core->streams, &claim, &exchange->stream_place, err) < 0) {
        exchange->must_close = true; // nor does who finds no place keep a worker at rest
        return -1;
    }
    exchange->holds_stream = true;
    worker_enter(exchange->worker, WORKER_STREAM);
    exchange_end_reading(exchange);
    exchange->caller_checked_us = timestamp_monotonic_us();
    watch_peer(claim.socket);
    res->is_streaming = true;
    res->is_chunked = res->is_chunked && strcmp(exchange->info->http_version, "1.1") == 0;
    if (res->is_chunked)
        response_header(res, "Transfer-Encoding", "chunked");
    answer_stream_head(exchange, content_type);
    return 0;
}

static int write_piece(struct response *res, const char *text, size_t size)
{
    struct buffer piece;
    if (!res->is_chunked)
        return answer_write(res->request->exchange, text, size);
    buffer_init(&piece, 0);
    buffer_printf(&piece, "%zx\r\n", size);
    buffer_append(&piece, text, size);
    buffer_text(&piece, "\r\n");
    int rc = answer_write(res->request->exchange, piece.data, piece.length);
    buffer_done(&piece);
    return rc;
}

int response_stream_write(struct response *res, const char *text, size_t size)
{
    struct exchange *exchange = res->request->exchange;
    if (exchange->request.is_head || exchange->is_revoked || atomic_load(&exchange->server->is_stopping))
        return -1;
    return size == 0 ? 0 : write_piece(res, text, size);
}

void response_stream_write_last(struct response *res, const char *text, size_t size)
{
    if (!response_stream_is_gone(res))
        (void)write_piece(res, text, size);
}

void response_stream_end(struct response *res)
{
    static const char END[] = "0\r\n\r\n";
    if (res->is_chunked)
        (void)answer_write(res->request->exchange, END, strlen(END));
}

bool response_stream_is_gone(const struct response *res)
{
    const struct exchange *exchange = res->request->exchange;
    return places_is_gone(&exchange->server->core->streams, exchange->stream_place);
}

bool response_stream_is_revoked(struct response *res)
{
    struct exchange *exchange = res->request->exchange;
    if (!exchange->is_revoked) {
        exchange->caller_checked_us = timestamp_monotonic_us();
        exchange->is_revoked = !authenticate_again(&exchange->request);
    }
    return exchange->is_revoked;
}

bool response_stream_is_over(struct response *res)
{
    const struct exchange *exchange = res->request->exchange;
    int64_t now_us = timestamp_monotonic_us();
    if (atomic_load(&exchange->server->is_stopping) || response_stream_is_gone(res))
        return true;
    if (now_us - exchange->caller_checked_us < CALLER_CHECK_MS * 1000LL)
        return exchange->is_revoked;
    return response_stream_is_revoked(res);
}

const char *response_stream_reason(const struct response *res)
{
    const struct exchange *exchange = res->request->exchange;
    if (atomic_load(&exchange->server->is_stopping))
        return "the server stops";
    return exchange->is_revoked ? "your sign-in has ended, or your rights have changed" : "the connection broke";
}
