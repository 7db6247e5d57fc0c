// What happens to a request, in order: framing, path, the page or operation, the caller, the permission, parameters,
// body, handler, answer, log line.
#pragma once

struct mg_connection;
struct server;

// Answers the request whose head civetweb has read. Called on the worker.
void dispatch_request(struct server *server, struct mg_connection *connection);
// Answers, with our error body, what civetweb refuses by itself.
void dispatch_refusal(struct server *server, struct mg_connection *connection, int status, const char *why);
