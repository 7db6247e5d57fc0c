// What a change of a department, a project or a node pool changed, in plain words: "GPU quota from 4 to 8 GPUs; rank
// from medium to high". NULL where nothing that people set differs. Texts are the arena's.
#pragma once

struct arena;
struct node_pool;
struct org_unit;

// Queues of both in the order of their pools; a pool that `before` lacks is not told.
const char *org_unit_change_text(const struct org_unit *before, const struct org_unit *after, struct arena *arena);
const char *node_pool_change_text(const struct node_pool *before, const struct node_pool *after, struct arena *arena);
