#include "db/presence.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "db/connection.h"
#include "db/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    READERS_MS = 30000, // for what they read just now
    LOG_STOP_MS = 1000,
    EXIT_LOST = 70
};

enum {
    DATABASE,
    LOG,
    INDEX
};

static const char *const SUFFIXES[PRESENCE_FILES] = {[DATABASE] = "", [LOG] = "-wal", [INDEX] = "-shm"};

int presence_open(struct presence *presence, struct db_conn *conn, struct error *err)
{
    const char *path = sqlite3_db_filename(conn->handle, "main"); // absolute, without links
    const char *slash = strrchr(path, '/');
    char *folder = memory_strdup(path);
    folder[slash - path + 1] = '\0';
    // Of no rights: SQLite's locks do not end with them.
    presence->folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    int rc = presence->folder_fd < 0 ? -1 : 0;
    for (size_t i = 0; i < PRESENCE_FILES; i++) {
        snprintf(presence->names[i], sizeof(presence->names[i]), "%.*s%s", NAME_MAX - 4, slash + 1, SUFFIXES[i]);
        presence->fds[i] = rc < 0 ? -1 : openat(presence->folder_fd, presence->names[i], O_PATH | O_CLOEXEC);
        if (presence->fds[i] < 0)
            rc = -1;
    }
    return rc < 0 ? error_set(err, ERROR_INTERNAL, "cannot look at its files: %s", strerror(errno)) : 0;
}

void presence_done(struct presence *presence)
{
    if (presence->folder_fd <= 0)
        return;
    for (size_t i = 0; i < PRESENCE_FILES; i++)
        if (presence->fds[i] >= 0)
            close(presence->fds[i]);
    close(presence->folder_fd);
    presence->folder_fd = 0;
}

// A disk that cannot tell has not lost it.
static bool is_lost(const struct presence *presence, size_t file)
{
    struct stat named, opened;
    if (fstatat(presence->folder_fd, presence->names[file], &named, 0) < 0)
        return errno == ENOENT;
    return fstat(presence->fds[file], &opened) == 0 && (named.st_ino != opened.st_ino || named.st_dev != opened.st_dev);
}

const char *presence_find_lost(const struct presence *presence)
{
    for (size_t i = 0; presence->folder_fd > 0 && i < PRESENCE_FILES; i++)
        if (is_lost(presence, i))
            return presence->names[i];
    return NULL;
}

static bool fold_log_in(sqlite3 *handle)
{
    sqlite3_busy_timeout(handle, READERS_MS);
    return sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_FULL, NULL, NULL) == SQLITE_OK;
}

// What is left of the log is in the copy, and would spoil another database of its name.
static void remove_log(const struct presence *presence)
{
    for (size_t i = LOG; i < PRESENCE_FILES; i++)
        if (!is_lost(presence, i))
            unlinkat(presence->folder_fd, presence->names[i], 0);
}

_Noreturn void presence_end(struct presence *presence, const char *lost, struct db_conn *conn)
{
    struct error err = {0};
    char text[LOG_TEXT_SIZE];
    bool is_whole = !is_lost(presence, DATABASE) && (!is_lost(presence, LOG) || fold_log_in(conn->handle));
    if (is_whole) {
        log_write(LOG_ERROR, "db", "%s was removed or replaced; nothing is lost, stopping to recover at the next start",
                  lost);
    } else if (db_rescue(conn, &err) == 0) {
        remove_log(presence);
        log_write(LOG_ERROR, "db",
                  "%s was removed or replaced, stopping; %s" DB_RESCUED_SUFFIX " has all that was in it", lost,
                  presence->names[DATABASE]);
    } else {
        log_write(LOG_ERROR, "db", "%s was removed or replaced, stopping; what was in it could not be kept cause=%s",
                  lost, log_text(err.message, text));
    }
    log_stop(LOG_STOP_MS);
    _exit(EXIT_LOST);
}
