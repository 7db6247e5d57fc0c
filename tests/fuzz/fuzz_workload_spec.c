// Specifications of submissions: no input may crash, leak, or come out with amounts that overflow; what was accepted is
// accepted again in its completed form.
#include "base/arena.h"
#include "base/error.h"
#include "base/json_reader.h"
#include "model/workload_listing.h"
#include "model/workload_spec.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_spec(json_t *body, enum workload_type type, struct arena *arena)
{
    struct error err = {0};
    struct workload_spec spec, again;
    if (workload_spec_read(body, type, arena, &spec, &err) < 0) {
        assert(err.code == ERROR_INVALID && err.message[0]);
        return;
    }
    assert(spec.gpu_milli >= 0 && spec.cpu_milli >= 0 && spec.memory_bytes >= 0);
    assert(spec.pods_wanted >= 1 && spec.pods_wanted <= WORKLOAD_PODS_MAX);
    assert(spec.min_pods >= 1 && spec.min_pods <= spec.pods_wanted);
    struct sub_groups stored;
    sub_groups_parse(spec.sub_groups_json, arena, &stored);
    assert(stored.count == spec.sub_groups.count && stored.minimum == spec.sub_groups.minimum);
    for (int64_t i = 0; stored.count > 0 && i < spec.worker_count; i++)
        assert(sub_groups_of_pod(&stored, false, i) < stored.count);
    struct workload_listing listing = {
        .uuid = "u",
        .name = "n",
        .created_by = "c",
        .cluster_uuid = "x",
        .project_name = "p",
        .department_name = "d",
        .namespace_name = "s",
        .spec = &spec,
        .spec_json = json_object_get(body, "spec"),
        .master_spec_json = json_object_get(body, "masterSpec"),
    };
    const char *members = workload_listing_text(&listing, arena);
    const char *text = arena_printf(arena, "{%s}", members);
    json_t *parsed = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert(parsed);
    json_decref(parsed);
    int rc = workload_spec_read(body, type, arena, &again, &err);
    assert(rc == 0 && again.gpu_milli == spec.gpu_milli && again.pods_wanted == spec.pods_wanted);
}

// The first byte chooses the kind.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *body = NULL;
    struct arena arena;
    if (size < 2 || json_reader_parse((const char *)data + 1, size - 1, &body, NULL) < 0)
        return 0;
    arena_init(&arena);
    if (json_is_object(body))
        check_spec(body, (enum workload_type)(data[0] % WORKLOAD_TYPE_COUNT), &arena);
    arena_done(&arena);
    json_decref(body);
    return 0;
}
