#include "api/workloads/workload_fields.h"

#include "api/http/request.h"
#include "api/workloads/workload_list.h"
#include "base/arena.h"
#include "base/json_writer.h"
#include "model/workload_brief.h"

#include <string.h>

// What `brief` stands for: what a list on a screen shows.
static const char *const BRIEF[] = {
    "id",
    "name",
    "type",
    "phase",
    "phaseUpdatedAt",
    "projectId",
    "projectName",
    "submittedBy",
    "createdAt",
    "priorityClassName",
    "distributedFramework",
    "requestedPods",
    "runningPods",
    "allocatedResources",
};
enum {
    BRIEF_COUNT = sizeof(BRIEF) / sizeof(BRIEF[0])
};

void workload_fields_init(struct workload_fields *fields, const struct request *req)
{
    size_t asked;
    const char **names = request_query_list(req, "fields", &asked);
    *fields = (struct workload_fields){0};
    buffer_init(&fields->row, 0);
    buffer_init(&fields->part, 0);
    if (!asked)
        return;
    fields->names = arena_alloc(req->arena, (asked + BRIEF_COUNT + 2) * sizeof(*fields->names));
    fields->names[fields->count++] = "id";
    bool may_be_cut = false, is_brief = false;
    for (size_t i = 0; i < asked; i++) {
        is_brief = is_brief || strcmp(names[i], "brief") == 0;
        may_be_cut = may_be_cut || workload_brief_cuts(names[i]);
        fields->names[fields->count++] = names[i];
    }
    for (size_t i = 0; is_brief && i < BRIEF_COUNT; i++)
        fields->names[fields->count++] = BRIEF[i];
    if (may_be_cut) // what is missing of a member is said beside it
        fields->names[fields->count++] = "truncated";
}

void workload_fields_done(struct workload_fields *fields)
{
    buffer_done(&fields->row);
    buffer_done(&fields->part);
}

static void write_whole(struct json_writer *json, sqlite3_stmt *stmt, const struct runtime_pools *pools, int64_t now_ms,
                        const struct visibility *visibility)
{
    json_begin_object(json);
    workload_write_row(json, stmt, pools, now_ms, visibility);
    json_end_object(json);
}

void workload_fields_write_row(struct workload_fields *fields, struct json_writer *json, sqlite3_stmt *stmt,
                               const struct runtime_pools *pools, int64_t now_ms, const struct visibility *visibility)
{
    if (!fields->count) {
        write_whole(json, stmt, pools, now_ms, visibility);
        return;
    }
    struct json_writer whole;
    buffer_clear(&fields->row);
    buffer_clear(&fields->part);
    json_writer_init(&whole, &fields->row, false);
    write_whole(&whole, stmt, pools, now_ms, visibility);
    workload_brief_pick(fields->row.data, fields->names, fields->count, &fields->part);
    json_begin_object(json);
    json_members(json, fields->part.data);
    json_end_object(json);
}
