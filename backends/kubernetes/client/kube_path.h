// Paths and queries, escaped.
#pragma once

struct buffer;

// "/api/v1/namespaces/%s/pods/%s" with each %s escaped as a segment. Nothing but %s is known.
void kube_path(struct buffer *out, const char *format, ...);
// Appends NAME=VALUE, with & where something stands before it. NULL: nothing is appended.
void kube_query(struct buffer *out, const char *name, const char *value);
