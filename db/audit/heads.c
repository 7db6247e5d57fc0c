#include "db/audit/heads.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "db/audit/records.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LINE_SIZE = 256,
    FILE_MAX = 16 << 20,
    KEPT_LINES = 20000 // above this the file is written again, without what is too old
};

static void format_line(const struct audit_head *head, char out[LINE_SIZE])
{
    char time[TIMESTAMP_SIZE], mac[2 * AUDIT_MAC_SIZE + 1], signature[2 * AUDIT_MAC_SIZE + 1];
    timestamp_format(head->time_ms, time);
    sodium_bin2hex(mac, sizeof(mac), head->mark.mac, AUDIT_MAC_SIZE);
    sodium_bin2hex(signature, sizeof(signature), head->signature, AUDIT_MAC_SIZE);
    snprintf(out, LINE_SIZE, "%s %" PRId64 " %s %s", time, head->mark.seq, mac, signature);
}

static void write_line(FILE *file, const struct audit_head *head)
{
    char line[LINE_SIZE];
    format_line(head, line);
    fprintf(file, "%s\n", line);
}

static bool read_hex(const char *text, unsigned char out[AUDIT_MAC_SIZE])
{
    size_t length;
    return sodium_hex2bin(out, AUDIT_MAC_SIZE, text, strlen(text), NULL, &length, NULL) == 0 &&
           length == AUDIT_MAC_SIZE;
}

// A head as it was written, letter by letter, and nothing behind it.
static bool read_line(const char *line, struct audit_head *out_head)
{
    char time[TIMESTAMP_SIZE], mac[2 * AUDIT_MAC_SIZE + 1], signature[2 * AUDIT_MAC_SIZE + 1], written[LINE_SIZE];
    bool is_read = sscanf(line, "%31s %" SCNd64 " %64s %64s", time, &out_head->mark.seq, mac, signature) == 4 &&
                   timestamp_parse(time, &out_head->time_ms, NULL) == 0 && out_head->mark.seq >= 0 &&
                   read_hex(mac, out_head->mark.mac) && read_hex(signature, out_head->signature);
    if (!is_read)
        return false;
    format_line(out_head, written);
    return strcmp(line, written) == 0;
}

static int read_all(FILE *file, struct arena *arena, struct audit_heads *out_heads)
{
    char line[LINE_SIZE];
    size_t capacity = 0, number = 0;
    while (fgets(line, sizeof(line), file)) {
        struct audit_head head = {0};
        number++;
        line[strcspn(line, "\n")] = '\0';
        if (!read_line(line, &head)) {
            if (!out_heads->bad_line)
                out_heads->bad_line = number;
            continue;
        }
        if (out_heads->count == capacity)
            out_heads->items =
                arena_grow(arena, out_heads->items, &capacity, out_heads->count + 1, sizeof(*out_heads->items));
        out_heads->items[out_heads->count++] = head;
    }
    return ferror(file) ? -1 : 0;
}

int audit_heads_read(const char *folder, struct arena *arena, struct audit_heads *out_heads, struct error *err)
{
    const char *path = arena_printf(arena, "%s/" AUDIT_HEADS_FILE, folder);
    struct stat info;
    *out_heads = (struct audit_heads){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT)
        return 0;
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    int rc = !file || fstat(fd, &info) < 0 ? -1 : 0;
    if (rc == 0 && (!S_ISREG(info.st_mode) || info.st_size > FILE_MAX))
        rc = error_set(err, ERROR_INVALID, "%s: not a file of heads", path);
    else if (rc < 0 || read_all(file, arena, out_heads) < 0)
        rc = error_set(err, ERROR_INTERNAL, "%s: %s", path, strerror(errno));
    if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
    return rc;
}

static int finish(FILE *file)
{
    bool ok = fflush(file) == 0 && fsync(fileno(file)) == 0;
    return fclose(file) == 0 && ok ? 0 : -1;
}

static FILE *open_file(const char *path, int flags, const char *mode)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, mode);
    if (!file && fd >= 0)
        close(fd);
    return file;
}

// A line that a full disk cut must not take the next one with it.
static void end_cut_line(FILE *file)
{
    struct stat info;
    char last = '\n';
    if (fstat(fileno(file), &info) == 0 && info.st_size > 0 && pread(fileno(file), &last, 1, info.st_size - 1) == 1 &&
        last != '\n')
        fputc('\n', file);
}

// The file without what is too old, under its name once it is whole.
static int shorten(const char *path, const struct audit_heads *heads, int64_t oldest_ms, struct arena *arena)
{
    const char *part = arena_printf(arena, "%s.part", path);
    FILE *file = open_file(part, O_TRUNC, "w");
    if (!file)
        return -1;
    for (size_t i = 0; i < heads->count; i++)
        if (heads->items[i].time_ms >= oldest_ms)
            write_line(file, &heads->items[i]);
    return finish(file) < 0 || rename(part, path) < 0 ? -1 : 0;
}

static int shorten_where_long(const char *folder, const char *path, int64_t oldest_ms, struct arena *arena,
                              struct error *err)
{
    struct audit_heads heads;
    if (audit_heads_read(folder, arena, &heads, err) < 0)
        return -1;
    if (heads.bad_line || heads.count < KEPT_LINES || heads.items[heads.count / 2].time_ms >= oldest_ms)
        return 0;
    return shorten(path, &heads, oldest_ms, arena) < 0
               ? error_set(err, ERROR_UNAVAILABLE, "%s: %s", path, strerror(errno))
               : 0;
}

// The nearest time that a line can say: the signature is of what is read again.
static int64_t time_of_line(int64_t time_ms)
{
    return time_ms < 0 ? 0 : time_ms > TIMESTAMP_MAX_MS ? TIMESTAMP_MAX_MS : time_ms;
}

int audit_heads_add(const char *folder, const struct audit_key *key, const struct audit_mark *mark, int64_t now_ms,
                    int64_t oldest_ms, struct error *err)
{
    struct arena arena;
    struct audit_head head = {.time_ms = time_of_line(now_ms), .mark = *mark};
    arena_init(&arena);
    const char *path = arena_printf(&arena, "%s/" AUDIT_HEADS_FILE, folder);
    audit_mark_sign(key, AUDIT_PURPOSE_HEAD, mark, head.time_ms, head.signature);
    FILE *file = open_file(path, O_APPEND, "a");
    int rc = file ? 0 : -1;
    if (file) {
        end_cut_line(file);
        write_line(file, &head);
        rc = finish(file);
    }
    rc = rc < 0 ? error_set(err, ERROR_UNAVAILABLE, "%s: %s", path, strerror(errno))
                : shorten_where_long(folder, path, oldest_ms, &arena, err);
    arena_done(&arena);
    return rc;
}
