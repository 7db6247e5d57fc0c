// Figures in the text form of Prometheus (version 0.0.4).
#pragma once
#include <stdint.h>

struct buffer;

enum {
    PROMETHEUS_NODES_MAX = 1000, // the first by name
    PROMETHEUS_DEVICES_MAX = 512 // single GPUs of a cluster with more are not told
};

// What a metric is, before its first value. type: counter, gauge.
void prometheus_head(struct buffer *out, const char *name, const char *type, const char *help);
// KEY="VALUE", with what the form escapes escaped.
void prometheus_label(struct buffer *out, const char *key, const char *value);
// A value: the amount in that unit; QUANTITY_UNLIMITED is +Inf.
void prometheus_amount(struct buffer *out, int64_t amount, int64_t unit);
