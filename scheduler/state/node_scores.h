// What the nodes of a pool score for a request, kept from pod to pod and computed again only where a node has changed.
//
// For requests that free_gpu_index.h does not know: CPU alone, parts of devices, pools that spread. The best node of a
// set is found by words of 64 nodes, most of which are passed over by the best score in them.
#pragma once
#include "scheduler/state/node_set.h"

// The score of a node as things stand; NODE_SCORES_NONE where it does not take the pod. A function of the node and of
// the pod's request alone.
typedef int64_t (*node_scores_rate)(struct cycle *cycle, const struct pool *pool, const struct pod *pod,
                                    struct node *node);
#define NODE_SCORES_NONE INT64_MIN

// Finds the node of the set (all of the pool, or with its bits) with the highest score, of equal ones the first by
// name; NULL in *out_best: none takes it. False: the request is not kept yet, and nothing was found out.
bool node_scores_find(struct cycle *cycle, const struct pool *pool, const struct pod *pod, const struct node_set *set,
                      node_scores_rate score, struct node **out_best);
// What is free on the node has changed.
void node_scores_note(struct cycle *cycle, const struct node *node);
