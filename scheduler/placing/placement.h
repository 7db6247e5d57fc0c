// Placing one pod: the best of the nodes that may and can take it.
//
// Scores of different weight decide one after the other: same domain as the workload's other pods, topology, joining a
// shared device, room right now, a node without GPUs for a pod without, then bin-pack or spread, then the name.
// docs/scheduler.md, 4.2, 5.1 to 5.7.
#pragma once
#include "scheduler/state/cycle.h"
#include "scheduler/state/node_set.h"
#include "scheduler/state/queue.h"
#include "scheduler/state/rules.h"

// How far an attempt came: what an explanation is made of.
struct attempt {
    struct queue_refusal refusal; // the queue in the way, where queue is set
    uint32_t placed;              // pods, with required affinity in the domain that took most
    uint32_t needed;
    const struct pod *failed;        // the pod that no node took; NULL
    uint32_t group;                  // the leaf or set that failed
    const char *topology_problem;    // no domain for the group; NULL
    bool tried_orders;               // of a gang of unlike pods: its own order, and the largest first
    bool wants_nodes;                // in: ask why nodes refuse the failed pod
    const struct node_survey *nodes; // why they do; NULL: nobody asked
};

// How well a node suits a pod; the tie decides between equal scores.
struct rating {
    int64_t score;
    int64_t tie;
};

static inline int rating_compare(struct rating a, struct rating b)
{
    int order = (a.score > b.score) - (a.score < b.score);
    return order ? order : (a.tie > b.tie) - (a.tie < b.tie);
}

// The set with its nodes listed.
struct node_set placement_list(const struct pool *pool, const struct node_set *set, struct arena *arena);

// Places the pod on the best node of the set through the statement, as a promise where it has to wait for a release or
// where promise_only says so. False where no node takes it.
bool placement_place(struct cycle *cycle, const struct pool *pool, struct pod *pod, const struct node_set *set,
                     bool promise_only);

// How well the node suits the pod, topology and affinity aside. False where it may not or can't stand there now.
bool placement_rate(struct cycle *cycle, const struct pool *pool, const struct pod *pod, struct node *node,
                    struct rating *out_rating);
// The node's value of the label by which the workload's pods are kept together; NULL: none.
const char *placement_affinity_value(const struct workload *workload, const struct node *node);

// Places the pod where the cycle before promised it a place: on the node of its spec and, for a shared request, on the
// devices of these groups. False where it does not fit there.
bool placement_place_at(struct cycle *cycle, const struct pool *pool, struct pod *pod);

// Why a node that may take the pod (rules.h) does not as things stand; NODE_ACCEPTS where it would.
enum node_refusal placement_lack(struct cycle *cycle, const struct pool *pool, const struct pod *pod,
                                 const struct node *node);
