// What a handler adds to the audit record of its request. No handler writes a record: api/audit makes one of every
// write, in the transaction of the request's first change, and one of every refused try. All of these are called
// before that change (db_write), on the request's thread. Texts are copied, and cut where they are long.
//
//     audit_tried(req, SUBJECT_USER, username); // who the client says it is
//     ...
//     audit_signed_in(req, SUBJECT_USER, user.email); // password and second factor were right
//     audit_detail(req, "grant", "password");
//     db_create_session(...);
#pragma once
#include "api/identity.h"

#include <stddef.h>

struct request;

enum audit_action {
    AUDIT_CREATE,
    AUDIT_UPDATE,
    AUDIT_DELETE,
    AUDIT_SIGN_IN,
    AUDIT_SIGN_OUT,
    AUDIT_RESET_PASSWORD,
    AUDIT_READ,
    AUDIT_ACTION_COUNT
};

enum {
    AUDIT_DETAIL_MAX = 6,
    AUDIT_TEXT_MAX = 254 // bytes of a name or a value
};

struct audit_detail {
    const char *key, *value;
};

// Of one request, in its arena.
struct audit_draft {
    bool is_wanted;  // a record is made of the request
    bool is_tried;   // somebody wants to sign in
    bool is_certain; // the subject is who it says: a change carries the record
    enum audit_action action;
    enum subject_type subject_type;
    const char *subject; // "" until it is known
    const char *entity_type, *entity_id, *entity_name;
    struct audit_detail details[AUDIT_DETAIL_MAX];
    size_t detail_count;
};

// "create", "sign-in", ...: static text.
const char *audit_action_text(enum audit_action action);

// Who tries to sign in, before it is certain. A user's name that is no e-mail is left out: people type passwords into
// the wrong field. A service account's is given once it was found.
void audit_tried(struct request *req, enum subject_type type, const char *name);
// The sign-in is certain: the next change carries its record. Makes a record of an operation that is no write too.
void audit_signed_in(struct request *req, enum subject_type type, const char *name);
// It failed all the same, whatever was said before: for answers that are no error, as a redirect.
void audit_not_signed_in(struct request *req, const char *reason);
// What the request does where the method doesn't tell: a sign-out, a password's reset. Makes a record of a read too.
void audit_action(struct request *req, enum audit_action action);
// A word more: the grant, the issuer, which second factor. Never a secret. At most AUDIT_DETAIL_MAX; what is more is
// left out.
void audit_detail(struct request *req, const char *key, const char *value);
// What is acted on, where neither path nor body name it. NULL leaves what is known.
void audit_entity(struct request *req, const char *type, const char *id, const char *name);
