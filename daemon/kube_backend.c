#include "daemon/kube_backend.h"

#include "backends/kubernetes/config/kube_config.h"
#include "backends/kubernetes/kubernetes.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "daemon/data_folder.h"
#include "daemon/first_start.h"
#include "daemon/settings.h"
#include "db/db.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int find_instance(struct db *db, struct arena *arena, const char **out_uuid, struct error *err)
{
    static const char SQL[] = "SELECT uuid FROM clusters ORDER BY id LIMIT 1";
    sqlite3_stmt *stmt;
    int rc = -1;
    struct db_conn *conn = db_acquire(db);
    if (db_prepare(conn, SQL, &stmt, err) == 0) {
        rc = db_step(conn, stmt, err);
        *out_uuid = rc == 1 ? db_column_text(stmt, 0, arena) : "";
        db_release(conn, stmt);
    }
    db_give_back(db, conn);
    return rc < 0 ? -1 : 0;
}

// A restart in the same folder of the same machine is us again, for the folder's lock says that the one before is dead.
// A copy of the folder is somebody else.
static const char *name_holder(const struct data_folder *folder, struct arena *arena)
{
    struct stat about = {0};
    char machine[HOST_NAME_MAX + 1] = "";
    if (gethostname(machine, sizeof(machine) - 1) < 0 || stat(folder->path, &about) < 0)
        return arena_printf(arena, "%s-%ld", machine, (long)getpid());
    return arena_printf(arena, "%s-%llx-%llx", machine, (unsigned long long)about.st_dev,
                        (unsigned long long)about.st_ino);
}

int kube_backend_create(const struct backend_site *site, struct backend *out_backend, struct error *err)
{
    const struct settings *settings = site->settings;
    struct kube_config_source source = {.kubeconfig = settings->kubeconfig, .context = settings->kube_context};
    struct kubernetes_options options = {.vault = site->vault,
                                         .places = site->places,
                                         .finished_ms = (int64_t)(settings->kube_finished_h * 3600000),
                                         .respects_budgets = settings->kube_respect_budgets,
                                         .holder = name_holder(site->folder, site->arena)};
    struct kube_config *config;
    char server[LOG_TEXT_SIZE], origin[LOG_TEXT_SIZE];
    if (find_instance(site->db, site->arena, &options.instance, err) < 0 ||
        first_start_name_cluster(site->db, "kubernetes", err) < 0 || kube_config_load(&source, &config, err) < 0)
        return -1;
    const char *address = strstr(config->server, "://");
    log_write(LOG_INFO, "backends", "pods run in a Kubernetes cluster server=%s from=%s instance=%s",
              log_text(address ? address + 3 : config->server, server), log_text(config->origin, origin),
              options.instance);
    return kubernetes_create(config, &options, out_backend, err);
}
