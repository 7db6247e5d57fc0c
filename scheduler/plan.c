#include "scheduler/plan.h"

#include <assert.h>

static const char *const EXPLANATION_NAMES[EXPLANATION_CODE_COUNT] = {
    [EXPLANATION_NOT_READY] = "NotReady",
    [EXPLANATION_QUEUE_DOES_NOT_EXIST] = "QueueDoesNotExist",
    [EXPLANATION_OVER_LIMIT] = "OverLimit",
    [EXPLANATION_NON_PREEMPTIBLE_OVER_QUOTA] = "NonPreemptibleOverQuota",
    [EXPLANATION_PREEMPTION_DELAY_NOT_ELAPSED] = "PreemptionDelayNotElapsed",
    [EXPLANATION_NOT_ENOUGH_GPUS] = "NotEnoughGpus",
    [EXPLANATION_NOT_ENOUGH_CPU] = "NotEnoughCpu",
    [EXPLANATION_NOT_ENOUGH_MEMORY] = "NotEnoughMemory",
    [EXPLANATION_NOT_ENOUGH_EXTENDED] = "NotEnoughExtendedResources",
    [EXPLANATION_TOO_MANY_PODS] = "TooManyPods",
    [EXPLANATION_NO_MATCHING_NODE] = "NoMatchingNode",
    [EXPLANATION_TOPOLOGY] = "TopologyNotSatisfiable",
    [EXPLANATION_OVER_FAIR_SHARE] = "OverFairShare",
    [EXPLANATION_NOTHING_TO_RECLAIM] = "NothingToReclaim",
    [EXPLANATION_NOTHING_TO_PREEMPT] = "NothingToPreempt",
    [EXPLANATION_LOST_A_POD] = "LostAPod",
    [EXPLANATION_WAITING_FOR_RELEASE] = "WaitingForRelease",
    [EXPLANATION_SEARCH_CUT] = "SearchCut",
};

const char *plan_verb_name(enum plan_verb verb)
{
    switch (verb) {
    case PLAN_EVICT:
        return "evict";
    case PLAN_PIPELINE:
        return "pipeline";
    case PLAN_BIND:
        return "bind";
    case PLAN_WITHDRAW:
        return "withdraw";
    }
    return "";
}

const char *explanation_code_name(enum explanation_code code)
{
    assert(code < EXPLANATION_CODE_COUNT);
    return EXPLANATION_NAMES[code];
}

const char *queue_kind_name(enum queue_kind kind)
{
    return kind == QUEUE_KIND_PROJECT ? "project" : "department";
}
