// What a project and its department rule about workloads submitted to it: time limits, idle limits, node types.
#pragma once
#include "model/submission.h"

struct error;

struct project_rules {
    const char *project_rules_json; // schedulingRules; NULL: none
    const char *department_rules_json;
    const char *node_types_json; // {"training": [ids], "workspace": [ids], "names": {id: label value}}; NULL: none
};

struct workload_limits {
    int64_t time_limit_ms; // total time in Running; 0: none
    int64_t idle_limit_ms;
};

// The tighter of project and department.
void project_rules_limits(const struct project_rules *rules, const struct workload_spec *spec,
                          struct workload_limits *out_limits);
// ERROR_INVALID names spec.nodeType where the project has a list of node types and the workload's is none of them.
int project_rules_check_node_type(const struct project_rules *rules, const struct workload_spec *spec,
                                  struct error *err);
