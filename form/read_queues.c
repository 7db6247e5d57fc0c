// Departments and projects, their resources in each node pool, and their past usage.
#include "base/arena.h"
#include "form/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// target: the amount of one resource in the first of three struct amounts, as in struct queue_amounts.
struct queue_amounts {
    int64_t deserved, limit, weight_milli;
};

static int read_gpus(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    if (json_is_null(place->value)) {
        *(int64_t *)target = QUANTITY_UNLIMITED;
        return 0;
    }
    return read_exact(place, 1000, "0.001", READER_GPUS_MAXIMUM * 1000, target, err);
}

static int read_cores_or_null(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    if (json_is_null(place->value)) {
        *(int64_t *)target = QUANTITY_UNLIMITED;
        return 0;
    }
    return read_cores(reader, place, target, err);
}

static int read_bytes_or_null(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    if (json_is_null(place->value)) {
        *(int64_t *)target = QUANTITY_UNLIMITED;
        return 0;
    }
    return read_bytes(reader, place, target, err);
}

static int read_weight(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    return read_rounded(place, 1000, READER_WEIGHT_MAXIMUM * 1000, target, err);
}

static const char *const RESOURCE_KEYS[RESOURCE_COUNT] = {
    [RESOURCE_GPU] = "gpu", [RESOURCE_CPU] = "cpu", [RESOURCE_MEMORY] = "memory"};
static const field_reader RESOURCE_READERS[RESOURCE_COUNT] = {
    [RESOURCE_GPU] = read_gpus, [RESOURCE_CPU] = read_cores_or_null, [RESOURCE_MEMORY] = read_bytes_or_null};

static int read_queue_resource(struct reader *reader, const struct place *queue_place, enum resource resource,
                               struct snapshot_queue *queue, struct error *err)
{
    const struct field fields[] = {
        {"deserved", RESOURCE_READERS[resource], offsetof(struct queue_amounts, deserved), FIELD_READS_NULL},
        {"limit", RESOURCE_READERS[resource], offsetof(struct queue_amounts, limit), FIELD_READS_NULL},
        {"overQuotaWeight", read_weight, offsetof(struct queue_amounts, weight_milli), FIELD_NULL},
    };
    struct place place = place_member(queue_place, RESOURCE_KEYS[resource]);
    if (!place.value)
        return 0;
    struct queue_amounts amounts = {queue->deserved.of[resource], queue->limit.of[resource],
                                    queue->over_quota_weight_milli.of[resource]};
    if (fields_read(reader, &place, fields, READER_COUNT_OF(fields), &amounts, err) < 0)
        return -1;
    queue->deserved.of[resource] = amounts.deserved;
    queue->limit.of[resource] = amounts.limit;
    queue->over_quota_weight_milli.of[resource] = amounts.weight_milli;
    return 0;
}

static int read_queue(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    static const struct field FIELDS[] = {
        {"nodePool", NULL, 0, 0}, {"rank", read_integer, offsetof(struct snapshot_queue, rank), FIELD_NULL},
        {"gpu", NULL, 0, 0},      {"cpu", NULL, 0, 0},
        {"memory", NULL, 0, 0},
    };
    struct snapshot_queue *queue = target;
    *queue = snapshot_queue_default();
    if (fields_read(reader, place, FIELDS, READER_COUNT_OF(FIELDS), queue, err) < 0)
        return -1;
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        if (read_queue_resource(reader, place, (enum resource)i, queue, err) < 0)
            return -1;
    return 0;
}

// target: const struct snapshot_queue **, an array with an entry for each node pool.
static int read_resources(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    void *items;
    size_t count, pool_count = reader->snapshot->node_pool_count;
    if (fields_read_list(reader, place, sizeof(struct snapshot_queue), read_queue, &items, &count, err) < 0)
        return -1;
    struct snapshot_queue *queues = arena_array(reader->arena, pool_count, sizeof(*queues));
    bool *seen = arena_array(reader->arena, pool_count, sizeof(*seen));
    for (size_t i = 0; i < pool_count; i++)
        queues[i] = snapshot_queue_default();
    for (size_t i = 0; i < count; i++) {
        struct place item = place_item(place, i);
        uint32_t pool;
        if (read_node_pool_reference(reader, &item, &pool, err) < 0)
            return -1;
        if (seen[pool])
            return place_error(&item, err, "duplicate: node pool \"%s\"", reader->snapshot->node_pools[pool].name);
        seen[pool] = true;
        queues[pool] = ((struct snapshot_queue *)items)[i];
    }
    *(const struct snapshot_queue **)target = queues;
    return 0;
}

static const struct field DEPARTMENT_FIELDS[] = {
    {"name", read_name, offsetof(struct snapshot_department, name), FIELD_REQUIRED},
    {"createdAt", read_time, offsetof(struct snapshot_department, created_ms), FIELD_NULL},
    {"resources", read_resources, offsetof(struct snapshot_department, queues), 0},
    {"preemptMinRuntimeSeconds", read_seconds, offsetof(struct snapshot_department, preempt_min_run_time_ms),
     FIELD_NULL},
    {"reclaimMinRuntimeSeconds", read_seconds, offsetof(struct snapshot_department, reclaim_min_run_time_ms),
     FIELD_NULL},
};

static int read_department(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    struct snapshot_department *department = target;
    *department = (struct snapshot_department){.created_ms = reader->snapshot->now_ms,
                                               .preempt_min_run_time_ms = SNAPSHOT_TIME_NONE,
                                               .reclaim_min_run_time_ms = SNAPSHOT_TIME_NONE};
    struct place no_resources = {0};
    if (read_resources(reader, &no_resources, &department->queues, err) < 0)
        return -1;
    return fields_read(reader, place, DEPARTMENT_FIELDS, READER_COUNT_OF(DEPARTMENT_FIELDS), department, err);
}

static const struct field PROJECT_FIELDS[] = {
    {"name", read_name, offsetof(struct snapshot_project, name), FIELD_REQUIRED},
    {"department", NULL, 0, FIELD_REQUIRED},
    {"createdAt", read_time, offsetof(struct snapshot_project, created_ms), FIELD_NULL},
    {"resources", read_resources, offsetof(struct snapshot_project, queues), 0},
    {"preemptMinRuntimeSeconds", read_seconds, offsetof(struct snapshot_project, preempt_min_run_time_ms), FIELD_NULL},
    {"reclaimMinRuntimeSeconds", read_seconds, offsetof(struct snapshot_project, reclaim_min_run_time_ms), FIELD_NULL},
    {"maxGpusPerPerson", read_gpus, offsetof(struct snapshot_project, person_gpu_limit_milli), FIELD_READS_NULL},
    {"maxWorkloadsPerPerson", read_count, offsetof(struct snapshot_project, person_workload_limit), FIELD_NULL},
    {"fairAmongPeople", read_bool, offsetof(struct snapshot_project, is_fair_among_people), FIELD_NULL},
};

static int read_project(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    struct snapshot_project *project = target;
    *project = (struct snapshot_project){.created_ms = reader->snapshot->now_ms,
                                         .preempt_min_run_time_ms = SNAPSHOT_TIME_NONE,
                                         .reclaim_min_run_time_ms = SNAPSHOT_TIME_NONE,
                                         .person_gpu_limit_milli = QUANTITY_UNLIMITED,
                                         .person_workload_limit = SNAPSHOT_COUNT_UNLIMITED};
    struct place no_resources = {0}, department = place_member(place, "department");
    if (read_resources(reader, &no_resources, &project->queues, err) < 0 ||
        fields_read(reader, place, PROJECT_FIELDS, READER_COUNT_OF(PROJECT_FIELDS), project, err) < 0)
        return -1;
    return names_resolve(&department, "department", reader->snapshot->departments, reader->snapshot->department_count,
                         sizeof(struct snapshot_department), &project->department, err);
}

static int check_queue_count(const struct reader *reader, const struct place *list, struct error *err)
{
    uint64_t count = (uint64_t)json_array_size(list->value) * reader->snapshot->node_pool_count;
    if (count > READER_QUEUES_MAXIMUM)
        return place_error(list, err, "more than %" PRIu64 " queues in all node pools", READER_QUEUES_MAXIMUM);
    return 0;
}

int read_queues(struct reader *reader, const struct place *document, struct error *err)
{
    struct snapshot *snapshot = reader->snapshot;
    struct place departments = place_member(document, "departments"), projects = place_member(document, "projects");
    void *items;
    if (check_queue_count(reader, &departments, err) < 0 || check_queue_count(reader, &projects, err) < 0)
        return -1;
    if (fields_read_list(reader, &departments, sizeof(struct snapshot_department), read_department, &items,
                         &snapshot->department_count, err) < 0 ||
        names_sort(reader, &departments, items, snapshot->department_count, sizeof(struct snapshot_department), err) <
            0)
        return -1;
    snapshot->departments = items;
    if (fields_read_list(reader, &projects, sizeof(struct snapshot_project), read_project, &items,
                         &snapshot->project_count, err) < 0 ||
        names_sort(reader, &projects, items, snapshot->project_count, sizeof(struct snapshot_project), err) < 0)
        return -1;
    snapshot->projects = items;
    return 0;
}

struct past_use { // of a person
    const char *name;
    uint32_t project;
    int64_t gpu_hours_milli;
};

static int read_gpu_hours(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    return read_rounded(place, 1000, READER_GPU_HOURS_MAXIMUM * 1000, target, err);
}

static int read_past_use(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    static const struct field FIELDS[] = {
        {"name", read_name, offsetof(struct past_use, name), FIELD_REQUIRED},
        {"project", NULL, 0, FIELD_REQUIRED},
        {"gpuHours", read_gpu_hours, offsetof(struct past_use, gpu_hours_milli), 0},
    };
    struct past_use *use = target;
    struct place project = place_member(place, "project");
    if (fields_read(reader, place, FIELDS, READER_COUNT_OF(FIELDS), use, err) < 0)
        return -1;
    return names_resolve(&project, "project", reader->snapshot->projects, reader->snapshot->project_count,
                         sizeof(struct snapshot_project), &use->project, err);
}

static int compare_uses(const void *a, const void *b)
{
    const struct past_use *left = a, *right = b;
    if (left->project != right->project)
        return left->project < right->project ? -1 : 1;
    return strcmp(left->name, right->name);
}

int read_people(struct reader *reader, const struct place *document, struct error *err)
{
    const struct snapshot *snapshot = reader->snapshot;
    struct place list = place_member(document, "people");
    void *items;
    size_t count;
    if (fields_read_list(reader, &list, sizeof(struct past_use), read_past_use, &items, &count, err) < 0)
        return -1;
    struct past_use *uses = items;
    struct snapshot_person *people = arena_array(reader->arena, count, sizeof(*people));
    if (count > 1)
        qsort(uses, count, sizeof(*uses), compare_uses);
    for (size_t i = 0; i < count; i++) {
        // read_queues made the array in this reader's arena.
        struct snapshot_project *project = &((struct snapshot_project *)snapshot->projects)[uses[i].project];
        if (i > 0 && compare_uses(&uses[i - 1], &uses[i]) == 0)
            return place_error(&list, err, "duplicate: \"%s\" of project \"%s\"", uses[i].name, project->name);
        people[i] = (struct snapshot_person){uses[i].name, uses[i].gpu_hours_milli};
        if (project->person_count++ == 0)
            project->people = &people[i];
    }
    return 0;
}

struct usage {
    size_t kind; // 0: project, 1: department
    uint32_t queue, node_pool;
    struct amounts micro;
};

static int read_usage_kind(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    return read_word(place, (const char *const[]){"project", "department"}, 2, target, err);
}

static int read_ratio(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    return read_rounded(place, 1000000, READER_RATIO_MAXIMUM * 1000000, target, err);
}

static int read_usage_item(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    static const struct field FIELDS[] = {
        {"kind", read_usage_kind, offsetof(struct usage, kind), 0},
        {"name", NULL, 0, FIELD_REQUIRED},
        {"nodePool", NULL, 0, 0},
        {"gpu", read_ratio, offsetof(struct usage, micro.of[RESOURCE_GPU]), FIELD_NULL},
        {"cpu", read_ratio, offsetof(struct usage, micro.of[RESOURCE_CPU]), FIELD_NULL},
        {"memory", read_ratio, offsetof(struct usage, micro.of[RESOURCE_MEMORY]), FIELD_NULL},
    };
    const struct snapshot *snapshot = reader->snapshot;
    struct usage *usage = target;
    struct place name = place_member(place, "name");
    if (fields_read(reader, place, FIELDS, READER_COUNT_OF(FIELDS), usage, err) < 0)
        return -1;
    int rc = usage->kind == 0 ? names_resolve(&name, "project", snapshot->projects, snapshot->project_count,
                                              sizeof(struct snapshot_project), &usage->queue, err)
                              : names_resolve(&name, "department", snapshot->departments, snapshot->department_count,
                                              sizeof(struct snapshot_department), &usage->queue, err);
    return rc < 0 ? rc : read_node_pool_reference(reader, place, &usage->node_pool, err);
}

int read_usage(struct reader *reader, const struct place *document, struct error *err)
{
    const struct snapshot *snapshot = reader->snapshot;
    struct place list = place_member(document, "usage");
    void *items;
    size_t count;
    if (fields_read_list(reader, &list, sizeof(struct usage), read_usage_item, &items, &count, err) < 0)
        return -1;
    size_t pools = snapshot->node_pool_count;
    bool *seen[2] = {arena_array(reader->arena, snapshot->project_count * pools, sizeof(bool)),
                     arena_array(reader->arena, snapshot->department_count * pools, sizeof(bool))};
    for (size_t i = 0; i < count; i++) {
        const struct usage *usage = &((struct usage *)items)[i];
        size_t at = usage->queue * pools + usage->node_pool;
        if (seen[usage->kind][at]) {
            struct place item = place_item(&list, i);
            return place_error(&item, err, "duplicate: the usage of this queue in this node pool");
        }
        seen[usage->kind][at] = true;
        const struct snapshot_queue *queues =
            usage->kind == 0 ? snapshot->projects[usage->queue].queues : snapshot->departments[usage->queue].queues;
        // read_resources made the array in this reader's arena.
        ((struct snapshot_queue *)queues)[usage->node_pool].usage_micro = usage->micro;
    }
    return 0;
}
