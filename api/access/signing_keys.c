#include "api/access/signing_keys.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ISSUER "prorata"
#define AUDIENCE "prorata"
#define KEY_SUFFIX ".key"
#define DAY_MS INT64_C(86400000)

enum {
    KEY_MAX = 64,
    PATH_SIZE = 1024
};

struct stored_key {
    struct jwt_key key;
    int64_t created_ms;
};

struct signing_keys {
    char folder[PATH_SIZE - 128];
    int64_t rotation_ms;
    int64_t token_life_ms;
    pthread_mutex_t mutex;
    struct stored_key items[KEY_MAX]; // oldest first
    size_t count;
};

static void path_of(const struct signing_keys *keys, const char *id, char out[PATH_SIZE])
{
    snprintf(out, PATH_SIZE, "%s/%s" KEY_SUFFIX, keys->folder, id);
}

static void insert_key(struct signing_keys *keys, const char *id, int64_t created_ms, const unsigned char *secret)
{
    size_t at = keys->count;
    while (at > 0 && keys->items[at - 1].created_ms > created_ms) {
        keys->items[at] = keys->items[at - 1];
        at--;
    }
    struct stored_key *stored = &keys->items[at];
    *stored = (struct stored_key){.key = {.algorithm = "HS256", .issuer = ISSUER, .audience = AUDIENCE},
                                  .created_ms = created_ms};
    snprintf(stored->key.id, sizeof(stored->key.id), "%s", id);
    memcpy(stored->key.secret, secret, JWT_SECRET_SIZE);
    keys->count++;
}

static int write_key(const struct signing_keys *keys, const char *id, const unsigned char *secret, struct error *err)
{
    char path[PATH_SIZE];
    path_of(keys, id, path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write(fd, secret, JWT_SECRET_SIZE) == JWT_SECRET_SIZE && fsync(fd) == 0;
    if (!ok)
        error_set(err, ERROR_UNAVAILABLE, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (!ok && fd >= 0)
        unlink(path);
    if (ok && folder_sync(keys->folder) < 0)
        return error_set(err, ERROR_INTERNAL, "%s: %s", keys->folder, strerror(errno));
    return ok ? 0 : -1;
}

static int create_key(struct signing_keys *keys, int64_t now_ms, struct error *err)
{
    unsigned char secret[JWT_SECRET_SIZE];
    char id[JWT_KEY_ID_SIZE];
    if (keys->count == KEY_MAX)
        return error_set(err, ERROR_INTERNAL, "%s: more than %d keys", keys->folder, KEY_MAX);
    randombytes_buf(secret, sizeof(secret));
    snprintf(id, sizeof(id), "%" PRId64 "-%08" PRIx32, now_ms, randombytes_random());
    int rc = write_key(keys, id, secret, err);
    if (rc == 0)
        insert_key(keys, id, now_ms, secret);
    sodium_memzero(secret, sizeof(secret));
    return rc;
}

// A key is of no more use when its successor is older than a token's life.
static void drop_old_keys(struct signing_keys *keys, int64_t now_ms)
{
    while (keys->count > 1 &&
           keys->items[1].created_ms + keys->token_life_ms + 2 * JWT_LEEWAY_S * INT64_C(1000) < now_ms) {
        char path[PATH_SIZE];
        path_of(keys, keys->items[0].key.id, path);
        unlink(path);
        sodium_memzero(&keys->items[0], sizeof(keys->items[0]));
        memmove(keys->items, keys->items + 1, (keys->count - 1) * sizeof(keys->items[0]));
        keys->count--;
    }
}

// The id in a file's name, or false: other files are left alone.
static bool parse_name(const char *name, char out_id[JWT_KEY_ID_SIZE], int64_t *out_created_ms)
{
    size_t length = strlen(name), suffix = strlen(KEY_SUFFIX);
    if (length <= suffix || length - suffix >= JWT_KEY_ID_SIZE || strcmp(name + length - suffix, KEY_SUFFIX) != 0)
        return false;
    char *end;
    *out_created_ms = strtoll(name, &end, 10);
    if (end == name || *end != '-' || *out_created_ms <= 0)
        return false;
    memcpy(out_id, name, length - suffix);
    out_id[length - suffix] = '\0';
    return true;
}

static int load_key(struct signing_keys *keys, const char *id, int64_t created_ms, struct error *err)
{
    char path[PATH_SIZE];
    path_of(keys, id, path);
    unsigned char secret[JWT_SECRET_SIZE + 1];
    struct stat info;
    int rc = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &info) < 0) {
        error_set(err, ERROR_INTERNAL, "%s: %s", path, strerror(errno));
    } else if (info.st_mode & 077) {
        error_set(err, ERROR_INTERNAL, "%s: others may read this key", path);
        error_details(err, "chmod 600 it if nobody did, else delete it: whoever is signed in must sign in again");
    } else if (keys->count == KEY_MAX) {
        error_set(err, ERROR_INTERNAL, "%s: more than %d keys", keys->folder, KEY_MAX);
    } else if (read(fd, secret, sizeof(secret)) != JWT_SECRET_SIZE) {
        // A crash between creating and writing leaves an empty file; no token was signed with it.
        rc = unlink(path);
    } else {
        insert_key(keys, id, created_ms, secret);
        rc = 0;
    }
    sodium_memzero(secret, sizeof(secret));
    if (fd >= 0)
        close(fd);
    return rc;
}

static int load_keys(struct signing_keys *keys, struct error *err)
{
    if (mkdir(keys->folder, 0700) < 0 && errno != EEXIST)
        return error_set(err, ERROR_INTERNAL, "%s: %s", keys->folder, strerror(errno));
    DIR *folder = opendir(keys->folder);
    if (!folder)
        return error_set(err, ERROR_INTERNAL, "%s: %s", keys->folder, strerror(errno));
    int rc = 0;
    for (struct dirent *entry; rc == 0 && (entry = readdir(folder));) {
        char id[JWT_KEY_ID_SIZE];
        int64_t created_ms;
        if (parse_name(entry->d_name, id, &created_ms))
            rc = load_key(keys, id, created_ms, err);
    }
    closedir(folder);
    return rc;
}

// The newest key, made again when it is old. A clock that was set back makes no difference: the newest stays.
static int rotate(struct signing_keys *keys, int64_t now_ms, struct error *err)
{
    if (keys->count && keys->items[keys->count - 1].created_ms + keys->rotation_ms > now_ms)
        return 0;
    if (create_key(keys, now_ms, err) < 0)
        return -1;
    drop_old_keys(keys, now_ms);
    return 0;
}

int signing_keys_check(const char *path, size_t *out_count, struct error *err)
{
    DIR *folder = opendir(path);
    size_t count = 0;
    int rc = 0;
    if (!folder && errno != ENOENT)
        return error_set(err, ERROR_INTERNAL, "%s: %s", path, strerror(errno));
    for (struct dirent *entry; rc == 0 && folder && (entry = readdir(folder));) {
        struct stat info;
        size_t length = strlen(entry->d_name), suffix = strlen(KEY_SUFFIX);
        if (length <= suffix || strcmp(entry->d_name + length - suffix, KEY_SUFFIX) != 0)
            continue;
        count++;
        if (fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) < 0 ||
            faccessat(dirfd(folder), entry->d_name, R_OK, 0) < 0)
            rc = error_set(err, ERROR_INTERNAL, "%s/%s: %s", path, entry->d_name, strerror(errno));
        else if (!S_ISREG(info.st_mode) || info.st_mode & 077)
            rc = error_set(err, ERROR_INTERNAL, "%s/%s: others may read this key", path, entry->d_name);
        else if (info.st_size != JWT_SECRET_SIZE)
            rc = error_set(err, ERROR_INTERNAL, "%s/%s: not a key: it has %" PRId64 " bytes", path, entry->d_name,
                           info.st_size);
    }
    if (folder)
        closedir(folder);
    *out_count = count;
    return rc;
}

int signing_keys_open(const struct signing_keys_options *options, int64_t now_ms, struct signing_keys **out_keys,
                      struct error *err)
{
    struct signing_keys *keys = memory_array(1, sizeof(*keys));
    pthread_mutex_init(&keys->mutex, NULL);
    keys->rotation_ms = options->rotation_ms ? options->rotation_ms : 30 * DAY_MS;
    keys->token_life_ms = options->token_life_ms;
    int length = snprintf(keys->folder, sizeof(keys->folder), "%s", options->folder);
    int rc = length < (int)sizeof(keys->folder) ? load_keys(keys, err)
                                                : error_set(err, ERROR_INVALID, "the folder's path is too long");
    if (rc == 0)
        rc = rotate(keys, now_ms, err);
    if (rc < 0) {
        signing_keys_close(keys);
        return -1;
    }
    drop_old_keys(keys, now_ms);
    *out_keys = keys;
    return 0;
}

void signing_keys_close(struct signing_keys *keys)
{
    if (!keys)
        return;
    pthread_mutex_destroy(&keys->mutex);
    sodium_memzero(keys, sizeof(*keys));
    free(keys);
}

int signing_keys_current(struct signing_keys *keys, int64_t now_ms, struct jwt_key *out_key, struct error *err)
{
    pthread_mutex_lock(&keys->mutex);
    int rc = rotate(keys, now_ms, err);
    if (rc == 0)
        *out_key = keys->items[keys->count - 1].key;
    pthread_mutex_unlock(&keys->mutex);
    return rc;
}

bool signing_keys_find(void *context, const char *id, struct jwt_key *out_key)
{
    struct signing_keys *keys = context;
    bool is_found = false;
    pthread_mutex_lock(&keys->mutex);
    for (size_t i = 0; id && !is_found && i < keys->count; i++) {
        is_found = !strcmp(keys->items[i].key.id, id);
        if (is_found)
            *out_key = keys->items[i].key;
    }
    if (!id && keys->count == 1) {
        *out_key = keys->items[0].key;
        is_found = true;
    }
    pthread_mutex_unlock(&keys->mutex);
    return is_found;
}
