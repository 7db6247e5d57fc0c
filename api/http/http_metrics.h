// What /metrics says of the HTTP side: answers by operation and status, how long they took, connections, streams,
// refusals. Counters are atomics; any thread may add.
#pragma once
#include "api/http/connection_cuts.h"
#include "api/http/connections.h"
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct http_metrics;
struct operation;

// What is no operation of the document.
enum http_page {
    HTTP_PAGE_REFUSED, // bad framing or path, or civetweb's own refusals
    HTTP_PAGE_UNKNOWN, // no such path or method
    HTTP_PAGE_STATIC,
    HTTP_PAGE_HEALTH,
    HTTP_PAGE_METRICS,
    HTTP_PAGE_COUNT,
};

struct http_metrics *http_metrics_create(void);
void http_metrics_destroy(struct http_metrics *metrics); // NULL is fine

// operation NULL: page counts.
void http_metrics_count(struct http_metrics *metrics, const struct operation *operation, enum http_page page,
                        int status, int64_t duration_us);
void http_metrics_connections_cut(struct http_metrics *metrics, enum cut_reason reason, size_t count);
void http_metrics_deadline_passed(struct http_metrics *metrics);

struct http_gauges {
    size_t connections;
    size_t threads;
    size_t streams;
    size_t workers[WORKER_STATE_COUNT];
};

void http_metrics_write(const struct http_metrics *metrics, const struct http_gauges *gauges, struct buffer *out);
