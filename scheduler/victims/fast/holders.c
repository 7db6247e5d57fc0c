#include "scheduler/victims/fast/holders.h"

#include "base/arena.h"
#include "scheduler/order/workload_order.h"
#include "scheduler/state/journal.h"

#include <stdlib.h>
#include <string.h>

struct holders holders_make(struct cycle *cycle)
{
    const struct snapshot *snapshot = cycle->snapshot;
    struct arena *arena = cycle->scratch;
    return (struct holders){.workloads = arena_array(arena, snapshot->workload_count, sizeof(struct workload *)),
                            .first = arena_array(arena, snapshot->project_count + 1, sizeof(size_t)),
                            .count = arena_array(arena, snapshot->project_count, sizeof(size_t)),
                            .is_listed = arena_array(arena, snapshot->workload_count, sizeof(bool)),
                            .is_dirty = arena_array(arena, snapshot->project_count, sizeof(bool)),
                            .is_moved = arena_array(arena, snapshot->workload_count, sizeof(bool)),
                            .moved = arena_array(arena, snapshot->workload_count, sizeof(struct workload *))};
}

static int compare(const void *a, const void *b)
{
    return workload_compare_victims(*(struct workload *const *)a, *(struct workload *const *)b, NULL);
}

static void list(struct holders *holders, struct workload *workload)
{
    if (!workload->spec->preemptible || holders->is_listed[workload->index])
        return;
    holders->is_listed[workload->index] = true;
    uint32_t project = workload->spec->project;
    holders->workloads[holders->first[project] + holders->count[project]++] = workload;
}

// Every project has room for all its workloads.
void holders_fill(struct holders *holders, const struct cycle *cycle, const struct pool *pool)
{
    const struct snapshot *snapshot = cycle->snapshot;
    holders->pool = pool;
    memset(holders->first, 0, (snapshot->project_count + 1) * sizeof(*holders->first));
    memset(holders->is_listed, 0, snapshot->workload_count * sizeof(*holders->is_listed));
    for (size_t i = 0; i < snapshot->workload_count; i++)
        holders->first[snapshot->workloads[i].project + 1]++;
    for (size_t p = 0; p < snapshot->project_count; p++) {
        holders->first[p + 1] += holders->first[p];
        holders->count[p] = 0;
    }
    for (size_t i = 0; i < pool->holder_count; i++)
        list(holders, pool->holders[i]);
    for (size_t p = 0; p < snapshot->project_count; p++)
        qsort(holders->workloads + holders->first[p], holders->count[p], sizeof(*holders->workloads), compare);
}

static void insert(struct workload **workloads, size_t count, struct workload *workload)
{
    size_t place = workload_place_among_victims(workloads, count, workload);
    memmove(workloads + place + 1, workloads + place, (count - place) * sizeof(*workloads));
    workloads[place] = workload;
}

// All but those that a decision touched are in order.
static void sort_again(struct holders *holders, const struct cycle *cycle, uint32_t project)
{
    struct workload **workloads = holders->workloads + holders->first[project];
    size_t kept = 0, moved = 0;
    for (size_t i = 0; i < holders->count[project]; i++) {
        if (holders->is_moved[workloads[i] - cycle->workloads])
            holders->moved[moved++] = workloads[i];
        else
            workloads[kept++] = workloads[i];
    }
    for (size_t i = 0; i < moved; i++)
        insert(workloads, kept++, holders->moved[i]);
}

void holders_follow(struct holders *holders, const struct cycle *cycle, size_t decision,
                    void (*changed)(void *context, uint32_t project), void *context)
{
    const struct journal *journal = cycle->journal;
    for (size_t i = decision; i < journal->count; i++) {
        struct workload *workload = &cycle->workloads[journal->decisions[i].workload];
        list(holders, workload);
        holders->is_moved[workload->index] = true;
        holders->is_dirty[workload->spec->project] = true;
    }
    for (size_t i = decision; i < journal->count; i++) {
        uint32_t project = cycle->workloads[journal->decisions[i].workload].spec->project;
        if (!holders->is_dirty[project])
            continue;
        holders->is_dirty[project] = false;
        sort_again(holders, cycle, project);
        changed(context, project);
    }
    for (size_t i = decision; i < journal->count; i++)
        holders->is_moved[journal->decisions[i].workload] = false;
}
