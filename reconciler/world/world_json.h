// Columns that hold JSON, in the scheduler's form. They were checked when they were written; what is of another shape
// all the same counts as not there. Results are the arena's (the world's).
#pragma once
#include "scheduler/snapshot.h"
#include <stddef.h>
#include <stdint.h>

struct arena;
struct extended_names;
struct placement;
struct usage_window;
struct world;

size_t world_json_texts(const char *json, struct arena *arena, const char ***out_texts);  // ["a", "b"]; NULL: none
size_t world_json_numbers(const char *json, struct arena *arena, uint32_t **out_numbers); // [0, 1]
size_t world_json_keys(const char *json, struct arena *arena, const char ***out_keys);    // of an object
void world_json_labels(const char *json, struct arena *arena, const struct snapshot_label **out, size_t *out_count);
void world_json_taints(const char *json, struct arena *arena, const struct snapshot_taint **out, size_t *out_count);
// {"nvidia.com/mig-1g.10gb": 2} by the world's indices.
void world_json_amounts(const char *json, struct world *world, const struct snapshot_extended_amount **out,
                        size_t *out_count);
// A node pool's time_based_fairshare_json (NULL: off), in the API's form.
void world_json_window(const char *json, struct usage_window *out_window);
// constraints_json of a pod. Rules that cannot be read keep it from every node.
void world_json_placement(const char *json, struct world *world, struct extended_names *asked,
                          struct placement *out_placement);
