#include "base/error.h"
#include "base/json_writer.h"
#include "form/why_writer.h"
#include "journal/journal.h"
#include "journal/reader.h"
#include "reconciler/state.h"
#include "scheduler/scheduler.h"

#include <inttypes.h>
#include <string.h>

static int find_cycle(const struct reconciler *reconciler, int64_t at_ms, struct arena *arena,
                      struct recorded_cycle *out_cycle, struct error *err)
{
    if (!reconciler->options.journal)
        return error_set(err, ERROR_NOT_FOUND, "journal: none is kept");
    return journal_find(journal_folder(reconciler->options.journal), 0, at_ms, arena, out_cycle, err);
}

static void note_cycle(const struct recorded_cycle *recorded, struct reconciler_moment *out)
{
    out->cycle = (struct reconciler_cycle){recorded->row.cycle, recorded->row.time_ms, recorded->row.plan_us,
                                           recorded->row.decision_count};
    out->decisions_json = recorded->decisions;
}

// Of several namesakes in the cluster a snapshot has NAME.PROJECT.ID.
static bool is_asked(const struct snapshot *snapshot, const struct snapshot_workload *workload,
                     const struct reconciler_asked *asked, struct arena *arena)
{
    return strcmp(snapshot->projects[workload->project].name, asked->project_name) == 0 &&
           (strcmp(workload->name, asked->name) == 0 ||
            strcmp(workload->name,
                   arena_printf(arena, "%s.%s.%" PRId64, asked->name, asked->project_name, asked->id)) == 0);
}

// What the cycle did with it; NULL: nothing.
static const char *done_with(const struct snapshot *snapshot, const struct plan *plan, uint32_t workload,
                             struct arena *arena)
{
    static const char *const WORDS[] = {
        [PLAN_BIND] = "was given its place on", [PLAN_PIPELINE] = "was promised a place on", [PLAN_EVICT] = "left"};
    for (size_t i = 0; i < plan->decision_count; i++) {
        const struct plan_decision *decision = &plan->decisions[i];
        const char *words = decision->verb < sizeof(WORDS) / sizeof(WORDS[0]) ? WORDS[decision->verb] : NULL;
        if (decision->workload == workload && words && decision->node != SNAPSHOT_NONE)
            return arena_printf(arena, "%s %s: %s", words, snapshot->nodes[decision->node].name, decision->why);
    }
    return NULL;
}

static const char *say(const struct snapshot *snapshot, const struct plan *plan, uint32_t index, struct arena *arena)
{
    const struct snapshot_workload *workload = &snapshot->workloads[index];
    const char *done = done_with(snapshot, plan, index, arena);
    uint32_t held = 0;
    for (uint32_t i = 0; i < workload->pod_count; i++)
        held += snapshot->pods[workload->first_pod + i].node != SNAPSHOT_NONE;
    return done
               ? done
               : arena_printf(arena, "held a place for %" PRIu32 " of its %" PRIu32 " pods", held, workload->pod_count);
}

static void explain(const struct snapshot *snapshot, const struct plan *plan, uint32_t index, const char *name,
                    struct arena *arena, struct reconciler_moment *out)
{
    const struct plan_workload *planned = &plan->workloads[index];
    struct json_writer json;
    struct buffer text;
    buffer_init(&text, 0);
    out->status = snapshot_pod_status_name(planned->status);
    if (planned->explanation_count > 0) {
        why_write_waiting(&text, snapshot, planned, &snapshot->workloads[index], arena);
        buffer_char(&text, '}');
    } else {
        json_writer_init(&json, &text, false);
        json_begin_object(&json);
        json_text(&json, "sentence", arena_printf(arena, "%s %s.", name, say(snapshot, plan, index, arena)));
        json_text(&json, "pool",
                  planned->node_pool == SNAPSHOT_NONE ? NULL : snapshot->node_pools[planned->node_pool].name);
        json_end_object(&json);
    }
    out->explanation_json = arena_strdup(arena, text.data);
    buffer_done(&text);
}

static int plan_again(const struct reconciler *reconciler, int64_t at_ms, const struct reconciler_asked *asked,
                      struct arena *arena, struct reconciler_moment *out, struct error *err)
{
    struct recorded_cycle recorded;
    struct plan *plan;
    if (find_cycle(reconciler, at_ms, arena, &recorded, err) < 0)
        return -1;
    note_cycle(&recorded, out);
    const struct snapshot *snapshot = recorded.snapshot;
    uint32_t index = 0;
    while (index < snapshot->workload_count && !is_asked(snapshot, &snapshot->workloads[index], asked, arena))
        index++;
    if (index == snapshot->workload_count)
        return 0;
    if (scheduler_plan(snapshot, arena, &plan, err) < 0)
        return -1;
    explain(snapshot, plan, index, asked->name, arena, out);
    return 0;
}

int reconciler_read_moment(const struct reconciler *reconciler, int64_t at_ms, struct arena *arena,
                           struct reconciler_moment *out_moment, struct error *err)
{
    struct recorded_cycle recorded;
    *out_moment = (struct reconciler_moment){0};
    if (find_cycle(reconciler, at_ms, arena, &recorded, err) < 0)
        return -1;
    note_cycle(&recorded, out_moment);
    return 0;
}

int reconciler_explain_moment(struct reconciler *reconciler, int64_t at_ms, const struct reconciler_asked *asked,
                              struct arena *arena, struct reconciler_moment *out_moment, struct error *err)
{
    *out_moment = (struct reconciler_moment){0};
    int rc = -1;
    if (atomic_exchange(&reconciler->is_looking_back, true))
        return error_set(err, ERROR_UNAVAILABLE,
                         "a cycle of the past is being planned again for somebody else; try again");
    rc = plan_again(reconciler, at_ms, asked, arena, out_moment, err);
    atomic_store(&reconciler->is_looking_back, false);
    return rc;
}
