#include "journal/digest.h"

#include "model/told.h"
#include "scheduler/plan.h"

#include <sodium.h>
#include <string.h>

enum {
    HASH_BYTES = (DIGEST_SIZE - 1) / 2,
    BLOCK_BYTES = 2048
};

struct digest {
    crypto_generichash_state state;
    size_t used;
    unsigned char block[BLOCK_BYTES];
};

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

static void add_amounts(struct digest *digest, const struct amounts *amounts)
{
    add_bytes(digest, amounts->of, sizeof(amounts->of));
}

static void add_devices(struct digest *digest, const struct plan_devices *devices)
{
    add_number(digest, (int64_t)devices->gpu_group_count);
    for (size_t i = 0; i < devices->gpu_group_count; i++)
        add_text(digest, devices->gpu_groups[i]);
    add_number(digest, (int64_t)devices->gpu_index_count);
    for (size_t i = 0; i < devices->gpu_index_count; i++)
        add_number(digest, devices->gpu_indices[i]);
}

static void add_side(struct digest *digest, const struct plan_receipt_side *side)
{
    const struct plan_receipt_queue *queues[] = {&side->project_queue, &side->department_queue};
    add_number(digest, (int64_t)((uint64_t)side->project << 32 | side->department));
    for (size_t i = 0; i < 2 && side->project != SNAPSHOT_NONE; i++) {
        add_amounts(digest, &queues[i]->deserved);
        add_amounts(digest, &queues[i]->limit);
        add_amounts(digest, &queues[i]->fair_share);
        add_amounts(digest, &queues[i]->allocated_before);
        add_amounts(digest, &queues[i]->allocated_after);
    }
}

static void add_decisions(struct digest *digest, const struct plan *plan)
{
    add_number(digest, (int64_t)plan->decision_count);
    for (size_t i = 0; i < plan->decision_count; i++) {
        const struct plan_decision *decision = &plan->decisions[i];
        const int64_t numbers[] = {decision->action,      decision->verb,      decision->workload, decision->pod,
                                   decision->node,        decision->node_pool, decision->moved,    decision->lost_ms,
                                   decision->beneficiary, decision->gpu_milli, decision->statement};
        add_bytes(digest, numbers, sizeof(numbers));
        add_devices(digest, &decision->devices);
        add_text(digest, decision->why);
        if (!decision->receipt)
            continue;
        add_number(digest, decision->receipt->rule);
        add_side(digest, &decision->receipt->victim);
        add_side(digest, &decision->receipt->beneficiary);
    }
}

static void add_explanation(struct digest *digest, const struct plan_explanation *explanation)
{
    const int64_t numbers[] = {
        explanation->code,        explanation->node_pool,   explanation->queue_kind,
        explanation->queue,       explanation->resource,    explanation->requested,
        explanation->deserved,    explanation->limit,       explanation->fair_share,
        explanation->allocated,   explanation->pods_placed, explanation->allocated_non_preemptible,
        explanation->pods_needed, explanation->sub_group,   explanation->until_ms,
    };
    add_bytes(digest, numbers, sizeof(numbers));
    add_text(digest, explanation->message);
    for (size_t i = 0; i < explanation->node_reason_count; i++) {
        add_text(digest, explanation->node_reasons[i].reason);
        add_number(digest, explanation->node_reasons[i].node_count);
    }
    for (size_t i = 0; i < explanation->evidence_count; i++) {
        const struct plan_evidence *evidence = &explanation->evidence[i];
        const int64_t held[] = {evidence->project, evidence->code, evidence->held, evidence->reclaimable,
                                evidence->protected_until_ms};
        add_bytes(digest, held, sizeof(held));
        add_text(digest, evidence->sentence);
    }
    add_number(digest, explanation->evidence_more);
}

static void add_workload(struct digest *digest, const struct plan_workload *workload)
{
    const int64_t numbers[] = {workload->status,      workload->node_pool, workload->promise,
                               workload->bound_first, workload->is_stale,  (int64_t)workload->explanation_count};
    add_bytes(digest, numbers, sizeof(numbers));
    for (size_t i = 0; i < workload->explanation_count; i++)
        add_explanation(digest, &workload->explanations[i]);
}

static void add_queue(struct digest *digest, const struct plan_queue *queue)
{
    add_amounts(digest, &queue->deserved);
    add_amounts(digest, &queue->limit);
    add_amounts(digest, &queue->fair_share);
    add_amounts(digest, &queue->allocated);
    add_amounts(digest, &queue->allocated_non_preemptible);
    add_amounts(digest, &queue->requested);
}

static void add_node(struct digest *digest, const struct plan_node *node)
{
    const int64_t numbers[] = {
        node->idle_gpus,         node->releasing_gpus,         node->idle_cpu_milli, node->releasing_cpu_milli,
        node->idle_memory_bytes, node->releasing_memory_bytes, node->idle_pods};
    add_bytes(digest, numbers, sizeof(numbers));
}

void plan_digest(const struct snapshot *snapshot, const struct plan *plan, char out_digest[static DIGEST_SIZE])
{
    struct digest digest = {.used = 0};
    unsigned char hash[HASH_BYTES];
    const size_t pools = snapshot->node_pool_count;
    crypto_generichash_init(&digest.state, NULL, 0, sizeof(hash));
    add_number(&digest, plan->good_until_ms);
    add_decisions(&digest, plan);
    for (size_t i = 0; i < snapshot->pod_count; i++) {
        add_number(&digest, (int64_t)plan->pods[i].status << 32 | plan->pods[i].node);
        add_devices(&digest, &plan->pods[i].devices);
    }
    for (size_t i = 0; i < snapshot->workload_count; i++)
        add_workload(&digest, &plan->workloads[i]);
    for (size_t i = 0; i < snapshot->project_count * pools; i++)
        add_queue(&digest, &plan->projects[i]);
    for (size_t i = 0; i < snapshot->department_count * pools; i++)
        add_queue(&digest, &plan->departments[i]);
    for (size_t i = 0; i < snapshot->node_count; i++)
        add_node(&digest, &plan->nodes[i]);
    crypto_generichash_update(&digest.state, digest.block, digest.used);
    crypto_generichash_final(&digest.state, hash, sizeof(hash));
    sodium_bin2hex(out_digest, DIGEST_SIZE, hash, sizeof(hash));
}
