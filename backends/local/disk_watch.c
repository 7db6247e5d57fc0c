#include "backends/local/disk_watch.h"

#include "backends/backend.h"
#include "backends/local/pods/log_table.h"
#include "base/arena.h"
#include "base/condition.h"
#include "base/folder.h"
#include "base/timestamp.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum {
    STACK_BYTES = 256 * 1024,
    ENTRIES_AT_ONCE = 4096, // each second
    ROUND_MS = 3 * 1000,    // at least, from the start of one round over all homes to the next
    OPEN_MAX = 32,          // folders at once
    PART_OF_DISK = 20,
    LOWEST_NICE = 19,
    BLOCK_BYTES = 512, // of stat
    DISKS = 2,
    ENTRIES_OF_HOME = 4 * 1000 * 1000, // who makes files faster than they are counted keeps nobody else from it
    TOLD_AGAIN_MS = 60 * 60 * 1000
};

// A folder that the walk is in. Of those above the lowest OPEN_MAX it keeps what it needs to open them again, by the
// ".." of the one below: where it was. File systems keep such positions, for servers of NFS need the same.
struct level {
    DIR *folder; // NULL: closed
    ino_t inode;
    long position; // while it is closed
};

// Where the walk is: levels[0] is the folder of homes, which stays open.
struct walk {
    struct level *levels;
    int depth, capacity;
    int first_open; // of levels[1] and on
    bool is_cut;    // of that home not all was found: somebody moved a folder, or none could be opened
    dev_t device;
    char home[UUID_SIZE];
    int64_t bytes; // of that home so far
    int64_t entries;
    int64_t started_ms;
};

struct disk_watch {
    struct disk_bounds bounds;
    disk_tell_fn tell;
    void *context;
    pthread_t thread;
    bool has_thread;
    bool is_low[DISKS]; // the thread's: as told last, of the disks of data and homes
    struct walk walk;
    pthread_mutex_t lock; // of all below
    pthread_cond_t wake;
    struct log_table table; // a home stands there as a log whose pod is its workload
    bool is_any_low;
    bool is_stopping;
};

struct disk_watch *disk_watch_create(const struct disk_bounds *bounds, disk_tell_fn tell, void *context)
{
    struct disk_watch *watch = memory_array(1, sizeof(*watch));
    watch->bounds = *bounds;
    watch->tell = tell;
    watch->context = context;
    pthread_mutex_init(&watch->lock, NULL);
    condition_init(&watch->wake);
    return watch;
}

void disk_watch_stop(struct disk_watch *watch)
{
    if (!watch->has_thread)
        return;
    pthread_mutex_lock(&watch->lock);
    watch->is_stopping = true;
    pthread_cond_signal(&watch->wake);
    pthread_mutex_unlock(&watch->lock);
    pthread_join(watch->thread, NULL);
    watch->has_thread = false;
}

// What lies below that depth.
static void leave_all(struct walk *walk, int depth)
{
    for (; walk->depth > depth; walk->depth--)
        if (walk->levels[walk->depth - 1].folder)
            closedir(walk->levels[walk->depth - 1].folder);
}

void disk_watch_destroy(struct disk_watch *watch)
{
    if (!watch)
        return;
    disk_watch_stop(watch);
    leave_all(&watch->walk, 0);
    free(watch->walk.levels);
    log_table_done(&watch->table);
    pthread_cond_destroy(&watch->wake);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}

void disk_watch_add(struct disk_watch *watch, const char *workload_uuid, const char *project)
{
    pthread_mutex_lock(&watch->lock);
    (void)log_table_add(&watch->table, workload_uuid, workload_uuid, project);
    pthread_mutex_unlock(&watch->lock);
}

void disk_watch_remove(struct disk_watch *watch, const char *workload_uuid)
{
    pthread_mutex_lock(&watch->lock);
    struct kept_log *home = log_table_find(&watch->table, workload_uuid);
    if (home)
        log_table_remove(&watch->table, home);
    pthread_mutex_unlock(&watch->lock);
}

bool disk_watch_is_low(struct disk_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    bool is_any_low = watch->is_any_low;
    pthread_mutex_unlock(&watch->lock);
    return is_any_low;
}

bool disk_watch_is_over(struct disk_watch *watch, const char *project, int64_t *out_bytes)
{
    *out_bytes = 0;
    pthread_mutex_lock(&watch->lock);
    for (const struct kept_project *at = watch->table.projects; at; at = at->next)
        if (strcmp(at->name, project) == 0)
            *out_bytes = at->bytes;
    pthread_mutex_unlock(&watch->lock);
    return watch->bounds.home_project && *out_bytes > watch->bounds.home_project;
}

void disk_watch_read(struct disk_watch *watch, struct arena *arena, struct backend_storage *storage)
{
    size_t capacity = storage->project_count;
    pthread_mutex_lock(&watch->lock);
    for (const struct kept_project *project = watch->table.projects; project; project = project->next) {
        size_t i = 0;
        while (i < storage->project_count && strcmp(storage->projects[i].project_name, project->name) != 0)
            i++;
        if (i == storage->project_count) {
            storage->projects = arena_grow(arena, storage->projects, &capacity, i + 1, sizeof(*storage->projects));
            storage->projects[storage->project_count++] =
                (struct backend_store){.project_name = arena_strdup(arena, project->name)};
        }
        storage->projects[i].home_bytes = project->bytes;
    }
    pthread_mutex_unlock(&watch->lock);
}

// Logs stop at the reserve, so that they alone keep nothing from starting.
static bool is_low(const struct disk_watch *watch, const char *folder, bool was_low, struct disk_told *out)
{
    struct statvfs disk;
    if (!watch->bounds.reserve || statvfs(folder, &disk) < 0)
        return false;
    int64_t part = (int64_t)((uint64_t)disk.f_blocks * disk.f_frsize / PART_OF_DISK);
    int64_t reserve = watch->bounds.reserve < part ? watch->bounds.reserve : part;
    int64_t free_bytes = (int64_t)((uint64_t)disk.f_bavail * disk.f_frsize);
    *out = (struct disk_told){DISK_IS_LOW, folder, free_bytes, reserve};
    return free_bytes < (was_low ? reserve : reserve / 4 * 3);
}

static void look_at_disks(struct disk_watch *watch)
{
    const char *const folders[DISKS] = {watch->bounds.data, watch->bounds.homes};
    struct disk_told told = {.where = ""}, low;
    bool was_any = false, is_any = false;
    for (int i = 0; i < DISKS; i++) {
        was_any |= watch->is_low[i];
        watch->is_low[i] = is_low(watch, folders[i], watch->is_low[i], &low);
        if (watch->is_low[i])
            told = low;
        is_any |= watch->is_low[i];
    }
    if (!is_any)
        told.news = DISK_IS_WELL;
    pthread_mutex_lock(&watch->lock);
    watch->is_any_low = is_any;
    pthread_mutex_unlock(&watch->lock);
    if (is_any != was_any)
        watch->tell(watch->context, &told);
}

// Of a project that takes too much it is told, once an hour.
static void end_home(struct disk_watch *watch)
{
    struct log_size size = {.bytes = watch->walk.bytes};
    int64_t now_ms = timestamp_now_ms(), bytes = 0;
    char *project = NULL;
    pthread_mutex_lock(&watch->lock);
    struct kept_log *home = log_table_find(&watch->table, watch->walk.home);
    if (home) {
        if (!watch->walk.is_cut || size.bytes > home->size.bytes)
            log_table_resize(&watch->table, home, &size);
        struct kept_project *of = home->project;
        bytes = of->bytes;
        bool is_over = watch->bounds.home_project && bytes > watch->bounds.home_project;
        if (is_over && (now_ms - of->told_ms >= TOLD_AGAIN_MS || now_ms < of->told_ms)) {
            of->told_ms = now_ms;
            project = memory_strdup(of->name);
        }
    }
    pthread_mutex_unlock(&watch->lock);
    if (project)
        watch->tell(watch->context,
                    &(struct disk_told){DISK_HOMES_ARE_LARGE, project, bytes, watch->bounds.home_project});
    free(project);
}

// Takes fd.
static bool enter(struct walk *walk, int fd, ino_t inode)
{
    DIR *folder = fdopendir(fd);
    if (!folder) {
        close(fd);
        return false;
    }
    if (walk->depth == walk->capacity) {
        walk->capacity = walk->capacity ? 2 * walk->capacity : OPEN_MAX;
        walk->levels = memory_realloc(walk->levels, (size_t)walk->capacity * sizeof(*walk->levels));
    }
    walk->levels[walk->depth++] = (struct level){.folder = folder, .inode = inode};
    if (walk->depth - walk->first_open > OPEN_MAX) {
        struct level *highest = &walk->levels[walk->first_open++];
        highest->position = telldir(highest->folder);
        closedir(highest->folder);
        highest->folder = NULL;
    }
    return true;
}

static bool begin_round(struct disk_watch *watch)
{
    struct walk *walk = &watch->walk;
    struct stat about;
    int64_t now_ms = timestamp_now_ms();
    if (now_ms - walk->started_ms < ROUND_MS && now_ms >= walk->started_ms)
        return false;
    walk->started_ms = now_ms;
    int fd = open(watch->bounds.homes, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &about) < 0) {
        close(fd);
        return false;
    }
    walk->device = about.st_dev;
    walk->first_open = 1;
    return enter(walk, fd, about.st_ino);
}

// False: somebody moved it.
static bool open_again(const struct walk *walk, struct level *level, const struct level *below)
{
    struct stat about;
    int fd = openat(dirfd(below->folder), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is_same = fstat(fd, &about) == 0 && about.st_dev == walk->device && about.st_ino == level->inode;
    level->folder = is_same ? fdopendir(fd) : NULL;
    if (level->folder)
        seekdir(level->folder, level->position);
    else
        close(fd);
    return level->folder;
}

static void leave(struct disk_watch *watch)
{
    struct walk *walk = &watch->walk;
    struct level *level = &walk->levels[walk->depth - 1];
    bool is_there = walk->depth == 1 || level[-1].folder || open_again(walk, level - 1, level);
    leave_all(walk, is_there ? walk->depth - 1 : 1);
    walk->is_cut |= !is_there;
    if (walk->first_open >= walk->depth)
        walk->first_open = walk->depth > 1 ? walk->depth - 1 : 1;
    if (walk->depth == 1)
        end_home(watch);
    if (walk->depth > 0)
        return;
    free(walk->levels); // of a home with millions of levels they are many
    walk->levels = NULL;
    walk->capacity = 0;
}

// Never follows a link and never waits for another file system.
static void count(struct walk *walk, const char *name)
{
    struct statx about;
    int at_fd = dirfd(walk->levels[walk->depth - 1].folder);
    if (statx(at_fd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &about) < 0 ||
        makedev(about.stx_dev_major, about.stx_dev_minor) != walk->device)
        return;
    bool is_folder = S_ISDIR(about.stx_mode);
    if (walk->depth == 1) {
        if (!is_folder || !uuid_is_valid(name))
            return;
        memcpy(walk->home, name, UUID_SIZE);
        walk->bytes = walk->entries = 0;
        walk->is_cut = false;
    }
    walk->entries++;
    walk->bytes += (int64_t)about.stx_blocks * BLOCK_BYTES / (is_folder || !about.stx_nlink ? 1 : about.stx_nlink);
    if (!is_folder)
        return;
    int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        walk->is_cut |= !enter(walk, fd, about.stx_ino);
}

static void walk_on(struct disk_watch *watch)
{
    struct walk *walk = &watch->walk;
    if (walk->depth == 0 && !begin_round(watch))
        return;
    for (int i = 0; i < ENTRIES_AT_ONCE && walk->depth > 0; i++) {
        const struct dirent *entry = readdir(walk->levels[walk->depth - 1].folder);
        if (!entry || (walk->depth > 1 && walk->entries > ENTRIES_OF_HOME))
            leave(watch);
        else if (!folder_is_dots(entry->d_name))
            count(walk, entry->d_name);
    }
}

static void *work(void *context)
{
    struct disk_watch *watch = context;
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), LOWEST_NICE); // of this thread alone
    pthread_mutex_lock(&watch->lock);
    while (!watch->is_stopping) {
        pthread_mutex_unlock(&watch->lock);
        look_at_disks(watch);
        walk_on(watch);
        pthread_mutex_lock(&watch->lock);
        struct timespec next = condition_after(1000);
        while (!watch->is_stopping && pthread_cond_timedwait(&watch->wake, &watch->lock, &next) == 0) {
        }
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

bool disk_watch_start(struct disk_watch *watch)
{
    pthread_attr_t attributes;
    look_at_disks(watch);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    watch->has_thread = pthread_create(&watch->thread, &attributes, work, watch) == 0;
    pthread_attr_destroy(&attributes);
    return watch->has_thread;
}
