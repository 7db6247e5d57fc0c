// A replica's metrics page in Prometheus' text form: what it says of the load. The page is foreign: any bytes are
// taken, lines that are none are left out, and nothing outside the text is read. Which series of which server say what
// is one table in metrics_page.c: vLLM, Triton, NIM, and names that any server may use.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct metrics_page {
    bool has_concurrency, has_requests, has_latency, has_own;
    double concurrency;                   // requests in work or waiting
    double requests;                      // answered since the server's start
    double latency_ms_sum, latency_count; // of requests since then
    double own;                           // the series that was asked for, summed over its labels
};

enum {
    METRICS_PAGE_MAX = 1 << 20, // bytes that are read of a page
};

// own: the series' name; NULL: none. O(length).
void metrics_page_read(const char *text, size_t length, const char *own, struct metrics_page *out);
