// Signing in by the machine's socket: who connected is who calls, without password or token. The account is made at
// first use: alice@localhost for the machine's user alice, known by name and number together.
#pragma once
#include <stddef.h>

struct db_conn;
struct error;
struct grant;
struct request;

// Gives req->peer a session, and makes account and session where they are missing. ERROR_FORBIDDEN says what would let
// the user in. Nothing to do where the connection has one. Writes, so no reading connection may be held.
int socket_sign_in(struct request *req, struct error *err);
// Adds what the user's groups give him now: room for SOCKET_RULES_MAX. ERROR_FORBIDDEN where that is nothing any more.
int socket_sign_in_grants(struct request *req, struct db_conn *conn, struct grant *items, size_t *count,
                          struct error *err);
// The machine's user as NAME:NUMBER, that his pods run as. NULL: it is root. In the request's arena.
const char *socket_sign_in_user(struct request *req);
