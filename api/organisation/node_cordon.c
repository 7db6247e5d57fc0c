// POST /nodes/{id}/cordon and /uncordon: nothing new is placed on a node until somebody takes that back. What runs
// stays.
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
    const char *reason; // NULL: it goes
};

// What the backend itself closed only the backend opens: in Kubernetes kubectl uncordon, else the cluster file.
static int check_is_ours(const struct node *node, struct error *err)
{
    if (node->cordon_ms || !node->is_cordoned)
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
        (!change->reason && check_is_ours(&node, err) < 0))
        return -1;
    if (!change->reason && !node.cordon_ms)
        return 0;
    return db_set_node_cordon(conn, change->uuid, change->reason, req->caller->name, req->received_ms, err);
}

static int answer(struct request *req, struct response *res, const char *reason, struct error *err)
{
    struct cordon_change change = {req, request_path(req, "nodeId"), reason};
    if (access_check_whole_cluster(req, RESOURCE_TYPE_NODES, ACTION_UPDATE, "nodes", err) < 0 ||
        db_write(req->server->db, change_cordon, &change, err) < 0)
        return -1;
    return nodes_answer_one(req, res, "n.uuid = ?", change.uuid, err);
}

int op_cordon_node(struct request *req, struct response *res, struct error *err)
{
    return answer(req, res, json_string_value(json_object_get(req->body, "reason")), err);
}

int op_uncordon_node(struct request *req, struct response *res, struct error *err)
{
    return answer(req, res, NULL, err);
}
