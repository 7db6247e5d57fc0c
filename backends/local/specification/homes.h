// Homes of workloads whose pods run as nobody of the machine's people: a folder for each workload, its user's alone, in
// a folder with our mark (volumes.h). The pods of a workload share it, a later pod finds what an earlier one has left,
// and it goes with the workload.
#pragma once
#include <stdbool.h>

struct arena;
struct error;
struct homes;
struct local_user;

// `folder` must outlive it.
struct homes *homes_create(const char *folder);
// What is still to be removed is removed by the sweep of the next start.
void homes_destroy(struct homes *homes);
// Text of the arena.
const char *homes_place(const char *folder, const char *workload_uuid, struct arena *arena);
// Makes it where it is missing. In any case it is the user's afterwards, and nobody else may enter it.
int homes_make(const char *place, const struct local_user *user, struct error *err);
// Returns at once: there may be much in it.
void homes_remove(struct homes *homes, const char *workload_uuid);
// Removes those of workloads that are not known.
void homes_sweep(struct homes *homes, bool (*is_known)(const char *workload_uuid, void *context), void *context);
