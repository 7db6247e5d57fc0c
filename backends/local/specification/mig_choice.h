// Which MIG instances a pod gets.
#pragma once
#include <stdint.h>

struct error;
struct json_t;
struct local_options;
struct local_pods;

// What the pod's compute asks for: a bit for each instance by its number in options. ERROR_UNAVAILABLE: the pods that
// live hold too many.
int mig_choose(const struct local_options *options, const struct local_pods *pods, const struct json_t *compute,
               uint64_t *out_instances, struct error *err);
