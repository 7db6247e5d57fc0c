// What a project and its department rule about workloads submitted to it: time limits, idle limits, node types. A rule
// holds what is submitted after it was made.
#pragma once
#include "model/submission.h"

struct arena;
struct error;

struct project_rules {
    const char *project_name;
    const char *department_name;
    const char *project_rules_json; // schedulingRules; NULL: none
    const char *department_rules_json;
    const char *node_types_json; // {"training": [ids], "workspace": [ids], "names": {id: label value}}; NULL: none
    const char *department_node_types_json; // counts for a kind of which the project has no list
};

struct workload_limits {
    int64_t time_limit_ms; // total time in Running; 0: none
    int64_t idle_limit_ms;
    const char *time_limit_scope; // whose it is: "project team-a", "department research"; NULL: nobody's
    const char *idle_limit_scope;
};

// The tighter of project and department; of equal ones it is the project's. Trainings and workspaces have limits, other
// kinds none. Texts are the arena's.
void project_rules_limits(const struct project_rules *rules, const struct workload_spec *spec, struct arena *arena,
                          struct workload_limits *out_limits);
// Where there is a list of node types for the workload's kind: pods that name no type are held to the list, in their
// constraints; one that names a type of the list keeps it, as its label's value. ERROR_INVALID names nodeType where
// the type is none of the list.
int project_rules_apply_node_types(const struct project_rules *rules, struct workload_spec *spec, struct arena *arena,
                                   struct error *err);
