#include "backends/local/devices/gpu_watch.h"

#include "base/arena.h"
#include "base/condition.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    STACK_BYTES = 512 * 1024,
    HURRY_MS = 50,
    USER_BUFFER_SIZE = 3072
};

struct gpu_watch {
    const struct nvml *nvml;
    struct origin_places places;
    int interval_ms;
    gpu_watch_fn seen;
    void *context;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool stopping, hurries;
    struct nvml_sample sample;
    struct gpu_state *states;
};

static size_t read_file(const char *path, char *text, size_t size)
{
    size_t length = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t got; fd >= 0 && length < size - 1 && (got = read(fd, text + length, size - 1 - length)) > 0;)
        length += (size_t)got;
    if (fd >= 0)
        close(fd);
    text[length] = '\0';
    return length;
}

static void find_user(struct gpu_process *process)
{
    char path[64], buffer[USER_BUFFER_SIZE];
    struct stat about;
    struct passwd entry, *found = NULL;
    snprintf(path, sizeof(path), "/proc/%d", (int)process->pid);
    if (stat(path, &about) < 0)
        return;
    if (getpwuid_r(about.st_uid, &entry, buffer, sizeof(buffer), &found) == 0 && found)
        snprintf(process->user, sizeof(process->user), "%.32s", entry.pw_name);
    else
        snprintf(process->user, sizeof(process->user), "%u", (unsigned)about.st_uid);
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)process->pid);
    (void)read_file(path, process->command, sizeof(process->command));
    process->command[strcspn(process->command, "\n")] = '\0';
}

static void look(struct gpu_watch *watch, size_t index)
{
    struct gpu_state *state = &watch->states[index];
    nvml_look(watch->nvml, index, &watch->sample);
    *state = (struct gpu_state){.is_healthy = watch->sample.is_healthy,
                                .utilization = watch->sample.utilization,
                                .memory_used_mib = watch->sample.memory_used_mib,
                                .memory_mib = watch->sample.memory_mib,
                                .temperature = watch->sample.temperature,
                                .tells_processes = watch->sample.tells_processes};
    memcpy(state->reason, watch->sample.reason, sizeof(state->reason));
    for (size_t i = 0; i < watch->sample.process_count; i++) {
        struct gpu_process *process = &state->processes[state->process_count];
        *process = (struct gpu_process){.pid = watch->sample.processes[i].pid,
                                        .memory_mib = watch->sample.processes[i].memory_mib};
        find_user(process);
        origin_read(&watch->places, process->pid, &process->origin);
        if (!process->origin.cgroup_pod[0]) // else that says it all
            origin_read_above(&process->origin);
        state->process_count += process->user[0] != '\0'; // it may be gone already
    }
}

static void *watch_main(void *context)
{
    struct gpu_watch *watch = context;
    pthread_mutex_lock(&watch->lock);
    while (!watch->stopping) {
        pthread_mutex_unlock(&watch->lock);
        for (size_t i = 0; i < nvml_count(watch->nvml); i++)
            look(watch, i);
        watch->seen(watch->context, watch->states, nvml_count(watch->nvml));
        pthread_mutex_lock(&watch->lock);
        struct timespec until = condition_after(watch->hurries ? HURRY_MS : watch->interval_ms);
        watch->hurries = false;
        int rc = 0;
        while (!watch->stopping && !watch->hurries && rc != ETIMEDOUT)
            rc = pthread_cond_timedwait(&watch->changed, &watch->lock, &until);
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

int gpu_watch_start(const struct nvml *nvml, const struct origin_places *places, int interval_ms, gpu_watch_fn seen,
                    void *context, struct gpu_watch **out_watch, struct error *err)
{
    pthread_attr_t attributes;
    struct gpu_watch *watch = memory_array(1, sizeof(*watch));
    watch->nvml = nvml;
    watch->places = *places;
    watch->interval_ms = interval_ms;
    watch->seen = seen;
    watch->context = context;
    watch->states = memory_array(nvml_count(nvml), sizeof(*watch->states));
    pthread_mutex_init(&watch->lock, NULL);
    condition_init(&watch->changed);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int rc = pthread_create(&watch->thread, &attributes, watch_main, watch);
    pthread_attr_destroy(&attributes);
    if (rc == 0) {
        *out_watch = watch;
        return 0;
    }
    free(watch->states);
    free(watch);
    return error_set(err, ERROR_INTERNAL, "cannot start the thread that watches the GPUs: %s", strerror(rc));
}

void gpu_watch_hurry(struct gpu_watch *watch)
{
    if (!watch)
        return;
    pthread_mutex_lock(&watch->lock);
    watch->hurries = true;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
}

void gpu_watch_stop(struct gpu_watch *watch)
{
    if (!watch)
        return;
    pthread_mutex_lock(&watch->lock);
    watch->stopping = true;
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->lock);
    pthread_join(watch->thread, NULL);
    pthread_mutex_destroy(&watch->lock);
    pthread_cond_destroy(&watch->changed);
    free(watch->states);
    free(watch);
}
