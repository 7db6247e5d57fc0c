// Looks at the disks that pods write to: how much is free, and what the homes of each project take. Homes are walked
// through on a thread of low priority, some thousand entries a second, so what is known of them may be minutes old.
// Nothing is held by quotas: what is too much is told, and nothing new starts. Any thread may call.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct backend_storage;
struct disk_watch;

enum disk_news {
    DISK_IS_LOW,
    DISK_IS_WELL, // no disk is low any more
    DISK_HOMES_ARE_LARGE
};

struct disk_told {
    enum disk_news news;
    const char *where;    // a folder on the disk, or the project
    int64_t bytes, bound; // free and wanted; or taken and allowed
};
typedef void (*disk_tell_fn)(void *context, const struct disk_told *told);

struct disk_bounds {
    const char *data, *homes; // folders; they outlive the watch
    int64_t reserve;          // 0: none; a twentieth of a disk where that is less
    int64_t home_project;     // bytes; 0: none
};

struct disk_watch *disk_watch_create(const struct disk_bounds *bounds, disk_tell_fn tell, void *context);
// Looks at the disks at once. False: there is no thread to be had.
bool disk_watch_start(struct disk_watch *watch);
// Ends the thread. The caller holds no lock that the function to tell takes.
void disk_watch_stop(struct disk_watch *watch);
void disk_watch_destroy(struct disk_watch *watch); // NULL is fine

// Whether nothing is to be started, as told last.
bool disk_watch_is_low(struct disk_watch *watch);
// Whose the home of a workload is.
void disk_watch_add(struct disk_watch *watch, const char *workload_uuid, const char *project);
void disk_watch_remove(struct disk_watch *watch, const char *workload_uuid);
// Whether the project's homes take more than they may.
bool disk_watch_is_over(struct disk_watch *watch, const char *project, int64_t *out_bytes);
// Adds what is known of homes.
void disk_watch_read(struct disk_watch *watch, struct arena *arena, struct backend_storage *storage);
