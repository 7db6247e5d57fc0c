// One request to the API server and what comes of it.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KUBE_MERGE_PATCH "application/merge-patch+json"
#define KUBE_STRATEGIC_PATCH "application/strategic-merge-patch+json"
#define KUBE_JSON_PATCH "application/json-patch+json"

enum kube_method {
    KUBE_GET,
    KUBE_POST,
    KUBE_PUT,
    KUBE_PATCH,
    KUBE_DELETE
};

enum kube_limit {
    KUBE_LIMIT_LONG, // 30 s: reads and creates, whose webhooks are slow
    KUBE_LIMIT_SHORT // 4 s: binds, deletes, leases
};

enum {
    KUBE_TRY_FOR_MS = 30000,
    KUBE_ANSWER_MAX = 16 * 1024 * 1024,
    KUBE_REASON_SIZE = 64,
    KUBE_FIELD_SIZE = 96,
    KUBE_MESSAGE_SIZE = 400,
    KUBE_CAUSE_SIZE = 200,
    KUBE_CAUSES_MAX = 3
};

// Texts end with the call (a submitted one is copied).
struct kube_call {
    enum kube_method method;
    const char *path;         // "/api/v1/...", segments escaped: kube_path
    const char *query;        // "limit=500&...", escaped: kube_query; NULL: none
    const char *body;         // JSON; NULL: none
    const char *content_type; // NULL: application/json
    enum kube_limit limit;
    // Whether sending it twice does no harm. Reads always are; a write is one where a fixed name, a uid or a version
    // makes the second a refusal (409, 404), which the caller reads as done. Others are sent again only after an answer
    // that says that nothing was done: 429, or no connection. libcurl itself sends any call twice whose kept connection
    // died without a byte, so a 409 or 404 calls for a look in every case.
    bool is_repeatable;
    int64_t try_for_ms; // how long it is sent again after what may pass; 0: never, -1: KUBE_TRY_FOR_MS
    size_t answer_max;  // bytes; 0: KUBE_ANSWER_MAX
};

struct kube_cause {
    char reason[KUBE_REASON_SIZE]; // DisruptionBudget, NamespaceTerminating, FieldValueInvalid, ...
    char field[KUBE_FIELD_SIZE];
    char message[KUBE_CAUSE_SIZE];
};

// What a Status says. Decide by code, then reason, then causes; message is for people.
struct kube_status {
    int code;                      // of HTTP; 0: no answer came
    char reason[KUBE_REASON_SIZE]; // Forbidden, AlreadyExists, Conflict, Expired, ...; "": none
    char message[KUBE_MESSAGE_SIZE];
    char kind[KUBE_REASON_SIZE], name[KUBE_FIELD_SIZE]; // of what it is about
    struct kube_cause causes[KUBE_CAUSES_MAX];
    int cause_count;
};

enum kube_outcome {
    KUBE_ANSWERED,       // status.code says how
    KUBE_NOT_SENT,       // no connection: nothing was done
    KUBE_NO_ANSWER,      // sent, and no whole answer: a write may have been done or not
    KUBE_BAD_ANSWER,     // too large, or not JSON where JSON was promised
    KUBE_NO_CREDENTIALS, // none could be had: nothing was sent
    KUBE_STOPPED         // the client was stopped; a write may have been done or not
};

struct kube_answer {
    enum kube_outcome outcome;
    struct kube_status status; // of no answer: message says why
    json_t *body;              // NULL: none, or not JSON
    char *text;                // the bytes as they came, where it is not JSON (a log); ends in '\0'; NULL: none
    size_t text_length;
    bool is_json;                  // the server says so
    int64_t retry_after_ms;        // -1: not said
    int64_t date_ms;               // the server's clock (header Date); 0: not said
    char warning[KUBE_CAUSE_SIZE]; // the first Warning header's text; "": none
    int attempts;                  // how often it was sent
    bool is_certificate_bad;       // of the server's certificate, with KUBE_NOT_SENT
};

void kube_answer_done(struct kube_answer *answer);
bool kube_answer_is_good(const struct kube_answer *answer); // 200 to 299
bool kube_status_has_cause(const struct kube_status *status, const char *reason);
// "403 Forbidden: exceeded quota ..." or why there is none, for people. Returns out.
const char *kube_answer_text(const struct kube_answer *answer, char *out, size_t size);
