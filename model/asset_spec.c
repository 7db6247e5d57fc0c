#include "model/asset_spec.h"

#include <stdint.h>
#include <string.h>

static const struct {
    const char *kind, *list, *path_member;
} STORAGES[] = {
    {"config-map", "configMapVolume", "mountPath"},
    {"git", "git", "path"},
    {"hostPath", "hostPath", "mountPath"},
    {"nfs", "nfs", "mountPath"},
    {"pvc", "pvc", "path"},
    {"s3", "s3", "path"},
    {"secret-volume", "secretVolume", "mountPath"},
};

// What an environment says of users and rights stands in `security` of a submission.
static const char *const SECURITY[] = {
    "allowPrivilegeEscalation", "capabilities",       "hostIpc",      "hostNetwork",
    "readOnlyRootFilesystem",   "runAsGid",           "runAsNonRoot", "runAsUid",
    "seccompProfileType",       "supplementalGroups", "uidGidSource",
};

static const char *const CONTAINER[] = {
    "args", "command", "createHomeDir", "image", "imagePullPolicy", "probes", "stdin", "tty", "workingDir",
};

const char *asset_spec_storage(const char *kind, const char **out_path_member)
{
    for (size_t i = 0; i < sizeof(STORAGES) / sizeof(STORAGES[0]); i++)
        if (strcmp(STORAGES[i].kind, kind) == 0) {
            *out_path_member = STORAGES[i].path_member;
            return STORAGES[i].list;
        }
    return NULL;
}

static void copy_members(json_t *target, const json_t *source, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_object_get(source, names[i]);
        if (value && !json_is_null(value))
            json_object_set_new(target, names[i], json_deep_copy(value));
    }
}

static void copy_as(json_t *target, const char *name, const json_t *source, const char *source_name)
{
    const json_t *value = json_object_get(source, source_name);
    if (value && !json_is_null(value))
        json_object_set_new(target, name, json_deep_copy(value));
}

// A variable that a credential fills is a key of the secret that stands for the credential.
static json_t *read_variable(const json_t *variable)
{
    json_t *copy = json_deep_copy(variable);
    const json_t *credential = json_object_get(variable, "credential");
    json_object_del(copy, "credential");
    if (!json_is_object(credential))
        return copy;
    json_t *secret = json_object();
    copy_as(secret, "name", credential, "assetId");
    copy_as(secret, "key", credential, "key");
    json_object_set_new(copy, "secret", secret);
    return copy;
}

static void add_variables(json_t *spec, const json_t *variables)
{
    json_t *list = json_array(), *variable;
    size_t i;
    json_array_foreach((json_t *)(uintptr_t)variables, i, variable) {
        if (json_is_object(variable))
            json_array_append_new(list, read_variable(variable));
    }
    if (json_array_size(list))
        json_object_set_new(spec, "environmentVariables", list);
    else
        json_decref(list);
}

static void add_item(json_t *spec, const char *list, json_t *stolen_item)
{
    if (!json_object_get(spec, list))
        json_object_set_new(spec, list, json_array());
    json_array_append_new(json_object_get(spec, list), stolen_item);
}

static void add_outside_tool(json_t *spec, const json_t *connection)
{
    const json_t *tool = json_object_get(connection, "externalToolInfo");
    json_t *item = json_object();
    copy_as(item, "name", connection, "name");
    copy_as(item, "type", tool, "toolType");
    copy_as(item, "url", tool, "externalUrl");
    if (json_object_get(item, "url"))
        add_item(spec, "relatedUrls", item);
    else
        json_decref(item);
}

static void add_url(json_t *spec, json_t *item, const json_t *tool)
{
    copy_as(item, "url", json_object_get(tool, "externalUrlInfo"), "externalUrl");
    add_item(spec, "exposedUrls", item);
}

static void add_port(json_t *spec, json_t *item, const json_t *tool)
{
    copy_as(item, "serviceType", tool, "connectionType");
    add_item(spec, "ports", item);
}

// A tool of the environment: an address outside, a URL that is exposed, or a port. A serving port is an inference's
// own.
static void add_connection(json_t *spec, const json_t *connection)
{
    const json_t *tool = json_object_get(connection, "internalToolInfo");
    const char *type = json_string_value(json_object_get(tool, "connectionType"));
    if (json_is_true(json_object_get(connection, "isExternal"))) {
        add_outside_tool(spec, connection);
        return;
    }
    if (!type || strcmp(type, "ServingPort") == 0)
        return;
    json_t *item = json_object();
    copy_as(item, "container", tool, "containerPort");
    copy_as(item, "toolType", tool, "toolType");
    copy_as(item, "toolName", connection, "name");
    if (strcmp(type, "ExternalUrl") == 0)
        add_url(spec, item, tool);
    else
        add_port(spec, item, tool);
}

static json_t *read_environment(const json_t *spec)
{
    json_t *made = json_object(), *security = json_object(), *connection;
    size_t i;
    copy_members(made, spec, CONTAINER, sizeof(CONTAINER) / sizeof(CONTAINER[0]));
    copy_members(security, spec, SECURITY, sizeof(SECURITY) / sizeof(SECURITY[0]));
    add_variables(made, json_object_get(spec, "environmentVariables"));
    json_array_foreach(json_object_get(spec, "connections"), i, connection) {
        add_connection(made, connection);
    }
    if (json_object_size(security))
        json_object_set_new(made, "security", security);
    else
        json_decref(security);
    return made;
}

// The secrets that stand for the credentials of a repository or a bucket.
static void name_secrets(json_t *item)
{
    static const struct {
        const char *asset, *secret;
    } NAMES[] = {{"passwordAssetId", "passwordSecret"},
                 {"credentialId", "passwordSecret"},
                 {"accessKeyAssetId", "accessKeySecret"},
                 {"credentialAssetId", "secret"}};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        copy_as(item, NAMES[i].secret, item, NAMES[i].asset);
        json_object_del(item, NAMES[i].asset);
    }
}

static json_t *read_data_source(const char *list, const char *path_member, const json_t *spec, const char *path)
{
    json_t *made = json_object(), *item = json_is_object(spec) ? json_deep_copy(spec) : json_object();
    name_secrets(item);
    if (path)
        json_object_set_new(item, path_member, json_string(path));
    json_object_set_new(made, "storage", json_object());
    add_item(json_object_get(made, "storage"), list, item);
    return made;
}

json_t *asset_spec_for_submission(const char *kind, const json_t *spec, const char *path)
{
    const char *path_member, *list = asset_spec_storage(kind, &path_member);
    if (list)
        return read_data_source(list, path_member, spec, path);
    if (strcmp(kind, "environment") == 0)
        return read_environment(spec);
    json_t *made = json_object();
    json_object_set_new(made, "compute", json_is_object(spec) ? json_deep_copy(spec) : json_object());
    return made;
}
