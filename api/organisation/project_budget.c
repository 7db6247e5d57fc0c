// What a project and its people have used of their budgets of GPU hours (docs/rules.md).
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/organisation/organisation.h"
#include "api/server.h"
#include "base/json_writer.h"
#include "reconciler/reconciler.h"

static void write_hours(struct json_writer *json, const char *key, int64_t milli)
{
    if (milli == BUDGET_NONE)
        json_null_at(json, key);
    else
        json_milli(json, key, milli);
}

static void write_use(struct json_writer *json, const struct budget_use *use)
{
    static const double HOUR = 3.6e9; // in thousandths of a device times milliseconds
    json_number(json, "usedGpuHours", (double)use->used_milli_ms / HOUR);
    json_milli(json, "allocatedGpus", use->held_milli);
    json_bool(json, "isUsedUp", use->is_over);
    if (use->used_up_ms == INT64_MAX)
        json_null_at(json, "usedUpAt");
    else
        json_time(json, "usedUpAt", use->used_up_ms);
}

static void write_people(struct json_writer *json, const struct budget_state *state)
{
    json_key(json, "people");
    json_begin_array(json);
    for (size_t i = 0; i < state->people_count; i++) {
        json_begin_object(json);
        json_text(json, "name", state->people[i].name);
        write_use(json, &state->people[i]);
        json_end_object(json);
    }
    json_end_array(json);
}

int op_get_project_budget(struct request *req, struct response *res, struct error *err)
{
    struct json_writer json;
    struct budget_state state = {.terms = {BUDGET_NONE, BUDGET_NONE, BUDGET_MONTH, false},
                                 .whole.used_up_ms = INT64_MAX};
    int64_t id = id_from_text(request_path(req, "projectId"));
    if (access_check_project(req, id, RESOURCE_TYPE_WORKLOADS, ACTION_READ, NULL, err) < 0)
        return -1;
    bool has_any = reconciler_read_budget(req->server->reconciler, id, req->arena, &state);
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    write_hours(&json, "gpuHours", state.terms.hours_milli);
    write_hours(&json, "gpuHoursPerPerson", state.terms.person_hours_milli);
    if (has_any) {
        json_text(&json, "period", budget_period_text(state.terms.period));
        json_time(&json, "periodStart", state.start_ms);
        json_time(&json, "periodEnd", state.end_ms);
        json_text(&json, "enforcement", state.terms.refuses ? "refuse" : "wait");
        write_use(&json, &state.whole);
    }
    write_people(&json, &state);
    json_end_object(&json);
    return 0;
}
