// Quantities as Kubernetes writes them: 1, 0.5, 500m, 1Ki, 12E, 12e6, 100n. Exact: whole numbers alone are computed
// with, and what is finer than asked is rounded away from zero, as Kubernetes itself does.
#pragma once
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct error;

enum kube_unit {
    KUBE_WHOLE = 0, // bytes, devices
    KUBE_MILLI = 3  // thousandths: of CPU
};

// Beyond 64 bits the value stays at INT64_MAX or -INT64_MAX. ERROR_INVALID: it is no quantity.
int kube_quantity_read(const char *text, size_t length, enum kube_unit unit, int64_t *out, struct error *err);
// The same from a text or a number of a JSON object; what is neither, or no quantity, counts as 0.
int64_t kube_quantity_units_of(const json_t *value);
int64_t kube_quantity_milli_of(const json_t *value);
