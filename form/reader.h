// What the files that read a snapshot share: the document so far, bounds, names, and the parts in the order they are
// read. Only form/read_*.c and snapshot_reader.c include this.
#pragma once
#include "form/fields.h"
#include "form/reader_state.h"
#include "scheduler/snapshot.h"

// Every struct below starts with its name; these work on any array of such structs.
// Sorts by the bytes of the names; two equal ones are an error at the later one's place in list.
int names_sort(struct reader *reader, const struct place *list, void *items, size_t count, size_t item_size,
               struct error *err);
// The index of name in sorted items, SNAPSHOT_NONE where it is not there.
uint32_t names_find(const void *items, size_t count, size_t item_size, const char *name);
// The same for the name at place; `no node "node9"` where it is not there, with what = "node".
int names_resolve(const struct place *place, const char *what, const void *items, size_t count, size_t item_size,
                  uint32_t *out_index, struct error *err);
// An order over texts that are not names: out_order[i] is the index of the i-th text.
const size_t *texts_order(struct arena *arena, const char *const *texts, size_t count);

// A node pool by name, or the one that stands where none is named: `default`, else the only one.
int read_node_pool_reference(struct reader *reader, const struct place *object, uint32_t *out_node_pool,
                             struct error *err);

// In the order they are called; each fills its part of reader->snapshot from the whole document.
int read_settings(struct reader *reader, const struct place *document, struct error *err);
int read_node_pools(struct reader *reader, const struct place *document, struct error *err);
void read_extended_names(struct reader *reader, const struct place *document);
int read_nodes(struct reader *reader, const struct place *document, struct error *err);
int read_topologies(struct reader *reader, const struct place *document, struct error *err);
int read_queues(struct reader *reader, const struct place *document, struct error *err);
int read_usage(struct reader *reader, const struct place *document, struct error *err);
int read_people(struct reader *reader, const struct place *document, struct error *err); // what they have used
int read_workloads(struct reader *reader, const struct place *document, struct error *err);

// Amounts of {"nvidia.com/mig-1g.10gb": 1} (migInstances) and {"example.com/nic": 1} (extended) of a node or pod.
int read_extended(struct reader *reader, const struct place *object,
                  const struct snapshot_extended_amount **out_amounts, size_t *out_count, struct error *err);
// Text values of an object, sorted by key.
int read_labels(struct reader *reader, const struct place *place, const struct snapshot_label **out_labels,
                size_t *out_count, struct error *err);

int read_sub_groups(struct reader *reader, const struct place *workload, struct error *err);
// target: struct snapshot_pod *
int read_pod(struct reader *reader, const struct place *place, void *target, struct error *err);
// nodeSelector, nodeAffinity and tolerations of a pod; NULL where it has none.
int read_placement_rules(struct reader *reader, const struct place *pod,
                         const struct snapshot_placement_rules **out_rules, struct error *err);
// The rules in one order, which pods share (below).
const struct snapshot_placement_rules *order_placement_rules(struct arena *arena,
                                                             const struct snapshot_placement_rules *unordered);
// Makes pods with equal rules share one object.
void share_placement_rules(struct arena *arena, struct snapshot_pod *pods, size_t count);
