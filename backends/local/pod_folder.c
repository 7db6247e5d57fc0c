#include "backends/local/pod_folder.h"

#include "backends/local/pod_state.h"
#include "base/error.h"
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
    // By way of the descriptor: the path itself may be longer than an address holds.
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

static void remove_log(int folder_fd)
{
    int log_fd = open_folder(folder_fd, POD_LOG_FOLDER);
    DIR *log = log_fd < 0 ? NULL : fdopendir(log_fd);
    for (const struct dirent *entry; log && (entry = readdir(log));)
        if (entry->d_name[0] != '.')
            (void)unlinkat(log_fd, entry->d_name, 0);
    if (log)
        closedir(log);
    else if (log_fd >= 0)
        close(log_fd);
    (void)unlinkat(folder_fd, POD_LOG_FOLDER, AT_REMOVEDIR);
}

// The time of the last output, 0 where there is none.
static int64_t log_written_ms(int folder_fd)
{
    int64_t latest_ms = 0;
    int log_fd = open_folder(folder_fd, POD_LOG_FOLDER);
    DIR *log = log_fd < 0 ? NULL : fdopendir(log_fd);
    for (const struct dirent *entry; log && (entry = readdir(log));) {
        struct stat about;
        if (entry->d_name[0] == '.' || fstatat(log_fd, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) < 0 ||
            about.st_size == 0)
            continue;
        int64_t written_ms = (int64_t)about.st_mtim.tv_sec * 1000;
        latest_ms = written_ms > latest_ms ? written_ms : latest_ms;
    }
    if (log)
        closedir(log);
    else if (log_fd >= 0)
        close(log_fd);
    return latest_ms;
}

// Whether there is nothing but an empty state.
static bool is_spare(int folder_fd)
{
    bool is_only = true;
    int copy = open_folder(folder_fd, ".");
    DIR *folder = copy < 0 ? NULL : fdopendir(copy);
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        is_only = is_only && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                              strcmp(entry->d_name, POD_SPARE_FILE) == 0);
    bool is_read = folder != NULL;
    if (is_read)
        closedir(folder);
    else if (copy >= 0)
        close(copy);
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

void pod_folder_forget(int home_fd, struct pod_spares *spares, const char *uuid)
{
    int folder_fd = open_folder(home_fd, uuid);
    if (folder_fd < 0)
        return;
    (void)unlinkat(folder_fd, POD_STOP_FILE, 0);
    (void)unlinkat(folder_fd, POD_ENVIRONMENT_FILE, 0);
    bool has_log = log_written_ms(folder_fd) > 0;
    if (!has_log)
        remove_log(folder_fd);
    bool is_kept = !has_log && keep_spare(home_fd, spares, uuid, folder_fd);
    if (!is_kept)
        (void)unlinkat(folder_fd, POD_STATE_FILE, 0);
    close(folder_fd);
    if (!has_log && !is_kept)
        (void)unlinkat(home_fd, uuid, AT_REMOVEDIR);
}

struct listing {
    void (*visit)(const char *uuid, void *context);
    void *context;
    int64_t before_ms;
};

static void visit_kept(int home_fd, const char *uuid, bool has_state, const struct listing *listing)
{
    (void)home_fd;
    if (has_state)
        listing->visit(uuid, listing->context);
}

static void remove_old(int home_fd, const char *uuid, bool has_state, const struct listing *listing)
{
    int folder_fd = has_state ? -1 : open_folder(home_fd, uuid);
    if (folder_fd < 0)
        return;
    bool is_old = log_written_ms(folder_fd) < listing->before_ms;
    if (is_old)
        remove_log(folder_fd);
    close(folder_fd);
    if (is_old)
        (void)unlinkat(home_fd, uuid, AT_REMOVEDIR);
}

static void each_folder(int home_fd, void (*act)(int, const char *, bool, const struct listing *),
                        const struct listing *listing)
{
    int copy = open_folder(home_fd, ".");
    DIR *home = copy < 0 ? NULL : fdopendir(copy);
    for (const struct dirent *entry; home && (entry = readdir(home));) {
        char path[UUID_SIZE + sizeof(POD_STATE_FILE)];
        struct stat about;
        if (strlen(entry->d_name) != UUID_SIZE - 1)
            continue;
        snprintf(path, sizeof(path), "%.36s/" POD_STATE_FILE, entry->d_name);
        act(home_fd, entry->d_name, fstatat(home_fd, path, &about, AT_SYMLINK_NOFOLLOW) == 0, listing);
    }
    if (home)
        closedir(home);
    else if (copy >= 0)
        close(copy);
}

void pod_folder_list(int home_fd, void (*visit)(const char *uuid, void *context), void *context)
{
    each_folder(home_fd, visit_kept, &(struct listing){.visit = visit, .context = context});
}

void pod_folder_tidy(int home_fd, int64_t before_ms)
{
    each_folder(home_fd, remove_old, &(struct listing){.before_ms = before_ms});
}
