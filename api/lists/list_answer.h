// Answers that are a list: the page of a query, row by row, or how many rows there are.
#pragma once
#include "api/lists/list_query.h"

struct json_writer;
struct request;
struct response;

struct list_form {
    const char *key; // the array's name in an object; NULL: the array is the answer
    bool tells_next; // "next" beside it, where there is a next page
    bool tells_page; // {limit, offset, nextOffset} beside it, as `pagination`
    // One row, as a value. context is the caller's of list_answer.
    void (*write_row)(struct json_writer *json, sqlite3_stmt *row, const struct request *req, const void *context);
};

// Takes a connection while it reads; closes the query.
int list_answer(struct request *req, struct response *res, struct list_query *query, const struct list_form *form,
                const void *context, struct error *err);
// {"count": N}, whatever the page.
int list_answer_count(struct request *req, struct response *res, struct list_query *query, struct error *err);
