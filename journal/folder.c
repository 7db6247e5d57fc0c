#include "journal/folder.h"

#include "base/arena.h"
#include "base/error.h"
#include "journal/segment.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".segment"

void folder_path(const char *folder, int64_t first_cycle, char out_path[static FOLDER_PATH_SIZE])
{
    snprintf(out_path, FOLDER_PATH_SIZE, "%s/%012" PRId64 SUFFIX, folder, first_cycle);
}

void folder_remove(const char *folder, int64_t first_cycle)
{
    char path[FOLDER_PATH_SIZE];
    folder_path(folder, first_cycle, path);
    unlink(path);
}

static int compare_numbers(const void *a, const void *b)
{
    const int64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

size_t folder_list(const char *folder, struct arena *arena, int64_t **out_first_cycles)
{
    int64_t *first_cycles = NULL;
    size_t count = 0, capacity = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char *end;
        long long cycle = strtoll(entry->d_name, &end, 10);
        if (end == entry->d_name || cycle <= 0 || strcmp(end, SUFFIX) != 0)
            continue;
        first_cycles = arena_grow(arena, first_cycles, &capacity, count + 1, sizeof(*first_cycles));
        first_cycles[count++] = cycle;
    }
    if (directory)
        closedir(directory);
    if (count > 1)
        qsort(first_cycles, count, sizeof(*first_cycles), compare_numbers);
    *out_first_cycles = first_cycles;
    return count;
}

// The last segment's whole records stay. One without any goes: kill -9 came before its first was written.
static void repair(const char *path, int64_t *last_cycle)
{
    struct segment_reader segment;
    struct record record;
    if (segment_open(&segment, path, NULL) < 0) {
        unlink(path);
        return;
    }
    int64_t whole = 0, length = segment.length;
    while (segment_next(&segment, &record) && segment_check(&segment, &record)) {
        whole = segment.offset;
        *last_cycle = record.cycle;
    }
    segment_done(&segment);
    if (whole == 0)
        unlink(path);
    else if (whole < length && truncate(path, whole) < 0)
        return; // readers stop at the same place
}

int folder_prepare(const char *folder, int64_t *out_last_cycle, struct error *err)
{
    struct arena arena;
    int64_t *first_cycles, last_cycle = 0;
    char path[FOLDER_PATH_SIZE];
    if (strlen(folder) > FOLDER_PATH_SIZE - 40)
        return error_set(err, ERROR_INVALID, "%.60s...: the path is too long", folder);
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return error_set(err, ERROR_INVALID, "%s: %s", folder, strerror(errno));
    arena_init(&arena);
    for (size_t i = folder_list(folder, &arena, &first_cycles); i-- > 0 && last_cycle == 0;) {
        folder_path(folder, first_cycles[i], path);
        repair(path, &last_cycle);
    }
    arena_done(&arena);
    *out_last_cycle = last_cycle;
    return 0;
}

static int64_t size_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? info.st_size : 0;
}

// Whether all its cycles are older than that.
static bool is_older(const char *path, int64_t before_ms)
{
    struct segment_reader segment;
    struct record record;
    bool is_old = true;
    if (segment_open(&segment, path, NULL) < 0)
        return false;
    while (is_old && segment_next(&segment, &record))
        is_old = record.time_ms < before_ms;
    segment_done(&segment);
    return is_old;
}

void folder_trim(const char *folder, int64_t before_ms, int64_t bound_bytes, struct folder_size *out_size)
{
    struct arena arena;
    int64_t *first_cycles, bytes = 0;
    char path[FOLDER_PATH_SIZE];
    arena_init(&arena);
    size_t count = folder_list(folder, &arena, &first_cycles), gone = 0;
    for (size_t i = 0; i < count; i++) {
        folder_path(folder, first_cycles[i], path);
        bytes += size_of(path);
    }
    for (; gone + 1 < count; gone++) {
        folder_path(folder, first_cycles[gone], path);
        if (bytes <= bound_bytes && (before_ms == INT64_MIN || !is_older(path, before_ms)))
            break;
        bytes -= size_of(path);
        unlink(path);
    }
    arena_done(&arena);
    *out_size = (struct folder_size){bytes, (int64_t)(count - gone)};
}
