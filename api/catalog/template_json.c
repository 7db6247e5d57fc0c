#include "api/catalog/template_json.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/catalog/templates.h"
#include "model/workload_spec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void write_place(struct json_writer *json, const struct workload_template *template)
{
    bool is_tenant = template->scope <= SCOPE_TENANT;
    json_text(json, "scopeType", scope_type_text(template->scope));
    if (is_tenant) {
        char tenant[24];
        snprintf(tenant, sizeof(tenant), "%d", TENANT_ID);
        json_text(json, "scopeId", tenant);
    } else {
        json_text(json, "scopeId", template->scope_id);
    }
    if (template->scope == SCOPE_CLUSTER)
        json_text(json, "clusterId", template->scope_id);
    if (template->scope == SCOPE_DEPARTMENT)
        json_text(json, "departmentId", template->scope_id);
    if (template->scope == SCOPE_PROJECT)
        json_int(json, "projectId", template->path.project_id);
}

static void write_meta(struct json_writer *json, const struct workload_template *template)
{
    json_key(json, "meta");
    json_begin_object(json);
    json_text(json, "id", template->uuid);
    json_text(json, "name", template->name);
    if (*template->description)
        json_text(json, "description", template->description);
    json_text(json, "workloadType", template->workload_type);
    write_place(json, template);
    json_text(json, "createdBy", template->created_by);
    json_time(json, "createdAt", template->created_ms);
    json_text(json, "updatedBy", template->updated_ms ? template->updated_by : NULL);
    json_time(json, "updatedAt", template->updated_ms);
    json_end_object(json);
}

static void write_own(struct json_writer *json, const struct workload_template *template)
{
    if (template->spec_json)
        json_raw(json, "spec", template->spec_json);
    if (template->assets_json)
        json_raw(json, "assets", template->assets_json);
    if (template->is_master_same >= 0)
        json_bool(json, "masterSpecSameAsWorker", template->is_master_same);
    if (template->master_json)
        json_raw(json, "master", template->master_json);
}

static void write_runnable(struct json_writer *json, const struct workload_template *template)
{
    json_key(json, "runnable");
    json_begin_object(json);
    json_bool(json, "isRunnable", !*template->issue);
    json_text(json, "issue", *template->issue ? template->issue : NULL);
    json_end_object(json);
}

void template_write(struct json_writer *json, const struct workload_template *template, const char *issues_json)
{
    json_begin_object(json);
    write_meta(json, template);
    write_own(json, template);
    write_runnable(json, template);
    json_raw(json, "combinedSpec", template->combined_spec_json);
    if (template->combined_master_json)
        json_raw(json, "combinedMasterSpec", template->combined_master_json);
    json_raw(json, "combinedSources", template->sources_json);
    if (issues_json)
        json_raw(json, "complianceIssues", issues_json);
    json_end_object(json);
}

// NULL for what says nothing.
static const char *dump(const json_t *value, struct arena *arena)
{
    return json_is_object(value) && json_object_size(value) ? workload_spec_text(value, arena) : NULL;
}

void template_replace(struct workload_template *template, const json_t *body, struct arena *arena)
{
    const json_t *meta = json_object_get(body, "meta"), *is_same = json_object_get(body, "masterSpecSameAsWorker");
    const char *name = json_string_value(json_object_get(meta, "name"));
    const char *description = json_string_value(json_object_get(meta, "description"));
    template->name = name ? arena_strdup(arena, name) : template->name;
    template->description = description ? arena_strdup(arena, description) : "";
    template->spec_json = dump(json_object_get(body, "spec"), arena);
    template->assets_json = dump(json_object_get(body, "assets"), arena);
    template->master_json = dump(json_object_get(body, "master"), arena);
    template->is_master_same = json_is_boolean(is_same) ? json_is_true(is_same) : -1;
}

static void set_text(json_t *object, const char *name, const char *json_text)
{
    if (json_text)
        json_object_set_new(object, name, json_loads(json_text, 0, NULL));
}

// What template_replace reads.
static json_t *to_body(const struct workload_template *template)
{
    json_t *body = json_object(), *meta = json_object();
    json_object_set_new(meta, "name", json_string(template->name));
    if (*template->description)
        json_object_set_new(meta, "description", json_string(template->description));
    json_object_set_new(body, "meta", meta);
    set_text(body, "spec", template->spec_json);
    set_text(body, "assets", template->assets_json);
    set_text(body, "master", template->master_json);
    if (template->is_master_same >= 0)
        json_object_set_new(body, "masterSpecSameAsWorker", json_boolean(template->is_master_same));
    return body;
}

// As deep as the JSON, which the reader bounds.
static void patch_object(json_t *target, const json_t *patch)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)patch, key, value) {
        json_t *old = json_object_get(target, key);
        if (json_is_object(value) && json_is_object(old))
            patch_object(old, value);
        else if (!json_is_null(value))
            json_object_set_new(target, key, json_deep_copy(value));
    }
}

static int clear_field(json_t *body, const char *path, size_t index, struct arena *arena, struct error *err)
{
    static const char *const ROOTS[] = {"spec", "assets", "master", "masterSpecSameAsWorker"};
    char *names = arena_strdup(arena, path), *rest = NULL, *name = strtok_r(names, ".", &rest), *next;
    bool is_known = strcmp(path, "meta.description") == 0;
    for (size_t i = 0; name && i < sizeof(ROOTS) / sizeof(ROOTS[0]); i++)
        is_known = is_known || strcmp(name, ROOTS[i]) == 0;
    if (!is_known)
        return error_set(err, ERROR_INVALID,
                         "fieldsToClear[%zu]: meta.description, or a path that begins with spec, assets or master; "
                         "got %.60s",
                         index, path);
    json_t *object = body;
    while ((next = strtok_r(NULL, ".", &rest)) != NULL) {
        object = json_object_get(object, name);
        name = next;
    }
    json_object_del(object, name);
    return 0;
}

int template_patch(struct workload_template *template, const json_t *body, struct arena *arena, struct error *err)
{
    json_t *whole = to_body(template), *paths = json_object_get(body, "fieldsToClear"), *path;
    int rc = paths && !json_is_null(paths) && !json_is_array(paths)
                 ? error_set(err, ERROR_INVALID, "fieldsToClear: expected an array of paths")
                 : 0;
    size_t i;
    json_array_foreach(paths, i, path) {
        const char *text = json_string_value(path);
        rc = rc < 0 ? -1 : clear_field(whole, text ? text : "", i, arena, err);
    }
    if (rc == 0) {
        patch_object(whole, body);
        template_replace(template, whole, arena);
    }
    json_decref(whole);
    return rc;
}
