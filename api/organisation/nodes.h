// Nodes as lists see them.
#pragma once
#include "api/lists/list_query.h"
#include "api/organisation/node_devices.h"

struct json_writer;
struct request;
struct response;

extern const struct list_source NODE_LIST;

// A query for the nodes that the caller may see.
int nodes_init_query(struct request *req, struct list_query *query, struct error *err);
// All rows of the query (of one page) with what is held of them.
int nodes_read(struct request *req, struct db_conn *conn, struct list_query *query, struct node_view **out_views,
               size_t *out_count, struct error *err);
// Answers the one node of which the condition (`n.name = ?`) holds. ERROR_NOT_FOUND where the caller sees none.
int nodes_answer_one(struct request *req, struct response *res, const char *condition, const char *value,
                     struct error *err);
// The member `cordon`: a person's, or null.
void node_write_cordon(const struct node *node, struct json_writer *json);
