// The threads that tell people: a clerk, who turns what happened into deliveries and hands out those that are due, and
// a few senders, who each carry one. Nobody waits for them: the clerk reads behind a cursor (db/notifications/outbox.h)
// what others have committed, and a receiver that hangs holds one sender, and its own channel, for at most
// SENDER_TOTAL_MS.
//
// A delivery that fails is tried again, each time twice as late with some chance in it, until it is too old. While a
// channel fails, one delivery at a time is tried by it.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena;
struct channel_config;
struct db;
struct error;
struct notifications;
struct sealing;

enum {
    NOTIFICATION_SENDERS = 4
};

struct notification_options {
    const char *const *networks; // that may be connected to beside the public internet
    size_t network_count;
    const char *proxy;     // of calls by HTTP; NULL: none
    const char *ca_file;   // NULL: the system's
    const char *slack_api; // NULL: Slack is not called by token
    int64_t per_hour;      // deliveries to a recipient
    int64_t retry_ms;      // before the second try
    int64_t give_up_ms;
};

// Before others use the database. Texts and sealing outlive it. ERROR_INVALID where a network is none. The caller owns
// *out_notifications.
int notifications_create(struct db *db, const struct sealing *sealing, const struct notification_options *options,
                         struct notifications **out_notifications, struct error *err);
int notifications_start(struct notifications *notifications, struct error *err);
// Ends what is being sent: it is sent again after the next start.
void notifications_stop(struct notifications *notifications); // NULL is fine
// After it was stopped and the database closed, which goes on telling of changes.
void notifications_destroy(struct notifications *notifications); // NULL is fine

// Whether a channel that is set up like this works; on a thread of its own, a few at once. ERROR_UNAVAILABLE with what
// went wrong; ERROR_LATER where it needs an outside party that is not configured.
int notifications_try(struct notifications *notifications, const char *type, const struct channel_config *config,
                      struct arena *arena, struct error *err);
// The same for a Slack app, whose address is the arena's.
int notifications_create_slack_app(struct notifications *notifications, const char *token, struct arena *arena,
                                   const char **out_url, struct error *err);
