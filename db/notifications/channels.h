// Where notifications go: the mail server, Slack, webhooks.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db;
struct db_conn;
struct error;

enum {
    NOTIFICATION_CHANNELS_MAX = 32
};

struct notification_channel {
    const char *name; // email, slack, or a webhook's own
    const char *type; // email, slack, webhook
    bool is_enabled;
    const char *config_json;    // without secrets
    const char *secrets_sealed; // NULL: it has none
    const char *updated_by;
    int64_t updated_ms;
    // What became of what was sent by it; who writes the channel leaves it out.
    int64_t paused_until_ms;
    int64_t failures;
    const char *last_error;
    int64_t last_error_ms, last_sent_ms;
};

// 1: found; 0: none; -1: error.
int db_find_notification_channel(struct db_conn *conn, const char *name, struct arena *arena,
                                 struct notification_channel *out_channel, struct error *err);
// By name.
int db_list_notification_channels(struct db_conn *conn, struct arena *arena, struct notification_channel **out_channels,
                                  size_t *out_count, struct error *err);

// ERROR_CONFLICT where the name is taken, or there are NOTIFICATION_CHANNELS_MAX.
int db_create_notification_channel(struct db *db, const struct notification_channel *channel, struct error *err);
// Inside a write function.
int db_create_notification_channel_in(struct db_conn *conn, const struct notification_channel *channel,
                                      struct error *err);
// Its switch stays as it is, and what waits is tried at once. ERROR_NOT_FOUND.
int db_update_notification_channel(struct db *db, const struct notification_channel *channel, struct error *err);
// With it goes what waits for it. ERROR_NOT_FOUND.
int db_delete_notification_channel(struct db *db, const char *name, struct error *err);

// What is switched on and off at once; -1: stays.
struct notification_switches {
    int email, slack, webhook;
};
int db_switch_notification_channels(struct db *db, const struct notification_switches *switches, struct error *err);
