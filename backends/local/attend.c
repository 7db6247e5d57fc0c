#include "backends/local/local_state.h"
#include "backends/local/pods/pod_folder.h"
#include "backends/local/pods/pod_state.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    EVENTS_AT_ONCE = 64,
    SWEEP_MS = 1000
};

// Another pod of the workload, whose shared memory is to be the pod's, too.
static const struct local_pod *find_sibling(const struct local *local, const struct local_pod *pod)
{
    const struct local_pod *found = NULL;
    for (struct local_pod *at = NULL; (at = local_pods_next(&local->pods, at));)
        if (at != pod && at->has_own_shm && at->pidfd >= 0 && pod->ports.workload_uuid[0] &&
            strcmp(at->ports.workload_uuid, pod->ports.workload_uuid) == 0 &&
            (at->phase == LOCAL_RUNNING || (at->phase == LOCAL_STARTING && !found)))
            found = at;
    return found;
}

// Processes in a container of apptainer's are where it was started.
static void note_runtime(struct local_pod *pod, const char *runtime)
{
    const char *slash = runtime ? strrchr(runtime, '/') : NULL;
    const char *name = slash ? slash + 1 : runtime;
    bool is_elsewhere = name && name[0] && strcmp(name, "apptainer") != 0;
    snprintf(pod->runtime, sizeof(pod->runtime), "%s", is_elsewhere ? runtime : "");
}

static void watch(struct local *local, struct local_pod *pod)
{
    pod->pidfd = pidfd_open(pod->supervisor, 0);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = pod};
    if (pod->pidfd >= 0 && epoll_ctl(local->epoll_fd, EPOLL_CTL_ADD, pod->pidfd, &event) == 0)
        return;
    log_write(LOG_ERROR, "backends", "cannot watch a supervisor pod=%s: %s", pod->uuid, strerror(errno));
}

// The pid may have been another's before the descriptor was there.
bool attend_watch(struct local *local, struct local_pod *pod, unsigned long long started)
{
    watch(local, pod);
    return pod->pidfd >= 0 && pod_state_start_time(pod->supervisor) == started;
}

// Takes up the pod whose folder already exists: after a restart of the server, or an order given twice.
void attend_take_up(struct local *local, struct local_pod *pod, int folder_fd)
{
    struct pod_state state;
    bool lives = pod_folder_wait(folder_fd, &state);
    pod->phase = LOCAL_STARTING;
    pod->ports = state.ports;
    pod->has_own_shm = state.has_own_shm;
    pod->memory_bytes = state.memory_bytes;
    pod->is_memory_default = state.is_memory_default;
    pod->mig_instances = mig_find(local->options.mig, local->options.mig_count, state.mig);
    pod->reaches_workload = state.is_launcher;
    pod->group = state.group;
    pod->user = state.user;
    note_runtime(pod, state.container);
    if (lives) {
        pod->supervisor = state.supervisor;
        lives = attend_watch(local, pod, state.supervisor_start);
    }
    report_running(local, pod, &state);
    if (!lives && !pod->is_stopping && pod_folder_was_stopped(folder_fd))
        report_stopped(local, pod);
    else if (!lives)
        report_end(local, pod, &state);
}

void attend_stop(struct local *local, struct local_pod *pod)
{
    struct error err = {0};
    pod->told_ms = timestamp_now_ms();
    if (pod_folder_write_grace(local->home_fd, pod->uuid, pod->grace_ms, &err) < 0)
        log_write(LOG_WARN, "backends", "pod=%s is stopped with the grace it was started with: %s", pod->uuid,
                  err.message);
    if (pod->pidfd >= 0)
        (void)pidfd_send_signal(pod->pidfd, SIGTERM, NULL, 0);
    else if (pod->is_stray)
        (void)unkilled_signal(local, pod->uuid, SIGTERM);
}

static void give_up(struct local *local, struct local_pod *pod, const char *message)
{
    cgroups_remove(&local->cgroups, pod->uuid);
    report_not_started(local, pod, message);
}

static void start_pod(struct local *local, struct local_pod *pod)
{
    struct error err = {0};
    bool is_new;
    int folder_fd = pod_folder_open(local->home_fd, &local->spares, pod->uuid, &is_new, &err);
    if (folder_fd < 0) {
        report_not_started(local, pod, err.message);
        return;
    }
    if (is_new) {
        const struct local_pod *sibling = find_sibling(local, pod);
        pod->has_own_shm = local->options.isolates && !pod->launch.keeps_rights && !pod->launch.shares_ipc;
        pod->launch.join = sibling ? sibling->supervisor : 0;
        pod->launch.join_start = sibling ? pod_state_start_time(sibling->supervisor) : 0;
        pod->supervisor = holding_keep(local, pod, &err) < 0
                              ? -1
                              : launch_start(&local->options, &local->cgroups, pod->uuid, local->home_fd, folder_fd,
                                             &pod->launch, &err);
        note_runtime(pod, pod->launch.container);
        if (pod->supervisor > 0)
            watch(local, pod);
        else
            give_up(local, pod, err.message);
    } else {
        attend_take_up(local, pod, folder_fd);
    }
    close(folder_fd);
    arena_clear(&pod->arena);
    if (pod->is_stopping && pod->phase != LOCAL_OVER)
        attend_stop(local, pod);
}

void attend_start(struct local *local, struct local_pod *pod)
{
    start_marks_begin(&local->start_marks, pod->uuid, pod->workload_uuid);
    start_pod(local, pod);
    start_marks_started(&local->start_marks, pod->uuid);
    start_marks_end(&local->start_marks);
}

static void look_at(struct local *local, struct local_pod *pod, bool is_over)
{
    struct pod_state state = {0};
    int folder_fd = pod_folder_find(local->home_fd, pod->uuid);
    if (folder_fd >= 0) {
        (void)pod_state_read(folder_fd, &state);
        close(folder_fd);
    }
    report_running(local, pod, &state);
    if (!is_over)
        return;
    (void)waitid(P_PIDFD, (id_t)pod->pidfd, &(siginfo_t){0}, WEXITED | WNOHANG); // no child of ours after a restart
    report_end(local, pod, &state);
    if (pod->phase == LOCAL_STUCK)
        return;
    if (pod->is_stray && !pod->is_stopping)
        strays_end(local, pod);
    else if (pod->is_forgotten) // nobody waits for its end: the fact is passed over
        strays_forget(local, pod);
}

static void take_wakes(struct local *local)
{
    char uuid[UUID_SIZE];
    for (ssize_t length; (length = recv(local->socket_fd, uuid, sizeof(uuid) - 1, 0)) > 0;) {
        uuid[length] = '\0';
        struct local_pod *pod = local_pods_find(&local->pods, uuid);
        if (pod && pod->phase == LOCAL_STARTING)
            look_at(local, pod, false);
        else if (pod)
            log_keeper_look(local->logs, pod->uuid);
    }
}

// Words from supervisors may be lost where very many come at once.
static void sweep(struct local *local)
{
    for (struct local_pod *pod = NULL; (pod = local_pods_next(&local->pods, pod));)
        if (pod->phase == LOCAL_STARTING && pod->pidfd >= 0)
            look_at(local, pod, false);
    strays_forget_ended(local);
    unkilled_sweep(local);
}

static void take_events(struct local *local, const struct epoll_event *events, int count)
{
    uint64_t number;
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == &local->wake_fd)
            (void)!read(local->wake_fd, &number, sizeof(number));
        else if (events[i].data.ptr == &local->socket_fd)
            take_wakes(local);
        else if (((const struct local_pod *)events[i].data.ptr)->pidfd >= 0) // else its end was heard of meanwhile
            look_at(local, events[i].data.ptr, true);
    }
}

static bool is_sweep_due(struct local *local)
{
    int64_t now_ms = timestamp_monotonic_us() / 1000;
    if (now_ms - local->swept_ms < SWEEP_MS - 1)
        return false;
    local->swept_ms = now_ms;
    return true;
}

void *attend_main(void *context)
{
    struct local *local = context;
    struct epoll_event events[EVENTS_AT_ONCE];
    pthread_mutex_lock(&local->lock);
    while (!local->stopping) {
        local_pods_free_removed(&local->pods); // no event is in hand
        bool is_idle = !local->pods.first_queued;
        pthread_mutex_unlock(&local->lock);
        int count = epoll_wait(local->epoll_fd, events, EVENTS_AT_ONCE, is_idle ? SWEEP_MS : 0);
        pthread_mutex_lock(&local->lock);
        if (count > 0)
            take_events(local, events, count);
        if (is_idle && is_sweep_due(local))
            sweep(local);
        struct local_pod *pod = local->stopping ? NULL : local_pods_take_queued(&local->pods);
        if (pod)
            attend_start(local, pod);
        if (local->facts.count > 0) {
            pthread_mutex_unlock(&local->lock);
            local->wake(local->wake_context);
            pthread_mutex_lock(&local->lock);
        }
    }
    pthread_mutex_unlock(&local->lock);
    return NULL;
}
