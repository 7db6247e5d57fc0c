#include "api/lists/metrics.h"

#include "api/http/request.h"
#include "api/http/response.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/timestamp.h"

#include <math.h>
#include <string.h>

enum {
    SAMPLES_DEFAULT = 20
};

static int read_time(const struct request *req, const char *name, int64_t *out_ms, struct error *err)
{
    if (timestamp_parse(request_query(req, name), out_ms, err) < 0)
        return error_prefix(err, "%s: ", name);
    return 0;
}

int metrics_init(struct metrics *metrics, struct request *req, struct response *res, struct error *err)
{
    int64_t start_ms, end_ms;
    *metrics = (struct metrics){.req = req, .res = res};
    if (read_time(req, "start", &start_ms, err) < 0 || read_time(req, "end", &end_ms, err) < 0)
        return -1;
    if (end_ms <= start_ms)
        return error_set(err, ERROR_INVALID, "end: after start, got %s", request_query(req, "end"));
    metrics->types = request_query_list(req, "metricType", &metrics->type_count);
    metrics->time_count = (size_t)request_query_integer(req, "numberOfSamples", SAMPLES_DEFAULT);
    metrics->times_ms = arena_array(req->arena, metrics->time_count, sizeof(*metrics->times_ms));
    int64_t last = (int64_t)metrics->time_count - 1;
    for (int64_t i = 0; i <= last; i++)
        metrics->times_ms[i] = last == 0 ? end_ms : start_ms + (int64_t)((__int128)(end_ms - start_ms) * i / last);
    return 0;
}

static void add_measurement(struct metrics *metrics, const struct measurement *measurement)
{
    metrics->measurements = arena_grow(metrics->req->arena, metrics->measurements, &metrics->measurement_capacity,
                                       metrics->measurement_count + 1, sizeof(*metrics->measurements));
    metrics->measurements[metrics->measurement_count++] = *measurement;
}

// What lies ahead of now is not known, whatever the last value is.
static void clear_future(const struct metrics *metrics, double *values)
{
    for (size_t i = 0; i < metrics->time_count; i++)
        if (metrics->times_ms[i] > metrics->req->received_ms)
            values[i] = NAN;
}

static int add_series(struct metrics *metrics, struct db_conn *conn, const struct series *series,
                      struct measurement *measurement, bool *out_found, struct error *err)
{
    double *values = arena_array(metrics->req->arena, metrics->time_count, sizeof(*values));
    if (db_read_series(conn, series, metrics->times_ms, metrics->time_count, values, out_found, err) < 0)
        return -1;
    clear_future(metrics, values);
    for (size_t i = 0; i < metrics->time_count && metrics->factor > 0; i++)
        values[i] *= metrics->factor;
    measurement->values = values;
    if (*out_found)
        add_measurement(metrics, measurement);
    return 0;
}

static int add_parts(struct metrics *metrics, struct db_conn *conn, const struct series *series,
                     struct measurement *measurement, bool *out_found, struct error *err)
{
    struct arena *arena = metrics->req->arena;
    const char *prefix = arena_printf(arena, "%s:", series->metric);
    const char **parts;
    size_t part_count;
    if (db_list_series(conn, series->scope, series->scope_id, prefix, arena, &parts, &part_count, err) < 0)
        return -1;
    for (size_t i = 0; i < part_count; i++) {
        struct series part = *series;
        part.metric = parts[i];
        measurement->label.key = strstr(measurement->type, "_PER_GPU") ? "gpu" : "band";
        measurement->label.value = parts[i] + strlen(prefix);
        bool is_found;
        if (add_series(metrics, conn, &part, measurement, &is_found, err) < 0)
            return -1;
        *out_found = *out_found || is_found;
    }
    return 0;
}

int metrics_add(struct metrics *metrics, struct db_conn *conn, const char *type, const struct series *series,
                const struct metrics_pair *group, struct error *err)
{
    struct series named = *series;
    struct measurement measurement = {.type = type};
    bool is_found = false;
    if (!named.metric)
        named.metric = type;
    if (group)
        measurement.group = *group;
    if (add_series(metrics, conn, &named, &measurement, &is_found, err) < 0 ||
        (!is_found && add_parts(metrics, conn, &named, &measurement, &is_found, err) < 0))
        return -1;
    if (!is_found && !group)
        metrics->is_partial = true;
    return 0;
}

static void write_measurement(const struct metrics *metrics, const struct measurement *measurement,
                              struct json_writer *json)
{
    char text[32];
    json_begin_object(json);
    json_text(json, "type", measurement->type);
    if (measurement->label.key) {
        json_key(json, "labels");
        json_begin_object(json);
        json_text(json, measurement->label.key, measurement->label.value);
        json_end_object(json);
    }
    json_key(json, "values");
    json_begin_array(json);
    for (size_t i = 0; i < metrics->time_count; i++) {
        if (isnan(measurement->values[i]))
            continue;
        snprintf(text, sizeof(text), "%.15g", measurement->values[i]);
        json_begin_object(json);
        json_text(json, "value", text);
        json_time(json, "timestamp", metrics->times_ms[i]);
        json_end_object(json);
    }
    json_end_array(json);
    if (measurement->group.key) {
        json_key(json, "groups");
        json_begin_array(json);
        json_begin_object(json);
        json_text(json, "key", measurement->group.key);
        json_text(json, "value", measurement->group.value);
        json_end_object(json);
        json_end_array(json);
    }
    json_end_object(json);
}

static void write_json(const struct metrics *metrics)
{
    struct json_writer json;
    json_writer_init(&json, metrics->res->body, false);
    json_begin_object(&json);
    json_key(&json, "measurements");
    json_begin_array(&json);
    for (size_t i = 0; i < metrics->measurement_count; i++)
        write_measurement(metrics, &metrics->measurements[i], &json);
    json_end_array(&json);
    json_end_object(&json);
}

// timestamp,type,label,group,value; the two in the middle are empty where a measurement has none. Names of ours hold
// neither commas nor quotes: their rules forbid it.
static void write_csv(const struct metrics *metrics)
{
    struct buffer *out = metrics->res->body;
    buffer_text(out, "timestamp,type,label,group,value\r\n");
    for (size_t m = 0; m < metrics->measurement_count; m++) {
        const struct measurement *measurement = &metrics->measurements[m];
        for (size_t i = 0; i < metrics->time_count; i++) {
            char time[TIMESTAMP_SIZE];
            if (isnan(measurement->values[i]))
                continue;
            timestamp_format(metrics->times_ms[i], time);
            buffer_printf(out, "%s,%s,%s,%s,%.15g\r\n", time, measurement->type,
                          measurement->label.key ? measurement->label.value : "",
                          measurement->group.key ? measurement->group.value : "", measurement->values[i]);
        }
    }
}

int metrics_answer(struct metrics *metrics)
{
    if (metrics->is_partial)
        metrics->res->status = 207;
    if (request_accepts(metrics->req, "text/csv")) {
        metrics->res->content_type = "text/csv; charset=utf-8";
        write_csv(metrics);
    } else {
        write_json(metrics);
    }
    return 0;
}
