#include "daemon/first_start.h"

#include "api/access/auth.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "db/audit/heads.h"
#include "db/clusters.h"
#include "db/db.h"
#include "db/node_pools.h"
#include "db/org_seed.h"
#include "db/org_units.h"
#include "db/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SEEDED_CLUSTER_NAME "simulated"

struct seed {
    struct arena *arena;
    bool is_first;
    bool is_again; // one before was not done
    int64_t cluster_id;
};

static int seed_organisation(struct db_conn *conn, void *context, struct error *err)
{
    struct seed *seed = context;
    int64_t clusters;
    const char *mark;
    if (db_read_number(conn, "SELECT count(*) FROM clusters", &clusters, err) < 0 ||
        db_find_meta(conn, DB_FIRST_START_META, seed->arena, &mark, err) < 0)
        return -1;
    seed->is_first = clusters == 0;
    seed->is_again = seed->is_first && mark;
    if (seed->is_first && db_set_meta_in(conn, DB_FIRST_START_META, DB_FIRST_START_BEGUN, err) < 0)
        return -1;
    return org_seed(conn, SEEDED_CLUSTER_NAME, PRORATA_VERSION, timestamp_now_ms(), &seed->cluster_id, err);
}

// The heads of an audit whose records are gone.
static int forget_heads(const char *folder, struct arena *arena, struct error *err)
{
    const char *path = arena_printf(arena, "%s/" AUDIT_HEADS_FILE, folder);
    log_write(LOG_INFO, "daemon", "the first start of this folder was not done: it begins again");
    return unlink(path) < 0 && errno != ENOENT ? error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno)) : 0;
}

int first_start_seed(struct db *db, struct auth *auth, const char *folder, struct arena *arena,
                     const char **out_password, bool *out_is_first, struct error *err)
{
    struct seed seed = {.arena = arena};
    const char *password = getenv("PRORATA_ADMIN_PASSWORD");
    if (db_write(db, seed_organisation, &seed, err) < 0 || (seed.is_again && forget_heads(folder, arena, err) < 0) ||
        auth_seed(db, auth, password && *password ? password : NULL, timestamp_now_ms(), arena, out_password, err) < 0)
        return -1;
    *out_is_first = seed.is_first;
    return 0;
}

static int end(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    return db_set_meta_in(conn, DB_FIRST_START_META, "done", err);
}

int first_start_end(struct db *db, struct error *err)
{
    return db_write(db, end, NULL, err);
}

static const char SQL_NEVER_RENAMED[] =
    "SELECT id FROM clusters WHERE name = '" SEEDED_CLUSTER_NAME "' AND updated_ms = created_ms";

static int name_cluster(struct db_conn *conn, void *context, struct error *err)
{
    int64_t id;
    if (db_read_number(conn, SQL_NEVER_RENAMED, &id, err) < 0)
        return -1;
    return id ? db_rename_cluster(conn, id, context, NULL, timestamp_now_ms(), err) : 0;
}

int first_start_name_cluster(struct db *db, const char *name, struct error *err)
{
    char machine[HOST_NAME_MAX + 1] = "";
    if (!name && (gethostname(machine, sizeof(machine) - 1) < 0 || !machine[0]))
        return 0; // it keeps the name that it has
    return db_write(db, name_cluster, name ? (char *)name : machine, err);
}

// A unit with some GPUs of the default pool as quota, and everything else as a new unit gets it.
struct demo_unit {
    enum org_unit_kind kind;
    const char *name;
    int64_t gpu_milli;
};

struct demo {
    enum first_start_extras extras;
    struct arena *arena;
};

static const struct demo_unit QUOTA_UNITS[] = {
    {ORG_UNIT_DEPARTMENT, "research", 4000},
    {ORG_UNIT_PROJECT, "team-a", 2000},
    {ORG_UNIT_PROJECT, "team-b", 2000},
};

static const struct demo_unit PREEMPTION_UNITS[] = {
    {ORG_UNIT_DEPARTMENT, "research", 8000},
    {ORG_UNIT_PROJECT, "project-a", 4000},
    {ORG_UNIT_PROJECT, "project-b", 4000},
};

enum {
    DEMO_UNITS = sizeof(QUOTA_UNITS) / sizeof(QUOTA_UNITS[0])
};
_Static_assert(sizeof(QUOTA_UNITS) == sizeof(PREEMPTION_UNITS), "both demos have the same number of units");

static int create_demo_units(struct db_conn *conn, const struct demo *demo, int64_t cluster_id, struct error *err)
{
    const struct demo_unit *units = demo->extras == EXTRAS_QUOTA ? QUOTA_UNITS : PREEMPTION_UNITS;
    int64_t pool_id, department_id = 0, now_ms = timestamp_now_ms();
    if (db_find_default_node_pool(conn, cluster_id, &pool_id, err) < 0)
        return -1;
    for (size_t i = 0; i < DEMO_UNITS; i++) {
        json_t *resources = json_pack("[{s:{s:s}, s:{s:f}, s:{}, s:{s:s}}]", "nodePool", "id",
                                      arena_printf(demo->arena, "%" PRId64, pool_id), "gpu", "deserved",
                                      (double)units[i].gpu_milli / 1000, "cpu", "memory", "units", "MB");
        struct org_unit unit = {
            .kind = units[i].kind,
            .cluster_id = cluster_id,
            .name = units[i].name,
            .description = "made for the quick starts",
            .phase = "Ready",
            .created_by = "prorata",
            .updated_by = "prorata",
            .created_ms = now_ms,
            .updated_ms = now_ms,
            .department_id = department_id,
        };
        int rc = db_create_org_unit(conn, &unit, resources, demo->arena, err);
        json_decref(resources);
        if (rc < 0)
            return error_prefix(err, "%s: ", units[i].name);
        if (unit.kind == ORG_UNIT_DEPARTMENT)
            department_id = unit.id;
    }
    return 0;
}

static int finish(struct db_conn *conn, void *context, struct error *err)
{
    const struct demo *demo = context;
    int64_t cluster_id;
    if (db_read_number(conn, "SELECT min(id) FROM clusters", &cluster_id, err) < 0)
        return -1;
    return create_demo_units(conn, demo, cluster_id, err);
}

int first_start_finish(struct db *db, enum first_start_extras extras, struct arena *arena, struct error *err)
{
    struct demo demo = {extras, arena};
    return extras == EXTRAS_NONE ? 0 : db_write(db, finish, &demo, err);
}
