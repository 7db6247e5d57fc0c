// Flags that name one thing each by its parts, --nfs server=S,path=P: tolerations, volumes, addresses, and variables
// that come from elsewhere.
#include "base/error.h"
#include "cli/command.h"
#include "cli/submit/submit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    PARTS_MAX = 9
};

enum part_form {
    PART_TEXT,
    PART_INTEGER,
    PART_TEXTS, // each time that it is given
    PART_YES,   // where it is there and not =false
    PART_NO,    // the same, of a member that is true without it
};

struct part {
    const char *key, *path;
    enum part_form form;
};

static const struct {
    const char *flag, *path;
    const char *always; // a member that is true
    struct part parts[PARTS_MAX];
} LISTS[] = {
    {"toleration",
     "tolerations",
     NULL,
     {{"key", "key", PART_TEXT},
      {"value", "value", PART_TEXT},
      {"operator", "operator", PART_TEXT},
      {"effect", "effect", PART_TEXT},
      {"seconds", "seconds", PART_INTEGER}}},
    {"sub-group",
     "subGroups",
     NULL,
     {{"name", "name", PART_TEXT},
      {"parent", "parent", PART_TEXT},
      {"workers", "workers", PART_INTEGER},
      {"master", "master", PART_YES},
      {"min-pods", "minPods", PART_INTEGER},
      {"min-sub-groups", "minSubGroups", PART_INTEGER},
      {"topology", "topology.name", PART_TEXT},
      {"required", "topology.required", PART_TEXT},
      {"preferred", "topology.preferred", PART_TEXT}}},
    {"external-url",
     "exposedUrls",
     NULL,
     {{"container", "container", PART_INTEGER},
      {"url", "url", PART_TEXT},
      {"name", "name", PART_TEXT},
      {"tool-type", "toolType", PART_TEXT},
      {"authorization-type", "authorizationType", PART_TEXT},
      {"authusers", "authorizedUsers", PART_TEXTS},
      {"authgroups", "authorizedGroups", PART_TEXTS}}},
    {"host-path",
     "storage.hostPath",
     NULL,
     {{"path", "path", PART_TEXT},
      {"mount", "mountPath", PART_TEXT},
      {"mount-propagation", "mountPropagation", PART_TEXT},
      {"readwrite", "readOnly", PART_NO}}},
    {"nfs",
     "storage.nfs",
     NULL,
     {{"server", "server", PART_TEXT},
      {"path", "path", PART_TEXT},
      {"mountpath", "mountPath", PART_TEXT},
      {"readwrite", "readOnly", PART_NO}}},
    {"existing-pvc",
     "storage.pvc",
     "existingPvc",
     {{"claimname", "claimName", PART_TEXT}, {"path", "path", PART_TEXT}, {"ro", "readOnly", PART_YES}}},
    {"new-pvc",
     "storage.pvc",
     NULL,
     {{"claimname", "claimName", PART_TEXT},
      {"path", "path", PART_TEXT},
      {"size", "claimInfo.size", PART_TEXT},
      {"storageclass", "claimInfo.storageClass", PART_TEXT},
      {"accessmode-rwo", "claimInfo.accessModes.readWriteOnce", PART_YES},
      {"accessmode-rom", "claimInfo.accessModes.readOnlyMany", PART_YES},
      {"accessmode-rwm", "claimInfo.accessModes.readWriteMany", PART_YES},
      {"ro", "readOnly", PART_YES},
      {"ephemeral", "ephemeral", PART_YES}}},
    {"git-sync",
     "storage.git",
     NULL,
     {{"name", "name", PART_TEXT},
      {"repository", "repository", PART_TEXT},
      {"source", "repository", PART_TEXT}, // of the first generation, as target
      {"branch", "branch", PART_TEXT},
      {"rev", "revision", PART_TEXT},
      {"path", "path", PART_TEXT},
      {"target", "path", PART_TEXT},
      {"secret", "passwordSecret", PART_TEXT}}},
    {"s3",
     "storage.s3",
     NULL,
     {{"name", "name", PART_TEXT},
      {"bucket", "bucket", PART_TEXT},
      {"path", "path", PART_TEXT},
      {"url", "url", PART_TEXT},
      {"accesskey", "accessKeySecret", PART_TEXT}}},
    {"configmap-map-volume",
     "storage.configMapVolume",
     NULL,
     {{"name", "configMap", PART_TEXT},
      {"path", "mountPath", PART_TEXT},
      {"subpath", "subPath", PART_TEXT},
      {"default-mode", "defaultMode", PART_TEXT}}},
    {"secret-volume",
     "storage.secretVolume",
     NULL,
     {{"name", "secret", PART_TEXT}, {"path", "mountPath", PART_TEXT}, {"default-mode", "defaultMode", PART_TEXT}}},
    {"empty-dir-volume",
     "storage.emptyDirVolume",
     NULL,
     {{"name", "name", PART_TEXT},
      {"path", "path", PART_TEXT},
      {"medium", "medium", PART_TEXT},
      {"size-limit", "sizeLimit", PART_TEXT}}},
};

static const struct part OF_TOPOLOGY[PARTS_MAX] = {
    {"name", "name", PART_TEXT}, {"required", "required", PART_TEXT}, {"preferred", "preferred", PART_TEXT}};

// Variables: NAME=SOURCE, or NAME=SOURCE,key=KEY.
static const struct {
    const char *flag, *member, *source;
    bool has_key;
} VARIABLES[] = {
    {"env-secret", "secret", "name", true},
    {"env-config-map", "configMap", "name", true},
    {"env-pod-field-ref", "podFieldRef", "path", false},
};

void submit_set_at(json_t *object, const char *path, json_t *value)
{
    for (const char *dot; (dot = strchr(path, '.')); path = dot + 1) {
        json_t *inner = json_object_getn(object, path, (size_t)(dot - path));
        if (!inner) {
            inner = json_object();
            json_object_setn_new(object, path, (size_t)(dot - path), inner);
        }
        object = inner;
    }
    json_object_set_new(object, path, value);
}

void submit_append_to(json_t *spec, const char *path, json_t *item)
{
    json_t *list = (json_t *)cli_at(spec, path);
    if (!list) {
        list = json_array();
        submit_set_at(spec, path, list);
    }
    json_array_append_new(list, item);
}

static int set_part(json_t *item, const char *flag, const struct part *part, const char *text, struct error *err)
{
    char *end;
    errno = 0;
    long long number = part->form == PART_INTEGER ? strtoll(text, &end, 10) : 0;
    switch (part->form) {
    case PART_INTEGER:
        if (errno || end == text || *end)
            return error_set(err, ERROR_INVALID, "--%s: %s: expected a whole number, got \"%s\"", flag, part->key,
                             text);
        submit_set_at(item, part->path, json_integer(number));
        return 0;
    case PART_TEXTS:
        submit_append_to(item, part->path, json_string(text));
        return 0;
    case PART_YES:
    case PART_NO:
        submit_set_at(item, part->path, json_boolean((strcmp(text, "false") != 0) == (part->form == PART_YES)));
        return 0;
    case PART_TEXT:
        if (*text)
            submit_set_at(item, part->path, json_string(text));
        return 0;
    }
    return 0;
}

// A key that nobody knows would be lost without a word.
static int set_parts(struct cli *cli, json_t *item, const char *flag, const char *text, const struct part *parts,
                     struct error *err)
{
    char *rest = arena_strdup(&cli->arena, text), *piece;
    for (size_t i = 0; i < PARTS_MAX && parts[i].key; i++)
        if (parts[i].form == PART_NO)
            submit_set_at(item, parts[i].path, json_true());
    while ((piece = strsep(&rest, ","))) {
        char *value = strchr(piece, '=');
        if (value)
            *value++ = '\0';
        size_t i = 0;
        while (i < PARTS_MAX && parts[i].key && strcmp(parts[i].key, piece) != 0)
            i++;
        if (i == PARTS_MAX || !parts[i].key)
            return error_set(err, ERROR_INVALID, "--%s: no part \"%s\"; see help for those it has", flag, piece);
        if (set_part(item, flag, &parts[i], value ? value : "", err) < 0)
            return -1;
    }
    return 0;
}

static int take_variables(struct cli *cli, json_t *spec, struct error *err)
{
    for (size_t i = 0; i < sizeof(VARIABLES) / sizeof(VARIABLES[0]); i++) {
        const struct flag_value *given = flag_values(&cli->arguments, VARIABLES[i].flag);
        for (size_t n = 0; given && n < given->count; n++) {
            char *name = arena_strdup(&cli->arena, given->texts[n]), *source = strchr(name, '=');
            char *key = source && VARIABLES[i].has_key ? strstr(source, ",key=") : NULL;
            if (!source || source == name || (VARIABLES[i].has_key && !key))
                return error_set(err, ERROR_INVALID, "--%s: expected NAME=%s, got %s", VARIABLES[i].flag,
                                 VARIABLES[i].has_key ? "SOURCE,key=KEY" : "FIELD", given->texts[n]);
            *source++ = '\0';
            if (key)
                *key = '\0';
            json_t *from = json_pack("{s:s}", VARIABLES[i].source, source);
            if (key)
                json_object_set_new(from, "key", json_string(key + strlen(",key=")));
            submit_append_to(spec, "environmentVariables",
                             json_pack("{s:s, s:o}", "name", name, VARIABLES[i].member, from));
        }
    }
    return 0;
}

// Who names people or groups means that they alone may.
static void name_access(json_t *url)
{
    if (json_object_get(url, "authorizationType"))
        return;
    const char *type = json_object_get(url, "authorizedUsers")    ? "authorizedUsers"
                       : json_object_get(url, "authorizedGroups") ? "authorizedGroups"
                                                                  : NULL;
    if (type)
        json_object_set_new(url, "authorizationType", json_string(type));
}

// --pvc of the first generation: NAME:PATH[:ro] is a claim that is there, CLASS:SIZE:PATH[:ro] one that is made.
static int take_claims(struct cli *cli, json_t *spec, struct error *err)
{
    enum {
        WORDS = 4
    };
    const struct flag_value *given = flag_values(&cli->arguments, "pvc");
    for (size_t n = 0; given && n < given->count; n++) {
        char *rest = arena_strdup(&cli->arena, given->texts[n]);
        const char *words[WORDS];
        size_t count = 0;
        while (rest && count < WORDS)
            words[count++] = strsep(&rest, ":");
        bool is_read_only = count > 2 && strcmp(words[count - 1], "ro") == 0;
        if (is_read_only || (count > 2 && strcmp(words[count - 1], "rw") == 0))
            count--;
        if (rest || count < 2 || count > 3 || words[count - 1][0] != '/' || !*words[count - 2])
            return error_set(err, ERROR_INVALID, "--pvc: expected NAME:PATH[:ro] or CLASS:SIZE:PATH[:ro], got %s",
                             given->texts[n]);
        json_t *claim =
            json_pack("{s:s, s:b, s:b}", "path", words[count - 1], "existingPvc", count == 2, "readOnly", is_read_only);
        submit_append_to(spec, "storage.pvc", claim);
        submit_set_at(claim, count == 2 ? "claimName" : "claimInfo.size", json_string(words[count - 2]));
        if (count == 3 && *words[0])
            submit_set_at(claim, "claimInfo.storageClass", json_string(words[0]));
    }
    return 0;
}

static void take_pull_secrets(struct cli *cli, json_t *spec)
{
    const struct flag_value *given = flag_values(&cli->arguments, "image-pull-secret");
    for (size_t n = 0; given && n < given->count; n++) {
        const char *text = given->texts[n];
        submit_append_to(spec, "imagePullSecrets",
                         json_pack("{s:s}", "name", strncmp(text, "name=", 5) == 0 ? text + 5 : text));
    }
}

// -e NAME=SECRET:secret,KEY of the first generation.
static void take_secret_values(struct cli *cli, json_t *spec)
{
    json_t *variable;
    size_t i;
    json_array_foreach(cli_at(spec, "environmentVariables"), i, variable) {
        const char *value = cli_text(variable, "value"), *comma = strrchr(value, ',');
        if (!cli->command->is_old || strncmp(value, "SECRET:", 7) != 0 || !comma || !comma[1])
            continue;
        json_object_set_new(variable, "secret",
                            json_pack("{s:s%, s:s}", "name", value + 7, (size_t)(comma - value - 7), "key", comma + 1));
        json_object_del(variable, "value");
    }
}

int submit_take_lists(struct cli *cli, json_t *spec, struct error *err)
{
    for (size_t i = 0; i < sizeof(LISTS) / sizeof(LISTS[0]); i++) {
        const struct flag_value *given = flag_values(&cli->arguments, LISTS[i].flag);
        for (size_t n = 0; given && n < given->count; n++) {
            json_t *item = json_object();
            submit_append_to(spec, LISTS[i].path, item);
            if (LISTS[i].always)
                json_object_set_new(item, LISTS[i].always, json_true());
            if (set_parts(cli, item, LISTS[i].flag, given->texts[n], LISTS[i].parts, err) < 0)
                return -1;
            name_access(item);
        }
    }
    const char *topology = flag_text(&cli->arguments, "topology");
    json_t *of_gang = topology ? json_object() : NULL;
    if (topology)
        json_object_set_new(spec, "topology", of_gang);
    if (topology && set_parts(cli, of_gang, "topology", topology, OF_TOPOLOGY, err) < 0)
        return -1;
    take_pull_secrets(cli, spec);
    take_secret_values(cli, spec);
    return take_claims(cli, spec, err) < 0 ? -1 : take_variables(cli, spec, err);
}
