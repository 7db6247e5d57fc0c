// Audit records as answers: which of them a caller may see, and how one looks.
#pragma once
#include "api/lists/list_query.h"

struct error;
struct json_writer;
struct request;

// The records between start and end that the caller may see, by filterBy; newest first where no order was asked for.
int audit_log_init(struct request *req, struct list_query *query, struct error *err);
// The row as the contract has it, and what it says beyond: count, last_timestamp, changes.
void audit_log_write(struct json_writer *json, sqlite3_stmt *row);
// A head of columns, or the row, as a line of CSV. Cells that a spreadsheet would run begin with an apostrophe.
void audit_log_write_csv_head(struct buffer *out);
void audit_log_write_csv(struct buffer *out, sqlite3_stmt *row);
