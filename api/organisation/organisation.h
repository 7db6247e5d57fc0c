// What the handlers of clusters, node pools, nodes, departments and projects have in common.
#pragma once
#include "api/lists/list_query.h"
#include "model/org_unit.h"

struct request;
struct response;

// An id that is a decimal number, as departments, projects and node pools have; 0 where the text is not one, which no
// row has.
int64_t id_from_text(const char *text);

// What lists of departments and of projects sort and filter by alike. Unlimited sorts above every number.
#define ORG_UNIT_GPU_QUOTA(kind, id)                                                                \
    "(SELECT CASE WHEN count(*) = count(q.gpu_deserved_milli) THEN sum(q.gpu_deserved_milli) ELSE " \
    "9223372036854775807 END FROM queues q WHERE q.owner_kind = '" kind "' AND q.owner_id = " id ")"
#define ORG_UNIT_GPU_ALLOCATED(kind, id) \
    "(SELECT sum(q.gpu_allocated_milli) FROM queues q WHERE q.owner_kind = '" kind "' AND q.owner_id = " id ")"
// The averages of a range: "24h", "7d", "30d".
#define ORG_UNIT_OVERTIME_FIELDS(range)                                                                             \
    {.name = "avgGpuAllocation" range, .sql = "coalesce(o.gpu_allocation_" range ", 0)", .type = LIST_NUMBER},      \
        {.name = "avgGpuUtilization" range, .sql = "nullif(o.gpu_utilization_" range ", -1)", .type = LIST_NUMBER}, \
    {                                                                                                               \
        .name = "avgGpuMemoryUtilization" range, .sql = "nullif(o.gpu_memory_utilization_" range ", -1)",           \
        .type = LIST_NUMBER                                                                                         \
    }

// A query for the projects that the caller may see; and the units of a page with their queues, of departments with
// their projects, too.
int projects_init_query(struct request *req, struct list_query *query, struct error *err);
int org_units_read(struct request *req, struct db_conn *conn, enum org_unit_kind kind, struct list_query *query,
                   struct org_unit **out_units, size_t *out_count, struct error *err);

// The handlers that departments and projects share. The caller has checked the access.
int org_unit_answer_list(struct request *req, struct response *res, enum org_unit_kind kind, struct list_query *query,
                         struct error *err);
int org_unit_answer(struct request *req, struct response *res, enum org_unit_kind kind, int64_t id, struct error *err);
// unit has kind and cluster_id, of a project department_id, too.
int org_unit_create(struct request *req, struct response *res, struct org_unit *unit, struct error *err);
int org_unit_update(struct request *req, struct response *res, enum org_unit_kind kind, int64_t id, struct error *err);
int org_unit_change_resources(struct request *req, struct response *res, enum org_unit_kind kind, int64_t id,
                              bool replace, struct error *err);
// The same without an answer: resources is a list of entries as `resources` of a unit has them.
int org_unit_set_resources(struct request *req, enum org_unit_kind kind, int64_t id, const json_t *resources,
                           bool replace, struct error *err);
// 204 where it is gone at once, 202 where workloads have to go first.
int org_unit_delete(struct request *req, struct response *res, enum org_unit_kind kind, int64_t id, struct error *err);
