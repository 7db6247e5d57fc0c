// The kinds of assets, and the resource that permissions on each are about.
#pragma once
#include "api/access/roles.h"

struct error;
struct request;

enum asset_group {
    ASSET_GROUP_COMPUTE,
    ASSET_GROUP_ENVIRONMENT,
    ASSET_GROUP_DATA_SOURCE,
    ASSET_GROUP_CREDENTIAL
};

struct asset_family {
    const char *kind; // ASSET_KIND_...: static text
    enum resource_type type;
    enum asset_group group;
    const char *path;   // the word for it in URLs
    const char *within; // the member that has its specification in lists of several kinds
};

// NULL for what is no kind of asset.
const struct asset_family *asset_family_of(const char *kind);
// By the word in the URL; NULL for what is none of the group.
const struct asset_family *asset_family_at(enum asset_group group, const char *path);
// Whether the caller may do this to assets of the kind anywhere.
bool asset_family_is_allowed(const struct request *req, const struct asset_family *family, enum access_action action);
