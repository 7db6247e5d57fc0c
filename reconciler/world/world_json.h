// Columns that hold JSON, in the scheduler's form. They were checked when they were written; what is of another shape
// all the same counts as not there. Results are the arena's (the world's).
#pragma once
#include "scheduler/snapshot.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct extended_names;

// What a pod's constraints_json says, in the scheduler's form. One object per distinct text.
struct placement {
    const char *constraints_json;
    const struct snapshot_placement_rules *rules; // NULL: none
    const struct snapshot_extended_amount *extended;
    size_t extended_count;
    enum pod_affinity pod_affinity;
    const char *pod_affinity_key;
    struct placement *next; // in its slot
};

// A node pool's setting of time-based fair share: over which past usage counts.
struct usage_window {
    bool is_enabled;
    int64_t k_micro;      // how much it counts
    int64_t half_life_ms; // 0: what is old counts as much as what is new
    int64_t duration_ms;
    bool is_tumbling; // begins again at start_ms and each duration_ms after it; else it slides along
    int64_t start_ms;
};

// The names of extended resources; what counts them does so by their place here.
struct extended_list {
    const struct snapshot_extended_resource *names;
    size_t count;
};

size_t world_json_texts(const char *json, struct arena *arena, const char ***out_texts);  // ["a", "b"]; NULL: none
size_t world_json_numbers(const char *json, struct arena *arena, uint32_t **out_numbers); // [0, 1]
size_t world_json_keys(const char *json, struct arena *arena, const char ***out_keys);    // of an object
void world_json_labels(const char *json, struct arena *arena, const struct snapshot_label **out, size_t *out_count);
void world_json_taints(const char *json, struct arena *arena, const struct snapshot_taint **out, size_t *out_count);
// {"nvidia.com/mig-1g.10gb": 2} by their places in the list.
void world_json_amounts(const char *json, struct extended_list list, struct arena *arena,
                        const struct snapshot_extended_amount **out, size_t *out_count);
// A node pool's time_based_fairshare_json (NULL: off), in the API's form.
void world_json_window(const char *json, struct usage_window *out_window);
// constraints_json of a pod. Rules that cannot be read keep it from every node.
void world_json_placement(const char *json, struct extended_list list, struct arena *arena,
                          struct extended_names *asked, struct placement *out_placement);
