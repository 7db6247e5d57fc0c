// Places in the organisation: their paths by id, and a caller's view (model/scope.h) as a condition in SQL, its ids
// bound.
//
//     scope_filter_sql(filter, &sql, "w.cluster_id", "w.department_id", "w.project_id");
//     scope_filter_lists(filter, arena, lists);
#pragma once
#include "model/scope.h"

struct arena;
struct buffer;
struct db_conn;
struct error;

// Appends a condition in brackets. Where the filter shows everything it is `(1)` and takes no parameter, so that the
// statement keeps its indexes; else it takes three `?`. A column that the table lacks is given as "NULL".
void scope_filter_sql(const struct scope_filter *filter, struct buffer *sql, const char *cluster_column,
                      const char *department_column, const char *project_column);
// The condition's three values as JSON lists, to be bound in its place.
void scope_filter_lists(const struct scope_filter *filter, struct arena *arena, const char *out_lists[3]);

// What a scope of an access rule or an asset names, in the API's ids: tenant and system (scope_id is not looked at), a
// cluster's uuid, a department's or project's number. 1: found; 0: there is no such place; -1: error. out_name may be
// NULL; else it is the arena's.
int db_find_scope(struct db_conn *conn, enum scope_type type, const char *scope_id, struct arena *arena,
                  struct scope_path *out_path, const char **out_name, struct error *err);
int db_find_project_path(struct db_conn *conn, int64_t project_id, struct scope_path *out_path, struct error *err);
int db_find_department_path(struct db_conn *conn, int64_t department_id, struct scope_path *out_path,
                            struct error *err);
