#include "backends/local/specification/homes.h"

#include "backends/local/specification/volumes.h"
#include "backends/local/users/users.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/uuid.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HOME_MODE = 0700,
    STACK_BYTES = 256 * 1024
};

struct homes {
    char *folder;
    pthread_mutex_t lock; // of all below
    char (*removed)[UUID_SIZE];
    size_t count, capacity;
    bool is_working, is_given_up; // given up: the thread frees it
};

const char *homes_place(const char *folder, const char *workload_uuid, struct arena *arena)
{
    return arena_printf(arena, "%s/%s", folder, workload_uuid);
}

int homes_make(const char *place, const struct local_user *user, struct error *err)
{
    if (mkdir(place, HOME_MODE) < 0 && errno != EEXIST)
        return error_set(err, ERROR_UNAVAILABLE, "%s: %s", place, strerror(errno));
    int fd = open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool is_made =
        fd >= 0 && (!user->changes || fchown(fd, user->id, user->groups[0]) == 0) && fchmod(fd, HOME_MODE) == 0;
    int code = errno;
    if (fd >= 0)
        close(fd);
    return is_made ? 0 : error_set(err, ERROR_UNAVAILABLE, "%s: %s", place, strerror(code));
}

struct homes *homes_create(const char *folder)
{
    struct homes *homes = memory_array(1, sizeof(*homes));
    homes->folder = memory_strdup(folder);
    pthread_mutex_init(&homes->lock, NULL);
    return homes;
}

static void free_all(struct homes *homes)
{
    pthread_mutex_destroy(&homes->lock);
    free(homes->removed);
    free(homes->folder);
    free(homes);
}

void homes_destroy(struct homes *homes)
{
    if (!homes)
        return;
    pthread_mutex_lock(&homes->lock);
    bool is_working = homes->is_working;
    homes->is_given_up = true;
    homes->count = 0;
    pthread_mutex_unlock(&homes->lock);
    if (!is_working)
        free_all(homes);
}

static void *work(void *context)
{
    struct homes *homes = context;
    char uuid[UUID_SIZE];
    pthread_mutex_lock(&homes->lock);
    while (homes->count > 0) {
        memcpy(uuid, homes->removed[--homes->count], sizeof(uuid));
        pthread_mutex_unlock(&homes->lock);
        volumes_remove(homes->folder, uuid);
        pthread_mutex_lock(&homes->lock);
    }
    homes->is_working = false;
    bool is_given_up = homes->is_given_up;
    pthread_mutex_unlock(&homes->lock);
    if (is_given_up)
        free_all(homes);
    return NULL;
}

static bool start_work(struct homes *homes)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int rc = pthread_create(&thread, &attributes, work, homes);
    pthread_attr_destroy(&attributes);
    if (rc != 0)
        log_write(LOG_WARN, "backends", "homes of workloads are removed later: %s", strerror(rc));
    return rc == 0;
}

void homes_remove(struct homes *homes, const char *workload_uuid)
{
    struct arena arena;
    arena_init(&arena);
    bool is_there =
        uuid_is_valid(workload_uuid) && access(homes_place(homes->folder, workload_uuid, &arena), F_OK) == 0;
    arena_done(&arena);
    if (!is_there)
        return;
    pthread_mutex_lock(&homes->lock);
    if (homes->count == homes->capacity) {
        homes->capacity = homes->capacity ? homes->capacity * 2 : 16;
        homes->removed = memory_realloc(homes->removed, homes->capacity * sizeof(*homes->removed));
    }
    memcpy(homes->removed[homes->count++], workload_uuid, UUID_SIZE);
    if (!homes->is_working)
        homes->is_working = start_work(homes);
    pthread_mutex_unlock(&homes->lock);
}

struct sweep {
    struct homes *homes;
    bool (*is_known)(const char *workload_uuid, void *context);
    void *context;
};

// The folder is looked through here; what is to go goes by the thread.
static bool keep(const char *workload_uuid, void *context)
{
    struct sweep *sweep = context;
    if (!sweep->is_known(workload_uuid, sweep->context))
        homes_remove(sweep->homes, workload_uuid);
    return true;
}

void homes_sweep(struct homes *homes, bool (*is_known)(const char *workload_uuid, void *context), void *context)
{
    struct sweep sweep = {homes, is_known, context};
    volumes_sweep(homes->folder, keep, &sweep);
}
