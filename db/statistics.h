// What SQLite's planner knows of how many rows an index has for a value. Without it, it takes an index that holds all
// columns before one that finds the row. Readers begin with the new figures at their next statement.
#pragma once
#include <stdint.h>

struct db_conn;
struct error;

// How many workloads there have ever been. One look at an index.
int db_count_workloads_ever(struct db_conn *conn, int64_t *out_count, struct error *err);
// Looks at some hundred rows of each index and keeps what it finds. A write function; about 0.1 s, however large tables
// are.
int db_renew_statistics_in(struct db_conn *conn, struct error *err);
