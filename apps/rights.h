// What the listener asks about a person: apps/ knows no database, and is told by who starts it.
#pragma once

struct app_pass; // apps/passes.h
struct error;

// The person's right at the place, as it is now. Any thread; may block for seconds.
struct apps_rights {
    void *context;
    // ERROR_UNAUTHORIZED: the session is over; ERROR_FORBIDDEN, ERROR_NOT_FOUND: no right, no such port.
    int (*check)(void *context, const struct app_pass *pass, struct error *err);
    // The same, and a stream to the port; ERROR_UNAVAILABLE: nothing listens there yet. *out_fd is a connected socket,
    // non-blocking, and the caller's.
    int (*open)(void *context, const struct app_pass *pass, int *out_fd, struct error *err);
};
