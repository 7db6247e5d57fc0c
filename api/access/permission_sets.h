// Permission sets: rights that go together, from which roles are made. They are fixed; their ids never change.
#pragma once
#include "api/access/roles.h"

struct permission_bundle {
    const char *id; // a uuid
    const char *name;
    const char *description;
    struct permission_set permissions;
};

// By id or by name; NULL where there is none.
const struct permission_bundle *permission_bundle_find(const char *id_or_name);
const struct permission_bundle *permission_bundle_at(size_t index); // NULL past the last
