// POST /nodes/{id}/cordon, /drain and /uncordon: nothing new is placed on a node until somebody takes that back. What
// runs stays, or leaves where the node is drained (reconciler/turn/drains.h).
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/identity.h"
#include "api/operations.h"
#include "api/organisation/nodes.h"
#include "api/organisation/organisation.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "db/db.h"
#include "db/nodes.h"

struct cordon_change {
    const struct request *req;
    const char *uuid;
    struct node_cordon cordon; // ms 0: it goes
};

// What the backend itself closed only the backend opens: in Kubernetes kubectl uncordon, else the cluster file.
static int check_is_ours(const struct node *node, struct error *err)
{
    if (node->cordon.ms || !node->is_cordoned)
        return 0;
    return error_set(err, ERROR_CONFLICT,
                     "node %s: the cluster itself cordoned it, and is to take that back (kubectl uncordon %s)",
                     node->name, node->name);
}

static int change_cordon(struct db_conn *conn, void *context, struct error *err)
{
    const struct cordon_change *change = context;
    const struct request *req = change->req;
    struct node node;
    if (db_find_node(conn, change->uuid, req->arena, &node, err) < 0 ||
        (!change->cordon.ms && check_is_ours(&node, err) < 0))
        return -1;
    if (!change->cordon.ms && !node.cordon.ms)
        return 0;
    return db_set_node_cordon(conn, &node, &change->cordon, req->received_ms, err);
}

static int answer(struct request *req, struct response *res, const struct node_cordon *cordon, struct error *err)
{
    struct cordon_change change = {req, request_path(req, "nodeId"), *cordon};
    if (access_check_whole_cluster(req, RESOURCE_TYPE_NODES, ACTION_UPDATE, "nodes", err) < 0 ||
        db_write(req->server->db, change_cordon, &change, err) < 0)
        return -1;
    return nodes_answer_one(req, res, "n.uuid = ?", change.uuid, err);
}

static int close_node(struct request *req, struct response *res, enum node_drain drain, struct error *err)
{
    struct node_cordon cordon = {.ms = req->received_ms,
                                 .reason = json_string_value(json_object_get(req->body, "reason")),
                                 .by = req->caller->name,
                                 .drain = drain};
    return answer(req, res, &cordon, err);
}

int op_cordon_node(struct request *req, struct response *res, struct error *err)
{
    return close_node(req, res, NODE_DRAIN_NONE, err);
}

int op_drain_node(struct request *req, struct response *res, struct error *err)
{
    bool is_forced = json_is_true(json_object_get(req->body, "force"));
    return close_node(req, res, is_forced ? NODE_DRAIN_ALL : NODE_DRAIN_PREEMPTIBLE, err);
}

int op_uncordon_node(struct request *req, struct response *res, struct error *err)
{
    return answer(req, res, &(struct node_cordon){.by = req->caller->name}, err);
}
