// GET /scheduler/decisions: the cycles of the journal, newest first; with `at` the last one until then, and what it
// decided.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/timestamp.h"
#include "model/workload_spec.h"
#include "reconciler/reconciler.h"

#include <string.h>

enum {
    WINDOW_MS = 60 * 60 * 1000,        // where nothing is said: the last hour
    WINDOW_MAXIMUM_MS = 24 * WINDOW_MS // what is read at once
};

static int read_time(const struct request *req, const char *name, int64_t fallback_ms, int64_t *out_ms,
                     struct error *err)
{
    const char *text = request_query(req, name);
    *out_ms = fallback_ms;
    if (text && timestamp_parse(text, out_ms, err) < 0)
        return error_prefix(err, "%s: ", name);
    return 0;
}

static void write_cycle(struct json_writer *json, const struct reconciler_cycle *cycle)
{
    json_int(json, "cycle", cycle->cycle);
    json_time(json, "time", cycle->time_ms);
    json_int(json, "planMicroseconds", cycle->plan_us);
    json_int(json, "decisions", cycle->decision_count);
}

static void write_cycles(struct response *res, const struct reconciler_cycle *cycles, size_t count, size_t offset,
                         size_t limit)
{
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_key(&json, "cycles");
    json_begin_array(&json);
    for (size_t i = offset; i < count && i - offset < limit; i++) {
        json_begin_object(&json);
        write_cycle(&json, &cycles[count - 1 - i]);
        json_end_object(&json);
    }
    json_end_array(&json);
    if (offset + limit < count)
        json_int(&json, "next", (int64_t)(offset + limit));
    json_end_object(&json);
}

// So many of the decisions as were asked for.
static int write_moment(struct request *req, struct response *res, int64_t at_ms, struct error *err)
{
    struct reconciler_moment moment;
    json_t *decided = NULL;
    if (reconciler_read_moment(req->server->reconciler, at_ms, req->arena, &moment, err) < 0 ||
        json_reader_parse(moment.decisions_json, strlen(moment.decisions_json), &decided, err) < 0)
        return -1;
    size_t offset = (size_t)request_query_integer(req, "offset", 0),
           end = offset + (size_t)request_query_integer(req, "limit", 50);
    struct json_writer json;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_key(&json, "cycles");
    json_begin_array(&json);
    json_begin_object(&json);
    write_cycle(&json, &moment.cycle);
    json_key(&json, "decided");
    json_begin_array(&json);
    for (size_t i = offset; i < json_array_size(decided) && i < end; i++)
        json_value_raw(&json, workload_spec_text(json_array_get(decided, i), req->arena));
    json_end_array(&json);
    json_end_object(&json);
    json_end_array(&json);
    if (end < json_array_size(decided))
        json_int(&json, "next", (int64_t)end);
    json_end_object(&json);
    json_decref(decided);
    return 0;
}

int op_get_scheduler_decisions(struct request *req, struct response *res, struct error *err)
{
    int64_t from_ms, to_ms;
    struct reconciler_cycle *cycles;
    size_t count;
    if (access_check_whole_cluster(req, RESOURCE_TYPE_WORKLOADS, ACTION_READ, "decisions", err) < 0)
        return -1;
    if (request_query(req, "at"))
        return read_time(req, "at", 0, &to_ms, err) < 0 ? -1 : write_moment(req, res, to_ms, err);
    if (read_time(req, "until", req->received_ms, &to_ms, err) < 0 ||
        read_time(req, "since", to_ms - WINDOW_MS, &from_ms, err) < 0)
        return -1;
    if (to_ms - from_ms > WINDOW_MAXIMUM_MS)
        return error_set(err, ERROR_INVALID, "since: at most 24 hours before until");
    if (reconciler_list_cycles(req->server->reconciler, from_ms, to_ms, req->arena, &cycles, &count, err) < 0)
        return -1;
    write_cycles(res, cycles, count, (size_t)request_query_integer(req, "offset", 0),
                 (size_t)request_query_integer(req, "limit", 50));
    return 0;
}
