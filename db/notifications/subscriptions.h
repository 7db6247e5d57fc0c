// Who wants to be told what: a person's choices of events and channels. With the person they go.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db;
struct db_conn;
struct error;

enum {
    SUBSCRIPTIONS_MAX = 50 // of a person
};

struct subscription {
    const char *uuid;
    int64_t user_id;
    const char *user_email; // of listing only
    bool is_for_all;        // of whatever the person may see; else of his own workloads
    const char *events_json;
    const char *channels_json;
    int64_t since_ms; // nothing older is told
};

// A person's, in the order they were made; user_id 0: everybody's.
int db_list_subscriptions(struct db_conn *conn, int64_t user_id, struct arena *arena,
                          struct subscription **out_subscriptions, size_t *out_count, struct error *err);

// ERROR_CONFLICT where the person has SUBSCRIPTIONS_MAX.
int db_create_subscription(struct db *db, const struct subscription *subscription, struct error *err);
// ERROR_NOT_FOUND where the person has no such one.
int db_update_subscription(struct db *db, const struct subscription *subscription, struct error *err);
// With it goes what waits for the person's mailbox and has not been tried; ERROR_NOT_FOUND.
int db_delete_subscription(struct db *db, int64_t user_id, const char *uuid, struct error *err);
