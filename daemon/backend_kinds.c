#include "daemon/backend_kinds.h"

#include "backends/simulated/simulated.h"
#include "daemon/backend_site.h"
#include "daemon/cluster.h"
#include "daemon/kube_backend.h"
#include "daemon/local_backend.h"
#include "daemon/settings.h"
#include "db/db.h"
#include "db/settings.h"
#include "reconciler/reconciler.h"

#include <string.h>

// The simulated backend takes up the history of speeds that the last run left.
static int create_simulated(const struct backend_site *site, struct backend *out_backend, struct error *err)
{
    struct simulated_options options = {.speed = site->settings->speed};
    if (cluster_apply(site->db, site->settings, site->is_new, site->arena, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(site->db);
    int rc = db_find_meta(conn, RECONCILER_CLOCK_META, site->arena, &options.state, err);
    db_give_back(site->db, conn);
    return rc < 0 ? -1 : simulated_create(&options, out_backend, err);
}

static int set_speed(const struct settings *settings, struct reconciler *reconciler, struct error *err)
{
    return reconciler_set_speed(reconciler, settings->speed, err);
}

static const struct backend_kind KINDS[] = {
    {.name = "simulated", .create = create_simulated, .after_start = set_speed},
    {.name = "local", .is_machine = true, .create = local_backend_create},
    {.name = "kubernetes", .create = kube_backend_create},
};

const struct backend_kind *backend_kind_find(const char *name)
{
    for (size_t i = 0; name && i < sizeof(KINDS) / sizeof(KINDS[0]); i++)
        if (strcmp(KINDS[i].name, name) == 0)
            return &KINDS[i];
    return NULL;
}
