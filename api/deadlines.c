#include "api/deadlines.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include <arpa/inet.h>
#include <civetweb.h>
#include <dirent.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum {
    TICK_MS = 250,
    STACK_BYTES = 1 << 20
};

struct deadline {
    struct connection_ends ends;
    int64_t at_us; // 0: the slot is free
    enum deadline_effect effect;
    bool has_passed;
};

struct deadlines {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t thread;
    deadlines_chore chore;
    void *context;
    bool is_stopping;
    bool has_chore;
    bool is_idle; // the thread waits without a time
    size_t capacity;
    size_t used_count;
    struct deadline slots[];
};

bool connection_ends_of(const struct mg_request_info *info, struct connection_ends *out_ends)
{
    struct in_addr address;
    if (inet_pton(AF_INET, info->remote_addr, &address) != 1)
        return false;
    *out_ends = (struct connection_ends){address.s_addr, (uint16_t)info->remote_port, (uint16_t)info->server_port};
    return true;
}

static bool is_local_port(int fd, uint16_t port)
{
    struct sockaddr_in self = {0};
    socklen_t size = sizeof(self);
    return getsockname(fd, (struct sockaddr *)&self, &size) == 0 && self.sin_family == AF_INET &&
           ntohs(self.sin_port) == port;
}

static bool is_remote(int fd, const struct connection_ends *ends)
{
    struct sockaddr_in peer = {0};
    socklen_t size = sizeof(peer);
    return getpeername(fd, (struct sockaddr *)&peer, &size) == 0 && peer.sin_family == AF_INET &&
           peer.sin_addr.s_addr == ends->remote_address && ntohs(peer.sin_port) == ends->remote_port;
}

// remote_port 0: every socket of the local port, the listening one too.
static bool cut_sockets(const struct connection_ends *ends, int how)
{
    bool was_found = false;
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return false;
    for (struct dirent *entry; (entry = readdir(dir));) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] == '.' || fd == dirfd(dir) || !is_local_port(fd, ends->local_port) ||
            (ends->remote_port != 0 && !is_remote(fd, ends)))
            continue;
        shutdown(fd, how);
        was_found = true;
        if (ends->remote_port != 0)
            break;
    }
    closedir(dir);
    return was_found;
}

bool connection_cut(const struct connection_ends *ends, enum deadline_effect effect)
{
    return cut_sockets(ends, effect == DEADLINE_ENDS_READING ? SHUT_RD : SHUT_RDWR);
}

void connection_cut_all(uint16_t local_port)
{
    cut_sockets(&(struct connection_ends){.local_port = local_port}, SHUT_RDWR);
}

// Under the mutex: while a slot is taken its worker holds the connection open, so the ends cannot belong to another.
static void pass_deadlines(struct deadlines *deadlines)
{
    int64_t now_us = timestamp_monotonic_us();
    for (size_t i = 0; i < deadlines->capacity; i++) {
        struct deadline *slot = &deadlines->slots[i];
        if (slot->at_us == 0 || slot->has_passed || slot->at_us > now_us)
            continue;
        slot->has_passed = true;
        connection_cut(&slot->ends, slot->effect);
    }
}

static void *run(void *context)
{
    struct deadlines *deadlines = context;
    pthread_mutex_lock(&deadlines->mutex);
    while (!deadlines->is_stopping) {
        deadlines->is_idle = deadlines->used_count == 0 && !deadlines->has_chore;
        if (deadlines->is_idle) {
            pthread_cond_wait(&deadlines->changed, &deadlines->mutex);
            continue;
        }
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += TICK_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&deadlines->changed, &deadlines->mutex, &until);
        pass_deadlines(deadlines);
        if (deadlines->has_chore) {
            pthread_mutex_unlock(&deadlines->mutex);
            bool goes_on = deadlines->chore(deadlines->context);
            pthread_mutex_lock(&deadlines->mutex);
            deadlines->has_chore = goes_on;
        }
    }
    pthread_mutex_unlock(&deadlines->mutex);
    return NULL;
}

struct deadlines *deadlines_create(size_t capacity, deadlines_chore chore, void *context, struct error *err)
{
    struct deadlines *deadlines = memory_alloc(sizeof(*deadlines) + capacity * sizeof(struct deadline));
    *deadlines = (struct deadlines){.capacity = capacity, .chore = chore, .context = context};
    memset(deadlines->slots, 0, capacity * sizeof(struct deadline));
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&deadlines->changed, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_init(&deadlines->mutex, NULL);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int failed = pthread_create(&deadlines->thread, &attributes, run, deadlines);
    pthread_attr_destroy(&attributes);
    if (failed) {
        error_set(err, ERROR_INTERNAL, "housekeeping thread: %s", strerror(failed));
        free(deadlines);
        return NULL;
    }
    return deadlines;
}

void deadlines_destroy(struct deadlines *deadlines)
{
    if (!deadlines)
        return;
    pthread_mutex_lock(&deadlines->mutex);
    deadlines->is_stopping = true;
    pthread_cond_signal(&deadlines->changed);
    pthread_mutex_unlock(&deadlines->mutex);
    pthread_join(deadlines->thread, NULL);
    pthread_cond_destroy(&deadlines->changed);
    pthread_mutex_destroy(&deadlines->mutex);
    free(deadlines);
}

void deadlines_wake(struct deadlines *deadlines)
{
    pthread_mutex_lock(&deadlines->mutex);
    deadlines->has_chore = true;
    if (deadlines->is_idle)
        pthread_cond_signal(&deadlines->changed);
    pthread_mutex_unlock(&deadlines->mutex);
}

size_t deadlines_begin(struct deadlines *deadlines, const struct connection_ends *ends, int64_t wait_ms,
                       enum deadline_effect effect)
{
    size_t slot = deadlines->capacity;
    int64_t at_us = timestamp_monotonic_us() + wait_ms * 1000;
    pthread_mutex_lock(&deadlines->mutex);
    for (size_t i = 0; i < deadlines->capacity && slot == deadlines->capacity; i++) {
        if (deadlines->slots[i].at_us == 0)
            slot = i;
    }
    if (slot < deadlines->capacity) {
        deadlines->slots[slot] = (struct deadline){.ends = *ends, .at_us = at_us, .effect = effect};
        deadlines->used_count++;
        if (deadlines->is_idle)
            pthread_cond_signal(&deadlines->changed);
    }
    pthread_mutex_unlock(&deadlines->mutex);
    return slot;
}

bool deadlines_end(struct deadlines *deadlines, size_t slot)
{
    if (slot >= deadlines->capacity)
        return false;
    pthread_mutex_lock(&deadlines->mutex);
    bool has_passed = deadlines->slots[slot].has_passed;
    deadlines->slots[slot].at_us = 0;
    deadlines->used_count--;
    pthread_mutex_unlock(&deadlines->mutex);
    return has_passed;
}
