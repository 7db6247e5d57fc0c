#include "backends/local/pods/log_keeper.h"

#include "backends/backend.h"
#include "backends/local/pods/pod_folder.h"
#include "base/arena.h"
#include "base/condition.h"
#include "base/folder.h"
#include "base/timestamp.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    STACK_BYTES = 256 * 1024,
    ROUND_S = 1,
    PASSED_AT_ONCE = 4096, // logs looked over each time,
    LOOKED_AT_ONCE = 64,   // so many of them in the file system
    FOUND_AT_ONCE = 256,
    ORDERS_AT_ONCE = 32,
    TOLD_AGAIN_MS = 60 * 60 * 1000
};

struct log_keeper {
    int home_fd;
    struct log_bounds bounds;
    log_tell_fn tell;
    void *context;
    pthread_t thread;
    bool has_thread;
    DIR *found;           // of who looks for logs
    pthread_mutex_t lock; // of all below
    pthread_cond_t wake;
    struct log_table table;
    size_t passed; // the round over all logs is there
    char (*deleted)[UUID_SIZE];
    size_t deleted_count, deleted_capacity;
    int64_t removed_bytes; // for a bound
    bool is_stopping;
};

struct log_keeper *log_keeper_create(int home_fd, const struct log_bounds *bounds, log_tell_fn tell, void *context)
{
    struct log_keeper *keeper = memory_array(1, sizeof(*keeper));
    keeper->home_fd = home_fd;
    keeper->bounds = *bounds;
    keeper->tell = tell;
    keeper->context = context;
    pthread_mutex_init(&keeper->lock, NULL);
    condition_init(&keeper->wake);
    return keeper;
}

void log_keeper_stop(struct log_keeper *keeper)
{
    if (!keeper->has_thread)
        return;
    pthread_mutex_lock(&keeper->lock);
    keeper->is_stopping = true;
    pthread_cond_signal(&keeper->wake);
    pthread_mutex_unlock(&keeper->lock);
    pthread_join(keeper->thread, NULL);
    keeper->has_thread = false;
}

void log_keeper_destroy(struct log_keeper *keeper)
{
    if (!keeper)
        return;
    log_keeper_stop(keeper);
    if (keeper->found)
        closedir(keeper->found);
    log_table_done(&keeper->table);
    free(keeper->deleted);
    pthread_cond_destroy(&keeper->wake);
    pthread_mutex_destroy(&keeper->lock);
    free(keeper);
}

void log_keeper_add(struct log_keeper *keeper, const char *pod_uuid, const char *workload_uuid, const char *project)
{
    pthread_mutex_lock(&keeper->lock);
    (void)log_table_add(&keeper->table, pod_uuid, workload_uuid, project);
    pthread_mutex_unlock(&keeper->lock);
}

static void mark(struct log_keeper *keeper, struct kept_log *log)
{
    log_table_mark(&keeper->table, log);
    pthread_cond_signal(&keeper->wake);
}

void log_keeper_look(struct log_keeper *keeper, const char *pod_uuid)
{
    pthread_mutex_lock(&keeper->lock);
    struct kept_log *log = log_table_find(&keeper->table, pod_uuid);
    if (log)
        mark(keeper, log);
    pthread_mutex_unlock(&keeper->lock);
}

void log_keeper_end(struct log_keeper *keeper, const char *pod_uuid, bool has_log)
{
    pthread_mutex_lock(&keeper->lock);
    struct kept_log *log = log_table_find(&keeper->table, pod_uuid);
    if (log && !has_log)
        log_table_remove(&keeper->table, log);
    else if (log) {
        log->is_over = true;
        mark(keeper, log);
    }
    pthread_mutex_unlock(&keeper->lock);
}

void log_keeper_delete(struct log_keeper *keeper, const char *workload_uuid)
{
    pthread_mutex_lock(&keeper->lock);
    if (keeper->table.count && uuid_is_valid(workload_uuid)) {
        if (keeper->deleted_count == keeper->deleted_capacity) {
            keeper->deleted_capacity = keeper->deleted_capacity ? 2 * keeper->deleted_capacity : 16;
            keeper->deleted = memory_realloc(keeper->deleted, keeper->deleted_capacity * sizeof(*keeper->deleted));
        }
        memcpy(keeper->deleted[keeper->deleted_count++], workload_uuid, UUID_SIZE);
        pthread_cond_signal(&keeper->wake);
    }
    pthread_mutex_unlock(&keeper->lock);
}

static void find_log(struct log_keeper *keeper, const char *pod_uuid, const struct backend_known *known,
                     bool keeps_unknown)
{
    struct backend_owner owner;
    struct arena arena;
    pthread_mutex_lock(&keeper->lock);
    bool is_known = log_table_find(&keeper->table, pod_uuid) != NULL;
    pthread_mutex_unlock(&keeper->lock);
    int folder_fd = is_known ? -1 : pod_folder_find(keeper->home_fd, pod_uuid);
    if (folder_fd < 0)
        return;
    arena_init(&arena);
    bool has_owner = known->find_owner(pod_uuid, &arena, &owner, known->context);
    pthread_mutex_lock(&keeper->lock);
    struct kept_log *log = log_table_add(&keeper->table, pod_uuid, has_owner ? owner.workload_uuid : "",
                                         has_owner ? owner.project_name : "");
    log->is_over = pod_folder_is_forgotten(folder_fd);
    log->is_deleted = !has_owner && !keeps_unknown;
    mark(keeper, log);
    pthread_mutex_unlock(&keeper->lock);
    arena_done(&arena);
    close(folder_fd);
}

bool log_keeper_find(struct log_keeper *keeper, const struct backend_known *known, bool keeps_unknown)
{
    if (!keeper->found)
        keeper->found = folder_read(keeper->home_fd);
    const char *uuid = NULL;
    for (int i = 0; i < FOUND_AT_ONCE && keeper->found && (uuid = pod_folder_next(keeper->found)); i++)
        find_log(keeper, uuid, known, keeps_unknown);
    if (uuid)
        return true;
    if (keeper->found)
        closedir(keeper->found);
    keeper->found = NULL;
    return false;
}

void log_keeper_read(struct log_keeper *keeper, struct arena *arena, struct backend_storage *out_storage)
{
    size_t capacity = 0;
    pthread_mutex_lock(&keeper->lock);
    out_storage->log_bytes_removed = keeper->removed_bytes;
    for (const struct kept_project *project = keeper->table.projects; project; project = project->next) {
        out_storage->projects = arena_grow(arena, out_storage->projects, &capacity, out_storage->project_count + 1,
                                           sizeof(*out_storage->projects));
        out_storage->projects[out_storage->project_count++] =
            (struct backend_store){.project_name = arena_strdup(arena, project->name), .log_bytes = project->bytes};
    }
    pthread_mutex_unlock(&keeper->lock);
}

static struct log_size measure(const struct log_keeper *keeper, const char *pod_uuid)
{
    struct log_size size = {0};
    int folder_fd = pod_folder_find(keeper->home_fd, pod_uuid);
    if (folder_fd < 0)
        return size;
    log_files_measure(folder_fd, &size);
    close(folder_fd);
    return size;
}

// Under the lock, which is given up meanwhile. False: there is nothing to look at.
static bool look_at_one(struct log_keeper *keeper)
{
    char pod[UUID_SIZE];
    struct kept_log *log = log_table_take_marked(&keeper->table);
    if (!log)
        return false;
    bool is_over = log->is_over, is_deleted = log->is_deleted;
    memcpy(pod, log->pod, sizeof(pod));
    pthread_mutex_unlock(&keeper->lock);
    struct log_size size = measure(keeper, pod);
    bool goes = is_over && (is_deleted || size.written_ms < timestamp_now_ms() - keeper->bounds.kept_ms);
    if (goes)
        pod_folder_remove_log(keeper->home_fd, pod);
    pthread_mutex_lock(&keeper->lock);
    log = log_table_find(&keeper->table, pod);
    if (log && goes)
        log_table_remove(&keeper->table, log);
    else if (log)
        log_table_resize(&keeper->table, log, &size);
    return true;
}

// A part of the round over all logs: a supervisor tells of each full file of its log, and of nothing less.
static void mark_some(struct log_keeper *keeper)
{
    size_t looked = 0;
    for (size_t i = 0; i < PASSED_AT_ONCE && i < keeper->table.count && looked < LOOKED_AT_ONCE; i++) {
        struct kept_log *log = keeper->table.items[keeper->passed++ % keeper->table.count];
        bool is_old = log->size.written_ms < timestamp_now_ms() - keeper->bounds.kept_ms;
        if (log->is_over && !is_old)
            continue;
        log_table_mark(&keeper->table, log);
        looked++;
    }
}

// Not under the lock. Whether something was removed.
static bool carry_out(const struct log_keeper *keeper, const struct log_order *order)
{
    bool is_done = order->verb == LOG_FORGET;
    if (order->verb == LOG_FORGET)
        pod_folder_remove_log(keeper->home_fd, order->pod);
    int folder_fd = order->verb == LOG_FORGET ? -1 : pod_folder_find(keeper->home_fd, order->pod);
    if (folder_fd < 0)
        return is_done;
    if (order->verb == LOG_CUT_OLDEST)
        is_done = log_files_cut_oldest(folder_fd, order->bound, order->bound_bytes);
    else
        is_done = log_files_remove(folder_fd, order->bound, order->bound_bytes);
    close(folder_fd);
    return is_done;
}

// Under the lock, which is given up meanwhile.
static void tell(struct log_keeper *keeper, struct kept_log *log, const struct log_order *order)
{
    int64_t now_ms = timestamp_now_ms();
    bool runs = order->verb == LOG_CUT_OLDEST;
    if (runs ? log->was_told : now_ms - log->project->told_ms < TOLD_AGAIN_MS && now_ms >= log->project->told_ms)
        return;
    if (runs)
        log->was_told = true;
    else
        log->project->told_ms = now_ms;
    char *project = memory_strdup(log->project->name);
    pthread_mutex_unlock(&keeper->lock);
    keeper->tell(keeper->context,
                 &(struct log_told){runs ? order->pod : NULL, project, order->bound, order->bound_bytes});
    free(project);
    pthread_mutex_lock(&keeper->lock);
}

// Likewise. False: the bounds hold, as far as they can be held.
static bool hold_bounds(struct log_keeper *keeper)
{
    struct log_order orders[ORDERS_AT_ONCE];
    size_t count = log_table_plan(&keeper->table, &keeper->bounds, orders, ORDERS_AT_ONCE);
    bool has_removed = false;
    for (size_t i = 0; i < count && !keeper->is_stopping; i++) {
        pthread_mutex_unlock(&keeper->lock);
        bool is_done = carry_out(keeper, &orders[i]);
        struct log_size size = measure(keeper, orders[i].pod);
        pthread_mutex_lock(&keeper->lock);
        has_removed |= is_done;
        struct kept_log *log = log_table_find(&keeper->table, orders[i].pod);
        if (!log)
            continue;
        keeper->removed_bytes += log->size.bytes > size.bytes ? log->size.bytes - size.bytes : 0;
        if (is_done && orders[i].verb != LOG_FORGET)
            tell(keeper, log, &orders[i]);
        log = log_table_find(&keeper->table, orders[i].pod);
        if (log && orders[i].verb == LOG_FORGET) {
            log_table_remove(&keeper->table, log);
        } else if (log) {
            log_table_resize(&keeper->table, log, &size);
        }
    }
    return has_removed;
}

static void *work(void *context)
{
    struct log_keeper *keeper = context;
    struct timespec next_round;
    clock_gettime(CLOCK_MONOTONIC, &next_round);
    pthread_mutex_lock(&keeper->lock);
    while (!keeper->is_stopping) {
        log_table_delete(&keeper->table, keeper->deleted, keeper->deleted_count);
        keeper->deleted_count = 0;
        if (look_at_one(keeper) || hold_bounds(keeper))
            continue;
        if (pthread_cond_timedwait(&keeper->wake, &keeper->lock, &next_round) == 0)
            continue;
        mark_some(keeper);
        clock_gettime(CLOCK_MONOTONIC, &next_round);
        next_round.tv_sec += ROUND_S;
    }
    pthread_mutex_unlock(&keeper->lock);
    return NULL;
}

bool log_keeper_start(struct log_keeper *keeper)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    keeper->has_thread = pthread_create(&keeper->thread, &attributes, work, keeper) == 0;
    pthread_attr_destroy(&attributes);
    return keeper->has_thread;
}
