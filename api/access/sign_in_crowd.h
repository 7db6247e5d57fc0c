// Sees that one address makes most tries to sign in: a proxy that the server was not told of, behind which everybody is
// slowed by everybody's wrong passwords, or somebody who guesses. Said in the log, at the next start and by `doctor`.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db;
struct error;

#define SIGN_IN_CROWD_META "sign_in_crowd"

enum {
    CROWD_TRIES = 50,    // the latest, of an hour at most
    CROWD_FROM_ONE = 45, // so many of them from one address
    CROWD_ACCOUNTS = 10  // and for so many accounts
};

struct sign_in_crowd;
struct sign_in_crowd *sign_in_crowd_create(void);
void sign_in_crowd_destroy(struct sign_in_crowd *crowd); // NULL is fine

// Notes a try. True where its address has become a crowd, once an hour at most. Thread-safe.
bool sign_in_crowd_note(struct sign_in_crowd *crowd, const char *account, const char *address, int64_t now_ms);

// Logs it and keeps it in the database, which costs a commit.
void sign_in_crowd_tell(struct db *db, const char *address, int64_t now_ms);
// At a start: says what was kept within the last month, or drops it where proxies are known.
int sign_in_crowd_remind(struct db *db, bool knows_proxies, int64_t now_ms, struct error *err);
// What was kept as a sentence, the arena's; NULL: it is old, or nothing was. *out_advice: what to do, the arena's.
const char *sign_in_crowd_sentence(const char *kept, int64_t now_ms, struct arena *arena, const char **out_advice);
