#include "api/catalog/asset_family.h"

#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "db/catalog/assets.h"

#include <string.h>

#define SOURCE ASSET_GROUP_DATA_SOURCE
#define CREDENTIAL RESOURCE_TYPE_CREDENTIALS, ASSET_GROUP_CREDENTIAL

static const struct asset_family FAMILIES[] = {
    {ASSET_KIND_COMPUTE, RESOURCE_TYPE_COMPUTE_RESOURCES, ASSET_GROUP_COMPUTE, "compute", NULL},
    {ASSET_KIND_ENVIRONMENT, RESOURCE_TYPE_ENVIRONMENTS, ASSET_GROUP_ENVIRONMENT, "environment", NULL},
    {"config-map", RESOURCE_TYPE_CM_VOLUME_ASSETS, SOURCE, "config-map", "configMap"},
    {"git", RESOURCE_TYPE_GIT_ASSETS, SOURCE, "git", "git"},
    {"hostPath", RESOURCE_TYPE_HOST_PATH_ASSETS, SOURCE, "host-path", "hostPath"},
    {"nfs", RESOURCE_TYPE_NFS_ASSETS, SOURCE, "nfs", "nfs"},
    {"pvc", RESOURCE_TYPE_PVC_ASSETS, SOURCE, "pvc", "pvc"},
    {"s3", RESOURCE_TYPE_S3_ASSETS, SOURCE, "s3", "s3"},
    {"secret-volume", RESOURCE_TYPE_SECRET_VOLUME_ASSETS, SOURCE, "secrets", "secret"},
    {"accessKey", CREDENTIAL, "access-key", "accessKey"},
    {"dockerRegistry", CREDENTIAL, "docker-registry", "dockerRegistry"},
    {"genericSecret", CREDENTIAL, "generic-secret", "genericSecret"},
    {"ngcApiKey", CREDENTIAL, "ngc-api-key", "ngcApiKey"},
    {"password", CREDENTIAL, "password", "password"},
};

enum {
    FAMILY_COUNT = sizeof(FAMILIES) / sizeof(FAMILIES[0])
};

const struct asset_family *asset_family_of(const char *kind)
{
    for (size_t i = 0; i < FAMILY_COUNT; i++)
        if (strcmp(FAMILIES[i].kind, kind) == 0)
            return &FAMILIES[i];
    return NULL;
}

const struct asset_family *asset_family_at(enum asset_group group, const char *path)
{
    for (size_t i = 0; i < FAMILY_COUNT; i++)
        if (FAMILIES[i].group == group && strcmp(FAMILIES[i].path, path) == 0)
            return &FAMILIES[i];
    return NULL;
}

bool asset_family_is_allowed(const struct request *req, const struct asset_family *family, enum access_action action)
{
    struct permission_set held;
    access_permissions(req->caller, &held);
    return held.actions[family->type] & action;
}
