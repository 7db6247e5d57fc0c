// Who of this machine's people comes in by its Unix socket, and with what rights. The groups decide, as the machine's
// database has them: they are looked at again where the last look is older than a second, so rights end with them.
#pragma once
#include "api/access/socket_rules.h"

struct access_grants;
struct arena;
struct db_conn;
struct error;
struct grant;
struct socket_access;

#define SOCKET_ACCOUNT_DOMAIN "localhost" // alice's account is alice@localhost

struct socket_person {
    const char *name; // of the machine's user
    uint32_t rules;   // that let him in, a bit each
    bool is_root;
};

struct socket_access *socket_access_create(const struct socket_rules *rules); // the texts stay the caller's
void socket_access_destroy(struct socket_access *access);

// ERROR_FORBIDDEN where nothing lets the user in: the message says who he is, the details what would let him in, for
// the administrator; out_person has his name all the same, NULL where he has none. Texts are the arena's.
int socket_access_look(struct socket_access *access, int64_t uid, struct arena *arena, struct socket_person *out_person,
                       struct error *err);
// Adds to items, which has room for SOCKET_RULES_MAX more: a grant for each rule whose project is there.
int socket_access_grants(const struct socket_access *access, const struct socket_person *person, struct db_conn *conn,
                         struct grant *items, size_t *count, struct error *err);
