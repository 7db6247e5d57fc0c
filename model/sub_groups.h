// The shape that a distributed workload gives its gang: a tree of sub-groups, and where each is to stand in a network
// topology. In the specification, and so in the workload's row:
//
//   "topology": {"name", "required", "preferred"}, "minSubGroups",
//   "subGroups": [{"name", "parent", "workers", "master", "minPods", "minSubGroups", "topology"}]
//
// A sub-group that another names as its parent is a set: minSubGroups of those below it are needed. The others hold
// pods: so many workers, in the order of the list, and the master. docs/api.md, Sub-groups.
#pragma once
#include "model/fields.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SUB_GROUPS_MAX = 128,
    SUB_GROUP_LEVELS_MAX = 16, // as the scheduler's form has it
};

#define SUB_GROUP_NONE SIZE_MAX

// Levels are node label keys; NULL: not given. A name of NULL is no requirement.
struct topology_wish {
    const char *name, *required, *preferred;
};

struct sub_group {
    const char *name;
    size_t parent;        // in groups; SUB_GROUP_NONE: the workload
    size_t child_count;   // 0: it holds pods
    int64_t first_worker; // by index
    int64_t worker_count;
    bool has_master;
    int64_t minimum; // of its pods, or of the sub-groups below it
    struct topology_wish topology;
};

struct sub_groups {
    struct topology_wish topology;
    int64_t minimum; // of the sub-groups without a parent
    struct sub_group *groups;
    size_t count;       // 0: there are none
    size_t *from_below; // their places, children before parents
};

// Reads them out of a specification, checks every rule, and writes defaults into it. Texts are the specification's, the
// rest is the arena's. ERROR_INVALID names the path.
int sub_groups_read(const struct fields *spec, int64_t worker_count, bool has_master, struct sub_groups *out);
// The members of a completed specification that make them up, as text to store; NULL: it has none.
const char *sub_groups_text(const struct fields *spec);
// The same, stored: no sub-groups and no topology where it is NULL or cannot be read.
void sub_groups_parse(const char *text, struct arena *arena, struct sub_groups *out);

// Where a pod belongs; SUB_GROUP_NONE where there are no sub-groups.
size_t sub_groups_of_pod(const struct sub_groups *groups, bool is_master, int64_t index);
// How many pods are needed at least.
int64_t sub_groups_min_pods(const struct sub_groups *groups, struct arena *arena);
// Whether the pods that each of them has are enough. There are sub-groups.
bool sub_groups_are_met(const struct sub_groups *groups, const int64_t *pods, struct arena *arena);
