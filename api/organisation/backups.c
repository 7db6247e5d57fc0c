// Backups on the server's own disk, in DATA/backups/: made and listed, never sent.
#include "api/organisation/backups.h"
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/timestamp.h"
#include "db/backup/backup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "prorata-"
#define SUFFIX ".tar"

static bool is_backup(const char *name)
{
    size_t length = strlen(name);
    return length > strlen(PREFIX SUFFIX) && strncmp(name, PREFIX, strlen(PREFIX)) == 0 &&
           strcmp(name + length - strlen(SUFFIX), SUFFIX) == 0;
}

// Names begin with the time, so their order is the backups'.
static int compare_newest_first(const void *a, const void *b)
{
    const struct backup_file *left = a, *right = b;
    return strcmp(right->name, left->name);
}

static int read_folder(const char *path, struct arena *arena, struct backup_list *out_list, struct error *err)
{
    struct backup_list list = {0};
    DIR *folder = opendir(path);
    if (!folder && errno != ENOENT)
        return error_set(err, ERROR_INTERNAL, "%s: %s", path, strerror(errno));
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        struct stat info;
        if (!is_backup(entry->d_name) || fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        list.items = arena_grow(arena, list.items, &list.capacity, list.count + 1, sizeof(*list.items));
        list.items[list.count++] = (struct backup_file){
            .name = arena_strdup(arena, entry->d_name),
            .bytes = info.st_size,
            .created_ms = (int64_t)info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1000000,
        };
    }
    if (folder)
        closedir(folder);
    if (list.count > 0)
        qsort(list.items, list.count, sizeof(*list.items), compare_newest_first);
    *out_list = list;
    return 0;
}

static int drop_oldest(const char *folder, size_t keep, struct arena *arena, struct error *err)
{
    struct backup_list list;
    if (read_folder(folder, arena, &list, err) < 0)
        return -1;
    for (size_t i = keep; i < list.count; i++) {
        const char *path = arena_printf(arena, "%s/%s", folder, list.items[i].name);
        if (unlink(path) < 0 && errno != ENOENT)
            return error_set(err, ERROR_INTERNAL, "%s: %s", path, strerror(errno));
    }
    return 0;
}

static const char *make_name(int64_t now_ms, struct arena *arena)
{
    struct tm parts;
    char text[sizeof("20260101T120000")];
    time_t seconds = (time_t)(now_ms / 1000);
    gmtime_r(&seconds, &parts);
    strftime(text, sizeof(text), "%Y%m%dT%H%M%S", &parts);
    return arena_printf(arena, PREFIX "%s.%03dZ" SUFFIX, text, (int)(now_ms % 1000));
}

static const char *folder_of(const struct request *req)
{
    return arena_printf(req->arena, "%s/backups", req->server->config.data);
}

int backups_list(const struct request *req, struct backup_list *out_list, struct error *err)
{
    return read_folder(folder_of(req), req->arena, out_list, err);
}

int op_create_backup(struct request *req, struct response *res, struct error *err)
{
    if (access_check_tenant(req, RESOURCE_TYPE_TENANT, ACTION_UPDATE, err) < 0)
        return -1;
    const char *folder = folder_of(req), *name = make_name(req->received_ms, req->arena);
    struct backup_options options = {
        .data = req->server->config.data,
        .file = arena_printf(req->arena, "%s/%s", folder, name),
        .without_keys = json_is_true(json_object_get(req->body, "withoutKeys")),
    };
    struct backup backup;
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return error_set(err, errno == ENOSPC ? ERROR_UNAVAILABLE : ERROR_INTERNAL, "%s: %s", folder, strerror(errno));
    if (backup_make(&options, &backup, err) < 0) {
        if (err->code == ERROR_INVALID) // of a path that is ours, not the caller's
            err->code = ERROR_INTERNAL;
        return -1;
    }
    int64_t keep = json_integer_value(json_object_get(req->body, "keep"));
    if (keep > 0 && drop_oldest(folder, (size_t)keep, req->arena, err) < 0)
        return -1;
    char created[TIMESTAMP_SIZE];
    timestamp_format(req->received_ms, created);
    return response_json(res, json_pack("{s:s, s:I, s:s, s:s}", "name", name, "sizeBytes", (json_int_t)backup.bytes,
                                        "sha256", backup.sum, "createdAt", created));
}

int op_list_backups(struct request *req, struct response *res, struct error *err)
{
    struct backup_list list;
    struct json_writer json;
    if (access_check_tenant(req, RESOURCE_TYPE_TENANT, ACTION_UPDATE, err) < 0 || // reading is for those below, too
        backups_list(req, &list, err) < 0)
        return -1;
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_key(&json, "backups");
    json_begin_array(&json);
    for (size_t i = 0; i < list.count; i++) {
        json_begin_object(&json);
        json_text(&json, "name", list.items[i].name);
        json_int(&json, "sizeBytes", list.items[i].bytes);
        json_time(&json, "createdAt", list.items[i].created_ms);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
    return 0;
}
