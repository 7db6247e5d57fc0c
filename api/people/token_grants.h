// Grants: from credentials to a token. A grant makes a session; the access token names it, so that ending the session
// revokes the token. A user's grant has a refresh token too: a part that stays for the session's life and a part that
// changes with each use, so that an old one is known as such and ends the session.
#pragma once
#include <stdint.h>

struct error;
struct request;
struct response;
struct sign_in_wish;

enum {
    REFRESH_LIFE_DAYS = 30
};

struct token_grant {
    const char *access_token;
    const char *refresh_token; // NULL: a service account asks again
    int64_t expires_in_s;
};

// ERROR_UNAUTHORIZED for credentials that are wrong, in one wording each; ERROR_TOO_MANY with Retry-After.
int token_grant_client(struct request *req, struct response *res, const char *client, const char *secret,
                       struct token_grant *out_grant, struct error *err);
int token_grant_password(struct request *req, struct response *res, const struct sign_in_wish *wish,
                         struct token_grant *out_grant, struct error *err);
// The code that signing in at the issuer gave, with the redirect URI that it went to and the verifier of its challenge.
int token_grant_code(struct request *req, const char *code, const char *redirect_uri, const char *verifier,
                     struct token_grant *out_grant, struct error *err);
// A token that the issuer gave somebody for our client. Without a refresh token, and for an hour: the issuer cannot be
// asked about the session.
int token_grant_external(struct request *req, struct response *res, const char *token, struct token_grant *out_grant,
                         struct error *err);
int token_grant_refresh(struct request *req, const char *refresh_token, struct token_grant *out_grant,
                        struct error *err);
