// The Unix socket beside TCP, by which people of this machine are who they are: docs/security.md. It is there where the
// server is root and a setting lets somebody in.
#pragma once
#include "api/access/socket_rules.h"
#include "daemon/socket_file.h"
#include <stdbool.h>

struct arena;
struct audit;
struct db;
struct error;
struct relay;
struct server;
struct settings;
struct user_rules;

struct door {
    bool is_wanted;
    struct socket_rules rules;
    struct socket_file file;
    int listen_fd;
    struct relay *relay;
    struct audit *audit; // hears of refusals; NULL: nobody does
};

// Reads the settings, and readies the server before it starts. ERROR_INVALID names what is wrong with them.
int door_prepare(const struct settings *settings, struct arena *arena, struct server *server, struct door *out_door,
                 struct error *err);
// Lets people in, once the server knows everything. Nothing to do where the socket is not wanted.
int door_open(struct door *door, const struct settings *settings, struct db *db, bool is_first, struct arena *arena,
              struct server *server, struct error *err);
// Lets nobody in any more and ends what is open.
void door_close(struct door *door);
// Frees what door_prepare made, once the server has stopped.
void door_done(struct server *server);

// Why pods could not be told from people under these rules; NULL: they can. Static text.
const char *door_danger(const struct settings *settings, const struct user_rules *rules);
