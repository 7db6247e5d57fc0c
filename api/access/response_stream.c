#include "api/access/response_stream.h"
#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/http/answer.h"
#include "api/http/sockets.h"
#include "api/server.h"
#include "base/error.h"
#include "base/timestamp.h"

enum {
    STREAM_LIFE_MS = PLACE_SECONDS_STREAMS * 1000,
    CALLER_CHECK_MS = 500
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

int response_stream_begin(struct response *res, const char *content_type, struct error *err)
{
    struct exchange *exchange = res->request->exchange;
    const struct identity *caller = exchange->request.caller;
    if (caller->grants->count == 0)
        return error_set(err, ERROR_FORBIDDEN, "streams: your account has no role anywhere");
    const struct place_claim claim = access_place_claim(caller, socket_of(exchange));
    if (places_take(&exchange->server->core->streams, &claim, &exchange->stream_place, err) < 0)
        return -1;
    exchange->holds_stream = true;
    worker_enter(exchange->worker, WORKER_STREAM);
    exchange_end_reading(exchange);
    exchange->caller_checked_us = timestamp_monotonic_us();
    exchange->stream_ends_us = exchange->caller_checked_us + STREAM_LIFE_MS * 1000LL;
    res->is_streaming = true;
    answer_stream_head(exchange, content_type);
    return 0;
}

int response_stream_write(struct response *res, const char *text, size_t size)
{
    struct exchange *exchange = res->request->exchange;
    if (exchange->request.is_head || exchange->is_revoked || atomic_load(&exchange->server->is_stopping))
        return -1;
    return size == 0 ? 0 : answer_write(exchange, text, size);
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
    if (atomic_load(&exchange->server->is_stopping) || now_us >= exchange->stream_ends_us ||
        response_stream_is_gone(res))
        return true;
    if (now_us - exchange->caller_checked_us < CALLER_CHECK_MS * 1000LL)
        return exchange->is_revoked;
    return response_stream_is_revoked(res);
}
