#include "supervisor/log_writer.h"

#include "supervisor/pod_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum {
    FOLDER_MODE = 0700,
    FILE_MODE = 0600,
    OUT_SIZE = 128 * 1024,
    LINE_MAX = 64 * 1024
};

static char out[OUT_SIZE];
static size_t out_length;

static void name_of(int64_t start, char name[POD_LOG_NAME_DIGITS + 1])
{
    snprintf(name, POD_LOG_NAME_DIGITS + 1, "%0*" PRId64, POD_LOG_NAME_DIGITS, start);
}

// The first and the last file's start, as their names say; false where there is none.
static bool find_files(int folder_fd, int64_t *out_first, int64_t *out_last)
{
    bool found = false;
    int copy = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = copy < 0 ? NULL : fdopendir(copy);
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        if (strlen(entry->d_name) != POD_LOG_NAME_DIGITS || strspn(entry->d_name, "0123456789") != POD_LOG_NAME_DIGITS)
            continue;
        int64_t start = strtoll(entry->d_name, NULL, 10);
        *out_first = !found || start < *out_first ? start : *out_first;
        *out_last = !found || start > *out_last ? start : *out_last;
        found = true;
    }
    if (folder)
        closedir(folder);
    else if (copy >= 0)
        close(copy);
    return found;
}

static bool open_file(struct log_writer *log)
{
    char name[POD_LOG_NAME_DIGITS + 1];
    name_of(log->position, name);
    int fd = openat(log->folder_fd, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, FILE_MODE);
    if (fd < 0)
        return false;
    if (log->fd >= 0)
        close(log->fd);
    log->fd = fd;
    log->file_start = log->position;
    int64_t first, last;
    while (find_files(log->folder_fd, &first, &last) && first < log->file_start &&
           log->position - first > log->total_max - log->file_max) {
        name_of(first, name);
        if (unlinkat(log->folder_fd, name, 0) < 0)
            break;
    }
    return true;
}

void log_writer_init(struct log_writer *log, int pod_folder_fd, int64_t file_max, int64_t total_max, int64_t reserve)
{
    *log = (struct log_writer){.pod_folder_fd = pod_folder_fd,
                               .folder_fd = -1,
                               .fd = -1,
                               .file_max = file_max,
                               .total_max = total_max,
                               .reserve = reserve};
}

static bool open_folder(struct log_writer *log)
{
    if (log->folder_fd < 0 && (mkdirat(log->pod_folder_fd, POD_LOG_FOLDER, FOLDER_MODE) == 0 || errno == EEXIST))
        log->folder_fd = openat(log->pod_folder_fd, POD_LOG_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return log->folder_fd >= 0 && open_file(log);
}

static void flush(struct log_writer *log)
{
    size_t done = 0;
    while (done < out_length) {
        ssize_t written = write(log->fd, out + done, out_length - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            break;
        done += (size_t)written;
    }
    log->position += (int64_t)done;
    log->lost_bytes += (int64_t)(out_length - done);
    out_length = 0;
}

static void put_line(struct log_writer *log, const struct timespec *now, bool is_full, const char *text, size_t length)
{
    if (out_length + length + POD_LOG_PREFIX_LENGTH + 1 > sizeof(out))
        flush(log);
    int64_t length_of_file = log->position + (int64_t)out_length - log->file_start;
    if (length_of_file >= log->file_max + (log->in_line ? LINE_MAX : 0)) { // a file begins with a line, if it can
        flush(log);
        (void)open_file(log); // where it cannot be, the present one grows on
    }
    struct tm parts;
    gmtime_r(&now->tv_sec, &parts);
    size_t at = out_length + strftime(out + out_length, sizeof(out) - out_length, "%Y-%m-%dT%H:%M:%S", &parts);
    at += (size_t)snprintf(out + at, sizeof(out) - at, ".%09ldZ %c ", now->tv_nsec, is_full ? 'F' : 'P');
    memcpy(out + at, text, length);
    out[at + length] = '\n';
    out_length = at + length + 1;
}

static void tell_loss(struct log_writer *log, const struct timespec *now)
{
    char text[96];
    int length =
        snprintf(text, sizeof(text), "[%" PRId64 " bytes of output are lost: the disk had no room]", log->lost_bytes);
    log->lost_bytes = 0;
    put_line(log, now, true, text, (size_t)length);
    flush(log);
}

// The database, which needs room to delete anything, lies on the same disk. Where its room is not known, there is some.
static bool is_low(const struct log_writer *log)
{
    enum {
        PART_OF_DISK = 20
    };
    struct statvfs disk;
    if (log->reserve == 0 || fstatvfs(log->pod_folder_fd, &disk) < 0)
        return false;
    uint64_t part = (uint64_t)disk.f_blocks * disk.f_frsize / PART_OF_DISK;
    uint64_t reserve = (uint64_t)log->reserve < part ? (uint64_t)log->reserve : part;
    return (uint64_t)disk.f_bavail * disk.f_frsize < reserve;
}

// Output is not kept while the disk is down to its reserve. True: it is.
static bool pass_over(struct log_writer *log, const struct timespec *now, size_t length)
{
    static const char TEXT[] = "[from here on output is not kept: the disk is down to its reserve]";
    bool was_low = log->is_low;
    log->is_low = is_low(log);
    if (!log->is_low)
        return false;
    if (!was_low) {
        put_line(log, now, true, TEXT, sizeof(TEXT) - 1);
        flush(log);
    }
    log->lost_bytes += (int64_t)length;
    return true;
}

void log_writer_add(struct log_writer *log, const char *text, size_t length)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (log->fd < 0 && !open_folder(log)) {
        log->lost_bytes += (int64_t)length;
        return;
    }
    if (pass_over(log, &now, length))
        return;
    if (log->lost_bytes > 0)
        tell_loss(log, &now);
    while (length > 0) {
        size_t limit = length < POD_LOG_PART_MAX ? length : POD_LOG_PART_MAX;
        const char *newline = memchr(text, '\n', limit);
        size_t part = newline ? (size_t)(newline - text) : limit;
        put_line(log, &now, newline != NULL, text, part);
        log->in_line = newline == NULL;
        text += part + (newline != NULL);
        length -= part + (newline != NULL);
    }
    flush(log);
}
