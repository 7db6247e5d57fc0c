#include "daemon/kube_backend.h"

#include "backends/kubernetes/config/kube_config.h"
#include "backends/kubernetes/kubernetes.h"
#include "base/error.h"
#include "base/log.h"
#include "daemon/first_start.h"
#include "daemon/settings.h"
#include "db/db.h"

#include <string.h>

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

int kube_backend_create(const struct backend_site *site, struct backend *out_backend, struct error *err)
{
    const struct settings *settings = site->settings;
    struct kube_config_source source = {.kubeconfig = settings->kubeconfig, .context = settings->kube_context};
    struct kubernetes_options options = {0};
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
