#include "replay/decisions.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/quantity.h"
#include "model/told.h"
#include "scheduler/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

// Text in quotes where CSV needs them.
static void put_text(FILE *file, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, file);
        return;
    }
    putc_unlocked('"', file);
    for (; *text; text++) {
        if (*text == '"')
            putc_unlocked('"', file);
        putc_unlocked(*text, file);
    }
    putc_unlocked('"', file);
}

int decisions_write_header(FILE *file, struct error *err)
{
    if (fputs("policy,time_s,cycle,action,verb,job,pod,node,gpus,for,why\n", file) >= 0)
        return 0;
    return error_set(err, ERROR_INTERNAL, "decisions.csv: %s", strerror(errno));
}

int decisions_write(FILE *file, const char *policy, uint64_t cycle, const struct snapshot *snapshot,
                    const struct plan *plan, struct error *err)
{
    char seconds[QUANTITY_TEXT_SIZE];
    quantity_format_milli(snapshot->now_ms, seconds);
    for (size_t i = 0; i < plan->decision_count; i++) {
        const struct plan_decision *decision = &plan->decisions[i];
        put_text(file, policy);
        fprintf(file, ",%s,%" PRIu64 ",%s,%s,", seconds, cycle, scheduler_action_name(decision->action),
                plan_verb_name(decision->verb));
        put_text(file, snapshot->workloads[decision->workload].name);
        putc_unlocked(',', file);
        put_text(file, snapshot->pods[decision->pod].name);
        putc_unlocked(',', file);
        put_text(file, decision->node == SNAPSHOT_NONE ? "" : snapshot->nodes[decision->node].name);
        putc_unlocked(',', file);
        for (size_t d = 0; d < decision->devices.gpu_index_count; d++)
            fprintf(file, "%s%" PRIu32, d ? " " : "", decision->devices.gpu_indices[d]);
        putc_unlocked(',', file);
        put_text(file, decision->beneficiary == SNAPSHOT_NONE ? "" : snapshot->workloads[decision->beneficiary].name);
        putc_unlocked(',', file);
        struct arena arena;
        arena_init(&arena);
        put_text(file, decision->why ? told_plain(&arena, decision->why) : "");
        arena_done(&arena);
        putc_unlocked('\n', file);
    }
    return ferror(file) ? error_set(err, ERROR_INTERNAL, "decisions.csv: %s", strerror(errno)) : 0;
}
