// A queue: what a project or a department is given in one node pool, and what it holds there as of the latest cycle.
// Amounts: GPUs in thousandths, CPU in millicores, memory in bytes; QUANTITY_UNLIMITED where there is no bound.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;
struct json_writer;

struct queue_resource {
    int64_t deserved;
    int64_t limit;
    double over_quota_weight;
    // Of the latest cycle; only read.
    int64_t fair_share;
    int64_t allocated;
    int64_t allocated_non_preemptible;
    int64_t requested;
};

struct queue {
    int64_t id;
    int64_t owner_id; // a department's or project's
    int64_t node_pool_id;
    const char *node_pool_name;
    const char *rank_name;
    int64_t rank; // higher first
    struct queue_resource gpu;
    struct queue_resource cpu;
    struct queue_resource memory;
    const char *memory_units; // "MB", "Mib", "GB": how the API shows memory
};

// The rank names of GET /org-unit/priorities, lowest first.
struct rank {
    const char *name;
    int64_t value;
    bool is_default;
};
extern const struct rank RANKS[];
extern const size_t RANK_COUNT;
// NULL where there is no such name.
const struct rank *rank_find(const char *name);

// What every project and department gets in a new pool: GPU quota 0, the rest unlimited, medium weight.
void queue_defaults(struct queue *queue);
// Sets node_pool_id from the entry's nodePool.id; 0 where it names none. path names the entry in messages:
// "resources[0].".
int queue_take_pool_id(struct queue *queue, const json_t *entry, const char *path, struct error *err);
// Takes the rest of one entry of `resources` (ResourcesNullable, checked against the schema) into the queue; what the
// entry does not name stays.
int queue_from_json(struct queue *queue, const json_t *entry, const char *path, struct arena *arena, struct error *err);
// One entry of the API's `resources`.
void queue_write_json(const struct queue *queue, struct json_writer *json);
// "resources": {"gpu", "cpu", "memory"} and "rank" as members of the open object.
void queue_write_quotas(const struct queue *queue, struct json_writer *json);
// "nodePool": {"id", "name"} as a member of the open object.
void queue_write_node_pool(int64_t node_pool_id, const char *name, struct json_writer *json);
// "allocated", "allocatedNonPreemptible", "requested" and prorata's own "fairShare" of the sum of the queues, as
// members of the open object.
void queue_write_quota_status(const struct queue *queues, size_t count, struct json_writer *json);
