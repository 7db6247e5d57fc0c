#include "reconciler/world/cache.h"

#include "base/buffer.h"
#include "base/error.h"
#include "db/db.h"
#include "model/workload_type.h"
#include "reconciler/world/world_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLACEMENTS_MAXIMUM = 20000 // distinct constraints before the world is made again
};

void cache_init(struct cache *cache)
{
    *cache = (struct cache){.seen_revision = -1, .needs_plan = true};
}

static void free_pod(struct cache_pod *pod)
{
    pod_facts_done(&pod->facts);
    free(pod->gpu_indices);
    free(pod->gpu_memory.device_mib);
    free((void *)pod->promise_groups_json);
    free(pod);
}

static void free_workload(struct cache_workload *workload)
{
    for (size_t i = 0; i < workload->pod_count; i++)
        free_pod(workload->pods[i]);
    free(workload->pods);
    free(workload->autoscale);
    free(workload->volume_terms);
    workload_facts_done(&workload->facts);
    free(workload);
}

void cache_done(struct cache *cache)
{
    for (size_t i = 0; i < cache->workload_count; i++)
        free_workload(cache->order[i]);
    free(cache->order);
    id_map_done(&cache->workloads);
    id_map_done(&cache->pods);
    id_map_done(&cache->pods_by_uuid);
    size_t position = 0;
    for (void *load; (load = id_map_next(&cache->node_loads, &position));)
        free(load);
    id_map_done(&cache->node_loads);
    world_release(cache->world);
    extended_names_done(&cache->asked);
    *cache = (struct cache){0};
}

void cache_clear(struct cache *cache)
{
    cache_done(cache);
    cache_init(cache);
}

struct cache_pod *cache_find_pod(const struct cache *cache, const char *uuid)
{
    struct cache_pod *pod = id_map_find(&cache->pods_by_uuid, id_map_uuid_key(uuid));
    return pod && strcmp(pod->uuid, uuid) == 0 ? pod : NULL;
}

struct cache_workload *cache_find_workload(const struct cache *cache, int64_t id)
{
    return id_map_find(&cache->workloads, id);
}

void cache_set_node_load(struct cache *cache, int64_t node_id, const struct load *load)
{
    struct load *kept = id_map_find(&cache->node_loads, node_id);
    if (!kept) {
        kept = memory_array(1, sizeof(*kept));
        id_map_put(&cache->node_loads, node_id, kept);
    }
    *kept = *load;
}

void cache_avoid_node(struct cache_workload *workload, int64_t node_id, int64_t until_ms)
{
    struct avoided_node *chosen = &workload->avoided[0];
    for (size_t i = 0; i < AVOIDED_NODES; i++) {
        struct avoided_node *avoided = &workload->avoided[i];
        if (avoided->node_id == node_id) {
            chosen = avoided;
            break;
        }
        if (avoided->until_ms < chosen->until_ms)
            chosen = avoided;
    }
    *chosen = (struct avoided_node){node_id, until_ms};
}

void cache_set_gpu_memory(struct cache_pod *pod, const int32_t *used_mib, size_t count, int64_t device_mib)
{
    struct gpu_memory *memory = &pod->gpu_memory;
    int64_t part_milli = pod->gpu_index_count ? pod->gpu_allocated_milli / (int64_t)pod->gpu_index_count : 0;
    free(memory->device_mib);
    *memory = (struct gpu_memory){.used_bytes = -1};
    while (count && used_mib[count - 1] < 0)
        count--;
    if (!count)
        return;
    memory->device_mib = memory_array(count, sizeof(*used_mib));
    memory->device_count = count;
    memory->used_bytes = 0;
    for (size_t i = 0; i < count; i++) {
        memory->device_mib[i] = used_mib[i];
        if (used_mib[i] < 0)
            continue;
        memory->used_bytes += (int64_t)used_mib[i] << 20;
        memory->held_bytes += (device_mib << 20) * part_milli / 1000;
    }
}

void cache_set_devices(struct cache_pod *pod, const uint32_t *indices, size_t count, const char *groups_json)
{
    free(pod->gpu_indices);
    pod->gpu_indices = NULL;
    pod->gpu_index_count = count;
    if (count) {
        pod->gpu_indices = memory_array(count, sizeof(*indices));
        memcpy(pod->gpu_indices, indices, count * sizeof(*indices));
    }
    fact_set_text(&pod->gpu_groups_json, groups_json);
}

const char *cache_indices_json(const struct cache_pod *pod, struct arena *arena)
{
    struct buffer text;
    buffer_init(&text, 0);
    buffer_char(&text, '[');
    for (size_t i = 0; i < pod->gpu_index_count; i++)
        buffer_printf(&text, "%s%u", i ? "," : "", pod->gpu_indices[i]);
    buffer_char(&text, ']');
    const char *copy = arena_strdup(arena, text.data);
    buffer_done(&text);
    return copy;
}

void cache_set_promise(struct cache_pod *pod, const char *node_name, const char *groups_json)
{
    fact_set_text(&pod->promise_node, node_name);
    fact_set_text(&pod->promise_groups_json, node_name ? groups_json : NULL);
}

static struct cache_workload *add_workload(struct cache *cache, int64_t id)
{
    struct cache_workload *workload = memory_array(1, sizeof(*workload));
    workload->id = id;
    workload->pods_unread = true;
    id_map_put(&cache->workloads, id, workload);
    if (cache->workload_count == cache->order_capacity) {
        cache->order_capacity = cache->order_capacity ? cache->order_capacity * 2 : 64;
        cache->order = memory_realloc(cache->order, cache->order_capacity * sizeof(struct cache_workload *));
    }
    cache->order[cache->workload_count++] = workload;
    cache->is_sorted = false;
    cache->needs_plan = true;
    return workload;
}

static bool row_is_settled(const struct workload_facts *row)
{
    if (row->deleted_ms)
        return true;
    if (row->desired == DESIRED_DELETED)
        return false;
    return phase_is_final(row->phase) || (row->phase == PHASE_STOPPED && row->desired == DESIRED_STOPPED);
}

static void take_workload(struct cache *cache, const struct workload_facts *row)
{
    struct cache_workload *workload = cache_find_workload(cache, row->id);
    if (!workload && cache->seen_revision >= 0 && row_is_settled(row))
        return;
    if (!workload)
        workload = add_workload(cache, row->id);
    cache->needs_plan |= workload_facts_differ(&workload->facts, row);
    workload_facts_copy(&workload->facts, row);
}

static int compare_pods(const struct cache_pod *a, const struct cache_pod *b)
{
    if (a->is_master != b->is_master)
        return a->is_master ? -1 : 1;
    if (a->pod_index != b->pod_index)
        return a->pod_index < b->pod_index ? -1 : 1;
    return a->attempt < b->attempt ? -1 : a->attempt > b->attempt;
}

static void remove_pod(struct cache *cache, struct cache_workload *workload, size_t position)
{
    struct cache_pod *pod = workload->pods[position];
    id_map_remove(&cache->pods, pod->id);
    id_map_remove(&cache->pods_by_uuid, id_map_uuid_key(pod->uuid));
    memmove(workload->pods + position, workload->pods + position + 1,
            (workload->pod_count - position - 1) * sizeof(*workload->pods));
    workload->pod_count--;
    free_pod(pod);
}

static struct cache_pod *add_pod(struct cache *cache, struct cache_workload *workload, const struct pod_facts *row)
{
    struct cache_pod *pod = memory_array(1, sizeof(*pod));
    pod_facts_copy(&pod->facts, row);
    pod->workload = workload;
    pod->gpu_utilization = pod->throughput = pod->latency_ms = -1;
    pod->load = (struct load){-1, -1};
    pod->gpu_memory.used_bytes = -1;
    if (workload->pod_count == workload->pod_capacity) {
        workload->pod_capacity = workload->pod_capacity ? workload->pod_capacity * 2 : 2;
        workload->pods = memory_realloc(workload->pods, workload->pod_capacity * sizeof(struct cache_pod *));
    }
    size_t position = workload->pod_count++;
    while (position > 0 && compare_pods(workload->pods[position - 1], pod) > 0) {
        workload->pods[position] = workload->pods[position - 1];
        position--;
    }
    workload->pods[position] = pod;
    id_map_put(&cache->pods, pod->id, pod);
    id_map_put(&cache->pods_by_uuid, id_map_uuid_key(pod->uuid), pod);
    cache->needs_plan = true;
    return pod;
}

static void take_pod(struct cache *cache, const struct workload_pod_row *row, struct arena *arena)
{
    struct cache_pod *pod = id_map_find(&cache->pods, row->facts.id);
    if (!pod) {
        struct cache_workload *workload = cache_find_workload(cache, row->workload_id);
        if (!workload || row->facts.deleted_ms)
            return;
        pod = add_pod(cache, workload, &row->facts);
    }
    cache->needs_plan |= pod_facts_differ(&pod->facts, &row->facts);
    if (fact_text_differs(pod->constraints_json, row->facts.constraints_json))
        pod->placement_world = NULL;
    pod_facts_copy(&pod->facts, &row->facts);
    uint32_t *indices;
    size_t count = world_json_numbers(row->gpu_indices_json, arena, &indices);
    cache_set_devices(pod, indices, count, row->facts.gpu_groups_json);
}

// Of a training with many completions only the number of those that ended well is of interest.
static bool is_counted(const struct cache_workload *workload, const struct cache_pod *pod)
{
    return pod->status == POD_STATUS_SUCCEEDED && workload->completions > 1 && !workload->restarts_always &&
           !workload_type_is(workload->type, WORKLOAD_TYPE_DISTRIBUTED);
}

// What is deleted, what a newer attempt has replaced, and what is only counted.
static void drop_old_pods(struct cache *cache, struct cache_workload *workload)
{
    for (size_t i = workload->pod_count; i-- > 0;) {
        const struct cache_pod *pod = workload->pods[i];
        const struct cache_pod *next = i + 1 < workload->pod_count ? workload->pods[i + 1] : NULL;
        bool is_replaced = next && next->is_master == pod->is_master && next->pod_index == pod->pod_index &&
                           pod_status_is_over(pod->status);
        if (pod->deleted_ms || is_replaced || is_counted(workload, pod))
            remove_pod(cache, workload, i);
    }
}

static int read_new_pods(struct cache *cache, struct db_conn *conn, struct arena *arena, struct error *err)
{
    for (size_t i = 0; i < cache->workload_count; i++) {
        struct cache_workload *workload = cache->order[i];
        if (!workload->pods_unread)
            continue;
        struct workload_pod_row *rows;
        size_t count;
        if (db_read_pod_rows_of(conn, workload->id, arena, &rows, &count, err) < 0)
            return -1;
        for (size_t k = 0; k < count; k++)
            take_pod(cache, &rows[k], arena);
        drop_old_pods(cache, workload);
        workload->pods_unread = false;
    }
    return 0;
}

static int read_rows(struct cache *cache, struct db_conn *conn, struct arena *arena, bool *out_changed,
                     struct error *err)
{
    struct workload_facts *workloads;
    size_t count;
    int64_t since = cache->seen_revision > 0 ? cache->seen_revision : 0;
    if (db_read_workload_rows(conn, since, arena, &workloads, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        take_workload(cache, &workloads[i]);
    *out_changed |= count > 0;
    if (since > 0) {
        struct workload_pod_row *pods;
        if (db_read_pod_rows(conn, since, arena, &pods, &count, err) < 0)
            return -1;
        for (size_t i = 0; i < count; i++)
            take_pod(cache, &pods[i], arena);
        for (size_t i = 0; i < count; i++) {
            struct cache_workload *workload = cache_find_workload(cache, pods[i].workload_id);
            if (workload)
                drop_old_pods(cache, workload);
        }
        *out_changed |= count > 0;
    }
    return read_new_pods(cache, conn, arena, err);
}

static int read_world(struct cache *cache, struct db_conn *conn, struct error *err)
{
    struct world *world = world_create(conn, &cache->asked, err);
    if (!world)
        return -1;
    world_release(cache->world);
    cache->world = world;
    cache->needs_plan = true;
    return 0;
}

// Gives each pod its placement in the present world.
static void resolve_placements(struct cache *cache)
{
    for (size_t i = 0; i < cache->workload_count; i++)
        for (size_t k = 0; k < cache->order[i]->pod_count; k++) {
            struct cache_pod *pod = cache->order[i]->pods[k];
            if (pod->placement_world == cache->world)
                continue;
            pod->placement =
                pod->constraints_json ? world_placement(cache->world, pod->constraints_json, &cache->asked) : NULL;
            pod->placement_world = cache->world;
        }
}

int cache_refresh(struct cache *cache, struct db_conn *conn, int64_t last_revision, bool reads_world, bool reads_rows,
                  struct arena *arena, bool *out_changed, struct error *err)
{
    bool is_first = cache->seen_revision < 0;
    int rc = -1;
    if (db_read_begin(conn, err) < 0)
        return -1;
    if ((reads_rows || is_first) && read_rows(cache, conn, arena, out_changed, err) < 0)
        goto done;
    if (is_first || reads_world || cache->world->placement_count > PLACEMENTS_MAXIMUM) {
        if (read_world(cache, conn, err) < 0)
            goto done;
        *out_changed = true;
    }
    size_t asked = cache->asked.count;
    resolve_placements(cache);
    if (cache->asked.count > asked) { // a resource that had no index
        if (read_world(cache, conn, err) < 0)
            goto done;
        resolve_placements(cache);
    }
    if (reads_rows || is_first)
        cache->seen_revision = last_revision;
    rc = 0;
done:
    db_read_end(conn);
    return rc;
}

static bool is_settled(const struct cache_workload *workload)
{
    for (size_t i = 0; i < workload->pod_count; i++)
        if (pod_status_holds_place(workload->pods[i]->status))
            return false;
    if (workload->deleted_ms)
        return true;
    if (workload->desired == DESIRED_DELETED)
        return false;
    return phase_is_final(workload->phase) ||
           (workload->phase == PHASE_STOPPED && workload->desired == DESIRED_STOPPED);
}

void cache_drop_settled(struct cache *cache)
{
    size_t kept = 0;
    for (size_t i = 0; i < cache->workload_count; i++) {
        struct cache_workload *workload = cache->order[i];
        if (!is_settled(workload)) {
            cache->order[kept++] = workload;
            continue;
        }
        while (workload->pod_count > 0)
            remove_pod(cache, workload, workload->pod_count - 1);
        id_map_remove(&cache->workloads, workload->id);
        free_workload(workload);
        cache->needs_plan = true;
    }
    cache->workload_count = kept;
}

static int compare_workloads(const void *a, const void *b)
{
    const struct cache_workload *left = *(struct cache_workload *const *)a;
    const struct cache_workload *right = *(struct cache_workload *const *)b;
    int order = strcmp(left->name, right->name);
    if (order == 0)
        order = strcmp(left->project_name, right->project_name);
    return order ? order : left->id < right->id ? -1 : left->id > right->id;
}

void cache_sort(struct cache *cache)
{
    if (!cache->is_sorted && cache->workload_count > 1)
        qsort(cache->order, cache->workload_count, sizeof(struct cache_workload *), compare_workloads);
    cache->is_sorted = true;
}
