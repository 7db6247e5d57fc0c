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

static int find_folder(const char *data, const char *folder, const char *project, const char *name, struct arena *arena,
                       const char **out_path, struct error *err)
{
    struct stat about;
    if (!is_good(name))
        return error_set(err, ERROR_INVALID, "%s: no name of a %s", name ? name : "", kind_of(folder));
    *out_path = arena_printf(arena, "%s/%s/%s/%s", data, folder, project, name);
    if (stat(*out_path, &about) == 0 && S_ISDIR(about.st_mode))
        return 0;
    return error_set(err, ERROR_NOT_FOUND, "no %s %s for project %s on this machine (%s/%s/%s)", kind_of(folder), name,
                     project, folder, project, name);
}

static int read_value(const char *path, const char *key, struct arena *arena, struct secret_key *out, struct error *err)
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
    *out = (struct secret_key){.name = arena_strdup(arena, key), .value = value, .length = length};
    return 0;
}

int secrets_read(const char *data, const char *folder, const char *project, const char *name, const char *key,
                 struct arena *arena, struct secret_key *out_key, struct error *err)
{
    const char *path;
    if (find_folder(data, folder, project, name, arena, &path, err) < 0)
        return -1;
    if (!is_good(key))
        return error_set(err, ERROR_INVALID, "%s %s: no key is named", kind_of(folder), name);
    return read_value(path, key, arena, out_key, err) < 0 ? error_prefix(err, "%s %s: ", kind_of(folder), name) : 0;
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const struct secret_key *)a)->name, ((const struct secret_key *)b)->name);
}

int secrets_list(const char *data, const char *folder, const char *project, const char *name, struct arena *arena,
                 struct secret_key **out_keys, size_t *out_count, struct error *err)
{
    const char *path;
    int rc = 0;
    if (find_folder(data, folder, project, name, arena, &path, err) < 0)
        return -1;
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
