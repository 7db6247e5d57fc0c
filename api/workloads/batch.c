// Many workloads at once: each is a wish of its own, so that one refusal leaves the others alone.
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/workloads/workload_actions.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/uuid.h"
#include "db/db.h"

#include <string.h>

enum {
    BATCH_MAX = 100
};

static enum workload_wish wish_of(const char *action)
{
    if (strcmp(action, "delete") == 0)
        return WISH_DELETED;
    return strcmp(action, "suspend") == 0 ? WISH_STOPPED : WISH_RUNNING;
}

// Permissions go by the kind, as on the kinds' own paths.
static int wish_by_kind(struct request *req, const char *uuid, enum workload_wish wish, struct error *err)
{
    for (size_t i = 0; i < WORKLOAD_TYPE_COUNT; i++) {
        *err = (struct error){0};
        if (workload_wish(req, uuid, WORKLOAD_KINDS[i], wish, err) == 0)
            return 0;
        if (err->code != ERROR_NOT_FOUND)
            return -1;
    }
    return -1;
}

int op_batch_workloads(struct request *req, struct response *res, struct error *err)
{
    const json_t *ids = json_object_get(req->body, "ids");
    size_t count = json_array_size(ids);
    enum workload_wish wish = wish_of(json_string_value(json_object_get(req->body, "action")));
    if (count == 0 || count > BATCH_MAX)
        return error_set(err, ERROR_INVALID, "ids: 1 to %d, got %zu", BATCH_MAX, count);
    struct error *errors = arena_array(req->arena, count, sizeof(*errors));
    for (size_t i = 0; i < count; i++)
        (void)wish_by_kind(req, json_string_value(json_array_get(ids, i)), wish, &errors[i]);

    struct json_writer json;
    char uuid[UUID_SIZE];
    uuid_create(uuid);
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_text(&json, "id", uuid);
    json_key(&json, "succeeded");
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        if (errors[i].code == ERROR_NONE)
            json_value_text(&json, json_string_value(json_array_get(ids, i)));
    json_end_array(&json);
    json_key(&json, "failed");
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++) {
        if (errors[i].code == ERROR_NONE)
            continue;
        json_begin_object(&json);
        json_text(&json, "id", json_string_value(json_array_get(ids, i)));
        json_int(&json, "code", error_status(errors[i].code));
        json_text(&json, "message", errors[i].message);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
    return 0;
}
