#include "scheduler/order/queue_log.h"

#include "base/arena.h"
#include "scheduler/order/workload_order.h"
#include "scheduler/state/node.h"
#include "scheduler/state/unit.h"

#include <string.h>

// As it stands: what is placed later leaves the copy as it is.
static const struct workload *copy_workload(struct arena *arena, const struct workload *workload)
{
    struct workload *copy = arena_alloc(arena, sizeof(*copy));
    struct group *groups = arena_array(arena, workload->group_count, sizeof(*groups));
    memcpy(groups, workload->groups, workload->group_count * sizeof(*groups));
    *copy = *workload;
    copy->groups = groups;
    return copy;
}

void queue_log_note(struct queue_log *log, struct cycle *cycle, const struct pool *pool, struct walk *walk,
                    struct workload *workload)
{
    if (pool->index != log->node_pool)
        return;
    if (!log->is_listed)
        log->is_listed = arena_array(log->scratch, cycle->snapshot->workload_count, sizeof(*log->is_listed));
    if (log->is_listed[workload->index])
        return;
    log->is_listed[workload->index] = true;
    struct queue_log_entry *entry = arena_alloc(log->scratch, sizeof(*entry));
    *entry = (struct queue_log_entry){.has_promise = walk == NULL};
    entry->gpu_milli = unit_amounts(cycle, workload, pool->largest_gpu_memory_mib).of[RESOURCE_GPU];
    entry->pods = workload->unit_count;
    entry->workload = copy_workload(log->scratch, workload);
    if (walk) {
        walk_last_keys(walk, workload, &entry->project_key, &entry->department_key);
        entry->project = *entry->project_key.queue;
        entry->department = *entry->department_key.queue;
        entry->project_key.queue = &entry->project;
        entry->department_key.queue = &entry->department;
    }
    if (log->count == log->capacity)
        log->entries =
            arena_grow(log->scratch, log->entries, &log->capacity, log->count + 1, sizeof(struct queue_log_entry *));
    log->entries[log->count++] = entry;
}

// Which of its preferences the pool is.
static size_t preference(const struct workload *workload, uint32_t node_pool)
{
    size_t i = 0;
    while (i < workload->spec->node_pool_count && workload->spec->node_pools[i] != node_pool)
        i++;
    return i;
}

static const char *word_queues(const struct queue_log *log, const struct queue_key *a, const struct queue_key *b,
                               const char **out_rule)
{
    if (queue_compare(a, b, out_rule) < 0)
        return queue_compare_words(log->arena, a, b);
    // The rules of shares can go round in a circle; then the name that was looked at first leads.
    *out_rule = "siblings are gone through by name where the rules go round in a circle";
    return arena_printf(log->arena, "The scheduler looks at %s before %s, and no later one goes strictly before it",
                        a->queue->name, b->queue->name);
}

static void word(const struct queue_log *log, const struct queue_log_entry *a, const struct queue_log_entry *b,
                 struct queue_listing_entry *out_entry)
{
    size_t round = preference(a->workload, log->node_pool), next = preference(b->workload, log->node_pool);
    if (a->has_promise) {
        out_entry->rule = "promises of the cycle before first";
        out_entry->sentence = b->has_promise ? "Both have a promise, and it was made first"
                                             : "Has a promise from the cycle before, the next has none";
    } else if (round != next) {
        out_entry->rule = "node pools of earlier preference first";
        out_entry->sentence = arena_printf(
            log->arena, "The node pool is its choice %zu and the next workload's choice %zu", round + 1, next + 1);
    } else if (a->workload->spec->project == b->workload->spec->project) {
        workload_compare(a->workload, b->workload, &out_entry->rule);
        out_entry->sentence = workload_compare_words(log->arena, a->workload, b->workload);
    } else if (a->project.parent != b->project.parent) {
        out_entry->sentence = word_queues(log, &a->department_key, &b->department_key, &out_entry->rule);
    } else {
        out_entry->sentence = word_queues(log, &a->project_key, &b->project_key, &out_entry->rule);
    }
}

struct queue_listing *queue_log_finish(struct queue_log *log)
{
    struct queue_listing *listing = arena_alloc(log->arena, sizeof(*listing));
    struct queue_listing_entry *entries = arena_array(log->arena, log->count, sizeof(*entries));
    for (size_t i = 0; i < log->count; i++) {
        const struct queue_log_entry *entry = log->entries[i];
        const struct snapshot_workload *spec = entry->workload->spec;
        entries[i] = (struct queue_listing_entry){.workload = entry->workload->index,
                                                  .gpu_milli = entry->gpu_milli,
                                                  .pods = entry->pods,
                                                  .waiting_since_ms = spec->created_ms};
        if (spec->last_eviction_ms != SNAPSHOT_TIME_NONE && spec->last_eviction_ms > spec->created_ms)
            entries[i].waiting_since_ms = spec->last_eviction_ms;
        if (i + 1 < log->count)
            word(log, entry, log->entries[i + 1], &entries[i]);
    }
    *listing = (struct queue_listing){.node_pool = log->node_pool, .entries = entries, .count = log->count};
    return listing;
}
