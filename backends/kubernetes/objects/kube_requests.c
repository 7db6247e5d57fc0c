#include "backends/kubernetes/objects/kube_requests.h"

#include "backends/kubernetes/objects/kube_amounts.h"
#include "backends/kubernetes/objects/kube_meta.h"
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

static const json_t *find_by_name(const json_t *list, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) {
        if (strcmp(kube_text_at(item, "name"), name) == 0)
            return item;
    }
    return NULL;
}

// What one container asks for; while it is resized the most of what was asked, given and is being used.
static void read_container(const json_t *container, const json_t *statuses, struct arena *arena,
                           struct kube_amounts *out)
{
    kube_amounts_read(kube_value_at(container, "resources.requests"), arena, out);
    const json_t *status = statuses ? find_by_name(statuses, kube_text_at(container, "name")) : NULL;
    struct kube_amounts given, used;
    kube_amounts_read(kube_value_at(status, "allocatedResources"), arena, &given);
    kube_amounts_read(kube_value_at(status, "resources.requests"), arena, &used);
    kube_amounts_raise(out, &given, arena);
    kube_amounts_raise(out, &used, arena);
}

static bool is_sidecar(const json_t *container)
{
    return strcmp(kube_text_at(container, "restartPolicy"), "Always") == 0;
}

// Adds the sidecars to sum; the greediest moment while the pod starts goes to out_start.
static void read_init_containers(const json_t *pod, struct arena *arena, struct kube_amounts *sum,
                                 struct kube_amounts *out_start)
{
    const json_t *statuses = kube_value_at(pod, "status.initContainerStatuses");
    struct kube_amounts sidecars = {0};
    size_t i;
    json_t *container;
    json_array_foreach(kube_value_at(pod, "spec.initContainers"), i, container) {
        struct kube_amounts own;
        read_container(container, is_sidecar(container) ? statuses : NULL, arena, &own);
        if (is_sidecar(container)) {
            kube_amounts_add(sum, &own, arena);
            kube_amounts_add(&sidecars, &own, arena);
            kube_amounts_raise(out_start, &sidecars, arena);
        } else {
            kube_amounts_add(&own, &sidecars, arena);
            kube_amounts_raise(out_start, &own, arena);
        }
    }
}

// What the pod as a whole asks for stands in place of the sum: CPU, memory and hugepages alone.
static void replace_by_pod(const json_t *asked, struct arena *arena, struct kube_amounts *out)
{
    struct kube_amounts whole;
    kube_amounts_read(asked, arena, &whole);
    if (json_object_get(asked, "cpu"))
        out->cpu_milli = whole.cpu_milli;
    if (json_object_get(asked, "memory"))
        out->memory_bytes = whole.memory_bytes;
    for (size_t i = 0; i < whole.other_count; i++) {
        if (strncmp(whole.others[i].name, "hugepages-", strlen("hugepages-")) != 0)
            continue;
        struct kube_amounts one = {.others = &whole.others[i], .other_count = 1};
        for (size_t k = 0; k < out->other_count; k++)
            if (strcmp(out->others[k].name, whole.others[i].name) == 0)
                out->others[k].units = 0;
        kube_amounts_raise(out, &one, arena);
    }
}

void kube_requests_read(const json_t *pod, struct arena *arena, struct kube_amounts *out)
{
    const json_t *statuses = kube_value_at(pod, "status.containerStatuses");
    struct kube_amounts start = {0}, overhead;
    *out = (struct kube_amounts){0};
    size_t i;
    json_t *container;
    json_array_foreach(kube_value_at(pod, "spec.containers"), i, container) {
        struct kube_amounts own;
        read_container(container, statuses, arena, &own);
        kube_amounts_add(out, &own, arena);
    }
    read_init_containers(pod, arena, out, &start);
    kube_amounts_raise(out, &start, arena);
    replace_by_pod(kube_value_at(pod, "spec.resources.requests"), arena, out);
    kube_amounts_read(kube_value_at(pod, "spec.overhead"), arena, &overhead);
    kube_amounts_add(out, &overhead, arena);
    out->pods = 1;
}

struct whole_holding {
    struct kube_holding holding;
    struct kube_amounts amounts;
    struct kube_amount others[];
};

static char *put_text(char **at, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = memcpy(*at, text, size);
    *at += size;
    return copy;
}

struct kube_holding *kube_holding_create(const json_t *pod)
{
    struct arena arena;
    struct kube_amounts amounts;
    arena_init(&arena);
    kube_requests_read(pod, &arena, &amounts);
    const char *node = kube_text_at(pod, "spec.nodeName"), *phase = kube_text_at(pod, "status.phase");
    size_t list_size = amounts.other_count * sizeof(struct kube_amount), text_size = strlen(node) + 1;
    for (size_t i = 0; i < amounts.other_count; i++)
        text_size += strlen(amounts.others[i].name) + 1;
    struct whole_holding *whole = memory_alloc(sizeof(*whole) + list_size + text_size);
    char *at = (char *)whole->others + list_size;
    whole->amounts = amounts;
    whole->amounts.others = whole->others;
    for (size_t i = 0; i < amounts.other_count; i++)
        whole->others[i] =
            (struct kube_amount){.name = put_text(&at, amounts.others[i].name), .units = amounts.others[i].units};
    whole->holding = (struct kube_holding){.node_name = put_text(&at, node),
                                           .amounts = &whole->amounts,
                                           .is_over = !strcmp(phase, "Succeeded") || !strcmp(phase, "Failed")};
    arena_done(&arena);
    return &whole->holding;
}
