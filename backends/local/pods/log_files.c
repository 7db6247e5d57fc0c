#include "backends/local/pods/log_files.h"

#include "base/folder.h"
#include "supervisor/pod_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILE_MODE = 0600,
    BLOCK_BYTES = 4096,
    NOTE_SIZE = 64
};

static int compare_starts(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool is_log_name(const char *name)
{
    return strlen(name) == POD_LOG_NAME_DIGITS && strspn(name, "0123456789") == POD_LOG_NAME_DIGITS;
}

bool log_files_open(int pod_folder_fd, struct log_files *out)
{
    out->count = 0;
    out->folder_fd = openat(pod_folder_fd, POD_LOG_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *folder = folder_read(out->folder_fd);
    for (const struct dirent *entry; folder && out->count < LOG_FILES_MAX && (entry = readdir(folder));)
        if (is_log_name(entry->d_name))
            out->starts[out->count++] = strtoll(entry->d_name, NULL, 10);
    if (folder)
        closedir(folder);
    qsort(out->starts, out->count, sizeof(out->starts[0]), compare_starts);
    return out->folder_fd >= 0;
}

void log_files_close(struct log_files *files)
{
    if (files->folder_fd >= 0)
        close(files->folder_fd);
    files->folder_fd = -1;
}

void log_files_name(int64_t start, char name[32])
{
    snprintf(name, 32, "%0*" PRId64, POD_LOG_NAME_DIGITS, start);
}

static int64_t time_of(const struct stat *about)
{
    return (int64_t)about->st_mtim.tv_sec * 1000 + about->st_mtim.tv_nsec / 1000000;
}

static int64_t in_blocks(int64_t bytes)
{
    return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
}

// 0 where it is not there.
static int64_t size_of(const struct log_files *files, size_t index, int64_t *out_written_ms)
{
    char name[32];
    struct stat about;
    log_files_name(files->starts[index], name);
    if (fstatat(files->folder_fd, name, &about, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    *out_written_ms = time_of(&about);
    return about.st_size;
}

void log_files_measure(int pod_folder_fd, struct log_size *out)
{
    struct log_files files;
    struct stat about;
    *out = (struct log_size){0};
    bool is_cut = fstatat(pod_folder_fd, POD_CUT_FILE, &about, AT_SYMLINK_NOFOLLOW) == 0;
    if (is_cut)
        out->written_ms = time_of(&about);
    bool is_there = log_files_open(pod_folder_fd, &files);
    for (size_t i = 0; i < files.count; i++) {
        int64_t written_ms = 0, bytes = size_of(&files, i, &written_ms);
        out->bytes += in_blocks(bytes);
        if (bytes > 0 && written_ms > out->written_ms)
            out->written_ms = written_ms;
    }
    out->file_count = files.count;
    if (out->bytes > 0 || is_cut)
        out->bytes += (1 + is_there + is_cut) * BLOCK_BYTES;
    log_files_close(&files);
}

bool log_files_read_cut(int pod_folder_fd, struct log_cut *out)
{
    char text[NOTE_SIZE + 1];
    int bound;
    int fd = openat(pod_folder_fd, POD_CUT_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    if (sscanf(text, "%d %" SCNd64 " %" SCNd64, &bound, &out->bytes, &out->position) != 3 || bound < 0 ||
        bound >= LOG_BOUND_COUNT)
        return false;
    out->bound = (enum log_bound)bound;
    return true;
}

// Always of one length: written over the one before, it is never half of each.
static bool note_cut(int pod_folder_fd, enum log_bound bound, int64_t bound_bytes, int64_t position)
{
    char text[NOTE_SIZE + 1];
    int length = snprintf(text, sizeof(text), "%d %020" PRId64 " %020" PRId64 "\n", (int)bound, bound_bytes, position);
    int fd = openat(pod_folder_fd, POD_CUT_FILE, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
    bool is_noted = fd >= 0 && write(fd, text, (size_t)length) == length;
    if (fd >= 0)
        close(fd);
    return is_noted;
}

bool log_files_cut_oldest(int pod_folder_fd, enum log_bound bound, int64_t bound_bytes)
{
    struct log_files files;
    char name[32];
    bool is_cut = log_files_open(pod_folder_fd, &files) && files.count > 1;
    if (is_cut) {
        bool is_noted = note_cut(pod_folder_fd, bound, bound_bytes, files.starts[1]);
        log_files_name(files.starts[0], name);
        is_cut = unlinkat(files.folder_fd, name, 0) == 0;
        if (is_cut && !is_noted) // the disk was full
            (void)note_cut(pod_folder_fd, bound, bound_bytes, files.starts[1]);
    }
    log_files_close(&files);
    return is_cut;
}

bool log_files_remove(int pod_folder_fd, enum log_bound bound, int64_t bound_bytes)
{
    struct log_files files;
    char name[32];
    int64_t end = 0, written_ms;
    bool has_removed = false;
    (void)log_files_open(pod_folder_fd, &files);
    if (files.count)
        end = files.starts[files.count - 1] + size_of(&files, files.count - 1, &written_ms);
    bool is_noted = bound_bytes == 0 || end == 0 || note_cut(pod_folder_fd, bound, bound_bytes, end);
    for (size_t i = 0; i < files.count; i++) {
        log_files_name(files.starts[i], name);
        has_removed |= unlinkat(files.folder_fd, name, 0) == 0;
    }
    log_files_close(&files);
    (void)unlinkat(pod_folder_fd, POD_LOG_FOLDER, AT_REMOVEDIR);
    if (!is_noted)
        (void)note_cut(pod_folder_fd, bound, bound_bytes, end);
    if (bound_bytes == 0)
        (void)unlinkat(pod_folder_fd, POD_CUT_FILE, 0);
    return has_removed;
}
