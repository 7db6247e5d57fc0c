// Reads an operation's path, query and header parameters: decodes, splits lists, checks each against the document,
// fills in defaults. Unknown query parameters are ignored.
#pragma once

struct error;
struct path;
struct request;

// Sets req->values and req->filters. query is the raw text after the question mark; NULL for none.
int parameters_read(struct request *req, const struct path *path, const char *query, struct error *err);
