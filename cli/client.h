// Speaks HTTP to the server: JSON in, JSON out, errors as the server words them. SSL_CERT_FILE is honoured.
#pragma once
#include <jansson.h>
#include <stddef.h>

struct arena;
struct error;
typedef void CURL;

struct client {
    CURL *curl;
    const char *url;    // of the server, without a slash at the end
    const char *socket; // goes there by this Unix socket; NULL: by TCP
    const char *token;  // NULL: not signed in
    struct arena *arena;
};

int client_open(const char *url, const char *token, struct arena *arena, struct client *out_client, struct error *err);
void client_close(struct client *client);

// path begins with /api/. body is borrowed; NULL sends none. *out_answer (NULL: not wanted) is the caller's;
// json_null() for an empty answer. Whatever is not 2xx is an error with the server's message; 401 says how to sign in.
int client_call(struct client *client, const char *method, const char *path, const json_t *body, json_t **out_answer,
                struct error *err);
// Text as it comes, to the callback; returns when the server ends it.
typedef size_t (*client_text_fn)(char *data, size_t size, size_t count, void *context);
int client_stream(struct client *client, const char *path, client_text_fn fn, void *context, struct error *err);
// Percent-encoded, in the arena.
const char *client_escape(struct client *client, const char *text);
