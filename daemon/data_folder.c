#include "daemon/data_folder.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// Of a file of SQLite: fileformat2.html, 1.3. A file that has no page with tables says 0 at SCHEMA_AT, its version.
enum {
    HEADER_SIZE = 100,
    PAGE_SIZE_AT = 16,
    SCHEMA_AT = 60
};

static const char WITHOUT_TABLES[] = "a prorata.db without tables";

static int make_folder(const char *path, struct error *err)
{
    struct stat info;
    if (mkdir(path, 0700) == 0)
        return 0;
    if (errno != EEXIST)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    if (stat(path, &info) < 0 || !S_ISDIR(info.st_mode))
        return error_set(err, ERROR_INVALID, "%s: not a folder", path);
    if (access(path, R_OK | W_OK | X_OK) < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    if ((info.st_mode & 0077) != 0 && chmod(path, 0700) < 0)
        return error_set(err, ERROR_INVALID, "%s: others can read it, and its mode cannot be changed: %s", path,
                         strerror(errno));
    return 0;
}

// Makes path and what leads to it; only the last folder is ours alone.
static int make_parents(const char *path, struct arena *arena, struct error *err)
{
    char *copy = arena_strdup(arena, path);
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0755) < 0 && errno != EEXIST)
            return error_set(err, ERROR_INVALID, "%s: %s", copy, strerror(errno));
        *slash = '/';
    }
    return make_folder(path, err);
}

static int refuse_second(const char *path, int lock_fd, struct error *err)
{
    char holder[32] = "";
    ssize_t length = read(lock_fd, holder, sizeof(holder) - 1);
    holder[length > 0 ? strcspn(holder, "\n") : 0] = '\0';
    return error_set(err, ERROR_INVALID, "%s: held by another server, process %s", path, *holder ? holder : "unknown");
}

// The file names its holder; the folder's own lock is there too, for anybody may remove a file by mistake.
static int take_lock(struct data_folder *folder, const char *path, struct error *err)
{
    char holder[32];
    folder->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (folder->lock_fd < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    if (flock(folder->lock_fd, LOCK_EX | LOCK_NB) < 0)
        return refuse_second(path, folder->lock_fd, err);
    folder->folder_fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->folder_fd < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", folder->path, strerror(errno));
    // Some network file systems lock no folders: there the file's lock is all there is.
    if (flock(folder->folder_fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
        return refuse_second(folder->path, folder->lock_fd, err);
    int length = snprintf(holder, sizeof(holder), "%ld\n", (long)getpid());
    if (ftruncate(folder->lock_fd, 0) < 0 || write(folder->lock_fd, holder, (size_t)length) != length)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    return 0;
}

static bool has_entries(const char *path)
{
    DIR *folder = opendir(path);
    bool found = false;
    for (const struct dirent *entry; folder && !found && (entry = readdir(folder));)
        found = entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return found;
}

static bool has_log(const char *path, struct arena *arena)
{
    struct stat wal;
    return stat(arena_printf(arena, "%s/prorata.db-wal", path), &wal) == 0 && wal.st_size > 0;
}

// What a server leaves beside its database once that has tables, as a list in words; "" for a new folder.
static const char *list_signs(const char *path, struct arena *arena)
{
    static const char *const SIGNS[] = {"keys", "pods", "journal", "restore.part"};
    const char *found = "";
    for (size_t i = 0; i < sizeof(SIGNS) / sizeof(SIGNS[0]); i++)
        if (has_entries(arena_printf(arena, "%s/%s", path, SIGNS[i])))
            found = arena_printf(arena, "%s%s%s", found, *found ? ", " : "", SIGNS[i]);
    return found;
}

// What is wrong with a file of SQLite that begins like this; NULL: nothing that shows. Numbers are big-endian.
static const char *judge_header(const unsigned char header[HEADER_SIZE], ssize_t length, off_t size)
{
    static const unsigned char NOTHING[4];
    if (length < HEADER_SIZE)
        return "a prorata.db that was cut off";
    if (memcmp(header, "SQLite format 3", sizeof("SQLite format 3")) != 0)
        return "a prorata.db that is no database";
    int page = header[PAGE_SIZE_AT] << 8 | header[PAGE_SIZE_AT + 1];
    if (size < (page == 1 ? 65536 : page))
        return "a prorata.db that was cut off";
    return memcmp(header + SCHEMA_AT, NOTHING, sizeof(NOTHING)) == 0 ? WITHOUT_TABLES : NULL;
}

// *out_lack: what the folder has in place of a database, NULL where it has one.
static int look_at_database(const char *file, const char **out_lack, struct error *err)
{
    unsigned char header[HEADER_SIZE];
    struct stat about;
    if (stat(file, &about) < 0) {
        *out_lack = "no prorata.db";
        return errno == ENOENT ? 0 : error_set(err, ERROR_INVALID, "%s: %s", file, strerror(errno));
    }
    if (!S_ISREG(about.st_mode))
        return error_set(err, ERROR_INVALID, "%s: not a file", file);
    *out_lack = "an empty prorata.db";
    if (about.st_size == 0)
        return 0;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, header, sizeof(header));
    if (length < 0)
        error_set(err, ERROR_INVALID, "%s: %s", file, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (length >= 0)
        *out_lack = judge_header(header, length, about.st_size);
    return length < 0 ? -1 : 0;
}

static int refuse_rescued(const char *path, struct arena *arena, struct error *err)
{
    static const char NAME[] = "prorata.db" DB_RESCUED_SUFFIX;
    if (access(arena_printf(arena, "%s/%s", path, NAME), F_OK) < 0)
        return 0;
    error_set(err, ERROR_INVALID, "%s: holds %s, which a server kept when prorata.db was removed or replaced under it",
              path, NAME);
    return error_details(err, "Move it to prorata.db to go on with it, or elsewhere to go on with prorata.db as it is");
}

int data_folder_check_database(const char *path, struct arena *arena, struct error *err)
{
    const char *file = arena_printf(arena, "%s/prorata.db", path), *found = list_signs(path, arena), *lack = NULL;
    if (refuse_rescued(path, arena, err) < 0)
        return -1;
    if (look_at_database(file, &lack, err) < 0)
        return -1;
    bool is_in_log = lack == WITHOUT_TABLES && has_log(path, arena); // where a young server's are; db_open looks there
    if (has_log(path, arena))
        found = arena_printf(arena, "prorata.db-wal%s%s", *found ? ", " : "", found);
    if (!lack || is_in_log || !*found)
        return 0;
    bool is_there = access(file, F_OK) == 0;
    error_set(err, ERROR_INVALID, "%s: holds %s and %s: this is no new folder", path, found, lack);
    return error_details(err,
                         "Put %sprorata.db back, from a backup too, or name another folder. "
                         "To begin again here, end what runs and move %s%s away.",
                         is_there ? "the right " : "", is_there ? "prorata.db, " : "", found);
}

int data_folder_open(const char *path, struct arena *arena, struct data_folder *out_folder, struct error *err)
{
    struct data_folder folder = {
        .path = path,
        .database = arena_printf(arena, "%s/prorata.db", path),
        .keys = arena_printf(arena, "%s/keys", path),
        .journal = arena_printf(arena, "%s/journal", path),
        .refused = arena_printf(arena, "%s/refused", path),
        .lock_fd = -1,
        .folder_fd = -1,
    };
    if (make_parents(path, arena, err) < 0)
        return -1;
    if (take_lock(&folder, arena_printf(arena, "%s/lock", path), err) < 0 ||
        data_folder_check_database(path, arena, err) < 0) {
        data_folder_close(&folder);
        return -1;
    }
    folder.was_used = *list_signs(path, arena);
    *out_folder = folder;
    return 0;
}

void data_folder_close(struct data_folder *folder)
{
    if (folder->lock_fd >= 0)
        close(folder->lock_fd);
    if (folder->folder_fd >= 0)
        close(folder->folder_fd);
}

int data_folder_step_down(const char *path, bool *out_has_stepped, struct error *err)
{
    struct stat about;
    *out_has_stepped = false;
    if (stat(path, &about) < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    if (geteuid() != 0 || about.st_uid == 0)
        return 0;
    if (seteuid(about.st_uid) < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    *out_has_stepped = true;
    return 0;
}

int data_folder_step_up(bool has_stepped, struct error *err)
{
    return has_stepped && seteuid(0) < 0 ? error_set(err, ERROR_INTERNAL, "the rights of root did not come back") : 0;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

void data_folder_remove(const struct data_folder *folder)
{
    nftw(folder->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
