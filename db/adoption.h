// Pods that run though no row asks for them, because the database is an older one: what is noted of a workload so that
// its rows can be made again, and the making.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db_conn;
struct error;
struct submission; // model/submission.h

// A workload as a JSON object, *out_text in the arena: id, name, requestedName, type, createdBy, createdMilliseconds,
// projectName, projectNumber, graceMilliseconds, hasMaster, spec, masterSpec (null: none of its own). One statement.
int db_describe_for_adoption(struct db_conn *conn, int64_t workload_id, struct arena *arena, const char **out_text,
                             struct error *err);

// A project by its name and the number that no other project ever has (0: not known). 1: found; 0: not; -1: error.
int db_find_project_for_adoption(struct db_conn *conn, const char *name, int64_t number, int64_t *out_id,
                                 struct error *err);

struct adopted_pod {
    const char *uuid;
    const char *role; // POD_ROLE_TEXT_*
    int64_t index, attempt;
    const char *gpu_indices_json, *gpu_groups_json;
    int64_t gpu_milli;
    int64_t scheduled_ms, started_ms;
};

struct adoption {
    const char *workload_uuid;
    const struct submission *submission; // what its row is made of where there is none; NULL: there must be one
    const struct adopted_pod *pods;      // at least one
    size_t pod_count;
    const char *node_name;
    const char *caller_name;
    int64_t now_ms;
};

// Inside a write function. A workload that has no row gets one, with pods that wait in place of those that do not run;
// the pods get rows that run, with their devices; event Adopted. ERROR_CONFLICT: the name is taken, the workload is to
// go or is over, or another pod has a pod's place.
int db_adopt(struct db_conn *conn, const struct adoption *adoption, struct error *err);

// Inside a write function: the same for a pod whose row waits for a place in a workload that is to run. 1: done; 0:
// there is no such row; -1: error.
int db_adopt_waiting(struct db_conn *conn, const struct adopted_pod *pod, const char *node_name, int64_t now_ms,
                     struct error *err);
