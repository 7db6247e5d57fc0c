#include "api/lists/telemetry.h"

#include "api/http/request.h"
#include "api/http/response.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/json_writer.h"
#include "base/timestamp.h"

#include <math.h>
#include <string.h>

static bool is_same(const struct telemetry *telemetry, const struct telemetry_value *value,
                    const struct telemetry_group *groups)
{
    for (size_t i = 0; i < telemetry->group_count; i++)
        if (strcmp(value->groups[i].value, groups[i].value) != 0)
            return false;
    return true;
}

// The value of these groups, a new one where there is none.
static struct telemetry_value *find(struct telemetry *telemetry, const struct telemetry_group *groups)
{
    for (size_t i = 0; i < telemetry->count; i++)
        if (is_same(telemetry, &telemetry->values[i], groups))
            return &telemetry->values[i];
    telemetry->values = arena_grow(telemetry->arena, telemetry->values, &telemetry->capacity, telemetry->count + 1,
                                   sizeof(*telemetry->values));
    struct telemetry_value *value = &telemetry->values[telemetry->count++];
    *value = (struct telemetry_value){.value = 0};
    for (size_t i = 0; i < telemetry->group_count; i++) {
        value->groups[i] = groups[i];
        value->groups[i].key = telemetry->group_keys[i];
    }
    return value;
}

void telemetry_init(struct telemetry *telemetry, const struct request *req)
{
    *telemetry = (struct telemetry){.arena = req->arena};
    telemetry->group_keys = request_query_list(req, "groupBy", &telemetry->group_count);
    if (telemetry->group_count > TELEMETRY_GROUP_MAX)
        telemetry->group_count = TELEMETRY_GROUP_MAX;
    if (telemetry->group_count == 0) {
        static const struct telemetry_group NO_GROUPS[TELEMETRY_GROUP_MAX] = {{.key = NULL}};
        find(telemetry, NO_GROUPS);
    }
}

void telemetry_add(struct telemetry *telemetry, const struct telemetry_group groups[TELEMETRY_GROUP_MAX], double amount)
{
    struct telemetry_value *value = find(telemetry, groups);
    if (isnan(amount)) {
        value->unknown_count++;
        return;
    }
    value->known_count++;
    value->value += amount;
}

static bool is_unknown(const struct telemetry_value *value)
{
    return value->unknown_count > 0 && value->known_count == 0;
}

static const char *number_text(double value, struct arena *arena)
{
    return arena_printf(arena, "%.15g", value);
}

static void write_json(const struct telemetry *telemetry, const char *type, int64_t now_ms, struct buffer *out)
{
    struct json_writer json;
    json_writer_init(&json, out, false);
    json_begin_object(&json);
    json_text(&json, "type", type);
    json_time(&json, "timestamp", now_ms);
    json_key(&json, "values");
    json_begin_array(&json);
    for (size_t i = 0; i < telemetry->count; i++) {
        const struct telemetry_value *value = &telemetry->values[i];
        if (is_unknown(value))
            continue;
        json_begin_object(&json);
        json_text(&json, "value", number_text(value->value, telemetry->arena));
        if (telemetry->group_count) {
            json_key(&json, "groups");
            json_begin_array(&json);
        }
        for (size_t g = 0; g < telemetry->group_count; g++) {
            json_begin_object(&json);
            json_text(&json, "key", value->groups[g].key);
            json_text(&json, "value", value->groups[g].value);
            json_text(&json, "name", value->groups[g].name);
            json_end_object(&json);
        }
        if (telemetry->group_count)
            json_end_array(&json);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
}

// timestamp,type,GROUP...,value. Names and ids hold neither commas nor quotes: their rules forbid it.
static void write_csv(const struct telemetry *telemetry, const char *type, int64_t now_ms, struct buffer *out)
{
    char time[TIMESTAMP_SIZE];
    timestamp_format(now_ms, time);
    buffer_text(out, "timestamp,type");
    for (size_t g = 0; g < telemetry->group_count; g++)
        buffer_printf(out, ",%s", telemetry->group_keys[g]);
    buffer_text(out, ",value\r\n");
    for (size_t i = 0; i < telemetry->count; i++) {
        const struct telemetry_value *value = &telemetry->values[i];
        if (is_unknown(value))
            continue;
        buffer_printf(out, "%s,%s", time, type);
        for (size_t g = 0; g < telemetry->group_count; g++)
            buffer_printf(out, ",%s", value->groups[g].value);
        buffer_printf(out, ",%.15g\r\n", value->value);
    }
}

int telemetry_answer(const struct telemetry *telemetry, const struct request *req, struct response *res)
{
    const char *type = request_query(req, "telemetryType");
    if (request_accepts(req, "text/csv")) {
        res->content_type = "text/csv; charset=utf-8";
        write_csv(telemetry, type, req->received_ms, res->body);
    } else {
        write_json(telemetry, type, req->received_ms, res->body);
    }
    return 0;
}
