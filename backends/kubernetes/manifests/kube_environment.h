// The environment of a pod's container: what it should know of itself, what launchers of frameworks need to find each
// other, and the specification's own variables, which win. $(NAME) in them is the kubelet's to expand.
#pragma once
#include "backends/backend.h"
#include <jansson.h>

enum {
    KUBE_MASTER_PORT = 23456 // of the pod that the others call
};

// A variable of that text at the end of the list, or in the place of one of the same name. The value is copied.
void kube_environment_set(json_t *list, const char *name, const char *value);
void kube_environment_set_number(json_t *list, const char *name, int64_t value);

// spec is the pod's own, gpus its whole devices. A list for a container.
json_t *kube_environment(const struct backend_pod *pod, const json_t *spec, int64_t gpus, struct arena *arena);
// kube_distributed.c: of a pod of distributed work; others get nothing.
void kube_distributed_set(const struct backend_pod *pod, const json_t *spec, int64_t gpus, struct arena *arena,
                          json_t *list);
// Whether Kubernetes can tell a pod what is at this path.
bool kube_environment_knows(const char *field_path);
