#include "backends/local/local.h"

#include "backends/local/leftovers.h"
#include "backends/local/local_pods.h"
#include "backends/local/pod_folder.h"
#include "backends/local/pod_log.h"
#include "backends/local/pod_state.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "supervisor/pod_folder.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    STACK_BYTES = 256 * 1024,
    EVENTS_AT_ONCE = 64,
    SWEEP_MS = 1000,
    TIDY_INTERVAL_MS = 60 * 60 * 1000,
    EXIT_NOT_STARTED = 128, // as containers' runtimes say it
    EXIT_BY_SIGNAL = 128    // and the signal's number
};

struct local {
    struct local_options options;
    int home_fd;
    pthread_mutex_t lock; // of all below
    pthread_t thread;
    bool has_thread, stopping;
    int epoll_fd, wake_fd, socket_fd;
    backend_wake_fn wake;
    void *wake_context;
    struct local_pods pods;
    struct backend_fact *facts; // not taken yet
    size_t fact_count, fact_capacity;
    int64_t tidied_ms;
};

static struct backend_fact *add_fact(struct local *local, enum backend_fact_kind kind, const char *pod_uuid,
                                     int64_t decision, int64_t time_ms)
{
    if (local->fact_count == local->fact_capacity) {
        local->fact_capacity = local->fact_capacity ? local->fact_capacity * 2 : 64;
        local->facts = memory_realloc(local->facts, local->fact_capacity * sizeof(*local->facts));
    }
    struct backend_fact *fact = &local->facts[local->fact_count++];
    *fact = (struct backend_fact){.kind = kind, .decision = decision, .time_ms = time_ms};
    snprintf(fact->pod_uuid, sizeof(fact->pod_uuid), "%s", pod_uuid);
    return fact;
}

static void set_words(struct backend_fact *fact, const char *reason, const char *message)
{
    snprintf(fact->reason, sizeof(fact->reason), "%s", reason);
    snprintf(fact->message, sizeof(fact->message), "%s", message);
}

// The pod holds nothing any more. The fact's words are the caller's to set.
static struct backend_fact *end_pod(struct local *local, struct local_pod *pod, int64_t time_ms, int64_t exit_code)
{
    enum backend_fact_kind kind = pod->is_stopping ? BACKEND_POD_GONE : BACKEND_POD_ENDED;
    struct backend_fact *fact = add_fact(local, kind, pod->uuid, pod->decision, time_ms);
    fact->exit_code = exit_code;
    pod->phase = LOCAL_OVER;
    if (pod->pidfd >= 0)
        close(pod->pidfd);
    pod->pidfd = -1;
    return fact;
}

static void fail_start(struct local *local, struct local_pod *pod, const char *message)
{
    set_words(end_pod(local, pod, timestamp_now_ms(), EXIT_NOT_STARTED), "StartError", message);
}

static void report_running(struct local *local, struct local_pod *pod, const struct pod_state *state)
{
    if (pod->phase != LOCAL_STARTING || !state->pid)
        return;
    pod->phase = LOCAL_RUNNING;
    struct backend_fact *fact = add_fact(local, BACKEND_POD_RUNNING, pod->uuid, pod->decision, state->running_ms);
    snprintf(fact->node_name, sizeof(fact->node_name), "%s", local->options.node_name);
    snprintf(fact->message, sizeof(fact->message),
             "runs as process %d of this machine, as user %.40s; no image is used", (int)state->pid,
             local->options.user_name);
}

static void report_end(struct local *local, struct local_pod *pod, const struct pod_state *state)
{
    char message[128], boot[64];
    if (state->is_refused) {
        snprintf(message, sizeof(message), "%s: %s", state->refused_what, strerror(state->refused_errno));
        fail_start(local, pod, message);
    } else if (state->is_ended && state->exit_code >= 0) {
        struct backend_fact *fact = end_pod(local, pod, state->over_ms, state->exit_code);
        set_words(fact, state->exit_code == 0 ? "Completed" : "Error", "");
    } else if (state->is_ended) {
        struct backend_fact *fact = end_pod(local, pod, state->over_ms, EXIT_BY_SIGNAL + state->signal);
        snprintf(message, sizeof(message), "ended by SIG%s", sigabbrev_np(state->signal) ?: "?");
        set_words(fact, state->was_out_of_memory ? "OOMKilled" : "Error",
                  state->was_out_of_memory ? "used more memory than its limit" : message);
    } else {
        // The supervisor is gone without a word.
        bool leads = state->pid && pod_state_start_time(state->pid) == state->start;
        size_t left = leftovers_kill(pod->uuid, leads ? state->pid : 0);
        pod_state_boot(boot);
        bool is_old = state->boot[0] && strcmp(state->boot, boot) != 0;
        struct backend_fact *fact = end_pod(local, pod, timestamp_now_ms(), EXIT_BY_SIGNAL + SIGKILL);
        snprintf(message, sizeof(message), "its supervisor was killed; %zu processes that it left were ended", left);
        set_words(fact, is_old ? "Rebooted" : "SupervisorLost", is_old ? "the machine was started anew" : message);
    }
}

static void watch(struct local *local, struct local_pod *pod)
{
    pod->pidfd = pidfd_open(pod->supervisor, 0);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = pod};
    if (pod->pidfd >= 0 && epoll_ctl(local->epoll_fd, EPOLL_CTL_ADD, pod->pidfd, &event) == 0)
        return;
    log_write(LOG_ERROR, "backends", "cannot watch a supervisor pod=%s: %s", pod->uuid, strerror(errno));
}

// Takes up the pod whose folder is there already: after a restart of the server, or an order given twice.
static void take_up(struct local *local, struct local_pod *pod, int folder_fd)
{
    struct pod_state state;
    bool lives = pod_folder_wait(folder_fd, &state);
    pod->phase = LOCAL_STARTING;
    if (lives) {
        pod->supervisor = state.supervisor;
        watch(local, pod);
        // The pid may have been another's before the descriptor was there.
        lives = pod->pidfd >= 0 && pod_state_start_time(state.supervisor) == state.supervisor_start;
    }
    report_running(local, pod, &state);
    if (!lives)
        report_end(local, pod, &state);
}

static void send_stop(struct local *local, struct local_pod *pod)
{
    struct error err = {0};
    if (pod_folder_write_grace(local->home_fd, pod->uuid, pod->grace_ms, &err) < 0)
        log_write(LOG_WARN, "backends", "pod=%s is stopped with the default grace: %s", pod->uuid, err.message);
    if (pod->pidfd >= 0)
        (void)pidfd_send_signal(pod->pidfd, SIGTERM, NULL, 0);
}

static void start_pod(struct local *local, struct local_pod *pod)
{
    struct error err = {0};
    bool is_new;
    int folder_fd = pod_folder_open(local->home_fd, pod->uuid, &is_new, &err);
    if (folder_fd < 0) {
        fail_start(local, pod, err.message);
        return;
    }
    if (is_new) {
        pod->supervisor = launch_start(&local->options, pod->uuid, local->home_fd, folder_fd, &pod->launch, &err);
        if (pod->supervisor > 0)
            watch(local, pod);
        else
            fail_start(local, pod, err.message);
    } else {
        take_up(local, pod, folder_fd);
    }
    close(folder_fd);
    arena_clear(&pod->arena);
    if (pod->is_stopping && pod->phase != LOCAL_OVER)
        send_stop(local, pod);
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
    if (pod->is_forgotten) {
        pod_folder_forget(local->home_fd, pod->uuid);
        local->fact_count--; // the end, which nobody waits for
        local_pods_remove(&local->pods, pod);
    }
}

static void take_wakes(struct local *local)
{
    char uuid[UUID_SIZE];
    for (ssize_t length; (length = recv(local->socket_fd, uuid, sizeof(uuid) - 1, 0)) > 0;) {
        uuid[length] = '\0';
        struct local_pod *pod = local_pods_find(&local->pods, uuid);
        if (pod && pod->phase == LOCAL_STARTING)
            look_at(local, pod, false);
    }
}

// Words from supervisors may be lost where very many come at once.
static void sweep(struct local *local)
{
    for (struct local_pod *pod = NULL; (pod = local_pods_next(&local->pods, pod));)
        if (pod->phase == LOCAL_STARTING && pod->pidfd >= 0)
            look_at(local, pod, false);
    int64_t now_ms = timestamp_now_ms();
    if (now_ms - local->tidied_ms >= TIDY_INTERVAL_MS || now_ms < local->tidied_ms) {
        local->tidied_ms = now_ms;
        pod_folder_tidy(local->home_fd, now_ms - local->options.log_kept_ms);
    }
}

static void take_events(struct local *local, const struct epoll_event *events, int count)
{
    uint64_t number;
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == &local->wake_fd)
            (void)!read(local->wake_fd, &number, sizeof(number));
        else if (events[i].data.ptr == &local->socket_fd)
            take_wakes(local);
        else
            look_at(local, events[i].data.ptr, true);
    }
}

static void *thread_main(void *context)
{
    struct local *local = context;
    struct epoll_event events[EVENTS_AT_ONCE];
    pthread_mutex_lock(&local->lock);
    while (!local->stopping) {
        bool is_idle = !local->pods.first_queued;
        pthread_mutex_unlock(&local->lock);
        int count = epoll_wait(local->epoll_fd, events, EVENTS_AT_ONCE, is_idle ? SWEEP_MS : 0);
        pthread_mutex_lock(&local->lock);
        if (count > 0)
            take_events(local, events, count);
        else if (is_idle)
            sweep(local);
        struct local_pod *pod = local->stopping ? NULL : local_pods_take_queued(&local->pods);
        if (pod)
            start_pod(local, pod);
        if (local->fact_count > 0) {
            pthread_mutex_unlock(&local->lock);
            local->wake(local->wake_context);
            pthread_mutex_lock(&local->lock);
        }
    }
    pthread_mutex_unlock(&local->lock);
    return NULL;
}

static void wake_thread(struct local *local)
{
    uint64_t one = 1;
    (void)!write(local->wake_fd, &one, sizeof(one));
}

static int start(void *backend, backend_wake_fn wake, void *wake_context, struct error *err)
{
    struct local *local = backend;
    pthread_attr_t attributes;
    local->wake = wake;
    local->wake_context = wake_context;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int rc = pthread_create(&local->thread, &attributes, thread_main, local);
    pthread_attr_destroy(&attributes);
    if (rc != 0)
        return error_set(err, ERROR_INTERNAL, "cannot start the local backend's thread: %s", strerror(rc));
    local->has_thread = true;
    return 0;
}

static void adopt_pod(struct local *local, const struct backend_pod *row)
{
    if (row->completed_ms || local_pods_find(&local->pods, row->uuid))
        return;
    int folder_fd = pod_folder_find(local->home_fd, row->uuid);
    if (folder_fd < 0) {
        add_fact(local, BACKEND_POD_UNKNOWN, row->uuid, 0, timestamp_now_ms());
        return;
    }
    struct local_pod *pod = local_pods_add(&local->pods, row->uuid);
    pod->is_stopping = row->stopping_ms != 0;
    pod->grace_ms = row->grace_ms;
    take_up(local, pod, folder_fd);
    close(folder_fd);
    if (pod->is_stopping && pod->phase != LOCAL_OVER)
        send_stop(local, pod);
}

// A pod's folder that no row asks for: what runs there ends at once.
static void drop_stranger(const char *uuid, void *context)
{
    struct local *local = context;
    if (local_pods_find(&local->pods, uuid))
        return;
    int folder_fd = pod_folder_find(local->home_fd, uuid);
    if (folder_fd < 0)
        return;
    log_write(LOG_WARN, "backends", "ending a pod that no row knows pod=%s", uuid);
    struct local_pod *pod = local_pods_add(&local->pods, uuid);
    pod->is_stopping = pod->is_forgotten = true;
    size_t facts = local->fact_count;
    take_up(local, pod, folder_fd);
    close(folder_fd);
    local->fact_count = facts;
    if (pod->phase != LOCAL_OVER) {
        send_stop(local, pod);
        return;
    }
    pod_folder_forget(local->home_fd, uuid);
    local_pods_remove(&local->pods, pod);
}

static int adopt(void *backend, const struct backend_pod *pods, size_t pod_count, const struct backend_node *nodes,
                 size_t node_count, struct error *err)
{
    (void)nodes;
    (void)node_count;
    (void)err;
    struct local *local = backend;
    pthread_mutex_lock(&local->lock);
    for (size_t i = 0; i < pod_count; i++)
        adopt_pod(local, &pods[i]);
    pod_folder_list(local->home_fd, drop_stranger, local);
    pthread_mutex_unlock(&local->lock);
    wake_thread(local);
    return 0;
}

static void order_start(struct local *local, const struct backend_order *order)
{
    struct error err = {0};
    struct local_pod *pod = local_pods_find(&local->pods, order->pod.uuid);
    if (pod) { // the same pod has one life only
        pod->decision = order->decision > pod->decision ? order->decision : pod->decision;
        return;
    }
    pod = local_pods_add(&local->pods, order->pod.uuid);
    pod->decision = order->decision;
    pod->grace_ms = order->pod.grace_ms;
    add_fact(local, BACKEND_POD_STARTING, pod->uuid, order->decision, timestamp_now_ms());
    if (launch_read(&local->options, &order->pod, &pod->arena, &pod->launch, &err) < 0) {
        pod->phase = LOCAL_STARTING;
        fail_start(local, pod, err.message);
        return;
    }
    local_pods_queue(&local->pods, pod);
}

static void order_stop(struct local *local, const struct backend_order *order)
{
    struct local_pod *pod = local_pods_find(&local->pods, order->pod.uuid);
    if (!pod) { // not there, which is what is wanted
        add_fact(local, BACKEND_POD_GONE, order->pod.uuid, order->decision, timestamp_now_ms());
        return;
    }
    pod->decision = order->decision > pod->decision ? order->decision : pod->decision;
    bool was_stopping = pod->is_stopping && order->pod.grace_ms >= pod->grace_ms;
    pod->is_stopping = true;
    pod->grace_ms = order->pod.grace_ms;
    if (pod->phase == LOCAL_QUEUED || pod->phase == LOCAL_OVER) {
        add_fact(local, BACKEND_POD_GONE, pod->uuid, order->decision, timestamp_now_ms());
        pod_folder_forget(local->home_fd, pod->uuid);
        local_pods_remove(&local->pods, pod);
    } else if (!was_stopping) {
        send_stop(local, pod);
    }
}

static void order_forget(struct local *local, const struct backend_order *order)
{
    struct local_pod *pod = local_pods_find(&local->pods, order->pod.uuid);
    if (pod && (pod->phase == LOCAL_STARTING || pod->phase == LOCAL_RUNNING)) {
        pod->is_stopping = pod->is_forgotten = true;
        pod->grace_ms = 0;
        send_stop(local, pod);
        return;
    }
    pod_folder_forget(local->home_fd, order->pod.uuid);
    if (pod)
        local_pods_remove(&local->pods, pod);
}

static void apply(void *backend, const struct backend_order *orders, size_t count)
{
    static void (*const ORDERS[])(struct local *, const struct backend_order *) = {
        [BACKEND_START] = order_start, [BACKEND_STOP] = order_stop, [BACKEND_FORGET] = order_forget};
    struct local *local = backend;
    pthread_mutex_lock(&local->lock);
    for (size_t i = 0; i < count; i++)
        ORDERS[orders[i].verb](local, &orders[i]);
    pthread_mutex_unlock(&local->lock);
    wake_thread(local);
}

static size_t take_facts(void *backend, struct arena *arena, struct backend_fact **out_facts)
{
    struct local *local = backend;
    pthread_mutex_lock(&local->lock);
    size_t count = local->fact_count;
    *out_facts = arena_array(arena, count, sizeof(**out_facts));
    if (count)
        memcpy(*out_facts, local->facts, count * sizeof(**out_facts));
    local->fact_count = 0;
    pthread_mutex_unlock(&local->lock);
    return count;
}

static int read_logs(void *backend, const struct backend_log_request *request, struct buffer *out,
                     int64_t *out_position, bool *out_ended, struct error *err)
{
    (void)err;
    struct local *local = backend;
    *out_position = request->position;
    int folder_fd = pod_folder_find(local->home_fd, request->pod.uuid);
    bool is_all = folder_fd < 0 || pod_log_read(folder_fd, request, out, out_position);
    if (folder_fd >= 0)
        close(folder_fd);
    *out_ended = is_all && request->pod.completed_ms != 0;
    return 0;
}

static void stop(void *backend)
{
    struct local *local = backend;
    if (!local->has_thread)
        return;
    pthread_mutex_lock(&local->lock);
    local->stopping = true;
    pthread_mutex_unlock(&local->lock);
    wake_thread(local);
    pthread_join(local->thread, NULL);
    local->has_thread = false;
}

static void destroy(void *backend)
{
    struct local *local = backend;
    const int fds[] = {local->home_fd, local->epoll_fd, local->wake_fd, local->socket_fd};
    local_pods_done(&local->pods);
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(local->facts);
    pthread_mutex_destroy(&local->lock);
    free(local);
}

static const struct backend_ops OPS = {
    .name = "local",
    .start = start,
    .adopt = adopt,
    .apply = apply,
    .take_facts = take_facts,
    .logs = read_logs,
    .stop = stop,
    .destroy = destroy,
};

static bool add_to_epoll(struct local *local, int fd, void *mark)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = mark};
    return fd >= 0 && epoll_ctl(local->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

int local_create(const struct local_options *options, struct backend *out_backend, struct error *err)
{
    if (access(options->supervisor, X_OK) < 0)
        return error_set(err, ERROR_INVALID, "%s: the program that pods hang on cannot be run: %s", options->supervisor,
                         strerror(errno));
    struct local *local = memory_array(1, sizeof(*local));
    local->options = *options;
    pthread_mutex_init(&local->lock, NULL);
    local_pods_init(&local->pods);
    local->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    local->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    local->socket_fd = -1;
    local->home_fd = pod_folder_open_home(options->home, &local->socket_fd, err);
    *out_backend = (struct backend){.ops = &OPS, .self = local};
    if (local->home_fd >= 0 && add_to_epoll(local, local->wake_fd, &local->wake_fd) &&
        add_to_epoll(local, local->socket_fd, &local->socket_fd))
        return 0;
    if (local->home_fd >= 0)
        error_set(err, ERROR_INTERNAL, "the local backend cannot watch: %s", strerror(errno));
    destroy(local);
    *out_backend = (struct backend){0};
    return -1;
}
