#include "api/http/packing.h"
#include "api/http/exchange.h"
#include "api/server.h"
#include "base/buffer.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

enum {
    PACKED_FROM_BYTES = 1024,
    PACK_LEVEL = 3,
    PACK_WINDOW_BITS = 16 + MAX_WBITS, // gzip
    PACK_MEMORY_LEVEL = 8,
    PACKERS_MAX = 16,
    PIECE_BYTES = 2048
};

static atomic_int packers;

// Of "gzip;q=0.5" in thousandths: 500; 1000 where nothing is said.
static int quality_of(const char *coding, size_t length)
{
    const char *parameter = memmem(coding, length, "q=", 2);
    if (!parameter)
        return 1000;
    double quality = strtod(parameter + 2, NULL);
    return quality >= 1 ? 1000 : quality > 0 ? (int)(quality * 1000 + 0.5) : 0;
}

static bool is_coding(const char *coding, size_t length, const char *name)
{
    size_t size = strlen(name);
    return length >= size && strncasecmp(coding, name, size) == 0 &&
           (length == size || strchr(" \t;", coding[size]) != NULL);
}

bool accepts_gzip(const char *accept_encoding)
{
    int gzip = -1, any = -1, plain = 0;
    for (const char *at = accept_encoding; at && *at;) {
        at += strspn(at, " \t,");
        size_t length = strcspn(at, ",");
        if (is_coding(at, length, "gzip") || is_coding(at, length, "x-gzip"))
            gzip = quality_of(at, length);
        else if (is_coding(at, length, "*"))
            any = quality_of(at, length);
        else if (is_coding(at, length, "identity"))
            plain = quality_of(at, length);
        at += length;
    }
    if (gzip < 0)
        gzip = any;
    return gzip > 0 && gzip >= plain;
}

static bool has_header(const struct exchange *exchange, const char *line_begin)
{
    return exchange->headers.data && strstr(exchange->headers.data, line_begin);
}

// A file is packed by the build, with an ETag of its own for either form.
bool packing_suits(const struct exchange *exchange)
{
    const struct response *res = &exchange->response;
    if (exchange->body.length < PACKED_FROM_BYTES || has_header(exchange, "ETag: "))
        return false;
    return strncmp(res->content_type, "application/json", 16) == 0 || strncmp(res->content_type, "text/", 5) == 0;
}

static bool pack(const struct buffer *plain, struct buffer *out)
{
    unsigned char piece[PIECE_BYTES];
    z_stream stream = {.next_in = (unsigned char *)plain->data, .avail_in = (unsigned)plain->length};
    if (deflateInit2(&stream, PACK_LEVEL, Z_DEFLATED, PACK_WINDOW_BITS, PACK_MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    int rc = Z_OK;
    while (rc == Z_OK) {
        stream.next_out = piece;
        stream.avail_out = sizeof(piece);
        rc = deflate(&stream, Z_FINISH);
        buffer_append(out, piece, sizeof(piece) - stream.avail_out);
    }
    deflateEnd(&stream);
    return rc == Z_STREAM_END;
}

void packing_apply(struct exchange *exchange)
{
    if (!accepts_gzip(request_header(&exchange->request, "Accept-Encoding")))
        return;
    struct buffer packed;
    buffer_init(&packed, 0);
    bool is_packed = atomic_fetch_add(&packers, 1) < PACKERS_MAX && pack(&exchange->body, &packed);
    atomic_fetch_sub(&packers, 1);
    if (is_packed) {
        response_header(&exchange->response, "Content-Encoding", "gzip");
        buffer_done(&exchange->body);
        exchange->body = packed;
    } else {
        buffer_done(&packed);
    }
}
