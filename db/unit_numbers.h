// How many workloads projects or departments have, and how many subjects have access to them: one statement each,
// however many units there are. Of departments, the workloads of all their projects.
#pragma once
#include "model/org_unit.h"

struct arena;
struct db_conn;
struct error;
struct scope_filter;

// out_numbers has a place for each unit. The units are of one kind.
int db_count_unit_workloads(struct db_conn *conn, struct org_unit *units, size_t count, struct arena *arena,
                            int64_t *out_numbers, struct error *err);
// A subject counts once, however many rules it has, where a rule of the unit or of a place above it is in force. Only
// rules that the filter shows count.
int db_count_unit_subjects(struct db_conn *conn, struct org_unit *units, size_t count, const struct scope_filter *shown,
                           int64_t now_ms, struct arena *arena, int64_t *out_numbers, struct error *err);

// A project of a department, and the workloads that go with it.
struct project_work {
    int64_t id;
    const char *name;
    const char *name_space;
    int64_t workload_count;
    int64_t unfinished_count; // of these: neither over nor about to go
};

// By name.
int db_list_project_work(struct db_conn *conn, int64_t department_id, struct arena *arena,
                         struct project_work **out_projects, size_t *out_count, struct error *err);
