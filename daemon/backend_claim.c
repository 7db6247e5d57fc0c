#include "daemon/backend_claim.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "daemon/settings.h"
#include "db/db.h"
#include "db/nodes.h"
#include "db/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    NAMED_MAX = 5
};

struct claim {
    const struct settings *settings;
    struct arena *arena;
    const char *before; // the backend that it belonged to
    bool has_changed;
};

static const char SQL_RUNNING[] =
    "SELECT DISTINCT w.name, p.name FROM pods d JOIN workloads w ON w.id = d.workload_id JOIN projects p ON "
    "p.id = w.project_id WHERE d.deleted_ms = 0 AND d.status IN ('Binding', 'Bound', 'Running', 'Releasing') "
    "ORDER BY p.name, w.name";

// Names them: the first of them, and how many there are in all.
static int check_nothing_runs(struct db_conn *conn, const struct claim *claim, struct error *err)
{
    sqlite3_stmt *stmt;
    const char *names = "";
    int64_t count = 0;
    int rc;
    if (db_prepare(conn, SQL_RUNNING, &stmt, err) < 0)
        return -1;
    while ((rc = db_step(conn, stmt, err)) == 1)
        if (count++ < NAMED_MAX)
            names = arena_printf(claim->arena, "%s%s%s of %s", names, *names ? ", " : "",
                                 db_column_text(stmt, 0, claim->arena), db_column_text(stmt, 1, claim->arena));
    db_release(conn, stmt);
    if (rc < 0 || count == 0)
        return rc;
    return error_set(err, ERROR_INVALID, "--change-backend: %" PRId64 " workloads still run with %s: %s%s", count,
                     claim->before, names, count > NAMED_MAX ? ", ..." : "");
}

static int remove_nodes(struct db_conn *conn, const struct claim *claim, struct error *err)
{
    struct node *nodes;
    size_t count;
    int64_t cluster_id, now_ms = timestamp_now_ms();
    if (db_read_number(conn, "SELECT min(id) FROM clusters", &cluster_id, err) < 0 ||
        db_list_nodes(conn, cluster_id, claim->arena, &nodes, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (db_remove_node(conn, cluster_id, nodes[i].name, now_ms, err) < 0)
            return -1;
    return 0;
}

static int write_claim(struct db_conn *conn, void *context, struct error *err)
{
    static const char KEY[] = "backend";
    struct claim *claim = context;
    const char *wanted = claim->settings->backend;
    if (db_find_meta(conn, KEY, claim->arena, &claim->before, err) < 0)
        return -1;
    if (claim->before && strcmp(claim->before, wanted) == 0)
        return 0;
    claim->has_changed = claim->before != NULL;
    if (claim->has_changed && !claim->settings->change_backend) {
        error_set(err, ERROR_INVALID, "the data folder belongs to the backend %s, not to %s: take another",
                  claim->before, wanted);
        snprintf(err->details, sizeof(err->details), "--change-backend takes it over once nothing runs");
        return -1;
    }
    if (claim->has_changed && (check_nothing_runs(conn, claim, err) < 0 || remove_nodes(conn, claim, err) < 0))
        return -1;
    return db_set_meta_in(conn, KEY, wanted, err);
}

int backend_claim_folder(struct db *db, const struct settings *settings, struct arena *arena, bool *out_has_changed,
                         struct error *err)
{
    struct claim claim = {.settings = settings, .arena = arena};
    if (db_write(db, write_claim, &claim, err) < 0)
        return -1;
    *out_has_changed = claim.has_changed;
    if (claim.has_changed)
        log_write(LOG_INFO, "daemon", "the data folder has gone over from=%s to=%s", claim.before, settings->backend);
    return 0;
}
