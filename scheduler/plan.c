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
    [EXPLANATION_HELD_FOR_RESERVATION] = "HeldForReservation",
    [EXPLANATION_HAS_RESERVATION] = "HasReservation",
    [EXPLANATION_TOPOLOGY_OFF] = "TopologyOff",
    [EXPLANATION_OVER_PERSON_LIMIT] = "OverPersonLimit",
    [EXPLANATION_OVER_BUDGET] = "OverBudget",
};

static const char *const EVICTION_RULE_NAMES[EVICTION_RULE_COUNT] = {
    [EVICTION_ABOVE_SHARE] = "AboveShare",
    [EVICTION_OWED_QUOTA] = "OwedQuota",
    [EVICTION_HIGHER_RANK] = "HigherRank",
    [EVICTION_HIGHER_PRIORITY] = "HigherPriority",
    [EVICTION_MOVED] = "Moved",
    [EVICTION_STALE_GANG] = "StaleGang",
};

static const char *const EVIDENCE_NAMES[EVIDENCE_CODE_COUNT] = {
    [EVIDENCE_WITHIN_QUOTA] = "WithinQuota",       [EVIDENCE_WITHIN_FAIR_SHARE] = "WithinFairShare",
    [EVIDENCE_NON_PREEMPTIBLE] = "NonPreemptible", [EVIDENCE_PROTECTED] = "ProtectedByMinRunTime",
    [EVIDENCE_HIGHER_PRIORITY] = "HigherPriority", [EVIDENCE_TOPOLOGY_OR_NODE] = "TopologyOrNode",
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

const char *eviction_rule_name(enum eviction_rule rule)
{
    assert(rule < EVICTION_RULE_COUNT);
    return EVICTION_RULE_NAMES[rule];
}

const char *evidence_code_name(enum evidence_code code)
{
    assert(code < EVIDENCE_CODE_COUNT);
    return EVIDENCE_NAMES[code];
}

const char *forecast_kind_name(enum forecast_kind kind)
{
    static const char *const NAMES[] = {"now", "decided", "rule", "unknown", "never"};
    assert(kind <= FORECAST_NEVER);
    return NAMES[kind];
}

bool explanation_is_cause(enum explanation_code code)
{
    return code == EXPLANATION_OVER_FAIR_SHARE || code == EXPLANATION_NOTHING_TO_RECLAIM ||
           code == EXPLANATION_NOTHING_TO_PREEMPT || code == EXPLANATION_PREEMPTION_DELAY_NOT_ELAPSED ||
           code == EXPLANATION_LOST_A_POD || code == EXPLANATION_WAITING_FOR_RELEASE ||
           code == EXPLANATION_SEARCH_CUT || code == EXPLANATION_HELD_FOR_RESERVATION;
}

const char *queue_kind_name(enum queue_kind kind)
{
    return kind == QUEUE_KIND_PROJECT ? "project" : "department";
}
