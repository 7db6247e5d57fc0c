// What the access rules in force add up to for one subject, whoever asks.
#pragma once
#include "api/access/authorization.h"

#include <stdbool.h>

struct arena;
struct db_conn;
struct error;

// rule_key: how rules name the subject, e-mail or client id. *out_items is the arena's and has room for spare_count
// more.
int grants_load(struct db_conn *conn, bool is_user, const char *rule_key, size_t spare_count, struct arena *arena,
                struct grant **out_items, size_t *out_count, struct error *err);
