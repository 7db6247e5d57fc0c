// The reasons of events about workloads that people may want to hear of, in one table: who tells others of events goes
// by these words. The rows' sentences stand in docs/rules.md too. A reason keeps its word for ever.
//
//   EVENT_REASONS(X): X(constant, "word", "what has happened")
#pragma once

#define EVENT_REASONS(X)                                                                                             \
    X(EVENT_REASON_SUBMITTED, "Submitted", "somebody submitted it")                                                  \
    X(EVENT_REASON_SUSPENDED, "Suspended", "somebody suspended it")                                                  \
    X(EVENT_REASON_RESUMED, "Resumed", "somebody resumed it")                                                        \
    X(EVENT_REASON_DELETION_REQUESTED, "DeletionRequested", "somebody deleted it")                                   \
    X(EVENT_REASON_STARTED, "Started", "a pod started")                                                              \
    X(EVENT_REASON_COMPLETED, "Completed", "it completed, or a pod did")                                             \
    X(EVENT_REASON_FAILED, "Failed", "it failed for good, or a pod failed")                                          \
    X(EVENT_REASON_PREEMPTED, "Preempted", "a pod gives its place to another workload")                              \
    X(EVENT_REASON_CONSOLIDATED, "Consolidated", "a pod moves to make room for another workload")                    \
    X(EVENT_REASON_DRAINED, "Drained", "a pod leaves a node that a person drains")                                   \
    X(EVENT_REASON_STALE_JOB, "StaleJob", "a gang stops because it stayed without some of its pods")                 \
    X(EVENT_REASON_NODE_LOST, "NodeLost", "a pod was lost with its node")                                            \
    X(EVENT_REASON_TIME_LIMIT_WARNING, "TimeLimitWarning", "its time limit stops it soon")                           \
    X(EVENT_REASON_IDLE_LIMIT_WARNING, "IdleLimitWarning", "the limit on idle GPUs stops it soon")                   \
    X(EVENT_REASON_TIME_LIMIT_EXCEEDED, "TimeLimitExceeded", "its time limit stopped it, or keeps it from going on") \
    X(EVENT_REASON_IDLE_LIMIT_EXCEEDED, "IdleLimitExceeded", "the limit on idle GPUs stopped it")

enum event_reason {
#define EVENT_REASON_ENUM(constant, word, meaning) constant,
    EVENT_REASONS(EVENT_REASON_ENUM)
#undef EVENT_REASON_ENUM
    EVENT_REASON_COUNT
};

// "Submitted", ...: static text.
const char *event_reason_text(enum event_reason reason);
