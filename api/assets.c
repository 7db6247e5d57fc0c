#include "api/assets.h"
#include "api/packing.h"
#include "api/path.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/log.h"
#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

const struct asset *asset_find(const char *path)
{
    size_t low = 0, high = ASSET_COUNT;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(path, ASSETS[middle].path);
        if (order == 0)
            return &ASSETS[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static bool page_matches(const char *page, const struct path *path)
{
    page++;
    for (size_t i = 0; i < path->count; i++) {
        size_t length = strcspn(page, "/");
        bool is_any = length == 1 && *page == '*';
        if (length == 0 ||
            (!is_any && (strlen(path->segments[i]) != length || strncmp(page, path->segments[i], length) != 0)))
            return false;
        page += length + (page[length] == '/');
    }
    return *page == '\0';
}

const struct asset *asset_of_page(const struct path *path)
{
    for (const char *const *page = PAGES; *page; page++) {
        if (page_matches(*page, path))
            return asset_find("/index.html");
    }
    return NULL;
}

static bool is_known_to_client(const struct exchange *exchange, const char *etag)
{
    const char *known = request_header(&exchange->request, "If-None-Match");
    return known && (strcmp(known, "*") == 0 || strstr(known, etag));
}

static void append_inflated(const struct asset *asset, struct buffer *out)
{
    unsigned char piece[2048];
    z_stream stream = {.next_in = (unsigned char *)asset->data, .avail_in = (unsigned)asset->size};
    int rc = inflateInit2(&stream, 16 + MAX_WBITS);
    while (rc == Z_OK) {
        stream.next_out = piece;
        stream.avail_out = sizeof(piece);
        rc = inflate(&stream, Z_NO_FLUSH);
        buffer_append(out, piece, sizeof(piece) - stream.avail_out);
    }
    assert(rc == Z_STREAM_END); // our own build gzipped it
    inflateEnd(&stream);
}

// The plain form is made when somebody first wants it, and kept: a thousand who ask share one.
static const struct buffer *plain_form(struct exchange *exchange, const struct asset *asset)
{
    _Atomic(struct buffer *) *kept = &exchange->server->core->plain_assets[asset - ASSETS];
    struct buffer *plain = atomic_load(kept);
    if (plain)
        return plain;
    struct buffer *made = memory_alloc(sizeof(*made));
    buffer_init(made, 0);
    append_inflated(asset, made);
    if (atomic_compare_exchange_strong(kept, &plain, made))
        return made;
    buffer_done(made);
    free(made);
    return plain;
}

void assets_forget_plain(struct server_core *core)
{
    for (size_t i = 0; core->plain_assets && i < ASSET_COUNT; i++) {
        struct buffer *plain = atomic_load(&core->plain_assets[i]);
        if (plain)
            buffer_done(plain);
        free(plain);
    }
    free(core->plain_assets);
}

// No ETag: it is not kept, and so it is packed like any other answer.
void asset_answer_missing_page(struct exchange *exchange)
{
    struct response *res = &exchange->response;
    const struct asset *index = asset_find("/index.html");
    response_header(res, "Cache-Control", "no-cache");
    res->content_type = index->content_type;
    res->status = 404;
    if (index->is_gzip)
        append_inflated(index, &exchange->body);
    else
        buffer_append(&exchange->body, index->data, index->size);
}

void asset_answer(struct exchange *exchange, const struct asset *asset)
{
    struct response *res = &exchange->response;
    bool sends_gzip = asset->is_gzip && accepts_gzip(request_header(&exchange->request, "Accept-Encoding"));
    char *etag = arena_printf(&exchange->arena, "\"%s%s\"", asset->etag, sends_gzip ? "-gz" : "");
    response_header(res, "ETag", etag);
    response_header(res, "Cache-Control", asset->is_immutable ? "public, max-age=31536000, immutable" : "no-cache");
    if (asset->is_gzip)
        response_header(res, "Vary", "Accept-Encoding");
    res->content_type = asset->content_type;
    res->status = 200;
    if (is_known_to_client(exchange, etag)) {
        res->status = 304;
        return;
    }
    if (sends_gzip)
        response_header(res, "Content-Encoding", "gzip");
    if (asset->is_gzip && !sends_gzip) {
        const struct buffer *plain = plain_form(exchange, asset);
        exchange->lasting = (struct lasting_body){plain->data, plain->length};
    } else {
        exchange->lasting = (struct lasting_body){asset->data, asset->size};
    }
}
