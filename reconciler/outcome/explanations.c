#include "base/buffer.h"
#include "base/hash.h"
#include "base/json_writer.h"
#include "base/timestamp.h"
#include "db/events.h"
#include "form/why_writer.h"
#include "model/told.h"
#include "reconciler/outcome/carry_out.h"

#include <stdio.h>
#include <string.h>

enum {
    EXPLAIN_AGAIN_MS = 2000,  // where only numbers have changed ...
    EXPLAIN_AGAIN_EACH_MS = 2 // ... and so much more for each workload of the snapshot
};

static const char *phase_reason_of(enum explanation_code code)
{
    if (code == EXPLANATION_OVER_PERSON_LIMIT || code == EXPLANATION_OVER_BUDGET) // limits too, in Run:ai's two words
        code = EXPLANATION_OVER_LIMIT;
    return code == EXPLANATION_NON_PREEMPTIBLE_OVER_QUOTA || code == EXPLANATION_OVER_LIMIT
               ? explanation_code_name(code)
               : "";
}

static const char *pool_name(const struct snapshot *snapshot, uint32_t pool)
{
    return pool == SNAPSHOT_NONE ? NULL : snapshot->node_pools[pool].name;
}

static const char *messages_json(const struct snapshot *snapshot, const struct plan_workload *planned,
                                 struct arena *arena)
{
    struct buffer text;
    struct json_writer json;
    size_t count = 0;
    buffer_init(&text, 0);
    json_writer_init(&json, &text, false);
    json_begin_array(&json);
    for (size_t i = 0; i < planned->explanation_count; i++) {
        const struct plan_explanation *explanation = &planned->explanations[i];
        const char *phase_reason = phase_reason_of(explanation->code);
        if (!*phase_reason)
            continue;
        json_begin_object(&json);
        const char *pool = pool_name(snapshot, explanation->node_pool);
        json_text(&json, "nodePool", pool ? pool : "");
        json_text(&json, "phaseReason", phase_reason);
        const char *message = told_plain(arena, explanation->message);
        json_text(&json, "reason", message);
        if (explanation->queue != SNAPSHOT_NONE)
            json_text(&json, "orgType", explanation->queue_kind == QUEUE_KIND_PROJECT ? "PROJECT" : "DEPARTMENT");
        else
            json_null_at(&json, "orgType");
        json_text(&json, "userMessage", message);
        json_end_object(&json);
        count++;
    }
    json_end_array(&json);
    const char *copy = count ? arena_strdup(arena, text.data) : NULL;
    buffer_done(&text);
    return copy;
}

static uint64_t hash_codes(const struct plan_workload *planned)
{
    uint64_t hash = HASH_START;
    for (size_t i = 0; i < planned->explanation_count; i++) {
        hash = hash_bytes(hash, &planned->explanations[i].code, sizeof(planned->explanations[i].code));
        hash = hash_bytes(hash, &planned->explanations[i].node_pool, sizeof(planned->explanations[i].node_pool));
    }
    return hash;
}

static void explain(struct turn *turn, struct cache_workload *workload, const struct snapshot *snapshot,
                    const struct plan_workload *planned)
{
    uint64_t codes = hash_codes(planned);
    bool is_new = codes != workload->explanation_codes;
    int64_t again_ms =
        workload->explained_ms + EXPLAIN_AGAIN_MS + EXPLAIN_AGAIN_EACH_MS * (int64_t)snapshot->workload_count;
    if (!is_new && turn->now_ms < again_ms && turn->now_ms >= workload->explained_ms) {
        turn_note_plan_due(turn, again_ms);
        return;
    }
    struct buffer body;
    buffer_init(&body, 0);
    why_write_waiting(&body, snapshot, planned, &snapshot->workloads[workload->position], turn->arena);
    uint64_t hash = hash_bytes(HASH_START, body.data, body.length);
    if (hash == workload->explanation_hash) {
        buffer_done(&body);
        return;
    }
    char time[TIMESTAMP_SIZE];
    timestamp_format(turn->now_ms, time);
    bool says_it_already = !workload->explanation_codes && workload->has_explanation; // before a restart
    workload->explanation_json = arena_printf(turn->arena, "%s,\"updatedAt\":\"%s\"}", body.data, time);
    workload->messages_json = messages_json(snapshot, planned, turn->arena);
    buffer_done(&body);
    workload->explains = workload->has_explanation = true;
    workload->explanation_hash = hash;
    workload->explanation_codes = codes;
    workload->explained_ms = turn->now_ms;
    snprintf(workload->phase_reason, sizeof(workload->phase_reason), "%s",
             phase_reason_of(planned->explanations[0].code));
    turn_touch_workload(turn, workload);
    uint64_t told = (uint64_t)planned->explanations[0].code + 1 + ((uint64_t)planned->explanations[0].node_pool << 32);
    bool is_told = told == workload->told_code || says_it_already;
    workload->told_code = told;
    if (is_told || planned->explanations[0].code == EXPLANATION_WAITING_FOR_RELEASE) // the promise is an event itself
        return;
    bool is_ready = planned->explanations[0].code != EXPLANATION_NOT_READY;
    turn_add_workload_event(turn, workload, is_ready ? EVENT_WARNING : EVENT_NORMAL,
                            is_ready ? "Unschedulable" : "NotReady", "scheduler",
                            arena_strdup(turn->arena, planned->explanations[0].message));
}

// What is not known to have no room keeps the words of the cycle that looked at it last.
static bool keeps_words(const struct cache_workload *workload, const struct plan_workload *planned)
{
    return planned->was_passed && workload->has_explanation;
}

// Promised a place, it is as good as scheduled: no word of why not, but that it waits.
static bool is_waiting(const struct cache_workload *workload, const struct plan_workload *planned)
{
    return planned->explanation_count > 0 && workload->desired == DESIRED_RUNNING && !workload->deleted_ms;
}

void explain_all(struct turn *turn, const struct live_snapshot *live, const struct plan *plan)
{
    for (size_t i = 0; i < live->snapshot.workload_count; i++) {
        struct cache_workload *workload = live->workloads[i];
        const struct plan_workload *planned = &plan->workloads[i];
        for (size_t k = 0; k < planned->explanation_count; k++)
            if (planned->explanations[k].until_ms != SNAPSHOT_TIME_NONE)
                turn_note_plan_due(turn, planned->explanations[k].until_ms);
        if (is_waiting(workload, planned) && keeps_words(workload, planned))
            continue;
        if (is_waiting(workload, planned))
            explain(turn, workload, &live->snapshot, planned);
        else
            turn_explain_nothing(turn, workload);
    }
}
