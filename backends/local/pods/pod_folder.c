#include "backends/local/pods/pod_folder.h"

#include "backends/local/pods/log_files.h"
#include "backends/local/pods/pod_state.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/folder.h"
#include "base/uuid.h"
#include "supervisor/pod_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    FOLDER_MODE = 0700,
    FILE_MODE = 0600,
    SPARES_MAX = 1024,
    SPARE_NAME_SIZE = 24,
    RECORD_MAX = 64 << 20,
    WAIT_TRIES = 500,
    WAIT_NS = 10 * 1000 * 1000
};

static int open_folder(int at_fd, const char *name)
{
    return openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

int pod_folder_open_home(const char *path, int *out_socket_fd, struct error *err)
{
    if (mkdir(path, FOLDER_MODE) < 0 && errno != EEXIST)
        return error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    int home_fd = open_folder(AT_FDCWD, path);
    *out_socket_fd = home_fd < 0 ? -1 : socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    // Through the descriptor: the path itself may be longer than an address holds.
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" POD_WAKE_SOCKET, home_fd);
    if (home_fd >= 0)
        (void)unlinkat(home_fd, POD_WAKE_SOCKET, 0); // of the server before
    if (*out_socket_fd >= 0 && bind(*out_socket_fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return home_fd;
    error_set(err, ERROR_INVALID, "%s: %s", path, strerror(errno));
    if (home_fd >= 0)
        close(home_fd);
    return -1;
}

int pod_folder_find(int home_fd, const char *uuid)
{
    return open_folder(home_fd, uuid);
}

static void name_spare(unsigned number, char name[SPARE_NAME_SIZE])
{
    snprintf(name, SPARE_NAME_SIZE, "spare-%u", number);
}

// Whether a spare folder became the pod's.
static bool use_spare(int home_fd, struct pod_spares *spares, const char *uuid)
{
    char name[SPARE_NAME_SIZE];
    if (spares->count == 0)
        return false;
    name_spare(spares->count - 1, name);
    bool is_used = renameat2(home_fd, name, home_fd, uuid, RENAME_NOREPLACE) == 0;
    spares->count -= is_used || errno != EEXIST;
    return is_used;
}

int pod_folder_open(int home_fd, struct pod_spares *spares, const char *uuid, bool *out_is_new, struct error *err)
{
    struct stat about;
    if (!use_spare(home_fd, spares, uuid) && mkdirat(home_fd, uuid, FOLDER_MODE) < 0 && errno != EEXIST)
        return error_set(err, ERROR_UNAVAILABLE, "the pod's folder cannot be created: %s", strerror(errno));
    int fd = open_folder(home_fd, uuid);
    if (fd < 0)
        return error_set(err, ERROR_UNAVAILABLE, "the pod's folder cannot be opened: %s", strerror(errno));
    *out_is_new = fstatat(fd, POD_STATE_FILE, &about, AT_SYMLINK_NOFOLLOW) < 0;
    return fd;
}

int pod_folder_create_state(int folder_fd, struct error *err)
{
    int fd = openat(folder_fd, POD_SPARE_FILE, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    if (fd >= 0 && ftruncate(fd, 0) == 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        renameat2(folder_fd, POD_SPARE_FILE, folder_fd, POD_STATE_FILE, RENAME_NOREPLACE) == 0)
        return fd;
    error_set(err, ERROR_UNAVAILABLE, "the pod's folder cannot be written: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

bool pod_folder_wait(int folder_fd, struct pod_state *out_state)
{
    for (int i = 0; i < WAIT_TRIES; i++) {
        bool lives = pod_state_is_locked(folder_fd);
        (void)pod_state_read(folder_fd, out_state); // after: what it wrote before it died is seen
        if (!lives)
            return false;
        if (out_state->supervisor)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
    }
    return false;
}

int pod_folder_write_grace(int home_fd, const char *uuid, int64_t grace_ms, struct error *err)
{
    char path[UUID_SIZE + sizeof(POD_STOP_FILE)], text[32];
    snprintf(path, sizeof(path), "%.36s/" POD_STOP_FILE, uuid);
    int length = snprintf(text, sizeof(text), "%" PRId64 "\n", grace_ms);
    int fd = openat(home_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, FILE_MODE);
    bool is_written = fd >= 0 && write(fd, text, (size_t)length) == length;
    int code = errno;
    if (fd >= 0)
        close(fd);
    return is_written ? 0 : error_set(err, ERROR_UNAVAILABLE, "%s: %s", path, strerror(code));
}

bool pod_folder_was_stopped(int folder_fd)
{
    struct stat about;
    return fstatat(folder_fd, POD_STOP_FILE, &about, AT_SYMLINK_NOFOLLOW) == 0;
}

const char *pod_folder_read_record(int folder_fd, struct arena *arena)
{
    struct stat about;
    int fd = openat(folder_fd, POD_ROW_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return NULL;
    size_t size = fstat(fd, &about) == 0 && about.st_size < RECORD_MAX ? (size_t)about.st_size : 0, length = 0;
    char *text = arena_alloc(arena, size + 1);
    for (ssize_t got; length < size && (got = read(fd, text + length, size - length)) > 0;)
        length += (size_t)got;
    close(fd);
    text[length] = '\0';
    return length > 0 ? text : NULL;
}

// Whether there is nothing but an empty state.
static bool is_spare(int folder_fd)
{
    bool is_only = true;
    DIR *folder = folder_read(folder_fd);
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        is_only = is_only && (folder_is_dots(entry->d_name) || strcmp(entry->d_name, POD_SPARE_FILE) == 0);
    bool is_read = folder != NULL;
    if (is_read)
        closedir(folder);
    return is_read && is_only;
}

// Keeps the pod's folder for another. False: it must go, for there are enough of them, or it holds more.
static bool keep_spare(int home_fd, struct pod_spares *spares, const char *uuid, int folder_fd)
{
    char name[SPARE_NAME_SIZE];
    if (spares->count == SPARES_MAX || renameat(folder_fd, POD_STATE_FILE, folder_fd, POD_SPARE_FILE) < 0)
        return false;
    name_spare(spares->count, name);
    if (is_spare(folder_fd)) {
        bool is_kept = renameat(home_fd, uuid, home_fd, name) == 0;
        spares->count += is_kept || errno == ENOTEMPTY; // one of the server before was there
        if (is_kept)
            return true;
    }
    (void)unlinkat(folder_fd, POD_SPARE_FILE, 0);
    return false;
}

bool pod_folder_forget(int home_fd, struct pod_spares *spares, const char *uuid)
{
    struct log_size log;
    char session[sizeof(POD_SESSION_SOCKET) + UUID_SIZE];
    int folder_fd = open_folder(home_fd, uuid);
    if (folder_fd < 0)
        return false;
    snprintf(session, sizeof(session), POD_SESSION_SOCKET "%.36s", uuid);
    (void)unlinkat(home_fd, session, 0); // of a server that was killed
    (void)unlinkat(folder_fd, POD_STOP_FILE, 0);
    (void)unlinkat(folder_fd, POD_ENVIRONMENT_FILE, 0);
    (void)unlinkat(folder_fd, POD_ROW_FILE, 0);
    log_files_measure(folder_fd, &log);
    bool has_log = log.bytes > 0;
    if (!has_log)
        (void)log_files_remove(folder_fd, LOG_BOUND_POD, 0);
    bool is_kept = !has_log && keep_spare(home_fd, spares, uuid, folder_fd);
    if (!is_kept)
        (void)unlinkat(folder_fd, POD_STATE_FILE, 0);
    close(folder_fd);
    if (!has_log && !is_kept)
        (void)unlinkat(home_fd, uuid, AT_REMOVEDIR);
    return has_log;
}

bool pod_folder_is_forgotten(int folder_fd)
{
    struct stat about;
    return fstatat(folder_fd, POD_STATE_FILE, &about, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

void pod_folder_remove_log(int home_fd, const char *uuid)
{
    int folder_fd = open_folder(home_fd, uuid);
    bool is_forgotten = folder_fd >= 0 && pod_folder_is_forgotten(folder_fd);
    if (is_forgotten)
        (void)log_files_remove(folder_fd, LOG_BOUND_POD, 0);
    if (folder_fd >= 0)
        close(folder_fd);
    if (is_forgotten)
        (void)unlinkat(home_fd, uuid, AT_REMOVEDIR);
}

const char *pod_folder_next(DIR *home)
{
    const struct dirent *entry;
    do
        entry = readdir(home);
    while (entry && !uuid_is_valid(entry->d_name));
    return entry ? entry->d_name : NULL;
}

void pod_folder_list(int home_fd, void (*visit)(const char *uuid, void *context), void *context)
{
    DIR *home = folder_read(home_fd);
    for (const char *uuid; home && (uuid = pod_folder_next(home));) {
        char path[UUID_SIZE + sizeof(POD_STATE_FILE)];
        struct stat about;
        snprintf(path, sizeof(path), "%.36s/" POD_STATE_FILE, uuid);
        if (fstatat(home_fd, path, &about, AT_SYMLINK_NOFOLLOW) == 0)
            visit(uuid, context);
    }
    if (home)
        closedir(home);
}
