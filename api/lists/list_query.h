// Lists: one page of rows, chosen by filterBy and search, in the order of sortBy and sortOrder.
//
// A list says once what its columns are (struct list_source); the rest follows: conditions with every value bound, LIKE
// patterns escaped, a tie broken by id in the direction of the sort (so that one index serves both directions), and one
// row more than was asked for, which tells whether there is a next page. All conditions hold; of several == on one
// field, any does, unless it is a set. Field names have been checked against the document before; a name that the
// source lacks, or an operator or value that does not suit the column, is ERROR_INVALID.
//
//     struct list_query query;
//     if (list_query_init(&query, &PROJECT_LIST, req, err) < 0)
//         return -1;
//     list_query_where_int(&query, "p.cluster_id = ?", cluster_id);
//     if (list_query_open(&query, conn, err) < 0)
//         return -1;
//     while ((rc = list_query_step(&query, err)) == 1)
//         write_project(json, query.stmt);
//     if (rc == 0)
//         list_query_write_next(&query, json);
//     list_query_close(&query);
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buffer;
struct db_conn;
struct error;
struct filter;
struct json_writer;
struct request;
struct scope_filter;
typedef struct sqlite3_stmt sqlite3_stmt;

enum list_field_type {
    LIST_TEXT,
    LIST_NUMBER, // == != <= >=
    LIST_TIME,   // the same, by ISO 8601 values; the column holds milliseconds
    LIST_BOOL,   // == !=, by true and false; the column holds 0 and 1
    LIST_SET,    // a JSON array of texts: == has it, =@ has one that contains it; no <= >=
};

struct list_field {
    const char *name; // in filterBy, sortBy or both
    const char *sql;  // an expression over the source's FROM
    enum list_field_type type;
    int64_t scale;    // LIST_NUMBER: what one unit of the API is in the column, e.g. 1000 of GPUs; 0: 1
    bool is_searched; // by `search`; LIST_TEXT only
};

struct list_source {
    const char *columns;
    const char *from;
    const char *where;   // always holds; NULL: nothing
    const char *group;   // a GROUP BY for sums; NULL: none
    const char *counted; // what list_query_count answers; NULL: the number of rows
    const char *id;      // a column that differs between all rows
    const char *late;  // the id's own table as in `from`: its page is found first, and only then are rows read, so that
                       // a sort moves no wide rows; NULL: at once
    const char *words; // a SELECT by ?1, a field's name, and ?2, a LIKE pattern: 0 where none of the texts that the
                       // field has anywhere is like it, so that no row need be looked at; NULL: not known of this field
    const char *order; // without sortBy: a whole ORDER BY, ending in the id
    const struct list_field *fields;
    size_t field_count;
};

enum {
    LIST_LIMIT_MAX = 500,
    LIST_PAGE_BYTES = 8 << 20, // a page that is longer ends here; `next` goes on

    LIST_FILTER_MAX = 32,
    LIST_BIND_MAX = 160
};

// What a caller asked for.
struct list_request {
    const struct filter *filters;
    size_t filter_count;
    const char *search;  // NULL or "": nothing
    const char *sort_by; // NULL: the source's order
    bool is_descending;
    int64_t offset;
    int64_t limit;
};

struct list_bind {
    enum {
        LIST_BIND_TEXT,
        LIST_BIND_INT,
        LIST_BIND_REAL
    } kind;
    const char *text;
    int64_t integer;
    double real;
};

struct list_query {
    const struct list_source *source;
    struct arena *arena;
    struct list_request request;
    const struct list_field *sort;
    char *where; // in the arena: "a AND b", or ""
    struct list_bind *binds;
    size_t bind_count;
    bool has_search;

    const struct buffer *answer; // what has been written of the page; NULL: unknown
    struct db_conn *conn;
    sqlite3_stmt *stmt;
    int64_t row_count;
    bool has_next;
};

// From a request whose operation has some of the parameters filterBy, search, sortBy, sortOrder, offset, limit.
int list_query_init(struct list_query *query, const struct list_source *source, const struct request *req,
                    struct error *err);
int list_query_build(struct list_query *query, const struct list_source *source, const struct list_request *request,
                     struct arena *arena, struct error *err);

// All rows instead of a page, however long: for figures that are added up.
void list_query_take_all(struct list_query *query);
// A condition of the handler's own; sql is constant text with one `?`, or with none.
void list_query_where(struct list_query *query, const char *sql);
void list_query_where_text(struct list_query *query, const char *sql, const char *value);
void list_query_where_texts(struct list_query *query, const char *sql, const char *const *values, size_t count);
void list_query_where_int(struct list_query *query, const char *sql, int64_t value);
// Only what a caller may see (api/access/authorization.h, access_filter); a column that the source lacks is "NULL".
void list_query_where_scope(struct list_query *query, const struct scope_filter *filter, const char *cluster_column,
                            const char *department_column, const char *project_column);
// The same of rows of several kinds: one of these holds. Constant text before and after the filter's condition, in
// which a kind's own stands.
struct list_scope {
    const char *before, *after;
    const struct scope_filter *filter;
    const char *cluster_column, *department_column, *project_column;
};
void list_query_where_any_scope(struct list_query *query, const struct list_scope *scopes, size_t count);

// The condition of `search`, which comes last, as open and count add it: conn knows the words of fields; NULL: each
// field is looked at row by row.
int list_query_add_search(struct list_query *query, struct db_conn *conn, struct error *err);
// The statement as text, for tests and for EXPLAIN; in the arena.
const char *list_query_sql(const struct list_query *query);

// Prepares and binds the page's statement. The caller closes.
int list_query_open(struct list_query *query, struct db_conn *conn, struct error *err);
// 1: query->stmt is at a row of the page; 0: the page is over (has_next is set); -1: error.
int list_query_step(struct list_query *query, struct error *err);
void list_query_close(struct list_query *query);
// Writes "next" where there is a next page.
void list_query_write_next(const struct list_query *query, struct json_writer *json);

// The number of rows that match, whatever the page.
int list_query_count(struct list_query *query, struct db_conn *conn, int64_t *out_count, struct error *err);
