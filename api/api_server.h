// Starting and stopping the HTTP side. server.h is what handlers know of it.
#pragma once
#include "api/server.h"

// Opens the ports and answers from then on. server must stay in place until api_server_stop; db and what else handlers
// use must be ready unless is_starting. ERROR_INVALID names the address in use. Port 0 takes a free one:
// api_server_port.
int api_server_start(struct server *server, struct error *err);
int api_server_port(const struct server *server, size_t listen_index);
// Where connections of the Unix socket are handed on to; 0: there is none.
int api_server_relay_port(const struct server *server);

// New requests answer 503 with Connection: close, streams end; /readyz fails. Returns at once.
void api_server_drain(struct server *server);
// Drains, waits for running requests (at most wait_ms), closes the ports and frees the core.
void api_server_stop(struct server *server, int64_t wait_ms);
