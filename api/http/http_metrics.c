#include "api/http/http_metrics.h"
#include "api/operation.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/log.h"
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

static const int STATUSES[] = {200, 201, 202, 204, 207, 304, 400, 401, 403, 404, 405, 408,
                               409, 412, 413, 415, 422, 429, 431, 500, 501, 503, 505, 0}; // 0: any other
enum {
    STATUS_COUNT = sizeof(STATUSES) / sizeof(STATUSES[0])
};

static const int64_t BUCKETS_US[] = {250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 1000000, 5000000};
enum {
    BUCKET_COUNT = sizeof(BUCKETS_US) / sizeof(BUCKETS_US[0])
};

static const char *const STATE_NAMES[WORKER_STATE_COUNT] = {
    [WORKER_FREE] = "free", [WORKER_HEAD] = "head",     [WORKER_IDLE] = "idle",    [WORKER_REQUEST] = "request",
    [WORKER_BODY] = "body", [WORKER_ANSWER] = "answer", [WORKER_STREAM] = "stream"};
static const char *const REASON_NAMES[CUT_REASON_COUNT] = {
    [CUT_SHARE] = "share", [CUT_HEAD] = "head", [CUT_IDLE] = "idle", [CUT_BODY] = "body", [CUT_ANSWER] = "answer"};
static const char *const PAGE_NAMES[HTTP_PAGE_COUNT] = {"refused", "unknown", "static", "health", "metrics"};

struct http_metrics {
    atomic_uint_fast64_t buckets[BUCKET_COUNT + 1];
    atomic_uint_fast64_t duration_us;
    atomic_uint_fast64_t connections_cut[CUT_REASON_COUNT];
    atomic_uint_fast64_t deadlines_passed;
    atomic_uint_fast64_t answers[][STATUS_COUNT]; // by operation, then by page
};

struct http_metrics *http_metrics_create(void)
{
    size_t rows = OPERATION_COUNT + HTTP_PAGE_COUNT;
    return memory_array(1, sizeof(struct http_metrics) + rows * STATUS_COUNT * sizeof(atomic_uint_fast64_t));
}

void http_metrics_destroy(struct http_metrics *metrics)
{
    free(metrics);
}

static size_t status_index(int status)
{
    size_t i = 0;
    while (STATUSES[i] != status && STATUSES[i] != 0)
        i++;
    return i;
}

void http_metrics_count(struct http_metrics *metrics, const struct operation *operation, enum http_page page,
                        int status, int64_t duration_us)
{
    if (operation && operation->original)
        operation = operation->original;
    size_t row = operation ? (size_t)(operation - OPERATIONS) : OPERATION_COUNT + page;
    atomic_fetch_add_explicit(&metrics->answers[row][status_index(status)], 1, memory_order_relaxed);
    if (operation && operation->is_stream)
        return; // a stream's life is no answer time
    size_t bucket = 0;
    while (bucket < BUCKET_COUNT && duration_us > BUCKETS_US[bucket])
        bucket++;
    atomic_fetch_add_explicit(&metrics->buckets[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&metrics->duration_us, (uint64_t)duration_us, memory_order_relaxed);
}

void http_metrics_connections_cut(struct http_metrics *metrics, enum cut_reason reason, size_t count)
{
    atomic_fetch_add_explicit(&metrics->connections_cut[reason], count, memory_order_relaxed);
}

void http_metrics_deadline_passed(struct http_metrics *metrics)
{
    atomic_fetch_add_explicit(&metrics->deadlines_passed, 1, memory_order_relaxed);
}

static unsigned long long load(const atomic_uint_fast64_t *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

static void write_answers(const struct http_metrics *metrics, struct buffer *out)
{
    buffer_printf(out,
                  "# HELP prorata_log_lines_left_out_total Lines lost because nobody read them in time.\n"
                  "# TYPE prorata_log_lines_left_out_total counter\n"
                  "prorata_log_lines_left_out_total %" PRId64 "\n",
                  log_lines_left_out());
    buffer_text(out, "# HELP prorata_http_requests_total Answers by operation and status.\n"
                     "# TYPE prorata_http_requests_total counter\n");
    for (size_t row = 0; row < OPERATION_COUNT + HTTP_PAGE_COUNT; row++) {
        const char *name = row < OPERATION_COUNT ? OPERATIONS[row].id : PAGE_NAMES[row - OPERATION_COUNT];
        for (size_t s = 0; s < STATUS_COUNT; s++) {
            unsigned long long count = load(&metrics->answers[row][s]);
            if (count > 0)
                buffer_printf(out, "prorata_http_requests_total{operation=\"%s\",status=\"%d\"} %llu\n", name,
                              STATUSES[s], count);
        }
    }
}

static void write_durations(const struct http_metrics *metrics, struct buffer *out)
{
    unsigned long long sum = 0;
    buffer_text(out,
                "# HELP prorata_http_request_duration_seconds Time from the request's head to the end of the answer; "
                "streams are not in it.\n"
                "# TYPE prorata_http_request_duration_seconds histogram\n");
    for (size_t i = 0; i < BUCKET_COUNT; i++) {
        sum += load(&metrics->buckets[i]);
        buffer_printf(out, "prorata_http_request_duration_seconds_bucket{le=\"%g\"} %llu\n",
                      (double)BUCKETS_US[i] / 1e6, sum);
    }
    sum += load(&metrics->buckets[BUCKET_COUNT]);
    buffer_printf(out, "prorata_http_request_duration_seconds_bucket{le=\"+Inf\"} %llu\n", sum);
    buffer_printf(out, "prorata_http_request_duration_seconds_sum %.6f\n", (double)load(&metrics->duration_us) / 1e6);
    buffer_printf(out, "prorata_http_request_duration_seconds_count %llu\n", sum);
}

static void write_number(struct buffer *out, const char *name, const char *type, const char *help,
                         unsigned long long value)
{
    buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %llu\n", name, help, name, type, name, value);
}

static void write_connections(const struct http_metrics *metrics, const struct http_gauges *gauges, struct buffer *out)
{
    buffer_text(out, "# HELP prorata_http_workers Threads that serve connections, by what each does for its own.\n"
                     "# TYPE prorata_http_workers gauge\n");
    for (int state = 0; state < WORKER_STATE_COUNT; state++)
        buffer_printf(out, "prorata_http_workers{state=\"%s\"} %zu\n", STATE_NAMES[state], gauges->workers[state]);
    buffer_text(out,
                "# HELP prorata_http_connections_cut_total Connections cut because few threads were left, by what was "
                "waited for; share: because their address held its share.\n"
                "# TYPE prorata_http_connections_cut_total counter\n");
    for (int reason = 0; reason < CUT_REASON_COUNT; reason++)
        buffer_printf(out, "prorata_http_connections_cut_total{reason=\"%s\"} %llu\n", REASON_NAMES[reason],
                      load(&metrics->connections_cut[reason]));
}

void http_metrics_write(const struct http_metrics *metrics, const struct http_gauges *gauges, struct buffer *out)
{
    write_answers(metrics, out);
    write_durations(metrics, out);
    write_number(out, "prorata_http_connections", "gauge", "Open connections, each of which holds a thread.",
                 gauges->connections);
    write_number(out, "prorata_http_threads", "gauge", "Threads that serve connections.", gauges->threads);
    write_number(out, "prorata_http_streams", "gauge", "Open event streams and followed logs.", gauges->streams);
    write_number(out, "prorata_http_connections_refused_total", "counter",
                 "Connections cut because their address held its share.", load(&metrics->connections_cut[CUT_SHARE]));
    write_connections(metrics, gauges, out);
    write_number(out, "prorata_http_deadlines_passed_total", "counter",
                 "Bodies and answers that took too long and were cut.", load(&metrics->deadlines_passed));
}
