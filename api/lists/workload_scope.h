// Which workloads a caller may read, and from which side a list finds them. Who sees everything, or most of it, walks
// the index of the list's order until the page is full. Who sees little would walk past everybody's rows: his are found
// from his projects, each by the index that begins with the project.
#pragma once
#include "api/lists/list_query.h"
#include "model/scope.h"

struct db_conn;
struct request;

// FROM of a source that is read from the projects' side; workload_scope_where knows its alias.
#define WORKLOAD_SCOPE_FROM "projects sp CROSS JOIN workloads w ON w.project_id = sp.id"

struct workload_scope {
    struct scope_filter filter;
    bool is_narrow; // take the source with WORKLOAD_SCOPE_FROM
};

// For a page: narrow where the caller's projects hold few workloads, or rows are picked by search or filters. has_gone:
// rows of workloads that are deleted count too, and these may outlive the projects of a department.
int workload_scope_of_page(const struct request *req, struct db_conn *conn, bool has_gone,
                           struct workload_scope *out_scope, struct error *err);
// For a count or a sum, which reads all rows anyway.
void workload_scope_of_sum(const struct request *req, bool has_gone, struct workload_scope *out_scope);
void workload_scope_where(const struct workload_scope *scope, struct list_query *query);
