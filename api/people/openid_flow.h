// What one sign-in at the issuer is bound to, from its begin to its end: in a sealed cookie of the browser.
#pragma once
#include <stdbool.h>

struct error;
struct request;
struct response;

struct openid_flow_state {
    const char *state; // what the issuer gives back
    const char *nonce;
    const char *verifier;
    const char *return_to;    // a path of ours, for browsers
    const char *redirect_uri; // of a command line; NULL: a browser signs in
    const char *challenge;    // and its own state and PKCE challenge
    const char *client_state;
};

// A new one, with what the request's parameters ask for. ERROR_INVALID where they lead to another host, or where a
// command line gives no challenge.
int openid_flow_begin(struct request *req, struct openid_flow_state *out_state, struct error *err);
void openid_flow_keep(struct request *req, struct response *res, const struct openid_flow_state *state);
// The one that this browser began, in time, where the request's state is its own.
bool openid_flow_find(struct request *req, struct openid_flow_state *out_state);
void openid_flow_forget(struct request *req, struct response *res);
// The command line asked for a code that a person copies.
bool openid_flow_shows_code(const struct openid_flow_state *state);
// The listener of the command line, with this answer and its state.
const char *openid_flow_loopback_url(struct request *req, const struct openid_flow_state *state, const char *name,
                                     const char *value);
