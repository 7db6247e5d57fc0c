// The head of a browser's request: read strictly, and written again for the pod. One request is read of a connection,
// so a head that two parsers might understand differently is refused, never mended.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct error;

enum {
    HEAD_BYTES_MAX = 32768,
    HEAD_FIELDS_MAX = 100
};
// Our cookies begin so, the dashboard's too: a browser sends them to every port of a host. No pod sees one.
#define HEAD_COOKIE_PREFIX "prorata"
#define HEAD_APP_COOKIE "prorata_app"

// A piece of the head that was read; not terminated.
struct head_text {
    const char *data;
    size_t length;
};

struct head_field {
    struct head_text name, value;
};

struct head {
    struct head_text method, target; // target: the path with its query; it begins with a slash
    struct head_text host;           // with its port
    struct head_text origin, cookie; // data NULL: none
    struct head_field fields[HEAD_FIELDS_MAX];
    size_t field_count;
    int64_t body_bytes;
    bool is_websocket;        // asks to go on as one
    bool is_script_of_worker; // `Service-Worker: script`
};

// Length of the head in data, with its empty line; 0: it is not whole yet. Cheap.
size_t head_length(const char *data, size_t length);
// Reads a whole head; texts point into data. ERROR_INVALID, ERROR_HEADERS_TOO_LARGE, or ERROR_TOO_LARGE where the
// body's length is not told (411 to the client).
int head_parse(const char *data, size_t length, struct head *out, struct error *err);
// The value of our cookie; length 0: none. Where a browser has several the one of the longest path comes first.
struct head_text head_app_cookie(const struct head *head);

// What the pod is told about who asks. Texts without line breaks.
struct head_forward {
    const char *person;  // X-Forwarded-User
    const char *address; // of the client: X-Forwarded-For
    const char *scheme;  // X-Forwarded-Proto
};
// Appends the head as the pod gets it: without what counts for one connection only, without our cookies, and without
// any field by which a client might say who it is.
void head_write(const struct head *head, const struct head_forward *forward, struct buffer *out);
bool head_text_is(struct head_text text, const char *word);      // exactly
bool head_text_is_word(struct head_text text, const char *word); // without regard to case
