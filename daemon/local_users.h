// The users that pods of the local backend run as, from the settings and what the data folder remembers: a range of
// users is never given up, since files of theirs may lie about.
#pragma once
#include <stdbool.h>

struct arena;
struct db;
struct error;
struct settings;
struct user_rules;

// Where a data folder is from before there were ranges, and none is set, projects share a user; so they do where
// --local-user is set.
int local_users_choose(const struct settings *settings, struct db *db, bool is_first, struct arena *arena,
                       struct user_rules *out_rules, struct error *err);
// The same without writing anything, and without a server.
int local_users_look(const struct settings *settings, struct arena *arena, struct user_rules *out_rules,
                     struct error *err);
// Why pods have no group of their own though the server is root, for people; NULL: they have.
const char *local_users_without_groups(const struct settings *settings, const struct user_rules *rules,
                                       struct arena *arena);
// What pods can read of each other under these rules; NULL: nothing.
const char *local_users_danger(const struct settings *settings, const struct user_rules *rules, struct arena *arena);
