#include "api/assets.h"
#include "api/http/packing.h"
#include "api/http/path.h"
#include <string.h>

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

// No ETag: it is not kept, and so it is packed like any other answer.
void asset_answer_missing_page(struct exchange *exchange)
{
    struct response *res = &exchange->response;
    const struct asset *index = asset_find("/index.html");
    response_header(res, "Cache-Control", "no-cache");
    res->content_type = index->content_type;
    res->status = 404;
    buffer_append(&exchange->body, index->plain, index->plain_size);
}

void asset_answer(struct exchange *exchange, const struct asset *asset)
{
    struct response *res = &exchange->response;
    bool sends_gzip = asset->packed && accepts_gzip(request_header(&exchange->request, "Accept-Encoding"));
    char *etag = arena_printf(&exchange->arena, "\"%s%s\"", asset->etag, sends_gzip ? "-gz" : "");
    response_header(res, "ETag", etag);
    response_header(res, "Cache-Control", asset->is_immutable ? "public, max-age=31536000, immutable" : "no-cache");
    if (asset->packed)
        response_header(res, "Vary", "Accept-Encoding");
    res->content_type = asset->content_type;
    res->status = 200;
    if (is_known_to_client(exchange, etag)) {
        res->status = 304;
        return;
    }
    if (sends_gzip)
        response_header(res, "Content-Encoding", "gzip");
    exchange->lasting = sends_gzip ? (struct lasting_body){asset->packed, asset->packed_size}
                                   : (struct lasting_body){asset->plain, asset->plain_size};
}
