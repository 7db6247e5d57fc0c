// One request: what it asks, and the answer in the making.
#pragma once
#include "base/arena.h"
#include "base/buffer.h"
#include "tests/fakekube/kube.h"
struct mg_connection;

struct call {
    struct kube *kube;
    struct mg_connection *connection;
    struct arena arena; // of all texts below
    const char *method;
    const char *path;
    json_t *query;         // object of texts
    int resource;          // -1: not a path of objects
    const char *namespace; // "" for all, or of no namespace
    const char *name;      // "" for the collection
    const char *subresource;
    const char *verb; // get list watch create update patch delete deletecollection bind evict log
    const char *content_type;
    const char *user; // of the token; "" without
    json_t *body;     // NULL if empty or not JSON
    const char *body_text;
    size_t body_length;
    json_t *fault; // the fault that struck; NULL without
    bool is_sent;  // the answer is on its way already (watches, logs)
    int code;
    json_t *value;         // the answer
    struct buffer text;    // or this text, when value is NULL
    const char *text_type; // of text
    struct buffer headers; // whole lines with \r\n
    json_t *warnings;      // texts
};

void call_init(struct call *call, struct kube *kube);
void call_done(struct call *call);
// Splits path and query, finds the resource and the verb. The query is what stands behind '?', or NULL.
void call_read(struct call *call, const char *method, const char *path, const char *query);

const char *call_query(const struct call *call, const char *name); // "" without
bool call_query_is(const struct call *call, const char *name);     // "1" or "true"
// "namespace/name" or "name".
const char *call_key(struct call *call);
const struct resource *call_resource(const struct call *call);

// The answer; takes value's reference. Returns 0.
int call_answer(struct call *call, int code, json_t *value);
// An object of the store with kind and apiVersion in front. Returns 0.
int call_answer_revision(struct call *call, int code, const struct revision *revision);
// A Status of failure, with name and kind in details. Returns -1.
int call_fail(struct call *call, int code, const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// One more cause in the details of the failure; NULL leaves a member out.
void call_add_cause(struct call *call, const char *reason, const char *message, const char *field);
void call_set_details(struct call *call, const char *member, json_t *value);
// The usual ones. Return -1.
int call_fail_not_found(struct call *call);
int call_fail_conflict(struct call *call, const char *why);
// 422 of the causes in an array of {reason, message, field}; takes it. 0 if it is empty.
int call_fail_invalid(struct call *call, json_t *causes);
// A Status of success about an object. Returns 0.
int call_succeed(struct call *call, int code, const json_t *object);
json_t *status_value(int code, const char *reason, const char *message);
