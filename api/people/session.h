// The cookie of a browser's session.
#pragma once
#include <stdbool.h>

struct request;
struct response;

// "Secure" would keep the cookie from an installation without TLS, so it is set where TLS is known. A client that lies
// about it only shuts itself out.
bool session_cookie_is_secure(const struct request *req);
// more: further attributes, each begun by "; ".
void session_set_cookie(const struct request *req, struct response *res, const char *value, const char *more);
