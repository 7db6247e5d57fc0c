// template, compute, environment, datasource, credential: create from a file, delete. A secret comes from a file or
// from the input, never from the command line, where everybody on the machine could read it.
#include "base/buffer.h"
#include "base/error.h"
#include "base/yaml_reader.h"
#include "cli/assets.h"
#include "cli/command.h"
#include "cli/place.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
    INPUT_BYTES = 1 << 20
};

static int read_input(json_t **out_root, struct error *err)
{
    struct buffer text;
    char piece[2048];
    size_t length;
    int rc = -1;
    buffer_init(&text, INPUT_BYTES);
    while ((length = fread(piece, 1, sizeof(piece), stdin)) > 0)
        buffer_append(&text, piece, length);
    if (ferror(stdin))
        error_set(err, ERROR_INVALID, "the input cannot be read");
    else if (text.overflow)
        error_set(err, ERROR_INVALID, "the input: at most %d bytes", INPUT_BYTES);
    else
        rc = yaml_read(text.data ? text.data : "", text.length, "the input", out_root, err);
    buffer_done(&text);
    return rc;
}

// --file as an object: a whole body with spec, or the specification alone. The caller owns *out_root.
static int read_file(struct cli *cli, json_t **out_root, struct error *err)
{
    const char *path = flag_text(&cli->arguments, "file");
    if (!path)
        return error_set(err, ERROR_INVALID, "--file is missing: the specification as YAML or JSON; - is the input");
    if ((strcmp(path, "-") == 0 ? read_input(out_root, err) : yaml_read_file(path, out_root, err)) < 0)
        return -1;
    cli_drop_lines(*out_root);
    if (json_is_object(*out_root))
        return 0;
    json_decref(*out_root);
    return error_set(err, ERROR_INVALID, "%s: expected an object", path);
}

// {"meta": ..., "spec": ..., "assets": ...} of what was read. Takes root over.
static int body_of(struct cli *cli, json_t *root, const char *name, json_t **out_body, struct error *err)
{
    struct place place;
    if (cli_read_place(cli, &place, err) < 0) {
        json_decref(root);
        return -1;
    }
    bool is_template = cli->command->kind->type, is_whole = json_is_object(json_object_get(root, "spec"));
    const char *description = flag_text(&cli->arguments, "description");
    json_t *meta =
        json_pack("{s:s, s:s, s:s*}", "name", name, is_template ? "scopeType" : "scope", place.scope, "description",
                  description ? description : json_string_value(cli_at(root, "meta.description")));
    if (place.id)
        json_object_set_new(meta, is_template ? "scopeId" : place.key, json_string(place.id));
    *out_body = json_pack("{s:o}", "meta", meta);
    json_object_set(*out_body, "spec", is_whole ? json_object_get(root, "spec") : root);
    if (is_whole && json_object_get(root, "assets"))
        json_object_set(*out_body, "assets", json_object_get(root, "assets"));
    json_decref(root);
    return *out_body ? 0 : error_set(err, ERROR_INVALID, "NAME: not UTF-8");
}

// accessKey as a path has it: access-key.
static const char *path_word(struct cli *cli, const char *kind)
{
    if (strcmp(kind, "secret-volume") == 0)
        return "secrets";
    char *word = arena_alloc(&cli->arena, 2 * strlen(kind) + 1), *at = word;
    for (; *kind; kind++) {
        if (isupper((unsigned char)*kind))
            *at++ = '-';
        *at++ = (char)tolower((unsigned char)*kind);
    }
    *at = '\0';
    return word;
}

// What --type may be, as the path has it; NULL for what is of one type.
static const char *const *types_of(const struct kind *kind)
{
    static const char *const TEMPLATES[] = {"training", "workspace", "distributed", "inference", NULL};
    static const char *const SOURCES[] = {"nfs", "pvc", "git", "s3", "host-path", "config-map", "secrets", NULL};
    static const char *const CREDENTIALS[] = {"password",       "access-key",  "docker-registry",
                                              "generic-secret", "ngc-api-key", NULL};
    if (kind->type)
        return TEMPLATES;
    return kind == &ASSET_DATA_SOURCE ? SOURCES : kind == &ASSET_CREDENTIAL ? CREDENTIALS : NULL;
}

static int fail_type(struct cli *cli, const char *const *types, const char *got, struct error *err)
{
    const char *words = *types;
    while (*++types)
        words = arena_printf(&cli->arena, "%s, %s", words, *types);
    return error_set(err, ERROR_INVALID, "--type: one of %s, got %.60s", words, got ? got : "none");
}

// Where one of its kind is made.
static int read_path(struct cli *cli, const char **out_path, struct error *err)
{
    const struct kind *kind = cli->command->kind;
    const char *const *types = types_of(kind), *type = flag_text(&cli->arguments, "type");
    *out_path = kind->path;
    if (!types)
        return type ? error_set(err, ERROR_INVALID, "--type: a %s has none", kind->word) : 0;
    for (const char *const *known = types; type && *known; known++)
        if (strcmp(type, *known) == 0) {
            bool has_plural = kind->type && strcmp(type, "distributed") != 0;
            *out_path = arena_printf(&cli->arena, "%s/%s%s", kind->path, type, has_plural ? "s" : "");
            return 0;
        }
    return fail_type(cli, types, type, err);
}

int run_asset_create(struct cli *cli, struct error *err)
{
    const char *name, *path = NULL;
    json_t *root, *body, *answer;
    if (cli_name(cli, &name, err) < 0 || read_path(cli, &path, err) < 0 || read_file(cli, &root, err) < 0 ||
        body_of(cli, root, name, &body, err) < 0)
        return -1;
    int rc = client_call(&cli->client, "POST", path, body, &answer, err);
    json_decref(body);
    if (rc < 0)
        return -1;
    if (!flag_is_set(&cli->arguments, "quiet"))
        printf("%s %s created successfully\n", cli->command->kind->word, name);
    json_decref(answer);
    return 0;
}

static const char *path_of(struct cli *cli, const json_t *entry)
{
    const struct kind *kind = cli->command->kind;
    const char *id = cli_text(entry, "meta.id");
    if (kind->type)
        return arena_printf(&cli->arena, "%s/%s/%s", kind->path, cli_path_of_type(cli_text(entry, "meta.workloadType")),
                            id);
    if (!types_of(kind))
        return arena_printf(&cli->arena, "%s/%s", kind->path, id);
    return arena_printf(&cli->arena, "%s/%s/%s", kind->path, path_word(cli, cli_text(entry, "meta.kind")), id);
}

int run_asset_delete(struct cli *cli, struct error *err)
{
    const struct kind *kind = cli->command->kind;
    const char *name, *query;
    json_t *entry;
    if (cli_name(cli, &name, err) < 0 || asset_read_query(cli, kind, &query, err) < 0 ||
        asset_find_by_name(cli, kind, name, query, &entry, err) < 0)
        return -1;
    const char *what = arena_printf(&cli->arena, "%s %s of scope %s", kind->word, cli_text(entry, "meta.name"),
                                    asset_scope(json_object_get(entry, "meta")));
    int rc = cli_confirm_deletion(cli, what, err);
    if (rc == 0)
        rc = client_call(&cli->client, "DELETE", path_of(cli, entry), NULL, NULL, err);
    if (rc == 0 && !flag_is_set(&cli->arguments, "quiet"))
        printf("%s deleted successfully\n", what);
    json_decref(entry);
    return rc;
}
