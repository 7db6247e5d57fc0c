#include "api/catalog/asset_family.h"

#include "db/catalog/assets.h"

#include <string.h>

static const struct asset_family FAMILIES[] = {
    {ASSET_KIND_COMPUTE, RESOURCE_TYPE_COMPUTE_RESOURCES},
    {ASSET_KIND_ENVIRONMENT, RESOURCE_TYPE_ENVIRONMENTS},
    {"config-map", RESOURCE_TYPE_CM_VOLUME_ASSETS},
    {"git", RESOURCE_TYPE_GIT_ASSETS},
    {"hostPath", RESOURCE_TYPE_HOST_PATH_ASSETS},
    {"nfs", RESOURCE_TYPE_NFS_ASSETS},
    {"pvc", RESOURCE_TYPE_PVC_ASSETS},
    {"s3", RESOURCE_TYPE_S3_ASSETS},
    {"secret-volume", RESOURCE_TYPE_SECRET_VOLUME_ASSETS},
    {"accessKey", RESOURCE_TYPE_CREDENTIALS},
    {"dockerRegistry", RESOURCE_TYPE_CREDENTIALS},
    {"genericSecret", RESOURCE_TYPE_CREDENTIALS},
    {"password", RESOURCE_TYPE_CREDENTIALS},
};

const struct asset_family *asset_family_of(const char *kind)
{
    for (size_t i = 0; i < sizeof(FAMILIES) / sizeof(FAMILIES[0]); i++)
        if (strcmp(FAMILIES[i].kind, kind) == 0)
            return &FAMILIES[i];
    return NULL;
}
