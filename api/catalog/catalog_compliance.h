// Assets and templates under the policies of a project: complyToProject, with complyToWorkloadType and
// complyToReplicaType. Both are pieces of specifications: what they leave open is no fault.
#pragma once
#include "api/policies/compliance.h"

struct error;
struct json_writer;
struct request;
struct workload_template;

struct catalog_compliance {
    bool is_asked;
    bool is_for_master; // complyToReplicaType
    struct policy_standard
        standards[POLICY_KIND_COUNT]; // of the types that are asked about; of all where none is named
    size_t count;
};

// Reads the query; ERROR_INVALID for a project that the caller may not read. Statements: 2 for a type, 5 for all.
int catalog_compliance_open(struct request *req, struct catalog_compliance *out, struct error *err);
void catalog_compliance_done(struct catalog_compliance *compliance);
// `compliance` of an asset: the reasons of the first type that it is unfit for.
void catalog_compliance_write(struct json_writer *json, const struct catalog_compliance *compliance, const char *kind,
                              const char *spec_json, struct arena *arena);
// `complianceIssues` of a template of this type, as JSON text; master_json NULL: none of its own.
const char *catalog_compliance_of_template(const struct catalog_compliance *compliance, const char *workload_type,
                                           const char *spec_json, const char *master_json, struct arena *arena);
// Refuses a template that breaks the policies of its own scope, with complianceIssues. Inside a write function.
int catalog_compliance_check_template(struct db_conn *conn, struct request *req,
                                      const struct workload_template *template, struct error *err);
