// Calls to another server by libcurl: bounded in time and size, no redirect followed, TLS verified. They wait for the
// other side: never on a thread that others wait for (openid.h runs them on threads of their own).
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct arena;
struct error;
struct outbound_guard;

enum {
    OUTBOUND_HEADERS_MAX = 8,
    OUTBOUND_CONNECT_MS = 3000,
    OUTBOUND_TOTAL_MS = 5000,
    OUTBOUND_BYTES_MAX = 256 << 10
};

struct outbound_call {
    const char *url;
    const char *form; // the body of a POST; NULL: a GET
    const char *json; // the same, of another type; NULL: none
    const char *user; // with password, HTTP Basic; NULL: none
    const char *password;
    const char *bearer;                        // a token; NULL: none
    const char *ca_file;                       // certificates to trust instead of the system's; NULL: the system's
    const char *headers[OUTBOUND_HEADERS_MAX]; // "Name: value"; ends with NULL where there are fewer
    struct outbound_guard *guard;              // NULL: an address that the site set up: any but link-local
};

struct outbound_answer {
    int status;
    const char *text; // NUL-terminated, in the arena
    size_t size;
};

// https, or http to this machine's own loopback; without a user in it, and without a fragment.
bool outbound_is_allowed(const char *url);
// Percent-encoded for a query or a form; the arena's.
const char *outbound_escape(const char *text, struct arena *arena);
// 0 with any status; ERROR_UNAVAILABLE where no whole answer came within the bounds.
int outbound_call(const struct outbound_call *call, struct arena *arena, struct outbound_answer *out_answer,
                  struct error *err);
