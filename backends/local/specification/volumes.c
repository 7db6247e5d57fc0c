#include "backends/local/specification/volumes.h"

#include "backends/local/specification/secrets.h"
#include "backends/local/specification/shell_quote.h"
#include "backends/local/specification/variables.h"
#include "backends/local/users/users.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/quantity.h"
#include "supervisor/handover.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SCRATCH_MODE = 0711,
    OWN_MODE = 0700,
    SECRET_MODE = 0400,
    CONFIG_MODE = 0644
};

struct reading {
    const struct volume_source *source;
    struct arena *arena;
    struct volumes *out;
    size_t capacity;
};

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text && *text ? text : NULL;
}

static struct volume *add(struct reading *reading, enum volume_kind kind, const char *mount_path)
{
    struct volumes *out = reading->out;
    out->items = arena_grow(reading->arena, out->items, &reading->capacity, out->count + 1, sizeof(*out->items));
    struct volume *volume = &out->items[out->count++];
    *volume = (struct volume){.kind = kind, .mount_path = arena_strdup(reading->arena, mount_path)};
    if (kind != VOLUME_HOST_PATH)
        volume->place = arena_printf(reading->arena, "%s/%zu", out->folder, out->count);
    return volume;
}

static int check_path(const char *field, const char *path, struct error *err)
{
    if (path && path[0] == '/' && !strchr(path, '\n') && !strchr(path, ':'))
        return 0;
    return error_set(err, ERROR_INVALID, "%s: expected an absolute path without colons, got %.80s", field,
                     path ? path : "nothing");
}

static int read_host_path(struct reading *reading, const json_t *item, struct error *err)
{
    const char *path = text_of(item, "path"), *mount = text_of(item, "mountPath");
    const char *propagation = text_of(item, "mountPropagation");
    if (check_path("storage.hostPath.path", path, err) < 0 ||
        (mount && check_path("storage.hostPath.mountPath", mount, err) < 0))
        return -1;
    struct volume *volume = add(reading, VOLUME_HOST_PATH, mount ? mount : path);
    volume->place = arena_strdup(reading->arena, path);
    volume->is_read_only = json_is_true(json_object_get(item, "readOnly"));
    volume->follows_host = propagation && strcmp(propagation, "HostToContainer") == 0;
    return 0;
}

static int read_empty(struct reading *reading, const json_t *item, struct error *err)
{
    const char *medium = text_of(item, "medium");
    if (check_path("storage.emptyDirVolume.path", text_of(item, "path"), err) < 0)
        return -1;
    struct volume *volume = add(reading, VOLUME_EMPTY, text_of(item, "path"));
    volume->is_memory = medium && strcmp(medium, "Memory") == 0;
    const char *size = text_of(item, "sizeLimit");
    return size && quantity_parse_memory(size, &volume->size_bytes, err) < 0 ? error_prefix(err, "sizeLimit: ") : 0;
}

static int read_files(struct reading *reading, const json_t *item, const char *folder, const char *name,
                      const char *only, mode_t mode, struct error *err)
{
    struct backend_secret_key *keys;
    size_t count;
    const char *mount = text_of(item, "mountPath"), *given = text_of(item, "defaultMode");
    if (check_path("mountPath", mount, err) < 0 ||
        secrets_list(&reading->source->secrets, folder, name ? name : "", reading->arena, &keys, &count, err) < 0)
        return -1;
    struct volume *volume = add(reading, VOLUME_FILES, mount);
    volume->mode = given ? (mode_t)strtoul(given, NULL, 8) & 0777 : mode;
    volume->is_read_only = true;
    volume->files = arena_array(reading->arena, count, sizeof(*volume->files));
    for (size_t i = 0; i < count; i++)
        if (!only || strcmp(keys[i].name, only) == 0)
            volume->files[volume->file_count++] = (struct volume_file){keys[i].name, keys[i].value, keys[i].length};
    if (only && !volume->file_count)
        return error_set(err, ERROR_NOT_FOUND, "%s has no key %s", name, only);
    if (only) // the mount path is the file's
        volume->place = arena_printf(reading->arena, "%s/%s", volume->place, only);
    return 0;
}

static int read_secret(struct reading *reading, const json_t *item, struct error *err)
{
    return read_files(reading, item, SECRETS_FOLDER, text_of(item, "secret"), NULL, SECRET_MODE, err);
}

static int read_config_map(struct reading *reading, const json_t *item, struct error *err)
{
    return read_files(reading, item, CONFIG_MAPS_FOLDER, text_of(item, "configMap"), text_of(item, "subPath"),
                      CONFIG_MODE, err);
}

// As git's credential store wants it.
static void put_escaped(struct buffer *out, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c && *c != '\n' && *c != '\r'; c++) {
        if (isalnum(*c) || strchr("-._~", *c))
            buffer_char(out, (char)*c);
        else
            buffer_printf(out, "%%%02X", *c);
    }
}

static int read_credentials(struct reading *reading, const json_t *item, struct volume *volume, struct error *err)
{
    const json_t *reference = json_object_get(item, "secretRef");
    const char *name = text_of(reference, "name"), *method = text_of(reference, "authenticationMethod");
    const json_t *keys = name ? reference : item;
    struct backend_secret_key user, password;
    if (!name)
        name = text_of(item, "passwordSecret");
    if (!name)
        return 0;
    volume->is_ssh_key = method && strcmp(method, "ssh-key") == 0;
    const char *password_key = text_of(keys, "secretKeyOfPassword"), *user_key = text_of(keys, "secretKeyOfUser");
    if (!password_key)
        password_key = volume->is_ssh_key ? "ssh-privatekey" : "password";
    if (secrets_read(&reading->source->secrets, SECRETS_FOLDER, name, password_key, reading->arena, &password, err) < 0)
        return -1;
    volume->credentials_folder = arena_printf(reading->arena, "%s.credentials", volume->place);
    volume->credentials = arena_printf(reading->arena, "%s/text", volume->credentials_folder);
    volume->credentials_text = password.value;
    if (volume->is_ssh_key)
        return 0;
    if (secrets_read(&reading->source->secrets, SECRETS_FOLDER, name, user_key ? user_key : "username", reading->arena,
                     &user, err) < 0)
        return -1;
    const char *host = strstr(volume->url, "://");
    if (!host || (strncmp(volume->url, "https:", 6) != 0 && strncmp(volume->url, "http:", 5) != 0))
        return error_set(err, ERROR_INVALID, "a password goes with an http or https address only, got %.80s",
                         volume->url);
    struct buffer line;
    buffer_init(&line, 0);
    buffer_append(&line, volume->url, (size_t)(host + 3 - volume->url));
    put_escaped(&line, user.value);
    buffer_char(&line, ':');
    put_escaped(&line, password.value);
    buffer_printf(&line, "@%.*s\n", (int)strcspn(host + 3, "/"), host + 3);
    volume->credentials_text = arena_strdup(reading->arena, line.data);
    buffer_done(&line);
    return 0;
}

static int read_git(struct reading *reading, const json_t *item, struct error *err)
{
    const char *url = text_of(item, "repository"), *path = text_of(item, "path");
    if (!url || url[0] == '-')
        return error_set(err, ERROR_INVALID, "repository: expected an address");
    if (path && check_path("path", path, err) < 0)
        return -1;
    struct volume *volume = add(reading, VOLUME_GIT, path ? path : "/git");
    volume->url = arena_strdup(reading->arena, url);
    volume->branch = arena_strdup(reading->arena, text_of(item, "branch"));
    volume->revision = arena_strdup(reading->arena, text_of(item, "revision"));
    return read_credentials(reading, item, volume, err);
}

int volumes_check(const struct json_t *spec, struct error *err)
{
    const json_t *item;
    size_t i, count = 0;
    json_array_foreach(json_object_get(json_object_get(spec, "storage"), "hostPath"), i, item)
        count += !json_is_true(json_object_get(item, "exclude"));
    if (count <= HANDOVER_NEEDS_MAX)
        return 0;
    return error_set(err, ERROR_INVALID, "spec.storage.hostPath: at most %d on this machine, got %zu",
                     HANDOVER_NEEDS_MAX, count);
}

int volumes_read(const struct json_t *spec, const struct volume_source *source, struct arena *arena,
                 struct volumes *out_volumes, struct error *err)
{
    static const struct {
        const char *key;
        int (*read)(struct reading *, const json_t *, struct error *);
    } KINDS[] = {{"hostPath", read_host_path},
                 {"emptyDirVolume", read_empty},
                 {"git", read_git},
                 {"secretVolume", read_secret},
                 {"configMapVolume", read_config_map}};
    struct reading reading = {.source = source, .arena = arena, .out = out_volumes};
    const json_t *storage = json_object_get(spec, "storage"), *item;
    size_t i;
    if (volumes_check(spec, err) < 0)
        return -1;
    *out_volumes = (struct volumes){.folder = arena_printf(arena, "%s/%s", source->scratch, source->pod_uuid)};
    for (size_t kind = 0; kind < sizeof(KINDS) / sizeof(KINDS[0]); kind++)
        json_array_foreach(json_object_get(storage, KINDS[kind].key), i, item) {
            if (json_is_true(json_object_get(item, "exclude")))
                continue;
            if (KINDS[kind].read(&reading, item, err) < 0)
                return error_prefix(err, "storage.%s[%zu]: ", KINDS[kind].key, i);
        }
    if (json_is_true(json_object_get(spec, "createHomeDir")))
        add(&reading, VOLUME_EMPTY, "/home/prorata");
    return 0;
}

static int write_file(const char *path, const char *text, size_t length, mode_t mode, const struct local_user *user,
                      struct error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool is_written = fd >= 0 && write(fd, text, length) == (ssize_t)length && fchmod(fd, mode) == 0 &&
                      (!user->changes || fchown(fd, user->id, user->groups[0]) == 0);
    int code = errno;
    if (fd >= 0)
        close(fd);
    return is_written ? 0 : error_set(err, ERROR_UNAVAILABLE, "%s: %s", path, strerror(code));
}

static int make_folder(const char *path, mode_t mode, const struct local_user *user, struct error *err)
{
    if (mkdir(path, 0700) < 0 || chmod(path, mode) < 0 ||
        (user && user->changes && chown(path, user->id, user->groups[0]) < 0))
        return error_set(err, ERROR_UNAVAILABLE, "%s: %s", path, strerror(errno));
    return 0;
}

// Files come before the folder is handed over, so that nothing in it can lead elsewhere. Where one of them is the
// place, the folder stays the server's: a container runtime looks the place up with the server's rights.
static int make_files(const struct volumes *volumes, size_t index, const struct local_user *user, struct error *err)
{
    const struct volume *volume = &volumes->items[index];
    struct arena arena;
    arena_init(&arena);
    const char *folder = arena_printf(&arena, "%s/%zu", volumes->folder, index + 1);
    bool is_file = strcmp(volume->place, folder) != 0;
    int rc = make_folder(folder, is_file ? SCRATCH_MODE : OWN_MODE, NULL, err);
    for (size_t i = 0; i < volume->file_count && rc == 0; i++)
        rc = write_file(arena_printf(&arena, "%s/%s", folder, volume->files[i].name), volume->files[i].value,
                        volume->files[i].length, volume->mode, user, err);
    if (rc == 0 && user->changes && !is_file && chown(folder, user->id, user->groups[0]) < 0)
        rc = error_set(err, ERROR_UNAVAILABLE, "%s: %s", folder, strerror(errno));
    arena_done(&arena);
    return rc;
}

int volumes_make(const struct volumes *volumes, const struct local_user *user, struct error *err)
{
    bool has_folder = false;
    int rc = 0;
    for (size_t i = 0; i < volumes->count && rc == 0; i++) {
        const struct volume *volume = &volumes->items[i];
        if (volume->kind == VOLUME_HOST_PATH)
            continue;
        if (!has_folder)
            rc = make_folder(volumes->folder, SCRATCH_MODE, NULL, err);
        has_folder = true;
        if (rc == 0)
            rc = volume->kind == VOLUME_FILES ? make_files(volumes, i, user, err)
                                              : make_folder(volume->place, OWN_MODE, user, err);
        if (rc == 0 && volume->credentials) // git locks the file: the folder must be the user's too
            rc = make_folder(volume->credentials_folder, OWN_MODE, NULL, err);
        if (rc == 0 && volume->credentials)
            rc = write_file(volume->credentials, volume->credentials_text, strlen(volume->credentials_text), 0600, user,
                            err);
        if (rc == 0 && volume->credentials && user->changes &&
            chown(volume->credentials_folder, user->id, user->groups[0]) < 0)
            rc = error_set(err, ERROR_UNAVAILABLE, "%s: %s", volume->credentials_folder, strerror(errno));
    }
    return rc;
}

static const char *script_of(const struct volume *volume, struct arena *arena)
{
    const char *place = shell_quote(volume->place, arena), *url = shell_quote(volume->url, arena), *how = "";
    if (volume->credentials && volume->is_ssh_key)
        how = arena_printf(
            arena, "-c core.sshCommand=%s ",
            shell_quote(arena_printf(arena, "ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new -i %s",
                                     shell_quote(volume->credentials, arena)),
                        arena));
    else if (volume->credentials)
        how = arena_printf(
            arena, "-c credential.helper=%s ",
            shell_quote(arena_printf(arena, "store --file=%s", shell_quote(volume->credentials, arena)), arena));
    const char *branch = volume->branch ? arena_printf(arena, "--branch=%s ", shell_quote(volume->branch, arena)) : "";
    const char *text =
        arena_printf(arena, "echo git clone %s\ngit %sclone -q %s-- %s %s\n", url, how, branch, url, place);
    if (volume->revision)
        text = arena_printf(arena,
                            "%scommit=$(git -C %s rev-parse -q --verify --end-of-options %s || git -C %s rev-parse -q "
                            "--verify --end-of-options %s) || { echo no revision %s; exit 1; }\ngit -C %s checkout -q "
                            "--detach \"$commit\"\n",
                            text, place, shell_quote(arena_printf(arena, "%s^{commit}", volume->revision), arena),
                            place, shell_quote(arena_printf(arena, "origin/%s^{commit}", volume->revision), arena),
                            shell_quote(volume->revision, arena), place);
    return text;
}

const char *volumes_script(const struct volumes *volumes, struct arena *arena)
{
    const char *script = NULL;
    for (size_t i = 0; i < volumes->count; i++) {
        const struct volume *volume = &volumes->items[i];
        if (volume->kind != VOLUME_GIT)
            continue;
        if (!script)
            script = "set -e\nexport GIT_TERMINAL_PROMPT=0\n";
        script = arena_printf(arena, "%s%s", script, script_of(volume, arena));
        if (volume->credentials)
            script = arena_printf(arena, "%srm -f -- %s\n", script, shell_quote(volume->credentials, arena));
    }
    return script;
}

bool volumes_have_folder(const struct volumes *volumes)
{
    for (size_t i = 0; i < volumes->count; i++)
        if (volumes->items[i].kind != VOLUME_HOST_PATH)
            return true;
    return false;
}

size_t volumes_variable_count(const struct volumes *volumes)
{
    return volumes->count + 1;
}

const char *volumes_variable(const struct volume *volume, struct arena *arena)
{
    char *name = arena_printf(arena, "PRORATA_PATH_%s", volume->mount_path + 1);
    for (char *c = name; *c; c++)
        *c = isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_';
    return name;
}

void volumes_set(const struct volumes *volumes, struct variables *variables)
{
    for (size_t i = 0; i < volumes->count; i++) {
        const struct volume *volume = &volumes->items[i];
        variables_set(variables, volumes_variable(volume, variables->arena), volume->place);
        if (strcmp(volume->mount_path, "/home/prorata") == 0)
            variables_set(variables, "HOME", volume->place);
    }
}

const char *volumes_translate(const struct volumes *volumes, const char *path, struct arena *arena)
{
    for (size_t i = 0; i < volumes->count; i++) {
        size_t length = strlen(volumes->items[i].mount_path);
        if (strncmp(path, volumes->items[i].mount_path, length) == 0 && (!path[length] || path[length] == '/'))
            return arena_printf(arena, "%s%s", volumes->items[i].place, path + length);
    }
    return path;
}
