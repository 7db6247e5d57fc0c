// Files embedded at build time by tools/embed_assets.py: the dashboard, Swagger UI, the API document. Each is answered
// with its type, a strong ETag, and gzipped where the client takes it.
#pragma once
#include "api/http/exchange.h"

struct path;

struct asset {
    const char *path; // as requested: "/app-1A2B3C4D.js"
    const char *content_type;
    const char *etag; // without quotes
    const unsigned char *plain;
    size_t plain_size;
    const unsigned char *packed; // by gzip; NULL where that doesn't make it smaller
    size_t packed_size;
    bool is_immutable; // the name holds the content's hash
};

extern const struct asset ASSETS[]; // sorted by path
extern const size_t ASSET_COUNT;

const struct asset *asset_find(const char *path);
// The addresses of the dashboard's pages, as web/routes.js has them; "*" takes one segment. NULL ends them.
extern const char *const PAGES[];
// The file that a page of the dashboard is answered with, or NULL where the path is no page.
const struct asset *asset_of_page(const struct path *path);

// The dashboard, with status 404: it says that there is no such page.
void asset_answer_missing_page(struct exchange *exchange);
// Answers 200 or 304. Sets the response; the caller sends it. Nothing is copied: who reads slowly holds no memory.
void asset_answer(struct exchange *exchange, const struct asset *asset);
