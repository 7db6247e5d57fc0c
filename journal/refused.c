#include "journal/refused.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "form/plan_writer.h"
#include "form/snapshot_writer.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_file(const char *path, const struct buffer *text, struct error *err)
{
    FILE *file = fopen(path, "w");
    bool is_written = file && fwrite(text->data, 1, text->length, file) == text->length;
    is_written = file && fclose(file) == 0 && is_written;
    if (is_written)
        return 0;
    error_set(err, ERROR_UNAVAILABLE, "%s: %s", path, strerror(errno));
    unlink(path);
    return -1;
}

static void write_plan(struct buffer *out, const struct snapshot *snapshot, const struct plan *plan, const char *cause)
{
    struct json_writer json;
    json_writer_init(&json, out, false);
    json_begin_object(&json);
    json_text(&json, "cause", cause);
    json_key(&json, "decisions");
    if (plan)
        plan_write_decisions(&json, snapshot, plan);
    else
        json_value_null(&json);
    json_end_object(&json);
    buffer_char(out, '\n');
}

static int compare_numbers(const void *a, const void *b)
{
    const int64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static void remove_oldest(const char *folder, struct arena *arena)
{
    int64_t *times = NULL;
    size_t count = 0, capacity = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char *end;
        long long time_ms = strtoll(entry->d_name, &end, 10);
        if (end == entry->d_name || strcmp(end, ".json") != 0)
            continue;
        times = arena_grow(arena, times, &capacity, count + 1, sizeof(*times));
        times[count++] = time_ms;
    }
    if (directory)
        closedir(directory);
    if (count > 1)
        qsort(times, count, sizeof(*times), compare_numbers);
    for (size_t i = 0; i + REFUSED_KEPT < count; i++) {
        unlink(arena_printf(arena, "%s/%" PRId64 ".json", folder, times[i]));
        unlink(arena_printf(arena, "%s/%" PRId64 ".plan.json", folder, times[i]));
    }
}

int refused_keep(const char *folder, const struct snapshot *snapshot, const struct plan *plan, const char *cause,
                 struct error *err)
{
    int rc = -1;
    struct arena arena;
    struct buffer text;
    struct json_writer json;
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return error_set(err, ERROR_UNAVAILABLE, "%s: %s", folder, strerror(errno));
    arena_init(&arena);
    buffer_init(&text, 0);
    json_writer_init(&json, &text, false);
    snapshot_write(&json, snapshot);
    buffer_char(&text, '\n');
    if (write_file(arena_printf(&arena, "%s/%" PRId64 ".json", folder, snapshot->now_ms), &text, err) == 0) {
        buffer_clear(&text);
        write_plan(&text, snapshot, plan, cause);
        rc = write_file(arena_printf(&arena, "%s/%" PRId64 ".plan.json", folder, snapshot->now_ms), &text, err);
    }
    remove_oldest(folder, &arena);
    buffer_done(&text);
    arena_done(&arena);
    return rc;
}
