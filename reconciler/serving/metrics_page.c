#include "reconciler/serving/metrics_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum meaning {
    CONCURRENCY,
    REQUESTS,
    LATENCY_SUM, // in the row's unit
    LATENCY_COUNT
};

static const struct {
    const char *series;
    enum meaning meaning;
    double unit_ms; // of a LATENCY_SUM
} KNOWN[] = {
    // vLLM
    {"vllm:num_requests_running", CONCURRENCY, 0},
    {"vllm:num_requests_waiting", CONCURRENCY, 0},
    {"vllm:request_success_total", REQUESTS, 0},
    {"vllm:e2e_request_latency_seconds_sum", LATENCY_SUM, 1000},
    {"vllm:e2e_request_latency_seconds_count", LATENCY_COUNT, 0},
    // Triton: its durations are microseconds
    {"nv_inference_pending_request_count", CONCURRENCY, 0},
    {"nv_inference_request_success", REQUESTS, 0},
    {"nv_inference_request_duration_us", LATENCY_SUM, 0.001},
    {"nv_inference_request_success", LATENCY_COUNT, 0},
    // NIM for LLMs
    {"num_requests_running", CONCURRENCY, 0},
    {"num_requests_waiting", CONCURRENCY, 0},
    {"request_success_total", REQUESTS, 0},
    {"e2e_request_latency_seconds_sum", LATENCY_SUM, 1000},
    {"e2e_request_latency_seconds_count", LATENCY_COUNT, 0},
    // what servers without names of their own are asked to use
    {"http_requests_in_flight", CONCURRENCY, 0},
    {"http_requests_total", REQUESTS, 0},
    {"http_request_duration_seconds_sum", LATENCY_SUM, 1000},
    {"http_request_duration_seconds_count", LATENCY_COUNT, 0},
};

enum {
    NUMBER_MAX = 64 // bytes of a value
};

// Behind the labels; NULL: they do not end.
static const char *skip_labels(const char *at, const char *end)
{
    bool is_quoted = false;
    if (at == end || *at != '{')
        return at;
    for (at++; at < end; at++) {
        if (is_quoted && *at == '\\')
            at++;
        else if (*at == '"')
            is_quoted = !is_quoted;
        else if (*at == '}' && !is_quoted)
            return at + 1;
    }
    return NULL;
}

static bool read_value(const char *at, const char *end, double *out)
{
    char text[NUMBER_MAX + 1];
    size_t length = 0;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    while (at + length < end && length < NUMBER_MAX && at[length] != ' ' && at[length] != '\t')
        length++;
    if (length == 0 || length == NUMBER_MAX)
        return false;
    memcpy(text, at, length);
    text[length] = '\0';
    char *last;
    double value = strtod(text, &last);
    if (*last || !isfinite(value))
        return false;
    *out = value;
    return true;
}

static void take(struct metrics_page *out, enum meaning meaning, double unit_ms, double value)
{
    switch (meaning) {
    case CONCURRENCY:
        out->has_concurrency = true;
        out->concurrency += value;
        break;
    case REQUESTS:
        out->has_requests = true;
        out->requests += value;
        break;
    case LATENCY_SUM:
        out->latency_ms_sum += value * unit_ms;
        break;
    case LATENCY_COUNT:
        out->has_latency = true;
        out->latency_count += value;
        break;
    }
}

static void read_line(const char *at, const char *end, const char *own, struct metrics_page *out)
{
    double value;
    size_t length = 0;
    while (at + length < end && at[length] != '{' && at[length] != ' ' && at[length] != '\t')
        length++;
    if (length == 0 || *at == '#')
        return;
    bool is_own = own && strlen(own) == length && memcmp(own, at, length) == 0, is_known = is_own;
    for (size_t i = 0; i < sizeof(KNOWN) / sizeof(KNOWN[0]) && !is_known; i++)
        is_known = strlen(KNOWN[i].series) == length && memcmp(KNOWN[i].series, at, length) == 0;
    const char *behind = is_known ? skip_labels(at + length, end) : NULL;
    if (!behind || !read_value(behind, end, &value) || value < 0)
        return;
    if (is_own) {
        out->has_own = true;
        out->own += value;
    }
    for (size_t i = 0; i < sizeof(KNOWN) / sizeof(KNOWN[0]); i++)
        if (strlen(KNOWN[i].series) == length && memcmp(KNOWN[i].series, at, length) == 0)
            take(out, KNOWN[i].meaning, KNOWN[i].unit_ms, value);
}

void metrics_page_read(const char *text, size_t length, const char *own, struct metrics_page *out)
{
    *out = (struct metrics_page){0};
    const char *end = text + length;
    while (text < end) {
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        if (!line_end)
            line_end = end;
        const char *last = line_end > text && line_end[-1] == '\r' ? line_end - 1 : line_end;
        read_line(text, last, own, out);
        text = line_end < end ? line_end + 1 : end;
    }
}
