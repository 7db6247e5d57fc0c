#include "journal/digest.h"

#include "model/told.h"
#include "scheduler/plan.h"

#include <sodium.h>
#include <string.h>

enum {
    HASH_BYTES = (DIGEST_SIZE - 1) / 2,
    BLOCK_BYTES = 1024
};

struct digest {
    crypto_generichash_state state;
    size_t used;
    unsigned char block[BLOCK_BYTES];
};

// Where each part of a plan goes: to two digests, or both to one and the same.
struct digests {
    struct digest *decided, *words;
};

static void digest_begin(struct digest *digest)
{
    digest->used = 0;
    crypto_generichash_init(&digest->state, NULL, 0, HASH_BYTES);
}

static void digest_end(struct digest *digest, char out_text[static DIGEST_SIZE])
{
    unsigned char hash[HASH_BYTES];
    crypto_generichash_update(&digest->state, digest->block, digest->used);
    crypto_generichash_final(&digest->state, hash, sizeof(hash));
    sodium_bin2hex(out_text, DIGEST_SIZE, hash, sizeof(hash));
}

static void add_bytes(struct digest *digest, const void *data, size_t length)
{
    if (digest->used + length > BLOCK_BYTES) {
        crypto_generichash_update(&digest->state, digest->block, digest->used);
        digest->used = 0;
    }
    if (length > BLOCK_BYTES) {
        crypto_generichash_update(&digest->state, data, length);
        return;
    }
    memcpy(digest->block + digest->used, data, length);
    digest->used += length;
}

static void add_number(struct digest *digest, int64_t number)
{
    add_bytes(digest, &number, sizeof(number));
}

static void add_text(struct digest *digest, const char *text)
{
    for (const char *at = text; at && *at;) {
        size_t length = 0;
        while (at[length] && !told_is_mark(at[length]))
            length++;
        add_bytes(digest, at, length);
        at += length + (at[length] != '\0');
    }
    add_bytes(digest, text ? "" : "\1", 1);
}

// Without the words between them, counts keep lists apart. The one digest of before has none.
static void add_list_count(const struct digests *digests, size_t count)
{
    if (digests->decided != digests->words)
        add_number(digests->decided, (int64_t)count);
}

static void add_amounts(const struct digests *digests, const struct amounts *amounts)
{
    add_bytes(digests->decided, amounts->of, sizeof(amounts->of));
}

static void add_devices(const struct digests *digests, const struct plan_devices *devices)
{
    add_number(digests->decided, (int64_t)devices->gpu_group_count);
    for (size_t i = 0; i < devices->gpu_group_count; i++)
        add_text(digests->decided, devices->gpu_groups[i]);
    add_number(digests->decided, (int64_t)devices->gpu_index_count);
    for (size_t i = 0; i < devices->gpu_index_count; i++)
        add_number(digests->decided, devices->gpu_indices[i]);
}

static void add_side(const struct digests *digests, const struct plan_receipt_side *side)
{
    const struct plan_receipt_queue *queues[] = {&side->project_queue, &side->department_queue};
    add_number(digests->decided, (int64_t)((uint64_t)side->project << 32 | side->department));
    for (size_t i = 0; i < 2 && side->project != SNAPSHOT_NONE; i++) {
        add_amounts(digests, &queues[i]->deserved);
        add_amounts(digests, &queues[i]->limit);
        add_amounts(digests, &queues[i]->fair_share);
        add_amounts(digests, &queues[i]->allocated_before);
        add_amounts(digests, &queues[i]->allocated_after);
    }
}

static void add_decisions(const struct digests *digests, const struct plan *plan)
{
    add_number(digests->decided, (int64_t)plan->decision_count);
    for (size_t i = 0; i < plan->decision_count; i++) {
        const struct plan_decision *decision = &plan->decisions[i];
        const int64_t numbers[] = {decision->action,      decision->verb,      decision->workload, decision->pod,
                                   decision->node,        decision->node_pool, decision->moved,    decision->lost_ms,
                                   decision->beneficiary, decision->gpu_milli, decision->statement};
        add_bytes(digests->decided, numbers, sizeof(numbers));
        add_devices(digests, &decision->devices);
        add_text(digests->words, decision->why);
        add_list_count(digests, decision->receipt != NULL);
        if (!decision->receipt)
            continue;
        add_number(digests->decided, decision->receipt->rule);
        add_side(digests, &decision->receipt->victim);
        add_side(digests, &decision->receipt->beneficiary);
    }
}

static void add_explanation(const struct digests *digests, const struct plan_explanation *explanation)
{
    const int64_t numbers[] = {
        explanation->code,        explanation->node_pool,   explanation->queue_kind,
        explanation->queue,       explanation->resource,    explanation->requested,
        explanation->deserved,    explanation->limit,       explanation->fair_share,
        explanation->allocated,   explanation->pods_placed, explanation->allocated_non_preemptible,
        explanation->pods_needed, explanation->sub_group,   explanation->until_ms,
    };
    add_bytes(digests->decided, numbers, sizeof(numbers));
    add_text(digests->words, explanation->message);
    add_list_count(digests, explanation->node_reason_count);
    for (size_t i = 0; i < explanation->node_reason_count; i++) {
        add_text(digests->words, explanation->node_reasons[i].reason);
        add_number(digests->decided, explanation->node_reasons[i].node_count);
    }
    add_list_count(digests, explanation->evidence_count);
    for (size_t i = 0; i < explanation->evidence_count; i++) {
        const struct plan_evidence *evidence = &explanation->evidence[i];
        const int64_t held[] = {evidence->project, evidence->code, evidence->held, evidence->reclaimable,
                                evidence->protected_until_ms};
        add_bytes(digests->decided, held, sizeof(held));
        add_text(digests->words, evidence->sentence);
    }
    add_number(digests->decided, explanation->evidence_more);
}

static void add_workload(const struct digests *digests, const struct plan_workload *workload)
{
    const int64_t numbers[] = {workload->status,      workload->node_pool, workload->promise,
                               workload->bound_first, workload->is_stale,  (int64_t)workload->explanation_count};
    add_bytes(digests->decided, numbers, sizeof(numbers));
    for (size_t i = 0; i < workload->explanation_count; i++)
        add_explanation(digests, &workload->explanations[i]);
}

static void add_queue(const struct digests *digests, const struct plan_queue *queue)
{
    add_amounts(digests, &queue->deserved);
    add_amounts(digests, &queue->limit);
    add_amounts(digests, &queue->fair_share);
    add_amounts(digests, &queue->allocated);
    add_amounts(digests, &queue->allocated_non_preemptible);
    add_amounts(digests, &queue->requested);
}

static void add_node(const struct digests *digests, const struct plan_node *node)
{
    const int64_t numbers[] = {
        node->idle_gpus,         node->releasing_gpus,         node->idle_cpu_milli, node->releasing_cpu_milli,
        node->idle_memory_bytes, node->releasing_memory_bytes, node->idle_pods};
    add_bytes(digests->decided, numbers, sizeof(numbers));
}

static void add_plan(const struct digests *digests, const struct snapshot *snapshot, const struct plan *plan)
{
    size_t pools = snapshot->node_pool_count;
    add_number(digests->decided, plan->good_until_ms);
    add_decisions(digests, plan);
    for (size_t i = 0; i < snapshot->pod_count; i++) {
        add_number(digests->decided, (int64_t)plan->pods[i].status << 32 | plan->pods[i].node);
        add_devices(digests, &plan->pods[i].devices);
    }
    for (size_t i = 0; i < snapshot->workload_count; i++)
        add_workload(digests, &plan->workloads[i]);
    for (size_t i = 0; i < snapshot->project_count * pools; i++)
        add_queue(digests, &plan->projects[i]);
    for (size_t i = 0; i < snapshot->department_count * pools; i++)
        add_queue(digests, &plan->departments[i]);
    for (size_t i = 0; i < snapshot->node_count; i++)
        add_node(digests, &plan->nodes[i]);
}

void digest_plan(const struct snapshot *snapshot, const struct plan *plan, struct plan_digests *out_digests)
{
    struct digest decided, words;
    digest_begin(&decided);
    digest_begin(&words);
    add_plan(&(struct digests){&decided, &words}, snapshot, plan);
    digest_end(&decided, out_digests->decided);
    digest_end(&words, out_digests->words);
}

void digest_plan_whole(const struct snapshot *snapshot, const struct plan *plan, char out_digest[static DIGEST_SIZE])
{
    struct digest whole;
    digest_begin(&whole);
    add_plan(&(struct digests){&whole, &whole}, snapshot, plan);
    digest_end(&whole, out_digest);
}
