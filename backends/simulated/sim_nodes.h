// Nodes of the simulated cluster, by name: whether they are lost, and what the pods that run on them use. Not
// thread-safe.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct backend_facts;
struct backend_node;

struct sim_node {
    char *name;
    bool is_lost; // not ready, or gone
    bool is_listed;
    bool is_changed;                 // what it uses is to be told
    int64_t cpu_milli, memory_bytes; // of all its pods that run
    struct sim_node *next;           // of the same bucket
    struct sim_node *next_changed;
};

struct sim_nodes {
    struct sim_node **buckets;
    size_t bucket_count, count, lost_count;
    struct sim_node *changed;
};

void sim_nodes_done(struct sim_nodes *nodes);
// The node of this name, which is made where there is none. It stays until the end.
struct sim_node *sim_nodes_get(struct sim_nodes *nodes, const char *name);
// These are the nodes now.
void sim_nodes_list(struct sim_nodes *nodes, const struct backend_node *list, size_t count);
// A pod that uses so much begins to run there, or ends (negative).
void sim_nodes_use(struct sim_nodes *nodes, const char *name, int64_t cpu_milli, int64_t memory_bytes);
// Says what has changed, once: BACKEND_NODE_LOAD; of a lost node nothing is known.
void sim_nodes_tell(struct sim_nodes *nodes, struct backend_facts *facts, int64_t time_ms);
