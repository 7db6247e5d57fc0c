// The fair-share tree of a node pool, and the order in which those who wait for it are tried.
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/scheduling/present_answer.h"
#include "api/server.h"
#include "base/error.h"
#include "reconciler/questions.h"

#include <string.h>

// The present, and the place in it of the node pool that the request names.
static int open_pool(struct request *req, struct present *present, uint32_t *out_pool, struct error *err)
{
    const char *name = request_query(req, "nodePool");
    if (present_ask(req, present, err) < 0)
        return -1;
    for (uint32_t i = 0; i < present->snapshot.node_pool_count; i++)
        if (strcmp(present->snapshot.node_pools[i].name, name) == 0) {
            *out_pool = i;
            return 0;
        }
    present_close(present);
    return error_set(err, ERROR_NOT_FOUND, "node pool %.60s: not found", name);
}

int op_get_scheduler_fairshare(struct request *req, struct response *res, struct error *err)
{
    static const char *const RESOURCES[RESOURCE_COUNT] = {"gpu", "cpu", "memory"};
    struct present present;
    struct share_tree *tree;
    uint32_t pool;
    enum resource resource = RESOURCE_GPU;
    for (int i = 0; i < RESOURCE_COUNT; i++)
        if (strcmp(RESOURCES[i], request_query(req, "resource")) == 0)
            resource = (enum resource)i;
    if (open_pool(req, &present, &pool, err) < 0)
        return -1;
    int rc = present_share_tree(&present, pool, resource, &tree, err);
    if (rc == 0) {
        struct present_answer answer;
        present_answer_open(&answer, req, res, &present);
        why_write_share_tree(&answer.json, &answer.names, tree);
        present_answer_close(&answer);
    }
    present_close(&present);
    return rc;
}

int op_get_scheduler_queue(struct request *req, struct response *res, struct error *err)
{
    struct present present;
    struct queue_listing *listing;
    uint32_t pool;
    if (open_pool(req, &present, &pool, err) < 0)
        return -1;
    int rc = present_queue_order(&present, pool, &listing, err);
    if (rc == 0) {
        struct present_answer answer;
        present_answer_open(&answer, req, res, &present);
        size_t offset = (size_t)request_query_integer(req, "offset", 0);
        size_t limit = (size_t)request_query_integer(req, "limit", 50);
        for (size_t i = offset; i < listing->count && i - offset < limit; i++)
            visibility_expect(&answer.visibility, listing->entries[i].workload);
        why_write_queue_order(&answer.json, &answer.names, listing, offset, limit);
        present_answer_close(&answer);
    }
    present_close(&present);
    return rc;
}
