// The caller of a request, once api/access/authenticate.h knows who it is.
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum subject_type {
    SUBJECT_USER,
    SUBJECT_SERVICE_ACCOUNT
};

struct grants; // what the caller's access rules add up to: api/access/authorization.h

// The caller, in the request's arena.
struct identity {
    enum subject_type type;
    int64_t subject_id; // users.id or service_accounts.id
    const char *subject_uuid;
    const char *rule_key;      // how access rules name it: e-mail or client id
    const char *name;          // user name (e-mail) or the service account's name: submittedBy, createdBy
    const char *session_id;    // revocable
    bool is_cookie;            // by the browser's session
    bool is_peer;              // by the machine's Unix socket, as who connected
    bool is_access_key;        // a program with a user's key: it makes no further ones
    const char *machine_user;  // NAME:NUMBER of this machine that his pods run as; NULL: no peer, or root
    bool must_change_password; // nothing else is allowed before
    int64_t expires_ms;        // of the token; of a cookie, if no further request comes
    const struct grants *grants;
};
