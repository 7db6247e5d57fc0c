// The kinds of assets, and the resource that permissions on each are about.
#pragma once
#include "api/access/roles.h"

struct asset_family {
    const char *kind; // ASSET_KIND_...: static text
    enum resource_type type;
};

// NULL for what is no kind of asset.
const struct asset_family *asset_family_of(const char *kind);
