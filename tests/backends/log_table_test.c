// Which logs go where they are too large together: random tables, made to hold their bounds.
#include "backends/local/pods/log_table.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 300,
    LOGS_MAX = 60,
    PROJECTS = 4,
    PIECE = 100,
    NOTE = 10,
    ORDERS_MAX = 8
};

static unsigned state;

static unsigned draw(unsigned below)
{
    state = state * 1103515245 + 12345;
    return (state >> 16) % below;
}

static void fill(struct log_table *table)
{
    for (unsigned i = 1 + draw(LOGS_MAX); i > 0; i--) {
        char pod[UUID_SIZE], project[16];
        snprintf(pod, sizeof(pod), "%08x-0000-4000-8000-000000000000", i);
        snprintf(project, sizeof(project), "project-%u", draw(PROJECTS));
        struct kept_log *log = log_table_add(table, pod, "", project);
        size_t files = draw(10);
        log->is_over = draw(2);
        log_table_resize(table, log,
                         &(struct log_size){.bytes = (int64_t)files * PIECE + (log->is_over ? NOTE : 0),
                                            .file_count = files,
                                            .written_ms = draw(1000)});
    }
}

static int64_t most_of(const struct log_table *table)
{
    int64_t most = 0;
    for (const struct kept_project *project = table->projects; project; project = project->next)
        most = project->bytes > most ? project->bytes : most;
    return most;
}

// As the keeper does it.
static void carry_out(struct log_table *table, const struct log_order *order)
{
    struct kept_log *log = log_table_find(table, order->pod);
    struct log_size size = log->size;
    if (order->verb == LOG_FORGET) {
        check_true(log->is_over && size.file_count == 0, "only a note is forgotten");
        log_table_remove(table, log);
        return;
    }
    check_true(log->is_over == (order->verb == LOG_REMOVE), "what runs is cut, the rest removed");
    size.file_count = order->verb == LOG_REMOVE ? 0 : size.file_count - 1;
    size.bytes = (int64_t)size.file_count * PIECE + (log->is_over ? NOTE : 0);
    log_table_resize(table, log, &size);
}

static void check_order(const struct log_table *table, const struct log_bounds *bounds, const struct log_order *order)
{
    const struct kept_log *log = log_table_find(table, order->pod);
    for (size_t i = 0; i < table->count; i++) {
        const struct kept_log *other = table->items[i];
        if (other->project != log->project || other == log)
            continue;
        bool is_whole = other->is_over && other->size.file_count > 0;
        if (order->verb == LOG_REMOVE && is_whole)
            check_true(other->size.written_ms >= log->size.written_ms, "the oldest goes first");
        if (order->verb == LOG_CUT_OLDEST)
            check_true(!is_whole &&
                           (other->is_over || other->size.file_count < 2 || other->size.bytes <= log->size.bytes),
                       "what runs is cut last, the largest first");
    }
    if (order->bound == LOG_BOUND_PROJECT)
        check_true(log->project->bytes > bounds->project_bytes, "a project gives for itself alone");
    else
        check_true(log->project->bytes == most_of(table) && table->bytes > bounds->total_bytes,
                   "who has the most gives for all");
}

static bool can_give(const struct log_table *table, const struct kept_project *project)
{
    for (size_t i = 0; i < table->count; i++)
        if (table->items[i]->project == project && table->items[i]->size.bytes > 0 &&
            (table->items[i]->is_over || table->items[i]->size.file_count > 1))
            return true;
    return false;
}

static void hold(struct log_table *table, const struct log_bounds *bounds)
{
    struct log_order orders[ORDERS_MAX];
    for (size_t count; (count = log_table_plan(table, bounds, orders, ORDERS_MAX)) > 0;)
        for (size_t i = 0; i < count; i++) {
            check_order(table, bounds, &orders[i]);
            carry_out(table, &orders[i]);
        }
    int64_t most = most_of(table);
    bool is_stuck = false; // one of those with the most can give nothing, and so nobody does
    for (const struct kept_project *project = table->projects; project; project = project->next) {
        check_true(project->bytes <= bounds->project_bytes || !can_give(table, project), "a project's bound holds");
        is_stuck |= project->bytes == most && !can_give(table, project);
    }
    check_true(table->bytes <= bounds->total_bytes || is_stuck, "all hold theirs");
}

int main(void)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct log_table table = {0};
        state = round;
        fill(&table);
        struct log_bounds bounds = {.project_bytes = 500 + draw(3000), .total_bytes = 500 + draw(8000)};
        hold(&table, &bounds);
        log_table_done(&table);
        check_true(table.bytes == 0 && !table.projects && !table.marked, "round %u: nothing is left", round);
    }
    return check_finish();
}
