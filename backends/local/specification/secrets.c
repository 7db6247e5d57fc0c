#include "backends/local/specification/secrets.h"

#include "base/arena.h"
#include "base/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    KEYS_MAX = 256
};

// A name that is a file's and nothing else.
static bool is_good(const char *name)
{
    return name && name[0] && name[0] != '.' && !strchr(name, '/') && strlen(name) < 254;
}

static const char *kind_of(const char *folder)
{
    return strcmp(folder, SECRETS_FOLDER) == 0 ? "secret" : "config map";
}

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

// One that an administrator has put here comes first: nobody replaces it by a credential of its name. *out_path is
// NULL where it is a credential; its keys are read then.
static int find(const struct secret_source *source, const char *folder, const char *name, struct arena *arena,
                const char **out_path, struct backend_secret_key **out_keys, size_t *out_count, struct error *err)
{
    struct error cause = {0};
    if (!is_good(name))
        return error_set(err, ERROR_INVALID, "%s: no name of a %s", name ? name : "", kind_of(folder));
    *out_path = arena_printf(arena, "%s/%s/%s/%s", source->data, folder, source->project, name);
    if (is_folder(*out_path))
        return 0;
    *out_path = NULL;
    if (source->vault && strcmp(folder, SECRETS_FOLDER) == 0) {
        if (source->vault->read(source->vault->context, source->project, name, arena, out_keys, out_count, &cause) == 0)
            return 0;
        if (cause.code != ERROR_NOT_FOUND)
            return error_set(err, cause.code, "%s %s: %s", kind_of(folder), name, cause.message);
        return error_set(err, ERROR_NOT_FOUND, "no %s %s for project %s: no credential of it, and nothing in %s/%s/%s",
                         kind_of(folder), name, source->project, folder, source->project, name);
    }
    return error_set(err, ERROR_NOT_FOUND, "no %s %s for project %s on this machine (%s/%s/%s)", kind_of(folder), name,
                     source->project, folder, source->project, name);
}

static int read_value(const char *path, const char *key, struct arena *arena, struct backend_secret_key *out,
                      struct error *err)
{
    struct stat about;
    int fd = open(arena_printf(arena, "%s/%s", path, key), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) < 0 || !S_ISREG(about.st_mode) || about.st_size > SECRET_VALUE_MAX) {
        int code = errno;
        if (fd >= 0)
            close(fd);
        return error_set(err, ERROR_NOT_FOUND, "key %s: %s", key,
                         fd < 0 ? strerror(code) : "not a file of up to 1 MiB");
    }
    size_t size = (size_t)about.st_size, length = 0;
    char *value = arena_alloc(arena, size + 1);
    for (ssize_t got; length < size && (got = read(fd, value + length, size - length)) > 0;)
        length += (size_t)got;
    close(fd);
    *out = (struct backend_secret_key){.name = arena_strdup(arena, key), .value = value, .length = length};
    return 0;
}

static int choose_key(const struct backend_secret_key *keys, size_t count, const char *key, struct arena *arena,
                      struct backend_secret_key *out_key, struct error *err)
{
    const char *names = "";
    for (size_t i = 0; i < count; i++) {
        if (strcmp(keys[i].name, key) == 0) {
            *out_key = keys[i];
            return 0;
        }
        names = arena_printf(arena, "%s%s%s", names, i > 0 ? ", " : "", keys[i].name);
    }
    return error_set(err, ERROR_NOT_FOUND, "key %s: has %s", key, names);
}

int secrets_read(const struct secret_source *source, const char *folder, const char *name, const char *key,
                 struct arena *arena, struct backend_secret_key *out_key, struct error *err)
{
    const char *path;
    struct backend_secret_key *keys;
    size_t count;
    if (find(source, folder, name, arena, &path, &keys, &count, err) < 0)
        return -1;
    if (!key || (path && !is_good(key)))
        return error_set(err, ERROR_INVALID, "%s %s: no key is named", kind_of(folder), name);
    int rc = path ? read_value(path, key, arena, out_key, err) : choose_key(keys, count, key, arena, out_key, err);
    return rc < 0 ? error_prefix(err, "%s %s: ", kind_of(folder), name) : 0;
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const struct backend_secret_key *)a)->name, ((const struct backend_secret_key *)b)->name);
}

int secrets_list(const struct secret_source *source, const char *folder, const char *name, struct arena *arena,
                 struct backend_secret_key **out_keys, size_t *out_count, struct error *err)
{
    const char *path;
    int rc = 0;
    if (find(source, folder, name, arena, &path, out_keys, out_count, err) < 0)
        return -1;
    if (!path)
        return 0;
    DIR *entries = opendir(path);
    if (!entries)
        return error_set(err, ERROR_UNAVAILABLE, "%s %s: %s", kind_of(folder), name, strerror(errno));
    *out_keys = arena_array(arena, KEYS_MAX, sizeof(**out_keys));
    *out_count = 0;
    for (const struct dirent *entry; rc == 0 && *out_count < KEYS_MAX && (entry = readdir(entries));)
        if (is_good(entry->d_name))
            rc = read_value(path, entry->d_name, arena, &(*out_keys)[(*out_count)++], err);
    closedir(entries);
    if (rc < 0)
        return error_prefix(err, "%s %s: ", kind_of(folder), name);
    qsort(*out_keys, *out_count, sizeof(**out_keys), compare_keys);
    return 0;
}
