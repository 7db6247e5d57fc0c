#include "model/scope.h"

#include <string.h>

static const char *const SCOPE_TYPES[SCOPE_TYPE_COUNT] = {"system", "tenant", "cluster", "department", "project"};

const char *scope_type_text(enum scope_type type)
{
    return SCOPE_TYPES[type];
}

bool scope_type_parse(const char *text, enum scope_type *out_type)
{
    for (size_t i = 0; text && i < SCOPE_TYPE_COUNT; i++) {
        if (strcmp(text, SCOPE_TYPES[i]) != 0)
            continue;
        *out_type = (enum scope_type)i;
        return true;
    }
    return false;
}

bool scope_path_contains(const struct scope_path *outer, const struct scope_path *inner)
{
    return (!outer->cluster_id || outer->cluster_id == inner->cluster_id) &&
           (!outer->department_id || outer->department_id == inner->department_id) &&
           (!outer->project_id || outer->project_id == inner->project_id);
}

static bool has_id(const int64_t *ids, size_t count, int64_t id)
{
    for (size_t i = 0; id && i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

bool scope_filter_shows(const struct scope_filter *filter, const struct scope_path *path)
{
    return filter->is_all || has_id(filter->cluster_ids, filter->cluster_count, path->cluster_id) ||
           has_id(filter->department_ids, filter->department_count, path->department_id) ||
           has_id(filter->project_ids, filter->project_count, path->project_id);
}
