// Figures in the text form of Prometheus (version 0.0.4).
#pragma once

struct buffer;

// What a metric is, before its first value. type: counter, gauge.
void prometheus_head(struct buffer *out, const char *name, const char *type, const char *help);
// KEY="VALUE", with what the form escapes escaped.
void prometheus_label(struct buffer *out, const char *key, const char *value);
