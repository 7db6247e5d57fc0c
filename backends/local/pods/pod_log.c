#include "backends/local/pods/pod_log.h"

#include "backends/local/pods/log_files.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/quantity.h"
#include "base/timestamp.h"
#include "supervisor/pod_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TIME_COMPARED = 23 // 2022-01-01T03:49:52.531, without the part that differs in length
};

// A file in memory, up to its last full line.
struct chunk {
    const char *text;
    size_t length;
    size_t mapped;
};

static bool map_file(const struct log_files *files, size_t index, struct chunk *out)
{
    char name[32];
    struct stat about;
    *out = (struct chunk){.text = ""};
    log_files_name(files->starts[index], name);
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

// The byte's number from which on there are `tail` lines; *out_is_short where there are fewer.
static int64_t find_tail(const struct log_files *files, int64_t tail, bool *out_is_short)
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
    *out_is_short = found < tail;
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

static bool is_before(const char *line, size_t length, const char *since)
{
    return since[0] && (length < TIME_COMPARED || memcmp(line, since, TIME_COMPARED) < 0);
}

// Appends the chunk's lines from *at on, until there is enough.
static void put_lines(const struct chunk *chunk, size_t *at, const struct backend_log_request *request,
                      const char *since, bool *in_line, struct buffer *out)
{
    while (*at < chunk->length && out->length < request->max_bytes) {
        const char *line = chunk->text + *at;
        size_t length = (size_t)((const char *)memchr(line, '\n', chunk->length - *at) - line);
        if (!is_before(line, length, since))
            put_line(line, length, request, in_line, out);
        *at += length + 1;
    }
}

// What lay before `kept` is gone. `next`, which may be empty, is what comes now.
static void put_gap(int pod_folder_fd, int64_t pod_bytes, int64_t kept, const struct chunk *next,
                    const struct backend_log_request *request, bool in_line, struct buffer *out)
{
    static const char *const WORDS[LOG_BOUND_COUNT] = {
        [LOG_BOUND_POD] = "a pod's log", [LOG_BOUND_PROJECT] = "the project's logs", [LOG_BOUND_TOTAL] = "all logs"};
    char amount[QUANTITY_TEXT_SIZE], now[TIMESTAMP_SIZE];
    struct log_cut cut;
    if (!log_files_read_cut(pod_folder_fd, &cut) || cut.position < kept)
        cut = (struct log_cut){.bound = LOG_BOUND_POD, .bytes = pod_bytes};
    timestamp_format(request->now_ms, now);
    if (in_line)
        buffer_char(out, '\n');
    if (request->timestamps && next->length > POD_LOG_TIME_LENGTH)
        buffer_append(out, next->text, POD_LOG_TIME_LENGTH);
    else if (request->timestamps)
        buffer_text(out, now);
    buffer_printf(out, "%s[earlier output was removed: the bound of %s is %s]\n", request->timestamps ? " " : "",
                  WORDS[cut.bound], quantity_format_memory(cut.bytes, amount));
}

// The log of a pod that was removed whole; false: there was none.
static bool put_removal(int pod_folder_fd, const struct backend_log_request *request, struct buffer *out,
                        int64_t *out_byte)
{
    struct log_cut cut;
    if (request->tail == 0 || !log_files_read_cut(pod_folder_fd, &cut) || cut.position <= *out_byte)
        return false;
    put_gap(pod_folder_fd, 0, cut.position, &(struct chunk){0}, request, request->position & 1, out);
    *out_byte = cut.position;
    return true;
}

bool pod_log_read(int pod_folder_fd, int64_t pod_bytes, const struct backend_log_request *request, struct buffer *out,
                  int64_t *out_position)
{
    struct log_files *files = memory_alloc(sizeof(*files)); // large for the stack of who serves
    bool in_line = request->position & 1, is_all = true, is_short = false;
    int64_t byte = request->position / 2;
    char since[TIMESTAMP_SIZE] = "";
    (void)log_files_open(pod_folder_fd, files);
    if (request->since_ms > 0)
        timestamp_format(request->since_ms, since);
    if (request->tail >= 0 && files->count) {
        int64_t first = find_tail(files, request->tail, &is_short);
        is_short = is_short && byte < files->starts[0]; // and what lay before is gone
        byte = first > byte ? first : byte;
    }
    if (!files->count && put_removal(pod_folder_fd, request, out, &byte))
        in_line = false;
    for (size_t i = 0; i < files->count && is_all; i++) {
        struct chunk chunk;
        if (i + 1 < files->count && files->starts[i + 1] <= byte)
            continue;
        if (!map_file(files, i, &chunk))
            continue;
        if (files->starts[i] > byte || is_short) {
            if (!is_before(chunk.text, chunk.length, since))
                put_gap(pod_folder_fd, pod_bytes, files->starts[i], &chunk, request, in_line, out);
            byte = files->starts[i];
            in_line = is_short = false;
        }
        size_t at = (size_t)(byte - files->starts[i]);
        put_lines(&chunk, &at, request, since, &in_line, out);
        is_all = at >= chunk.length;
        byte = files->starts[i] + (int64_t)at;
        unmap(&chunk);
    }
    *out_position = byte * 2 + in_line;
    log_files_close(files);
    free(files);
    return is_all;
}
