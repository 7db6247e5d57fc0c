#include "db/backup/backup.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/folder.h"
#include "db/copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DATABASE "prorata.db"
#define KEYS "keys/"
#define KEY_SUFFIX ".key"

// What one backup works with; paths are the arena's.
struct work {
    struct arena arena;
    const char *folder; // that the file comes to lie in
    const char *part;   // the file while it grows; one name a folder, so that a crash leaves one at most
    const char *copy;   // of the database, before it is put into the file
    int folder_fd;      // locked: one backup at a time
    int part_fd;
};

static int open_folder(struct work *work, const char *file, struct error *err)
{
    const char *slash = strrchr(file, '/');
    work->folder = !slash ? "." : slash == file ? "/" : arena_strndup(&work->arena, file, (size_t)(slash - file));
    work->part = arena_printf(&work->arena, "%s/.prorata-backup.part", work->folder);
    work->copy = arena_printf(&work->arena, "%s/.prorata-backup.db", work->folder);
    work->folder_fd = open(work->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (work->folder_fd < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", work->folder, strerror(errno));
    if (flock(work->folder_fd, LOCK_EX | LOCK_NB) < 0)
        return error_set(err, ERROR_CONFLICT, "%s: another backup is being written there", work->folder);
    return 0;
}

static bool is_key(const char *name)
{
    size_t length = strlen(name), suffix = strlen(KEY_SUFFIX);
    return length > suffix && name[0] != '.' && !strchr(name, '/') && strcmp(name + length - suffix, KEY_SUFFIX) == 0;
}

static int add_keys(struct work *work, struct tar *tar, const char *data, struct error *err)
{
    const char *path = arena_printf(&work->arena, "%s/keys", data);
    int rc = 0;
    DIR *folder = opendir(path);
    if (!folder)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    for (const struct dirent *entry; rc == 0 && (entry = readdir(folder));) {
        const char *name = arena_printf(&work->arena, KEYS "%s", entry->d_name);
        if (is_key(entry->d_name) && strlen(name) < TAR_NAME_SIZE)
            rc = tar_add_file(tar, name, arena_printf(&work->arena, "%s/%s", path, entry->d_name), err);
    }
    closedir(folder);
    return rc;
}

static int fill(struct work *work, const struct backup_options *options, struct tar *tar, struct backup *out_backup,
                struct error *err)
{
    if (tar_add_file(tar, DATABASE, work->copy, err) < 0 ||
        (!options->without_keys && add_keys(work, tar, options->data, err) < 0) ||
        tar_finish(tar, out_backup->sum, err) < 0)
        return -1;
    out_backup->bytes = tar->bytes;
    return fsync(tar->fd) < 0 ? error_set(err, ERROR_UNAVAILABLE, "%s: %s", work->part, strerror(errno)) : 0;
}

static int make(struct work *work, const struct backup_options *options, struct backup *out_backup, struct error *err)
{
    struct tar tar;
    int64_t bytes;
    const char *database = arena_printf(&work->arena, "%s/" DATABASE, options->data);
    if (access(database, R_OK) < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", database, strerror(errno));
    if (open_folder(work, options->file, err) < 0 || db_copy_bytes(database, &bytes, err) < 0 ||
        db_check_room(work->folder, 2 * bytes, err) < 0 || db_copy(database, work->copy, err) < 0)
        return -1;
    if (unlink(work->part) < 0 && errno != ENOENT)
        return error_set(err, ERROR_INVALID, "%s: %s", work->part, strerror(errno));
    work->part_fd = open(work->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (work->part_fd < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", work->part, strerror(errno));
    tar_init(&tar, work->part_fd, work->part);
    int rc = fill(work, options, &tar, out_backup, err);
    tar_done(&tar);
    if (rc == 0 && (rename(work->part, options->file) < 0 || fsync(work->folder_fd) < 0))
        rc = error_set(err, ERROR_INVALID, "%s: %s", options->file, strerror(errno));
    return rc;
}

int backup_make(const struct backup_options *options, struct backup *out_backup, struct error *err)
{
    struct work work = {.folder_fd = -1, .part_fd = -1};
    struct backup backup = {0};
    arena_init(&work.arena);
    int rc = make(&work, options, &backup, err);
    if (work.copy && !(rc < 0 && err && err->code == ERROR_CONFLICT)) { // another's files stay
        unlink(work.copy);
        if (rc < 0)
            unlink(work.part);
    }
    if (work.part_fd >= 0)
        close(work.part_fd);
    if (work.folder_fd >= 0)
        close(work.folder_fd);
    arena_done(&work.arena);
    if (rc == 0)
        *out_backup = backup;
    return rc;
}

// Only the names that a backup has; none can lead elsewhere.
static int extract_entry(struct tar *tar, const struct tar_entry *entry, const char *folder, struct arena *arena,
                         struct error *err)
{
    const char *path = arena_printf(arena, "%s/%s", folder, entry->name);
    bool is_of_keys = strncmp(entry->name, KEYS, strlen(KEYS)) == 0;
    if (is_of_keys ? !is_key(entry->name + strlen(KEYS)) : strcmp(entry->name, DATABASE) != 0)
        return error_set(err, ERROR_INVALID, "%s: not a backup: it holds another file than those of a backup",
                         tar->path);
    if (is_of_keys && mkdir(arena_printf(arena, "%s/keys", folder), 0700) < 0 && errno != EEXIST)
        return error_set(err, ERROR_INVALID, "%s/keys: %s", folder, strerror(errno));
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    int rc = tar_extract(tar, entry, fd, err);
    if (rc == 0 && fsync(fd) < 0)
        rc = error_set(err, ERROR_UNAVAILABLE, "%s: %s", path, strerror(errno));
    close(fd);
    return rc;
}

static int extract_all(struct tar *tar, const char *folder, struct arena *arena, struct error *err)
{
    struct tar_entry entry;
    int rc;
    bool has_database = false, has_keys = false;
    while ((rc = tar_next(tar, &entry, err)) > 0) {
        if (extract_entry(tar, &entry, folder, arena, err) < 0)
            return -1;
        *(strcmp(entry.name, DATABASE) == 0 ? &has_database : &has_keys) = true;
    }
    if (rc == 0 && !has_database)
        rc = error_set(err, ERROR_INVALID, "%s: not a backup: it has no database", tar->path);
    const char *const changed[] = {arena_printf(arena, "%s/keys", folder), folder};
    for (size_t i = has_keys ? 0 : 1; rc == 0 && i < 2; i++)
        if (folder_sync(changed[i]) < 0)
            rc = error_set(err, ERROR_UNAVAILABLE, "%s: %s", changed[i], strerror(errno));
    return rc;
}

int backup_extract(const char *file, const char *folder, struct error *err)
{
    struct arena arena;
    struct tar tar;
    struct stat info;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) < 0) {
        error_set(err, ERROR_INVALID, "%s: %s", file, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    arena_init(&arena);
    tar_init(&tar, fd, file);
    int rc = db_check_room(folder, info.st_size, err) < 0 ? -1 : extract_all(&tar, folder, &arena, err);
    tar_done(&tar);
    close(fd);
    arena_done(&arena);
    return rc;
}
