#include "backends/local/pods/log_table.h"

#include "base/arena.h"
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_uuids(const void *a, const void *b)
{
    return memcmp(a, b, UUID_SIZE);
}

static int compare_written(const void *a, const void *b)
{
    const struct kept_log *x = *(struct kept_log *const *)a, *y = *(struct kept_log *const *)b;
    int by_time = (x->size.written_ms > y->size.written_ms) - (x->size.written_ms < y->size.written_ms);
    return by_time ? by_time : strcmp(x->pod, y->pod);
}

void log_table_done(struct log_table *table)
{
    while (table->count)
        log_table_remove(table, table->items[table->count - 1]);
    free(table->items);
    free(table->slots);
    *table = (struct log_table){0};
}

static struct kept_log **slot_of(const struct log_table *table, const char *pod_uuid)
{
    return &table->slots[hash_text(HASH_START, pod_uuid) & (table->slot_count - 1)];
}

struct kept_log *log_table_find(const struct log_table *table, const char *pod_uuid)
{
    struct kept_log *log = table->slot_count ? *slot_of(table, pod_uuid) : NULL;
    while (log && strcmp(log->pod, pod_uuid) != 0)
        log = log->next_in_slot;
    return log;
}

static void enter(struct log_table *table, struct kept_log *log)
{
    struct kept_log **slot = slot_of(table, log->pod);
    log->next_in_slot = *slot;
    *slot = log;
}

static void grow(struct log_table *table)
{
    free(table->slots);
    table->slot_count = table->slot_count ? 2 * table->slot_count : 256;
    table->slots = memory_array(table->slot_count, sizeof(struct kept_log *));
    for (size_t i = 0; i < table->count; i++)
        enter(table, table->items[i]);
}

static struct kept_project *project_of(struct log_table *table, const char *name)
{
    struct kept_project *project = table->projects;
    while (project && strcmp(project->name, name) != 0)
        project = project->next;
    if (project)
        return project;
    project = memory_array(1, sizeof(*project));
    project->name = memory_strdup(name);
    project->next = table->projects;
    table->projects = project;
    return project;
}

static void leave_project(struct log_table *table, struct kept_project *project)
{
    struct kept_project **at = &table->projects;
    if (--project->log_count)
        return;
    while (*at != project)
        at = &(*at)->next;
    *at = project->next;
    free(project->name);
    free(project);
}

struct kept_log *log_table_add(struct log_table *table, const char *pod_uuid, const char *workload_uuid,
                               const char *project)
{
    struct kept_log *log = log_table_find(table, pod_uuid);
    if (log)
        return log;
    log = memory_array(1, sizeof(*log));
    snprintf(log->pod, sizeof(log->pod), "%s", pod_uuid);
    snprintf(log->workload, sizeof(log->workload), "%s", workload_uuid);
    if (table->count >= table->slot_count)
        grow(table);
    enter(table, log);
    log->project = project_of(table, project);
    log->project->log_count++;
    if (table->count == table->capacity) {
        table->capacity = table->capacity ? 2 * table->capacity : 64;
        table->items = memory_realloc(table->items, table->capacity * sizeof(*table->items));
    }
    log->place = table->count;
    table->items[table->count++] = log;
    return log;
}

static void unmark(struct log_table *table, struct kept_log *log)
{
    struct kept_log **at = &table->marked;
    if (!log->is_marked)
        return;
    while (*at != log)
        at = &(*at)->next_marked;
    *at = log->next_marked;
    log->is_marked = false;
}

void log_table_remove(struct log_table *table, struct kept_log *log)
{
    log_table_resize(table, log, &(struct log_size){0});
    unmark(table, log);
    struct kept_log **slot = slot_of(table, log->pod);
    while (*slot != log)
        slot = &(*slot)->next_in_slot;
    *slot = log->next_in_slot;
    table->items[log->place] = table->items[--table->count];
    table->items[log->place]->place = log->place;
    leave_project(table, log->project);
    free(log);
}

void log_table_resize(struct log_table *table, struct kept_log *log, const struct log_size *size)
{
    table->bytes += size->bytes - log->size.bytes;
    log->project->bytes += size->bytes - log->size.bytes;
    log->project->is_stuck = false;
    log->size = *size;
}

void log_table_mark(struct log_table *table, struct kept_log *log)
{
    if (log->is_marked)
        return;
    log->is_marked = true;
    log->next_marked = table->marked;
    table->marked = log;
}

struct kept_log *log_table_take_marked(struct log_table *table)
{
    struct kept_log *log = table->marked;
    if (!log)
        return NULL;
    table->marked = log->next_marked;
    log->is_marked = false;
    return log;
}

void log_table_delete(struct log_table *table, char (*workload_uuids)[UUID_SIZE], size_t count)
{
    if (count)
        qsort(workload_uuids, count, UUID_SIZE, compare_uuids);
    for (size_t i = 0; i < table->count && count; i++) {
        struct kept_log *log = table->items[i];
        if (!bsearch(log->workload, workload_uuids, count, UUID_SIZE, compare_uuids))
            continue;
        log->is_deleted = true;
        log_table_mark(table, log);
    }
}

// What is too much, and whose.
struct excess {
    struct kept_project *project;
    int64_t bytes;
    enum log_bound bound;
    int64_t bound_bytes;
};

static bool find_excess(const struct log_table *table, const struct log_bounds *bounds, struct excess *out)
{
    struct kept_project *most = NULL;
    int64_t second = 0;
    for (struct kept_project *project = table->projects; project; project = project->next) {
        if (bounds->project_bytes && project->bytes > bounds->project_bytes && !project->is_stuck) {
            *out = (struct excess){project, project->bytes - bounds->project_bytes, LOG_BOUND_PROJECT,
                                   bounds->project_bytes};
            return true;
        }
        if (!most || project->bytes > most->bytes) {
            second = most ? most->bytes : 0;
            most = project;
        } else if (project->bytes > second) {
            second = project->bytes;
        }
    }
    // Where the one with the most can give nothing, nobody else gives for it.
    if (!most || !bounds->total_bytes || table->bytes <= bounds->total_bytes || most->is_stuck)
        return false;
    int64_t bytes = table->bytes - bounds->total_bytes, ahead = most->bytes - second;
    *out = (struct excess){most, ahead > 0 && ahead < bytes ? ahead : bytes, LOG_BOUND_TOTAL, bounds->total_bytes};
    if (ahead == 0)
        out->bytes = 1; // of those with the same one after the other
    return true;
}

static size_t add_order(struct log_order *orders, size_t count, const struct kept_log *log, enum log_verb verb,
                        const struct excess *excess)
{
    orders[count] = (struct log_order){.verb = verb, .bound = excess->bound, .bound_bytes = excess->bound_bytes};
    memcpy(orders[count].pod, log->pod, UUID_SIZE);
    return count + 1;
}

// Logs of pods that are over, the oldest first: whole ones, or the notes of those that were removed.
static size_t plan_over(const struct log_table *table, const struct excess *excess, bool is_removed,
                        struct log_order *orders, size_t max)
{
    struct kept_log **found = memory_array(table->count, sizeof(struct kept_log *));
    size_t found_count = 0, count = 0;
    int64_t freed = 0;
    for (size_t i = 0; i < table->count; i++) {
        struct kept_log *log = table->items[i];
        if (log->project == excess->project && log->is_over && log->size.bytes > 0 &&
            (log->size.file_count == 0) == is_removed)
            found[found_count++] = log;
    }
    if (found_count)
        qsort(found, found_count, sizeof(struct kept_log *), compare_written);
    for (size_t i = 0; i < found_count && count < max && freed < excess->bytes; i++) {
        count = add_order(orders, count, found[i], is_removed ? LOG_FORGET : LOG_REMOVE, excess);
        freed += found[i]->size.bytes;
    }
    free(found);
    return count;
}

static size_t plan_running(const struct log_table *table, const struct excess *excess, struct log_order *orders)
{
    const struct kept_log *largest = NULL;
    for (size_t i = 0; i < table->count; i++) {
        const struct kept_log *log = table->items[i];
        if (log->project == excess->project && !log->is_over && log->size.file_count > 1 &&
            (!largest || log->size.bytes > largest->size.bytes))
            largest = log;
    }
    return largest ? add_order(orders, 0, largest, LOG_CUT_OLDEST, excess) : 0;
}

size_t log_table_plan(struct log_table *table, const struct log_bounds *bounds, struct log_order *orders, size_t max)
{
    struct excess excess;
    while (find_excess(table, bounds, &excess)) {
        size_t count = plan_over(table, &excess, false, orders, max);
        if (!count)
            count = plan_running(table, &excess, orders);
        if (!count)
            count = plan_over(table, &excess, true, orders, max);
        if (count)
            return count;
        excess.project->is_stuck = true;
    }
    return 0;
}
