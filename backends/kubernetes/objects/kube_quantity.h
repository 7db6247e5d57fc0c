// Quantities as Kubernetes writes them: 1, 0.5, 500m, 1Ki, 12E, 12e6, 100n. Exact: whole numbers alone are computed
// with, and what is finer than asked is rounded away from zero, as Kubernetes itself does.
#pragma once
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct error;

// In units (bytes, devices) and in thousandths (CPU). Beyond 64 bits the value stays at INT64_MAX or -INT64_MAX.
int kube_quantity_units(const char *text, size_t length, int64_t *out_units, struct error *err);
int kube_quantity_milli(const char *text, size_t length, int64_t *out_milli, struct error *err);
// The same from a text or a number of a JSON object; what is neither, or no quantity, counts as 0.
int64_t kube_quantity_units_of(const json_t *value);
int64_t kube_quantity_milli_of(const json_t *value);
