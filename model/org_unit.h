// Departments and projects: the two levels of queues below a cluster. A project is in one department; both have a queue
// in every node pool. Their ids come from one row of numbers, and the API shows them as decimal text.
#pragma once
#include "model/queue.h"

#include <stdbool.h>

struct json_writer;

enum org_unit_kind {
    ORG_UNIT_DEPARTMENT,
    ORG_UNIT_PROJECT
};

// "department", "project": queues.owner_kind.
const char *org_unit_kind_text(enum org_unit_kind kind);

// Averages that the API calls overtimeData; the server renews them every few minutes.
enum {
    OVERTIME_24H,
    OVERTIME_7D,
    OVERTIME_30D,
    OVERTIME_RANGE_COUNT
};
struct overtime {
    double gpu_allocation[OVERTIME_RANGE_COUNT];         // GPUs
    double gpu_utilization[OVERTIME_RANGE_COUNT];        // %; below 0: nobody measured it
    double gpu_memory_utilization[OVERTIME_RANGE_COUNT]; // %
    int64_t updated_ms;                                  // 0: not yet reckoned
};

struct org_unit_child {
    int64_t id;
    const char *name;
};

// What the projects of a department add up to in one pool.
struct org_unit_sum {
    int64_t node_pool_id;
    const char *node_pool_name;
    int64_t gpu_deserved_milli;
    int64_t cpu_deserved_milli;
    int64_t memory_deserved_bytes;
};

// How much there is inside of it, and who has access to it; below 0: the reader may not know.
struct org_unit_numbers {
    int64_t workloads;
    int64_t subjects;
};

struct org_unit {
    enum org_unit_kind kind;
    int64_t id;
    int64_t cluster_id;
    const char *cluster_uuid; // only read
    const char *name;
    bool is_default;
    const char *description;
    const char *scheduling_rules_json;   // NULL: none
    const char *default_node_pools_json; // NULL: none
    const char *node_types_json;         // NULL: none
    const char *phase;
    const char *created_by;
    const char *updated_by;
    int64_t created_ms;
    int64_t updated_ms;

    // Projects only.
    int64_t department_id;
    const char *department_name; // only read
    const char *name_space;      // "runai-<name>"
    const char *requested_namespace;
    bool enforce_scheduler;
    const char *department_scheduling_rules_json; // only read, for `effective`
    const char *department_node_types_json;
    const char *effective_node_pools_json; // only read: where work goes that names none; NULL: to the default pool

    struct queue *queues; // one a node pool, by pool id
    size_t queue_count;
    struct overtime overtime;         // only read
    struct org_unit_numbers *numbers; // only read, by db/unit_numbers.h; NULL: not asked for

    // Departments only, and only read: db_read_department_projects.
    struct org_unit_child *children;
    size_t child_count;
    struct org_unit_sum *sums;
    size_t sum_count;
};

// What a creation or a PUT (ProjectCreationRequest, DepartmentUpdateRequest and so on; checked against the schema) says
// of the unit, but for `resources`, which are taken in by db/org_units.h. Fields that it does not name become empty.
int org_unit_from_json(struct org_unit *unit, const json_t *body, struct arena *arena, struct error *err);
// Takes `resources` into the queues that the unit has, one a pool. An entry without a pool means the first one's. With
// `replace`, pools that the list lacks go back to the defaults; else they stay, as does what an entry does not name.
// path stands before the index in messages: "resources" or "". Unknown pools, and pools named twice, are refused.
int org_unit_take_resources(struct org_unit *unit, const json_t *resources, const char *path, bool replace,
                            struct arena *arena, struct error *err);
// The API's Project and Department; with_status writes what they hold, too.
void org_unit_write_json(const struct org_unit *unit, bool with_status, struct json_writer *json);
// The unit's `resources` as an array, without a key.
void org_unit_write_resources(const struct org_unit *unit, struct json_writer *json);
