#include "db/org_seed.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/clusters.h"
#include "db/db.h"

static const char SQL_CLUSTER[] = "SELECT id FROM clusters ORDER BY id LIMIT 1";

int org_seed(struct db_conn *conn, const char *cluster_name, const char *version, int64_t now_ms,
             int64_t *out_cluster_id, struct error *err)
{
    struct arena arena;
    arena_init(&arena);
    int64_t id = 0;
    int rc = db_read_number(conn, SQL_CLUSTER, &id, err);
    if (rc < 0 || id)
        goto done;
    struct cluster cluster = {.name = cluster_name,
                              .state = "Connected",
                              .version = version,
                              .created_ms = now_ms,
                              .updated_ms = now_ms,
                              .last_seen_ms = now_ms};
    rc = db_create_cluster(conn, &cluster, "prorata", &arena, err);
    id = cluster.id;
done:
    arena_done(&arena);
    if (rc == 0)
        *out_cluster_id = id;
    return rc;
}
