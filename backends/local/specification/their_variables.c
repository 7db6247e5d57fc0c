#include "backends/local/specification/their_variables.h"

#include "backends/backend.h"
#include "backends/local/specification/secrets.h"
#include "backends/local/specification/variables.h"
#include "base/arena.h"
#include "base/error.h"

#include <jansson.h>
#include <string.h>

// Kubernetes' paths, and the variables of ours that hold the same. In quotes below: a key of labels or annotations.
static const char *const FIELDS[][2] = {
    {"metadata.name", "POD_NAME"},  {"metadata.uid", "POD_UUID"},        {"metadata.namespace", "POD_NAMESPACE"},
    {"spec.nodeName", "NODE_NAME"}, {"spec.serviceAccountName", "USER"},
};
static const char *const ADDRESSES[] = {"status.podIP", "status.hostIP", "status.podIPs", "status.hostIPs"};
static const char *const LISTS[] = {"labels", "annotations"};

const char *their_variables_field(const char *path)
{
    for (size_t i = 0; i < sizeof(FIELDS) / sizeof(FIELDS[0]); i++)
        if (strcmp(path, FIELDS[i][0]) == 0)
            return FIELDS[i][1];
    for (size_t i = 0; i < sizeof(ADDRESSES) / sizeof(ADDRESSES[0]); i++)
        if (strcmp(path, ADDRESSES[i]) == 0)
            return "127.0.0.1";
    for (size_t i = 0; i < sizeof(LISTS) / sizeof(LISTS[0]); i++) {
        size_t length = strlen(LISTS[i]);
        if (strncmp(path, "metadata.", 9) == 0 && strncmp(path + 9, LISTS[i], length) == 0 &&
            strncmp(path + 9 + length, "['", 2) == 0 && strlen(path) > 13 + length &&
            strcmp(path + strlen(path) - 2, "']") == 0)
            return LISTS[i];
    }
    return NULL;
}

// metadata.labels['KEY']: the specification's; "" where there is none, as in Kubernetes.
static const char *read_list(const json_t *spec, const char *list, const char *path, struct arena *arena)
{
    const json_t *item;
    size_t i;
    const char *key = strchr(path, '\'') + 1;
    const char *wanted = arena_strndup(arena, key, strlen(key) - 2);
    json_array_foreach(json_object_get(spec, list), i, item) {
        const char *name = json_string_value(json_object_get(item, "name"));
        const char *value = json_string_value(json_object_get(item, "value"));
        if (name && value && strcmp(name, wanted) == 0)
            return value;
    }
    return "";
}

static int read_field(const struct variable_source *source, const json_t *reference, struct variables *variables,
                      const char **out_value, struct error *err)
{
    const char *path = json_string_value(json_object_get(reference, "path"));
    const char *known = path ? their_variables_field(path) : NULL;
    if (!known)
        return error_set(err, ERROR_INVALID, "podFieldRef: %.80s: not known on this machine", path ? path : "");
    if (known[0] >= 'a' && known[0] <= 'z')
        *out_value = read_list(source->spec, known, path, variables->arena);
    else
        *out_value = known[0] == '1' ? known : variables_value(variables, known);
    return 0;
}

static int read_key(const struct variable_source *source, const json_t *reference, const char *folder,
                    struct arena *arena, const char **out_value, struct error *err)
{
    const char *name = json_string_value(json_object_get(reference, "name"));
    const char *key = json_string_value(json_object_get(reference, "key"));
    struct backend_secret_key found;
    if (secrets_read(&source->secrets, folder, name ? name : "", key, arena, &found, err) < 0)
        return -1;
    if (strlen(found.value) != found.length)
        return error_set(err, ERROR_INVALID, "key %s holds a zero byte: a volume can carry it, a variable cannot", key);
    *out_value = found.value;
    return 0;
}

static int read_value(const struct variable_source *source, const json_t *variable, struct variables *variables,
                      const char **out_value, struct error *err)
{
    const json_t *secret = json_object_get(variable, "secret"), *map = json_object_get(variable, "configMap"),
                 *field = json_object_get(variable, "podFieldRef");
    const char *value = json_string_value(json_object_get(variable, "value"));
    if (json_is_object(secret))
        return read_key(source, secret, SECRETS_FOLDER, variables->arena, out_value, err);
    if (json_is_object(map))
        return read_key(source, map, CONFIG_MAPS_FOLDER, variables->arena, out_value, err);
    if (json_is_object(field))
        return read_field(source, field, variables, out_value, err);
    char *expanded = NULL;
    if (value && variables_expand(variables, value, &expanded, err) < 0)
        return -1;
    *out_value = expanded ? expanded : "";
    return 0;
}

int their_variables_set(const struct variable_source *source, struct variables *variables, struct error *err)
{
    const json_t *variable;
    size_t i;
    json_array_foreach(json_object_get(source->spec, "environmentVariables"), i, variable) {
        const char *name = json_string_value(json_object_get(variable, "name")), *value;
        if (!name || json_is_true(json_object_get(variable, "exclude")))
            continue;
        if (read_value(source, variable, variables, &value, err) < 0)
            return error_prefix(err, "environmentVariables: %s: ", name);
        variables_set(variables, name, value);
    }
    return 0;
}
