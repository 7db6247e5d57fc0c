#include "backends/local/images/image_files.h"

#include "base/arena.h"
#include "base/log.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    BLOCK_BYTES = 512, // of stat
    RECENT_S = 60 * 60
};

struct image_file {
    char name[256];
    int64_t bytes;
    time_t used;
};

struct image_files {
    struct image_file *items;
    size_t count, capacity;
    int64_t bytes;
};

// What is being pulled counts, and is no image yet.
static void read_folder(DIR *folder, struct image_files *out)
{
    *out = (struct image_files){0};
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        struct stat about;
        const char *end = strrchr(entry->d_name, '.');
        if (fstatat(dirfd(folder), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(about.st_mode))
            continue;
        out->bytes += (int64_t)about.st_blocks * BLOCK_BYTES;
        if (!end || strcmp(end, ".sif") != 0)
            continue;
        if (out->count == out->capacity) {
            out->capacity = out->capacity ? 2 * out->capacity : 16;
            out->items = memory_realloc(out->items, out->capacity * sizeof(*out->items));
        }
        struct image_file *file = &out->items[out->count++];
        *file = (struct image_file){.bytes = (int64_t)about.st_blocks * BLOCK_BYTES, .used = about.st_mtime};
        snprintf(file->name, sizeof(file->name), "%s", entry->d_name);
    }
}

static int compare_used(const void *a, const void *b)
{
    const struct image_file *x = a, *y = b;
    int by_time = (x->used > y->used) - (x->used < y->used);
    return by_time ? by_time : strcmp(x->name, y->name);
}

int64_t image_files_bytes(const char *path)
{
    struct image_files files;
    DIR *folder = opendir(path);
    read_folder(folder, &files);
    free(files.items);
    if (folder)
        closedir(folder);
    return files.bytes;
}

void image_files_use(const char *path)
{
    (void)utimensat(AT_FDCWD, path, NULL, 0);
}

void image_files_trim(const char *path, int64_t bytes_max)
{
    struct image_files files;
    DIR *folder = opendir(path);
    time_t now = time(NULL);
    read_folder(folder, &files);
    if (files.count)
        qsort(files.items, files.count, sizeof(*files.items), compare_used);
    for (size_t i = 0; i < files.count && bytes_max && files.bytes > bytes_max; i++) {
        const struct image_file *file = &files.items[i];
        if (now - file->used < RECENT_S || unlinkat(dirfd(folder), file->name, 0) < 0)
            continue;
        files.bytes -= file->bytes;
        log_write(LOG_INFO, "backends", "an image was removed file=%s bytes=%" PRId64 ": --local-image-total",
                  file->name, file->bytes);
    }
    free(files.items);
    if (folder)
        closedir(folder);
}
