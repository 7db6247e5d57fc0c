#include "api/access/audit.h"

#include "api/http/request.h"
#include "base/arena.h"

#include <string.h>

static const char *copy(struct request *req, const char *text)
{
    return arena_printf(req->arena, "%.*s", AUDIT_TEXT_MAX, text);
}

const char *audit_action_text(enum audit_action action)
{
    static const char *const TEXTS[AUDIT_ACTION_COUNT] = {
        [AUDIT_CREATE] = "create",   [AUDIT_UPDATE] = "update",     [AUDIT_DELETE] = "delete",
        [AUDIT_SIGN_IN] = "sign-in", [AUDIT_SIGN_OUT] = "sign-out", [AUDIT_RESET_PASSWORD] = "reset-password",
        [AUDIT_READ] = "read",
    };
    return TEXTS[action];
}

void audit_tried(struct request *req, enum subject_type type, const char *name)
{
    struct audit_draft *draft = req->audit;
    if (!draft || draft->is_certain) // a signed-in caller's own name stays
        return;
    bool is_mail = type == SUBJECT_USER && strchr(name, '@') && !strpbrk(name, " \t");
    draft->is_wanted = draft->is_tried = true;
    draft->action = AUDIT_SIGN_IN;
    draft->subject_type = type;
    draft->subject = is_mail ? copy(req, name) : "";
}

void audit_signed_in(struct request *req, enum subject_type type, const char *name)
{
    struct audit_draft *draft = req->audit;
    if (!draft || draft->is_certain)
        return;
    draft->is_wanted = draft->is_certain = true;
    draft->action = AUDIT_SIGN_IN;
    draft->subject_type = type;
    draft->subject = copy(req, name);
}

void audit_not_signed_in(struct request *req, const char *reason)
{
    if (!req->audit)
        return;
    req->audit->is_certain = false;
    audit_detail(req, "reason", reason);
}

void audit_action(struct request *req, enum audit_action action)
{
    if (!req->audit)
        return;
    req->audit->is_wanted = true;
    req->audit->action = action;
}

void audit_detail(struct request *req, const char *key, const char *value)
{
    struct audit_draft *draft = req->audit;
    if (draft && draft->detail_count < AUDIT_DETAIL_MAX)
        draft->details[draft->detail_count++] = (struct audit_detail){copy(req, key), copy(req, value)};
}

void audit_entity(struct request *req, const char *type, const char *id, const char *name)
{
    struct audit_draft *draft = req->audit;
    if (!draft)
        return;
    if (type)
        draft->entity_type = copy(req, type);
    if (id)
        draft->entity_id = copy(req, id);
    if (name)
        draft->entity_name = copy(req, name);
}
