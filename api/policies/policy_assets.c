#include "api/policies/policy_assets.h"

#include "base/error.h"
#include "db/catalog/asset_specs.h"
#include "db/catalog/assets.h"
#include "model/asset_spec.h"
#include "model/scope.h"

#include <string.h>

// The parts of a policy of distributed trainings; of others the whole.
static const char *const PARTS[] = {"worker", "master"};

static size_t part_count(enum policy_kind kind)
{
    return kind == POLICY_KIND_DISTRIBUTED ? sizeof(PARTS) / sizeof(PARTS[0]) : 1;
}

static const char *part_name(enum policy_kind kind, size_t part)
{
    return kind == POLICY_KIND_DISTRIBUTED ? PARTS[part] : "";
}

static const json_t *list_of(enum policy_kind kind, const json_t *policy, size_t part)
{
    const json_t *assets = json_object_get(policy, "imposedAssets");
    return kind == POLICY_KIND_DISTRIBUTED ? json_object_get(assets, PARTS[part]) : assets;
}

// 1: a data source; 0: none of that id.
static int find(struct db_conn *conn, const json_t *id, struct arena *arena, struct asset *out, struct error *err)
{
    const char *path_member;
    int rc = db_find_asset(conn, NULL, json_string_value(id), arena, out, err);
    return rc > 0 && !asset_spec_storage(out->kind, &path_member) ? 0 : rc;
}

static int check_list(struct db_conn *conn, const json_t *list, const char *part, const struct scope_path *path,
                      struct arena *arena, struct error *err)
{
    const json_t *id;
    size_t i;
    const char *dot = *part ? "." : "";
    if (json_array_size(list) > POLICY_ASSETS_MAX)
        return error_set(err, ERROR_INVALID, "policy.imposedAssets%s%s: at most %d, got %zu", dot, part,
                         POLICY_ASSETS_MAX, json_array_size(list));
    json_array_foreach((json_t *)(uintptr_t)list, i, id) {
        struct asset asset;
        for (size_t j = 0; j < i; j++)
            if (json_equal(json_array_get(list, j), id))
                return error_set(err, ERROR_INVALID, "policy.imposedAssets%s%s[%zu]: stands twice", dot, part, i);
        int rc = find(conn, id, arena, &asset, err);
        if (rc < 0)
            return -1;
        if (rc == 0 || !scope_path_contains(&asset.path, path))
            return error_set(err, ERROR_INVALID, "policy.imposedAssets%s%s[%zu]: no data source of this id holds here",
                             dot, part, i);
    }
    return 0;
}

int policy_assets_check(struct db_conn *conn, enum policy_kind kind, const json_t *policy,
                        const struct scope_path *path, struct arena *arena, struct error *err)
{
    for (size_t part = 0; part < part_count(kind); part++)
        if (check_list(conn, list_of(kind, policy, part), part_name(kind, part), path, arena, err) < 0)
            return -1;
    return 0;
}

static json_t *open_member(json_t *object, const char *name)
{
    json_t *inner = json_object_get(object, name);
    if (!inner) {
        inner = json_object();
        json_object_set_new(object, name, inner);
    }
    return inner;
}

static void add_instances(json_t *defaults, const json_t *spec)
{
    const char *list;
    json_t *items;
    json_object_foreach(json_object_get(spec, "storage"), list, items) {
        json_t *field = open_member(open_member(defaults, "storage"), list);
        json_t *instances = json_object_get(field, "instances");
        if (!instances) {
            instances = json_array();
            json_object_set_new(field, "instances", instances);
        }
        json_array_extend(instances, items);
    }
}

static int read_list(struct db_conn *conn, const json_t *list, struct arena *arena, json_t *defaults, struct error *err)
{
    const json_t *id;
    size_t i;
    json_array_foreach((json_t *)(uintptr_t)list, i, id) {
        struct asset asset;
        json_t *spec;
        int rc = find(conn, id, arena, &asset, err);
        if (rc < 0 || (rc > 0 && asset_spec_read(conn, &asset, NULL, arena, &spec, err) < 0))
            return -1;
        if (rc == 0)
            continue;
        add_instances(defaults, spec);
        json_decref(spec);
    }
    return 0;
}

int policy_assets_read(struct db_conn *conn, enum policy_kind kind, const json_t *policy, struct arena *arena,
                       json_t **out_defaults, struct error *err)
{
    *out_defaults = NULL;
    if (!json_object_get(policy, "imposedAssets"))
        return 0;
    json_t *defaults = json_object();
    int rc = 0;
    for (size_t part = 0; rc == 0 && part < part_count(kind); part++) {
        const char *name = part_name(kind, part);
        rc = read_list(conn, list_of(kind, policy, part), arena, *name ? open_member(defaults, name) : defaults, err);
    }
    if (rc < 0)
        json_decref(defaults);
    else
        *out_defaults = defaults;
    return rc;
}
