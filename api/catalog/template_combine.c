#include "api/catalog/template_combine.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/catalog/asset_specs.h"
#include "db/catalog/assets.h"
#include "db/catalog/templates.h"
#include "model/asset_spec.h"
#include "model/spec_layers.h"
#include "model/workload_spec.h"

#include <string.h>

struct combining {
    struct db_conn *conn;
    struct arena *arena;
    const char *issue; // the first; NULL: none yet
    struct error *err;
};

// One section: the specification of the workers, or the master's.
struct section {
    const char *member; // "spec", "masterSpec"
    const json_t *own, *assets;
    json_t *combined, *sources;
};

static json_t *load(const char *text)
{
    return text ? json_loads(text, 0, NULL) : NULL;
}

static const char *kind_from(const char *kind)
{
    return !strcmp(kind, ASSET_KIND_COMPUTE) || !strcmp(kind, ASSET_KIND_ENVIRONMENT) ? kind : "datasource";
}

// kind is what the asset must be; NULL: a data source of any kind.
static int lay_asset(struct combining *combining, const struct section *section, const char *kind, const char *uuid,
                     const char *path)
{
    struct asset asset;
    const char *path_member;
    int rc = db_find_asset(combining->conn, kind, uuid, combining->arena, &asset, combining->err);
    if (rc < 0)
        return -1;
    if (rc == 0 || (!kind && !asset_spec_storage(asset.kind, &path_member))) {
        if (!combining->issue)
            combining->issue = arena_printf(combining->arena, "the %s %s that it is made from is gone",
                                            kind ? kind : "data source", uuid);
        return 0;
    }
    json_t *spec;
    if (asset_spec_read(combining->conn, &asset, path, combining->arena, &spec, combining->err) < 0)
        return -1;
    struct spec_layer layer = {spec, kind_from(asset.kind), asset.uuid, asset.name};
    spec_layers_lay(section->combined, section->sources, &layer, combining->arena);
    json_decref(spec);
    return 0;
}

static int lay_named(struct combining *combining, const struct section *section, const char *kind)
{
    const char *uuid = json_string_value(json_object_get(section->assets, kind));
    return uuid ? lay_asset(combining, section, kind, uuid, NULL) : 0;
}

static int lay_assets(struct combining *combining, const struct section *section)
{
    json_t *source;
    size_t i;
    if (lay_named(combining, section, ASSET_KIND_ENVIRONMENT) < 0 ||
        lay_named(combining, section, ASSET_KIND_COMPUTE) < 0)
        return -1;
    json_array_foreach(json_object_get(section->assets, "datasources"), i, source) {
        const char *uuid = json_string_value(json_object_get(source, "id"));
        const json_t *overrides = json_object_get(source, "overrides");
        const char *path = json_string_value(json_object_get(overrides, "containerPath"));
        if (uuid && lay_asset(combining, section, NULL, uuid, path) < 0)
            return -1;
    }
    return 0;
}

static int combine_section(struct combining *combining, const struct section *section,
                           const struct workload_template *template)
{
    if (lay_assets(combining, section) < 0)
        return -1;
    struct spec_layer own = {section->own, "template", template->uuid, template->name};
    spec_layers_lay(section->combined, section->sources, &own, combining->arena);
    return 0;
}

// As a submission without a word of its own would be checked.
static void check(struct combining *combining, const struct workload_template *template, const json_t *spec,
                  const json_t *master)
{
    enum workload_type type;
    struct workload_spec read;
    struct error cause = {0};
    if (combining->issue || !workload_type_parse(template->workload_type, &type))
        return;
    json_t *body = json_object();
    json_object_set_new(body, "spec", json_deep_copy(spec));
    if (master)
        json_object_set_new(body, "masterSpec", json_deep_copy(master));
    if (template->is_master_same >= 0)
        json_object_set_new(body, "masterSpecSameAsWorker", json_boolean(template->is_master_same));
    if (workload_spec_read(body, type, combining->arena, &read, &cause) < 0)
        combining->issue = arena_strdup(combining->arena, cause.message);
    json_decref(body);
}

static void store(struct workload_template *template, const struct section *workers, const struct section *master,
                  struct arena *arena)
{
    json_t *sources = json_object();
    json_object_set_new(sources, workers->member, json_incref(workers->sources));
    if (master)
        json_object_set_new(sources, master->member, json_incref(master->sources));
    template->combined_spec_json = workload_spec_text(workers->combined, arena);
    template->combined_master_json = master ? workload_spec_text(master->combined, arena) : NULL;
    template->sources_json = workload_spec_text(sources, arena);
    json_decref(sources);
}

int template_combine(struct db_conn *conn, struct workload_template *template, struct arena *arena, struct error *err)
{
    struct combining combining = {.conn = conn, .arena = arena, .err = err};
    json_t *own = load(template->spec_json), *assets = load(template->assets_json);
    json_t *master_section = load(template->master_json);
    struct section workers = {"spec", own, assets, json_object(), json_object()};
    struct section master = {"masterSpec", json_object_get(master_section, "spec"),
                             json_object_get(master_section, "assets"), json_object(), json_object()};
    int rc = combine_section(&combining, &workers, template);
    if (rc == 0 && master_section)
        rc = combine_section(&combining, &master, template);
    if (rc == 0) {
        check(&combining, template, workers.combined, master_section ? master.combined : NULL);
        store(template, &workers, master_section ? &master : NULL, arena);
        template->issue = combining.issue ? combining.issue : "";
    }
    json_t *const made[] = {own,           assets, master_section, workers.combined, workers.sources, master.combined,
                            master.sources};
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
        json_decref(made[i]);
    return rc;
}

int template_combine_assets(struct db_conn *conn, const json_t *assets, struct arena *arena, const char **out_spec_json,
                            struct error *err)
{
    struct combining combining = {.conn = conn, .arena = arena, .err = err};
    struct section section = {.member = "spec", .assets = assets, .combined = json_object()};
    int rc = lay_assets(&combining, &section);
    if (rc == 0 && combining.issue)
        rc = error_set(err, ERROR_INVALID, "assets: %s", combining.issue);
    if (rc == 0)
        *out_spec_json = workload_spec_text(section.combined, arena);
    json_decref(section.combined);
    return rc;
}

static void add_uuid(const json_t *value, struct arena *arena, const char **uuids, size_t *count)
{
    if (json_is_string(value))
        uuids[(*count)++] = arena_strdup(arena, json_string_value(value));
}

static void list_assets(const json_t *assets, struct arena *arena, const char **uuids, size_t *count)
{
    json_t *source;
    size_t i;
    add_uuid(json_object_get(assets, ASSET_KIND_ENVIRONMENT), arena, uuids, count);
    add_uuid(json_object_get(assets, ASSET_KIND_COMPUTE), arena, uuids, count);
    json_array_foreach(json_object_get(assets, "datasources"), i, source) {
        if (i < TEMPLATE_DATA_SOURCES_MAX)
            add_uuid(json_object_get(source, "id"), arena, uuids, count);
    }
}

int template_store_assets(struct db_conn *conn, const struct workload_template *template, struct arena *arena,
                          struct error *err)
{
    const char **uuids = arena_array(arena, 2 * (size_t)(TEMPLATE_DATA_SOURCES_MAX + 2), sizeof(*uuids));
    size_t count = 0;
    json_t *assets = load(template->assets_json), *master = load(template->master_json);
    list_assets(assets, arena, uuids, &count);
    list_assets(json_object_get(master, "assets"), arena, uuids, &count);
    json_decref(assets);
    json_decref(master);
    return db_set_template_assets_in(conn, template->id, uuids, count, err);
}

int template_refresh(struct db_conn *conn, const char *asset_uuid, struct arena *arena, struct error *err)
{
    struct workload_template *templates;
    size_t count;
    if (db_list_templates_of_asset(conn, asset_uuid, arena, &templates, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (template_combine(conn, &templates[i], arena, err) < 0 ||
            db_set_template_combined_in(conn, &templates[i], err) < 0)
            return -1;
    return 0;
}
