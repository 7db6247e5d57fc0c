// The storage classes that volume claims may name, in the three forms that releases of Run:ai have.
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/clusters.h"
#include "db/db.h"
#include "model/names.h"
#include "reconciler/reconciler.h"

#include <string.h>

enum form {
    FORM_V1,
    FORM_V2,
    FORM_NAMES // of the paths of clusters: names alone
};

// Whose classes are asked for, by default those of the cluster that the backend runs: of any other none are known.
// ERROR_NOT_FOUND: there is no such cluster.
static int find_cluster(struct request *req, const char *wanted, const char **out_uuid, bool *out_runs,
                        struct error *err)
{
    struct cluster cluster;
    *out_uuid = reconciler_cluster_uuid(req->server->reconciler, req->arena);
    *out_runs = !wanted || strcmp(wanted, *out_uuid) == 0;
    if (*out_runs)
        return 0;
    *out_uuid = wanted;
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_cluster(conn, wanted, req->arena, &cluster, err);
    db_give_back(req->server->db, conn);
    return rc;
}

static void write(struct json_writer *json, enum form form, const struct reconciler_storage_class *class,
                  const char *cluster_uuid)
{
    bool is_new = form == FORM_V2;
    if (form == FORM_NAMES) {
        json_value_text(json, class->name);
        return;
    }
    json_begin_object(json);
    json_text(json, is_new ? "clusterId" : "cluster_id", cluster_uuid);
    json_text(json, is_new ? "storageClassName" : "storage_class_name", class->name);
    json_key(json, is_new ? "spec" : "Spec");
    json_begin_object(json);
    json_text(json, "provisioner", class->provisioner);
    json_bool(json, is_new ? "allowVolumeExpansion" : "allow_volume_expansion", class->can_expand);
    json_bool(json, is_new ? "isDefault" : "is_default", class->is_default);
    json_end_object(json);
    json_end_object(json);
}

static int list(struct request *req, struct response *res, enum form form, const char *cluster, struct error *err)
{
    static const struct reconciler_storage_class NONE = {STORAGE_CLASS_NONE, "kubernetes.io/no-provisioner", false,
                                                         false};
    const char *name = request_query(req, "name"), *uuid;
    struct reconciler_storage_class *classes;
    struct json_writer json;
    size_t count = 0;
    bool runs;
    if (find_cluster(req, cluster, &uuid, &runs, err) < 0 ||
        (runs && reconciler_list_storage_classes(req->server->reconciler, req->arena, &classes, &count, err) < 0))
        return -1;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_key(&json, form == FORM_NAMES ? "storageClasses" : "items");
    json_begin_array(&json);
    for (size_t i = 0; i < count; i++)
        if (!name || strcmp(name, classes[i].name) == 0)
            write(&json, form, &classes[i], uuid);
    if (request_query_boolean(req, "includeNone") && (!name || strcmp(name, NONE.name) == 0))
        write(&json, form, &NONE, uuid);
    json_end_array(&json);
    json_end_object(&json);
    return 0;
}

int op_get_storage_classes(struct request *req, struct response *res, struct error *err)
{
    return list(req, res, FORM_V1, request_query(req, "clusterId"), err);
}

int op_get_storage_classes_v2(struct request *req, struct response *res, struct error *err)
{
    return list(req, res, FORM_V2, request_query(req, "clusterId"), err);
}

int op_v1_get_storage_classes(struct request *req, struct response *res, struct error *err)
{
    return list(req, res, FORM_NAMES, request_path(req, "clusterUuid"), err);
}
