// One delivery: claimed, composed for who may still see it, sent by its channel, and what came of it kept.
#pragma once
#include "api/access/network_rules.h"
#include "api/access/outbound_guard.h"

#include <stdatomic.h>
#include <stdint.h>

struct arena;
struct channel_config;
struct db;
struct error;
struct sealing;

enum {
    SENDER_CONNECT_MS = 5000,
    SENDER_TOTAL_MS = 20000
};

struct sender {
    struct db *db;
    const struct sealing *sealing;
    struct network_rules rules;
    const char *proxy, *ca_file, *slack_api; // NULL: none
    int64_t retry_ms, give_up_ms;
    atomic_bool is_stopping;
};

// Errors are the delivery's, and logged.
void sender_carry(struct sender *sender, const char *channel, int64_t delivery_id);
// What holds the sender's calls.
struct outbound_guard sender_guard(const struct sender *sender);
// Whether a channel works, without a message where that can be had.
int sender_try(struct sender *sender, const char *type, const struct channel_config *config, struct arena *arena,
               struct error *err);
