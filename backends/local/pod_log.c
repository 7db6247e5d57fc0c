#include "backends/local/pod_log.h"

#include "base/buffer.h"
#include "base/timestamp.h"
#include "supervisor/pod_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILES_MAX = 4096,
    TIME_COMPARED = 23 // 2022-01-01T03:49:52.531, without the part that differs in length
};

struct log_files {
    int folder_fd;
    size_t count;
    int64_t starts[FILES_MAX]; // ascending
};

// A file in memory, up to its last full line.
struct chunk {
    const char *text;
    size_t length;
    size_t mapped;
};

static int compare_starts(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void list_files(struct log_files *files)
{
    int copy = openat(files->folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = copy < 0 ? NULL : fdopendir(copy);
    files->count = 0;
    for (const struct dirent *entry; folder && files->count < FILES_MAX && (entry = readdir(folder));)
        if (strlen(entry->d_name) == POD_LOG_NAME_DIGITS && strspn(entry->d_name, "0123456789") == POD_LOG_NAME_DIGITS)
            files->starts[files->count++] = strtoll(entry->d_name, NULL, 10);
    if (folder)
        closedir(folder);
    else if (copy >= 0)
        close(copy);
    qsort(files->starts, files->count, sizeof(files->starts[0]), compare_starts);
}

static bool map_file(const struct log_files *files, size_t index, struct chunk *out)
{
    char name[32];
    struct stat about;
    *out = (struct chunk){.text = ""};
    snprintf(name, sizeof(name), "%0*" PRId64, POD_LOG_NAME_DIGITS, files->starts[index]);
    int fd = openat(files->folder_fd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &about) == 0 && about.st_size > 0) {
        void *map = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
            out->text = map;
            out->mapped = (size_t)about.st_size;
            const char *last = memrchr(out->text, '\n', out->mapped);
            out->length = last ? (size_t)(last - out->text) + 1 : 0;
        }
    }
    close(fd);
    return true;
}

static void unmap(struct chunk *chunk)
{
    if (chunk->mapped)
        munmap((void *)chunk->text, chunk->mapped);
    *chunk = (struct chunk){.text = ""};
}

static bool is_part(const char *line, size_t length)
{
    return length >= POD_LOG_PREFIX_LENGTH && line[POD_LOG_TIME_LENGTH + 1] == 'P';
}

// The byte's number from which on there are `tail` lines.
static int64_t find_tail(const struct log_files *files, int64_t tail)
{
    int64_t found = 0, position = files->count ? files->starts[0] : 0;
    for (size_t i = files->count; i-- > 0;) {
        struct chunk chunk;
        if (!map_file(files, i, &chunk))
            break;
        size_t end = chunk.length;
        bool is_done = false;
        while (end > 0 && !is_done) {
            const char *before = end > 1 ? memrchr(chunk.text, '\n', end - 1) : NULL;
            size_t start = before ? (size_t)(before - chunk.text) + 1 : 0;
            if (!is_part(chunk.text + start, end - start) && found++ == tail) {
                position = files->starts[i] + (int64_t)end;
                is_done = true;
            }
            end = start;
        }
        unmap(&chunk);
        if (is_done)
            break;
    }
    return position;
}

static void put_line(const char *line, size_t length, const struct backend_log_request *request, bool *in_line,
                     struct buffer *out)
{
    if (length < POD_LOG_PREFIX_LENGTH) // torn by a full disk
        return;
    if (request->timestamps && !*in_line) {
        buffer_append(out, line, POD_LOG_TIME_LENGTH);
        buffer_char(out, ' ');
    }
    buffer_append(out, line + POD_LOG_PREFIX_LENGTH, length - POD_LOG_PREFIX_LENGTH);
    *in_line = is_part(line, length);
    if (!*in_line)
        buffer_char(out, '\n');
}

// Appends the chunk's lines from *at on, until there is enough.
static void put_lines(const struct chunk *chunk, size_t *at, const struct backend_log_request *request,
                      const char *since, bool *in_line, struct buffer *out)
{
    while (*at < chunk->length && out->length < request->max_bytes) {
        const char *line = chunk->text + *at;
        size_t length = (size_t)((const char *)memchr(line, '\n', chunk->length - *at) - line);
        if (!since[0] || (length >= TIME_COMPARED && memcmp(line, since, TIME_COMPARED) >= 0))
            put_line(line, length, request, in_line, out);
        *at += length + 1;
    }
}

bool pod_log_read(int pod_folder_fd, const struct backend_log_request *request, struct buffer *out,
                  int64_t *out_position)
{
    struct log_files *files = malloc(sizeof(*files));
    bool in_line = request->position & 1;
    int64_t byte = request->position / 2;
    char since[TIMESTAMP_SIZE] = "";
    *out_position = request->position;
    if (!files)
        return true;
    files->folder_fd = openat(pod_folder_fd, POD_LOG_FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (files->folder_fd < 0) {
        free(files);
        return true;
    }
    list_files(files);
    if (request->since_ms > 0)
        timestamp_format(request->since_ms, since);
    if (request->tail >= 0) {
        int64_t first = find_tail(files, request->tail);
        byte = first > byte ? first : byte;
    }
    bool is_all = true;
    for (size_t i = 0; i < files->count && is_all; i++) {
        struct chunk chunk;
        if (i + 1 < files->count && files->starts[i + 1] <= byte)
            continue;
        if (!map_file(files, i, &chunk))
            continue;
        if (files->starts[i] > byte) { // what lay before is gone
            byte = files->starts[i];
            in_line = false;
        }
        size_t at = (size_t)(byte - files->starts[i]);
        put_lines(&chunk, &at, request, since, &in_line, out);
        is_all = at >= chunk.length;
        byte = files->starts[i] + (int64_t)at;
        unmap(&chunk);
    }
    *out_position = byte * 2 + in_line;
    close(files->folder_fd);
    free(files);
    return is_all;
}
