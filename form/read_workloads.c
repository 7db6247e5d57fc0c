// Workloads and their trees of sub-groups; pods are read by read_pods.c.
#include "base/arena.h"
#include "form/reader.h"
#include "model/priority.h"

#include <inttypes.h>
#include <string.h>

// The index of the level named at key, SNAPSHOT_NONE where none is.
static int resolve_level(const struct place *object, const char *key, const struct snapshot_topology *topology,
                         uint32_t *out_level, struct error *err)
{
    struct place place = place_member(object, key);
    *out_level = SNAPSHOT_NONE;
    if (!place.value || json_is_null(place.value))
        return 0;
    const char *level = json_string_value(place.value);
    if (!level)
        return place_expected(&place, err, "the name of a level");
    for (size_t i = 0; i < topology->level_count; i++)
        if (strcmp(topology->levels[i], level) == 0) {
            *out_level = (uint32_t)i;
            return 0;
        }
    return place_error(&place, err, "no level \"%s\" in topology \"%s\"", level, topology->name);
}

// The constraint at object's key `topology`; no constraint where it is missing or null. what: "workload" or
// "sub-group", owner: its name.
static int read_constraint(struct reader *reader, const struct place *object, const char *what, const char *owner,
                           struct snapshot_topology_constraint *out_constraint, struct error *err)
{
    static const struct field FIELDS[] = {
        {"name", NULL, 0, FIELD_REQUIRED}, {"required", NULL, 0, 0}, {"preferred", NULL, 0, 0}};
    const struct snapshot *snapshot = reader->snapshot;
    struct snapshot_topology_constraint constraint = {SNAPSHOT_NONE, SNAPSHOT_NONE, SNAPSHOT_NONE};
    struct place place = place_member(object, "topology");
    if (!place.value || json_is_null(place.value)) {
        *out_constraint = constraint;
        return 0;
    }
    if (fields_read(reader, &place, FIELDS, READER_COUNT_OF(FIELDS), NULL, err) < 0)
        return -1;
    struct place name = place_member(&place, "name");
    if (names_resolve(&name, "topology", snapshot->topologies, snapshot->topology_count,
                      sizeof(struct snapshot_topology), &constraint.topology, err) < 0)
        return -1;
    const struct snapshot_topology *topology = &snapshot->topologies[constraint.topology];
    if (resolve_level(&place, "required", topology, &constraint.required, err) < 0 ||
        resolve_level(&place, "preferred", topology, &constraint.preferred, err) < 0)
        return -1;
    if (constraint.required == SNAPSHOT_NONE && constraint.preferred == SNAPSHOT_NONE)
        return place_error(&place, err, "%s \"%s\": names neither a required nor a preferred level", what, owner);
    *out_constraint = constraint;
    return 0;
}

// A sub-group as the document says it; the name first, as names_sort wants it.
struct sub_group_draft {
    const char *name;
    const char *parent;
    size_t place; // its index in the document
    uint32_t min_pods, min_sub_groups;
    struct snapshot_topology_constraint topology;
};

#define SUB_GROUP(key, member, read, flags)                        \
    {                                                              \
        key, read, offsetof(struct sub_group_draft, member), flags \
    }
static const struct field SUB_GROUP_FIELDS[] = {
    SUB_GROUP("name", name, read_name, FIELD_REQUIRED),
    SUB_GROUP("parent", parent, read_name, FIELD_NULL),
    SUB_GROUP("minPods", min_pods, read_count, FIELD_NULL),
    SUB_GROUP("minSubGroups", min_sub_groups, read_count, FIELD_NULL),
    {"topology", NULL, 0, 0},
};

static int read_sub_group(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    struct sub_group_draft *draft = target;
    *draft =
        (struct sub_group_draft){.place = place->index, .min_pods = SNAPSHOT_NONE, .min_sub_groups = SNAPSHOT_MIN_ALL};
    if (fields_read(reader, place, SUB_GROUP_FIELDS, READER_COUNT_OF(SUB_GROUP_FIELDS), draft, err) < 0)
        return -1;
    return read_constraint(reader, place, "sub-group", draft->name, &draft->topology, err);
}

static int link_sub_groups(const struct place *list, const struct sub_group_draft *drafts, size_t count,
                           struct snapshot_sub_group *groups, bool *is_set, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct place item = place_item(list, drafts[i].place), parent = place_member(&item, "parent");
        groups[i] = (struct snapshot_sub_group){.name = drafts[i].name,
                                                .parent = SNAPSHOT_NONE,
                                                .min_sub_groups = drafts[i].min_sub_groups,
                                                .topology = drafts[i].topology};
        if (!drafts[i].parent)
            continue;
        if (names_resolve(&parent, "sub-group", drafts, count, sizeof(*drafts), &groups[i].parent, err) < 0)
            return -1;
        is_set[groups[i].parent] = true;
    }
    for (size_t i = 0; i < count; i++) {
        struct place item = place_item(list, drafts[i].place);
        size_t depth = 0;
        for (uint32_t at = (uint32_t)i; at != SNAPSHOT_NONE; at = groups[at].parent)
            if (++depth > READER_LEVELS_MAXIMUM)
                return place_error(&item, err, "more than %d levels of sub-groups, or its own ancestor",
                                   READER_LEVELS_MAXIMUM);
        struct place min_pods = place_member(&item, "minPods"), min_sub_groups = place_member(&item, "minSubGroups");
        if (is_set[i] && drafts[i].min_pods != SNAPSHOT_NONE)
            return place_error(&min_pods, err, "a sub-group with sub-groups of its own has minSubGroups");
        if (!is_set[i] && drafts[i].min_sub_groups != SNAPSHOT_MIN_ALL)
            return place_error(&min_sub_groups, err, "a sub-group without sub-groups of its own has minPods");
        // A leaf that says nothing is optional; scheduler.md, 10.1.
        groups[i].min_pods = drafts[i].min_pods == SNAPSHOT_NONE ? 0 : drafts[i].min_pods;
    }
    return 0;
}

int read_sub_groups(struct reader *reader, const struct place *workload, struct error *err)
{
    struct place list = place_member(workload, "subGroups");
    if (json_is_null(list.value))
        list.value = NULL;
    void *drafts;
    size_t count;
    if (fields_read_list(reader, &list, sizeof(struct sub_group_draft), read_sub_group, &drafts, &count, err) < 0 ||
        names_sort(reader, &list, drafts, count, sizeof(struct sub_group_draft), err) < 0)
        return -1;
    struct snapshot_sub_group *groups = arena_array(reader->arena, count, sizeof(*groups));
    reader->sub_group_is_set = arena_array(reader->arena, count, sizeof(bool));
    if (link_sub_groups(&list, drafts, count, groups, reader->sub_group_is_set, err) < 0)
        return -1;
    reader->workload->sub_groups = groups;
    reader->workload->sub_group_count = count;
    return 0;
}

static int read_pod_affinity(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    static const struct field FIELDS[] = {
        {"type", NULL, 0, FIELD_REQUIRED},
        {"key", read_name, offsetof(struct snapshot_workload, pod_affinity_key), FIELD_REQUIRED}};
    struct snapshot_workload *workload = target;
    if (fields_read(reader, place, FIELDS, READER_COUNT_OF(FIELDS), workload, err) < 0)
        return -1;
    struct place type = place_member(place, "type");
    size_t word;
    if (read_word(&type, (const char *const[]){"required", "preferred"}, 2, &word, err) < 0)
        return -1;
    workload->pod_affinity = word == 0 ? POD_AFFINITY_REQUIRED : POD_AFFINITY_PREFERRED;
    return 0;
}

static int read_preferred_pools(struct reader *reader, const struct place *object, struct snapshot_workload *workload,
                                struct error *err)
{
    const struct snapshot *snapshot = reader->snapshot;
    struct place list = place_member(object, "nodePools");
    size_t count = list.value && !json_is_null(list.value) ? json_array_size(list.value) : 1;
    uint32_t *pools = arena_array(reader->arena, count, sizeof(*pools));
    workload->node_pools = pools;
    workload->node_pool_count = count;
    if (!list.value || json_is_null(list.value)) {
        struct place none = {.parent = object, .key = "nodePools"};
        uint32_t usual = snapshot->node_pool_count == 1 ? 0
                                                        : names_find(snapshot->node_pools, snapshot->node_pool_count,
                                                                     sizeof(struct snapshot_node_pool), "default");
        if (usual == SNAPSHOT_NONE)
            return place_error(&none, err, "missing, and no node pool is called \"default\"");
        pools[0] = usual;
        return 0;
    }
    if (!json_is_array(list.value))
        return place_expected(&list, err, "a list");
    if (count == 0)
        return place_error(&list, err, "at least one node pool");
    if (count > snapshot->node_pool_count)
        return place_error(&list, err, "more names than there are node pools");
    bool *seen = arena_array(reader->arena, snapshot->node_pool_count, sizeof(*seen));
    for (size_t i = 0; i < count; i++) {
        struct place item = place_item(&list, i);
        if (names_resolve(&item, "node pool", snapshot->node_pools, snapshot->node_pool_count,
                          sizeof(struct snapshot_node_pool), &pools[i], err) < 0)
            return -1;
        if (seen[pools[i]])
            return place_error(&item, err, "duplicate: node pool \"%s\"", json_string_value(item.value));
        seen[pools[i]] = true;
    }
    return 0;
}

#define WORKLOAD(key, member, read, flags)                           \
    {                                                                \
        key, read, offsetof(struct snapshot_workload, member), flags \
    }
static const struct field WORKLOAD_FIELDS[] = {
    WORKLOAD("name", name, read_name, FIELD_REQUIRED),
    {"project", NULL, 0, FIELD_REQUIRED},
    WORKLOAD("submittedBy", person, read_text, FIELD_NULL),
    WORKLOAD("createdAt", created_ms, read_time, FIELD_NULL),
    WORKLOAD("priority", priority, read_integer, 0),
    {"preemptibility", NULL, 0, 0},
    WORKLOAD("minPods", min_pods, read_count, FIELD_NULL),
    {"nodePools", NULL, 0, 0},
    WORKLOAD("minSubGroups", min_sub_groups, read_count, FIELD_NULL),
    WORKLOAD("stalenessGraceSeconds", staleness_grace_ms, read_grace, FIELD_NULL),
    WORKLOAD("preemptionDelaySeconds", preemption_delay_ms, read_seconds, FIELD_NULL),
    WORKLOAD("maxRunSeconds", max_run_ms, read_seconds, FIELD_NULL),
    WORKLOAD("lastEvictionAt", last_eviction_ms, read_time, FIELD_NULL),
    WORKLOAD("displacedTimes", displaced_count, read_count, FIELD_NULL),
    WORKLOAD("lastDisplacedAt", displaced_ms, read_time, FIELD_NULL),
    {"subGroups", NULL, 0, 0},
    {"topology", NULL, 0, 0},
    {"podAffinity", read_pod_affinity, 0, FIELD_NULL},
    WORKLOAD("staleSeconds", stale_ms, read_seconds, FIELD_NULL),
    WORKLOAD("deleting", deleting, read_bool, 0),
    WORKLOAD("gate", gate, read_text, FIELD_NULL),
    WORKLOAD("gateUntil", gate_until_ms, read_time, FIELD_NULL),
    WORKLOAD("gateIsFinal", gate_is_final, read_bool, 0),
    WORKLOAD("overBudget", over_budget, read_text, FIELD_NULL),
    WORKLOAD("overBudgetUntil", over_budget_until_ms, read_time, FIELD_NULL),
    WORKLOAD("promise", promise, read_count, FIELD_NULL),
    {"pods", NULL, 0, FIELD_REQUIRED},
};

static int read_preemptibility(const struct place *object, struct snapshot_workload *workload, struct error *err)
{
    struct place place = place_member(object, "preemptibility");
    workload->preemptible = workload->priority < PRIORITY_NON_PREEMPTIBLE_FROM;
    if (!place.value || json_is_null(place.value))
        return 0;
    size_t word;
    if (read_word(&place, (const char *const[]){"preemptible", "non-preemptible"}, 2, &word, err) < 0)
        return -1;
    workload->preemptible = word == 0;
    return 0;
}

struct workload_draft {
    struct snapshot_workload workload; // starts with the name
    struct snapshot_pod *pods;         // in the document's order
};

static int read_workload(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    struct workload_draft *draft = target;
    struct snapshot_workload *workload = &draft->workload;
    *workload = (struct snapshot_workload){.created_ms = reader->snapshot->now_ms,
                                           .displaced_ms = reader->snapshot->now_ms,
                                           .priority = 50,
                                           .min_pods = SNAPSHOT_NONE,
                                           .min_sub_groups = SNAPSHOT_MIN_ALL,
                                           .staleness_grace_ms = SNAPSHOT_TIME_NONE,
                                           .stale_ms = SNAPSHOT_TIME_NONE,
                                           .last_eviction_ms = SNAPSHOT_TIME_NONE,
                                           .promise = SNAPSHOT_PROMISE_NONE};
    reader->workload = workload;
    struct place project = place_member(place, "project"), pods = place_member(place, "pods");
    if (fields_read(reader, place, WORKLOAD_FIELDS, READER_COUNT_OF(WORKLOAD_FIELDS), workload, err) < 0 ||
        names_resolve(&project, "project", reader->snapshot->projects, reader->snapshot->project_count,
                      sizeof(struct snapshot_project), &workload->project, err) < 0 ||
        read_preemptibility(place, workload, err) < 0 || read_preferred_pools(reader, place, workload, err) < 0 ||
        read_constraint(reader, place, "workload", workload->name, &workload->topology, err) < 0 ||
        read_sub_groups(reader, place, err) < 0)
        return -1;
    void *items;
    size_t count;
    if (fields_read_list(reader, &pods, sizeof(struct snapshot_pod), read_pod, &items, &count, err) < 0 ||
        names_sort(reader, &pods, items, count, sizeof(struct snapshot_pod), err) < 0)
        return -1;
    draft->pods = items;
    workload->pod_count = (uint32_t)count;
    if (workload->min_pods == SNAPSHOT_NONE)
        workload->min_pods = workload->pod_count;
    return 0;
}

// Names are unique in the whole document. Pods of one workload are told apart already; the message names the later pod.
static int check_pod_names(struct reader *reader, const struct place *document, struct error *err)
{
    const struct snapshot *snapshot = reader->snapshot;
    struct place list = place_member(document, "workloads");
    const char **names = arena_array(reader->arena, snapshot->pod_count, sizeof(*names));
    size_t count = 0, i, j;
    const json_t *workload, *pod;
    json_array_foreach(list.value, i, workload) {
        json_array_foreach(json_object_get(workload, "pods"), j, pod)
            names[count++] = json_string_value(json_object_get(pod, "name"));
    }
    const size_t *order = texts_order(reader->arena, names, count);
    size_t duplicate = SIZE_MAX;
    for (i = 1; i < count; i++)
        if (strcmp(names[order[i - 1]], names[order[i]]) == 0 && order[i] < duplicate)
            duplicate = order[i];
    if (duplicate == SIZE_MAX)
        return 0;
    size_t before = 0;
    for (i = 0;; i++) {
        struct place item = place_item(&list, i), pods = place_member(&item, "pods");
        if (duplicate - before < json_array_size(pods.value)) {
            struct place at = place_item(&pods, duplicate - before), name = place_member(&at, "name");
            return place_error(&name, err, "duplicate name \"%s\"", names[duplicate]);
        }
        before += json_array_size(pods.value);
    }
}

static int check_pod_sums(const struct snapshot *snapshot, const struct place *list, struct error *err)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < snapshot->pod_count; i++) {
        bytes += (uint64_t)snapshot->pods[i].memory_bytes;
        if (bytes > READER_ALL_BYTES_MAXIMUM)
            return place_error(list, err, "pods ask for more than %" PRIu64 " bytes of memory in all",
                               READER_ALL_BYTES_MAXIMUM);
    }
    return 0;
}

int read_workloads(struct reader *reader, const struct place *document, struct error *err)
{
    struct snapshot *snapshot = reader->snapshot;
    struct place list = place_member(document, "workloads");
    void *items;
    size_t count;
    if (fields_read_list(reader, &list, sizeof(struct workload_draft), read_workload, &items, &count, err) < 0 ||
        names_sort(reader, &list, items, count, sizeof(struct workload_draft), err) < 0)
        return -1;
    const struct workload_draft *drafts = items;
    struct snapshot_workload *workloads = arena_array(reader->arena, count, sizeof(*workloads));
    for (size_t i = 0; i < count; i++)
        snapshot->pod_count += drafts[i].workload.pod_count;
    struct snapshot_pod *pods = arena_array(reader->arena, snapshot->pod_count, sizeof(*pods));
    size_t pod_count = 0;
    for (size_t i = 0; i < count; i++) {
        workloads[i] = drafts[i].workload;
        workloads[i].first_pod = (uint32_t)pod_count;
        for (size_t j = 0; j < workloads[i].pod_count; j++) {
            pods[pod_count] = drafts[i].pods[j];
            pods[pod_count++].workload = (uint32_t)i;
        }
    }
    snapshot->workloads = workloads;
    snapshot->workload_count = count;
    snapshot->pods = pods;
    share_placement_rules(reader->arena, pods, pod_count);
    if (check_pod_names(reader, document, err) < 0)
        return -1;
    return check_pod_sums(snapshot, &list, err);
}
