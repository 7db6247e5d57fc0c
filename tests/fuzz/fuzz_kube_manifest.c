// Specifications as objects of Kubernetes: no input may crash or leak. What a submission's check takes becomes a pod
// with a name and a container, and the same input becomes the same pod.
#include "backends/kubernetes/manifests/kube_manifest.h"
#include "backends/kubernetes/objects/kube_pod.h"
#include "base/arena.h"
#include "base/error.h"
#include "model/workload_type.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct kube_site SITE = {
    .instance = "x", .priority_class_prefix = "p-", .git_image = "g", .runtime_class = "nvidia"};

static void check_lists(const struct backend_pod *pod, struct arena *arena)
{
    json_t *services = NULL, *claims = NULL;
    const char *const *names;
    int rc = kube_manifest_services(&SITE, pod, arena, &services, NULL);
    assert(rc == 0 && json_is_array(services));
    rc = kube_manifest_claims(&SITE, pod, arena, &claims, NULL);
    assert(rc == 0 && json_is_array(claims));
    kube_manifest_secret_names(pod, arena, &names);
    kube_manifest_notes(pod, arena, &names);
    json_decref(services);
    json_decref(claims);
}

static void check_pod(const struct backend_pod *pod, struct arena *arena)
{
    json_t *object = NULL, *again = NULL;
    struct error err = {0};
    bool is_taken = kube_manifest_check(&SITE, pod, &err) == 0;
    int rc = kube_manifest_pod(&SITE, pod, arena, &object, &err);
    if (rc < 0) {
        assert(!is_taken && err.code == ERROR_INVALID && err.message[0]);
        return;
    }
    assert(json_string_value(kube_value_at(object, "metadata.name")));
    assert(json_is_string(json_object_get(json_array_get(kube_value_at(object, "spec.containers"), 0), "image")));
    rc = kube_manifest_pod(&SITE, pod, arena, &again, &err);
    assert(rc == 0 && json_equal(object, again));
    if (is_taken)
        check_lists(pod, arena);
    json_decref(object);
    json_decref(again);
}

// The first byte chooses the kind.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    if (size < 2)
        return 0;
    arena_init(&arena);
    struct backend_pod pod = {
        .uuid = "11111111-2222-3333-4444-555555555555",
        .name = "w-1-1",
        .role = data[0] & 0x10 ? "worker" : "master",
        .index = 1,
        .attempt = 1,
        .workload_uuid = "99999999-2222-3333-4444-555555555555",
        .workload_name = "w",
        .workload_type = workload_type_text((enum workload_type)(data[0] % WORKLOAD_TYPE_COUNT)),
        .workload_pods = 5,
        .project_name = "p",
        .spec_json = arena_strndup(&arena, (const char *)data + 1, size - 1),
    };
    check_pod(&pod, &arena);
    arena_done(&arena);
    return 0;
}
