// Tells the service manager how the server is, by the protocol of sd_notify(3): datagrams to the socket that
// NOTIFY_SOCKET names. Without that variable nothing is sent. Main thread.
#pragma once
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct health;

struct notifier {
    int fd;              // -1: nobody wants to know
    int64_t watchdog_us; // within which the manager expects a sign of life; 0: never
    bool is_ready_told;
    int64_t progress_told;
    int64_t alive_told_us;
    char status_told[sizeof(((struct error *)0)->message)];
};

// Takes the variables out of the environment, so that no child speaks for the server: before there are threads.
void notifier_init(struct notifier *notifier);
void notifier_done(struct notifier *notifier);

// Tells what is new: while the server starts that it gets on, once that it is ready, then that it goes on, but only
// while its threads do. Returns the milliseconds after which to call it again; -1: never.
int notifier_tell(struct notifier *notifier, struct health *health);
void notifier_tell_stopping(struct notifier *notifier);
