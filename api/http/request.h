// What a handler knows of a request: the caller, parameters (decoded, typed and checked against the document) and the
// body. Everything here lives as long as req->arena, which ends when the answer is written.
#pragma once
#include "api/operation.h"
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct audit_draft;   // api/access/audit.h
struct exchange;      // api/http/exchange.h: only the core touches it
struct identity;      // api/access/authenticate.h
struct mg_connection; // civetweb's
struct peer;          // api/http/peers.h
struct server;        // api/server.h

// One value of a path or query parameter. Lists are split and every item is checked.
struct parameter_value {
    const struct parameter *parameter;
    bool is_default;    // the caller left it out
    const char *text;   // the decoded text; of a list the first item
    int64_t integer;    // integers and booleans (0, 1)
    const char **items; // lists
    size_t item_count;
};

// filterBy=phase!=Running,name=@train
enum filter_operator {
    FILTER_EQUAL,         // ==
    FILTER_NOT_EQUAL,     // !=
    FILTER_LESS_EQUAL,    // <=
    FILTER_GREATER_EQUAL, // >=
    FILTER_CONTAINS,      // =@
    FILTER_LACKS,         // !@
    FILTER_BEGINS,        // =^
    FILTER_ENDS,          // =$
};

struct filter {
    const char *field; // one of the names that the operation's pattern allows
    enum filter_operator op;
    const char *value; // never empty
};

struct request {
    struct server *server;
    const struct operation *operation;
    struct arena *arena;
    const struct identity *caller; // NULL only for operations that are open to all
    json_t *body;                  // NULL without one; freed with the request
    const char *body_text;         // the body as it came, NUL-terminated; NULL without one
    size_t body_size;
    const char *remote_address; // "127.0.0.1"; behind a configured proxy, the client it names; of a peer "unix:1001"
    struct peer *peer;          // came by the machine's Unix socket; NULL: by TCP
    const char *id;             // request id: in the log line and in the details of a 500
    int64_t received_ms;        // wall clock, for times that the answer and the database carry
    bool is_head;

    struct parameter_value *values;
    size_t value_count;
    const struct filter *filters; // the filterBy parameter, split; all must hold
    size_t filter_count;
    struct request_key *key;     // the client's Idempotency-Key; NULL: none
    struct audit_draft *audit;   // what handlers add to the request's audit record; NULL: nobody makes one
    const char *compliance_json; // the list of what policies refuse, for the answer; NULL: they refuse nothing
    struct mg_connection *connection;
    struct exchange *exchange;
};

// Path parameter; never NULL for a name of the operation's path.
const char *request_path(const struct request *req, const char *name);
int64_t request_path_integer(const struct request *req, const char *name);

// Query parameters. Left out: the document's default, else NULL / fallback / false / 0 items.
const char *request_query(const struct request *req, const char *name);
int64_t request_query_integer(const struct request *req, const char *name, int64_t fallback);
bool request_query_boolean(const struct request *req, const char *name);
const char **request_query_list(const struct request *req, const char *name, size_t *out_count);
// True where the caller gave the parameter, even with the default's value.
bool request_has_query(const struct request *req, const char *name);

// A header, or NULL. Names are compared without regard to case.
const char *request_header(const struct request *req, const char *name);
// A cookie's value in the arena, or NULL.
const char *request_cookie(const struct request *req, const char *name);
// A field of a form body, decoded, in the arena, or NULL.
const char *request_form(const struct request *req, const char *name);
// True where the caller prefers this media type to JSON, e.g. "text/csv" for metrics.
bool request_accepts(const struct request *req, const char *media_type);
