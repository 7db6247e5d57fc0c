// A pod's storage: volumes, where the container mounts them, containers that fill them before it starts, and claims.
#pragma once
#include "backends/backend.h"
#include <jansson.h>

struct kube_site;

// Lists, all the caller's.
struct kube_volumes {
    json_t *volumes;          // of the pod
    json_t *mounts, *devices; // of its container: file systems, raw blocks
    json_t *before;           // init containers, without resources
};

// ERROR_INVALID names the field. On failure nothing is the caller's.
int kube_volumes_read(const struct kube_site *site, const struct backend_pod *pod, const json_t *spec,
                      struct arena *arena, struct kube_volumes *out, struct error *err);
void kube_volumes_done(struct kube_volumes *volumes);
// kube_git.c: a repository that is cloned into a volume of that name. Appends the init container and volumes it needs.
int kube_git_add(const struct kube_site *site, const json_t *item, const char *volume, struct kube_volumes *out,
                 struct error *err);
// The mount path of a repository.
const char *kube_git_path(const json_t *item);
#define KUBE_GIT_FOLDER "repository" // in the volume: what the container sees

// kube_claims.c. The name of a claim that is not made with the pod.
const char *kube_claim_name(const struct backend_pod *pod, const json_t *item, size_t index, struct arena *arena);
// spec of a PersistentVolumeClaim.
int kube_claim_spec(const json_t *item, json_t **out_spec, struct error *err);
