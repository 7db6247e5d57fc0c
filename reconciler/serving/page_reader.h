// Reads the metrics pages of replicas, on a thread of its own: a page that does not answer holds up nobody.
// Each round reads all pages side by side, bounded in time and size; no redirect
// is followed and no proxy is asked. The thread begins with the first page there is to read.
#pragma once
#include "base/uuid.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PAGE_URL_SIZE = 640,
    PAGE_METRIC_SIZE = 128,
    PAGE_TIMEOUT_MS = 2000,
};

struct page_target {
    char pod_uuid[UUID_SIZE];
    char url[PAGE_URL_SIZE];
    char metric[PAGE_METRIC_SIZE]; // a series of the replica's own; "": none is asked for
};

// What a page says now; rates are between its last two readings.
struct page_reading {
    int64_t round; // of the reader; grows with each
    bool has_concurrency, has_throughput, has_latency, has_own;
    double concurrency;
    double throughput; // requests a second
    double latency_ms; // mean of the requests between the two readings
    double own;        // of a series named *_total its growth a second
};

typedef void (*page_wake_fn)(void *context);
struct page_reader;

// wake is called from the thread after each round.
struct page_reader *page_reader_create(int64_t interval_ms, page_wake_fn wake, void *context);
void page_reader_destroy(struct page_reader *reader);
int64_t page_reader_interval(const struct page_reader *reader);
// These from now on. Any thread, one at a time.
void page_reader_set(struct page_reader *reader, const struct page_target *targets, size_t count);
// False: not read, or not in the last round. Any thread.
bool page_reader_get(struct page_reader *reader, const char *pod_uuid, struct page_reading *out);
