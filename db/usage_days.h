// Who held how much when, by day (UTC): of allocations, and of the sums that stay of those that are gone. A part of a
// day counts alike in both, so a total is the same before and after an allocation goes.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db_conn;
struct error;

// Adds what an ended allocation held to its days' sums and removes it. A write function; two statements.
int db_sum_allocation(struct db_conn *conn, int64_t id, struct error *err);

struct usage_day {
    int64_t day_ms; // its first moment
    int64_t project_id, department_id, node_pool_id;
    const char *person;
    const char *project_name, *node_pool_name; // names: the latest; a pool's is "" where it has none
    int64_t gpu_milli_ms;                      // thousandths of a device, times milliseconds
    int64_t cpu_milli_ms;
    int64_t memory_mib_ms; // what a pod asked for, in whole MiB rounded up
};
// Calls fn with what each person ("": nobody who is known) held of a project's GPUs after since_ms and before now_ms:
// of allocations from their start, or of the sums that stay of those that are gone as if it had been held evenly over
// the day. What still holds counts until now_ms. Reads every allocation: for what is asked once.
// project_id 0: of all projects.
typedef void (*held_by_person_fn)(void *context, int64_t project_id, const char *person, double gpus, int64_t from_ms,
                                  int64_t to_ms);
int db_read_held_by_people(struct db_conn *conn, int64_t project_id, int64_t since_ms, int64_t now_ms,
                           held_by_person_fn fn, void *context, struct error *err);

// The days that begin in these times (from_ms included), by day, project, node pool and person; the arena's. What still
// holds counts until now_ms. Reads every allocation that began before to_ms and did not end before from_ms.
int db_list_usage(struct db_conn *conn, int64_t from_ms, int64_t to_ms, int64_t now_ms, struct arena *arena,
                  struct usage_day **out_days, size_t *out_count, struct error *err);
