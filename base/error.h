// Errors are values: a function that can fail returns 0 or -1 and takes struct error *err last. The lowest function
// that knows what happened writes the message; those above pass it on, or put a path in front with error_prefix.
#pragma once

#define ERROR_CODES(X)                                                                     \
    X(ERROR_INVALID, 400, "the request is wrong; the message names the field")             \
    X(ERROR_UNAUTHORIZED, 401, "no token, or one that is not good")                        \
    X(ERROR_FORBIDDEN, 403, "the caller's roles do not allow it in this scope")            \
    X(ERROR_NOT_FOUND, 404, "unknown, or outside the caller's scope")                      \
    X(ERROR_METHOD, 405, "the path has no such method")                                    \
    X(ERROR_TIMEOUT, 408, "the body did not arrive in time")                               \
    X(ERROR_CONFLICT, 409, "the name is taken or the state has moved on")                  \
    X(ERROR_PRECONDITION, 412, "still in use")                                             \
    X(ERROR_TOO_LARGE, 413, "the body exceeds its bound")                                  \
    X(ERROR_MEDIA_TYPE, 415, "the body is of another media type than the operation takes") \
    X(ERROR_UNPROCESSABLE, 422, "well formed, but the combination is impossible")          \
    X(ERROR_TOO_MANY, 429, "too many tries; wait")                                         \
    X(ERROR_HEADERS_TOO_LARGE, 431, "too many or too large headers")                       \
    X(ERROR_INTERNAL, 500, "our fault; the log has the cause")                             \
    X(ERROR_LATER, 501, "an operation that an outside party must be set up for first")     \
    X(ERROR_UNAVAILABLE, 503, "the service cannot do it at present; try again")

enum error_code {
    ERROR_NONE = 0,
#define ERROR_ENUM(name, status, meaning) name,
    ERROR_CODES(ERROR_ENUM)
#undef ERROR_ENUM
};

struct error {
    enum error_code code;
    char message[256]; // one line, no full stop; where cut, it ends in "..."
    char details[512]; // the way out, for a person; may be empty
};

// Always returns -1, so that a failure is one line. err may be NULL.
int error_set(struct error *err, enum error_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Sets details; returns -1 as well.
int error_details(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Puts text in front of the message (a path or a file's name); returns -1.
int error_prefix(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The HTTP status of a code; 500 for ERROR_NONE.
int error_status(enum error_code code);
