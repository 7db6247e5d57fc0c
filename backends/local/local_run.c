#include "backends/local/local.h"

#include "backends/local/images/image_files.h"
#include "backends/local/local_state.h"
#include "backends/local/pods/pod_folder.h"
#include "backends/local/pods/pod_log.h"
#include "backends/local/pods/pod_ports.h"
#include "backends/local/pods/pod_state.h"
#include "backends/local/pods/sessions.h"
#include "backends/local/serving/relay.h"
#include "backends/local/specification/isolation.h"
#include "base/error.h"
#include "base/log.h"
#include "base/quantity.h"
#include "base/timestamp.h"
#include "supervisor/host_places.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    STACK_BYTES = 256 * 1024,
    GPU_INTERVAL_MS = 2000,
    EXIT_NOT_STARTED = 128 // as containers' runtimes say it
};

void local_wake(struct local *local)
{
    (void)eventfd_write(local->wake_fd, 1);
}

static int start(void *backend, backend_wake_fn wake, void *wake_context, struct error *err)
{
    struct local *local = backend;
    struct origin_places places = {local->cgroups.path, local->options.users.pod_groups};
    pthread_attr_t attributes;
    local->wake = wake;
    local->wake_context = wake_context;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int rc = pthread_create(&local->thread, &attributes, attend_main, local);
    pthread_attr_destroy(&attributes);
    if (rc != 0)
        return error_set(err, ERROR_INTERNAL, "cannot start the local backend's thread: %s", strerror(rc));
    local->has_thread = true;
    if (inference_relay_start(local->relay, err) < 0)
        return -1;
    if (!log_keeper_start(local->logs) || !disk_watch_start(local->disks) || !loads_start(local))
        return error_set(err, ERROR_INTERNAL, "cannot start the threads that watch logs, disks and pods");
    return local->options.nvml
               ? gpu_watch_start(local->options.nvml, &places, GPU_INTERVAL_MS, gpus_take, local, &local->gpus, err)
               : 0;
}

// What it holds of the GPUs.
static void note_devices(const struct local *local, struct local_pod *pod, const struct backend_pod *row)
{
    for (size_t i = 0; i < row->gpu_index_count; i++)
        if (row->gpu_indices[i] < NVML_DEVICES_MAX)
            pod->gpus |= UINT64_C(1) << row->gpu_indices[i];
    int64_t whole_milli = (int64_t)row->gpu_index_count * 1000;
    if (row->gpu_milli < whole_milli)
        pod->gpu_memory_limit_mib = local->options.gpu_memory_mib * row->gpu_milli / whole_milli;
}

static void follow_row(const struct local *local, struct local_pod *pod, const struct backend_pod *row)
{
    pod->is_stopping = row->stopping_ms != 0;
    pod->grace_ms = row->grace_ms;
    snprintf(pod->name, sizeof(pod->name), "%s", row->name);
    note_devices(local, pod, row);
}

static void adopt_pod(struct local *local, const struct backend_pod *row, const struct supervisors *supervisors)
{
    if (row->completed_ms || local_pods_find(&local->pods, row->uuid))
        return;
    int folder_fd = pod_folder_find(local->home_fd, row->uuid);
    if (folder_fd < 0) {
        struct local_pod *kept = strays_keep_without_folder(local, supervisors, row->uuid);
        if (!kept) {
            report_fact(local, BACKEND_POD_UNKNOWN, row->uuid, 0, timestamp_now_ms());
            return;
        }
        follow_row(local, kept, row);
        if (kept->is_forced)
            report_end(local, kept, &(struct pod_state){0});
        else if (kept->is_stopping)
            attend_stop(local, kept);
        return;
    }
    struct local_pod *pod = local_pods_add(&local->pods, row->uuid);
    log_keeper_add(local->logs, row->uuid, row->workload_uuid, row->project_name);
    log_keeper_look(local->logs, row->uuid);
    disk_watch_add(local->disks, row->workload_uuid, row->project_name);
    follow_row(local, pod, row);
    attend_take_up(local, pod, folder_fd);
    close(folder_fd);
    if (pod->is_stopping && pod->phase != LOCAL_OVER)
        attend_stop(local, pod);
}

static bool is_living(const char *uuid, void *context)
{
    const struct local *local = context;
    const struct local_pod *pod = local_pods_find(&local->pods, uuid);
    return pod && pod->phase != LOCAL_OVER;
}

static int adopt(void *backend, const struct backend_rows *rows, struct error *err)
{
    (void)err;
    struct local *local = backend;
    struct arena arena;
    arena_init(&arena);
    pthread_mutex_lock(&local->lock);
    const struct supervisors *supervisors = strays_find_supervisors(local, &arena);
    for (size_t i = 0; i < rows->pod_count; i++)
        adopt_pod(local, &rows->pods[i], supervisors);
    local->has_adopted = true;
    strays_take_up(local, supervisors, rows);
    holding_keep_all(local);
    volumes_sweep(local->options.scratch, is_living, local);
    host_places_sweep(local->options.cgroup_name, is_living, local);
    pthread_mutex_unlock(&local->lock);
    arena_done(&arena);
    local_wake(local);
    return 0;
}

static void give_group(struct local *local, struct local_pod *pod)
{
    struct local_user *user = &pod->launch.user;
    pod->launch.group = pod->group = user->changes ? belonging_take_group(local) : 0;
    if (pod->group)
        user->groups[user->group_count++] = pod->group;
}

static void start_pod(struct local *local, struct local_pod *pod, const struct backend_pod *row)
{
    struct error err = {0};
    if (launch_read(&local->options, &local->pods, row, &pod->arena, &pod->launch, &err) < 0) {
        pod->phase = LOCAL_STARTING;
        report_not_started(local, pod, err.message);
        return;
    }
    give_group(local, pod);
    pod->launch.gpus = pod->gpus;
    pod->launch.record = arena_strdup(&pod->arena, row->record);
    local_pod_follow_launch(pod);
    holding_follow(local, pod);
    decide_ask(local, pod);
}

static void order_start(struct local *local, const struct backend_order *order)
{
    struct local_pod *pod = local_pods_find(&local->pods, order->pod.uuid);
    if (pod && pod->is_stray) { // of a time after these rows
        struct backend_fact *fact =
            report_fact(local, BACKEND_POD_ENDED, pod->uuid, order->decision, timestamp_now_ms());
        fact->exit_code = EXIT_NOT_STARTED;
        backend_fact_say(fact, "StartError", "it already runs, since before the restore: prorata pods list");
        return;
    }
    if (pod) { // the same pod has one life only
        pod->decision = order->decision > pod->decision ? order->decision : pod->decision;
        return;
    }
    if (disk_watch_is_low(local->disks)) { // ordered before the node was known to take nothing
        backend_fact_say(report_fact(local, BACKEND_POD_REFUSED, order->pod.uuid, order->decision, timestamp_now_ms()),
                         "DiskPressure", "a disk is down to its reserve");
        return;
    }
    pod = local_pods_add(&local->pods, order->pod.uuid);
    log_keeper_add(local->logs, pod->uuid, order->pod.workload_uuid, order->pod.project_name);
    disk_watch_add(local->disks, order->pod.workload_uuid, order->pod.project_name);
    snprintf(pod->workload_uuid, sizeof(pod->workload_uuid), "%s", order->pod.workload_uuid);
    pod->decision = order->decision;
    pod->grace_ms = order->pod.grace_ms;
    snprintf(pod->name, sizeof(pod->name), "%s", order->pod.name);
    note_devices(local, pod, &order->pod);
    report_fact(local, BACKEND_POD_STARTING, pod->uuid, order->decision, timestamp_now_ms());
    if (start_marks_forbid(&local->start_marks, pod->workload_uuid)) {
        pod->phase = LOCAL_STARTING;
        report_never_started(local, pod, "not tried: the server ended twice while it started this pod");
        return;
    }
    start_marks_begin(&local->start_marks, pod->uuid, pod->workload_uuid);
    start_pod(local, pod, &order->pod);
    start_marks_end(&local->start_marks);
}

static void order_stop(struct local *local, const struct backend_order *order)
{
    struct local_pod *pod = local_pods_find(&local->pods, order->pod.uuid);
    if (!pod) { // not there, as it should be
        report_fact(local, BACKEND_POD_GONE, order->pod.uuid, order->decision, timestamp_now_ms());
        return;
    }
    pod->decision = order->decision > pod->decision ? order->decision : pod->decision;
    bool was_stopping = pod->is_stopping && order->pod.grace_ms >= pod->grace_ms;
    pod->is_stopping = true;
    pod->grace_ms = order->pod.grace_ms;
    if (pod->phase == LOCAL_LEAVING) {
        pod->end.kind = BACKEND_POD_GONE;
    } else if (pod->phase == LOCAL_LOST) {
        report_fact(local, BACKEND_POD_GONE, pod->uuid, order->decision, timestamp_now_ms());
    } else if (pod->phase == LOCAL_ASKING || pod->phase == LOCAL_QUEUED || pod->phase == LOCAL_OVER) {
        report_fact(local, BACKEND_POD_GONE, pod->uuid, order->decision, timestamp_now_ms());
        report_forgotten(local, pod->uuid);
        local_pods_remove(&local->pods, pod);
    } else if (!was_stopping) {
        attend_stop(local, pod);
    }
}

static void order_forget(struct local *local, const struct backend_order *order)
{
    struct local_pod *pod = local_pods_find(&local->pods, order->pod.uuid);
    if (pod && pod->is_stray)
        return;
    if (pod && pod->phase == LOCAL_LOST) { // until it is gone
        pod->is_forgotten = true;
        return;
    }
    if (pod && (pod->phase == LOCAL_STARTING || pod->phase == LOCAL_RUNNING || pod->phase == LOCAL_STUCK)) {
        pod->is_stopping = pod->is_forgotten = true;
        pod->grace_ms = 0;
        attend_stop(local, pod);
        return;
    }
    report_forgotten(local, order->pod.uuid);
    if (pod)
        local_pods_remove(&local->pods, pod);
}

static void order_adopt(struct local *local, const struct backend_order *order)
{
    struct local_pod *pod = local_pods_find(&local->pods, order->pod.uuid);
    if (!pod)
        report_fact(local, BACKEND_POD_UNKNOWN, order->pod.uuid, order->decision, timestamp_now_ms());
    if (!pod || !pod->is_stray)
        return;
    pod->gpus = 0;
    pod->grace_ms = order->pod.grace_ms;
    note_devices(local, pod, &order->pod);
    log_keeper_add(local->logs, pod->uuid, order->pod.workload_uuid, order->pod.project_name);
    log_keeper_look(local->logs, pod->uuid);
    strays_adopt(local, pod);
}

static void order_clear(struct local *local, const struct backend_order *order)
{
    homes_remove(local->homes, order->pod.workload_uuid);
    log_keeper_delete(local->logs, order->pod.workload_uuid);
    disk_watch_remove(local->disks, order->pod.workload_uuid);
    start_marks_forget(&local->start_marks, order->pod.workload_uuid);
}

struct looking {
    struct local *local;
    const struct backend_known *known;
    bool has_strays; // one of them may live there: the next start looks again
};

static bool keeps_home(const char *workload_uuid, void *context)
{
    const struct looking *looking = context;
    struct arena arena;
    arena_init(&arena);
    const char *project = looking->known->find_project(workload_uuid, &arena, looking->known->context);
    if (project)
        disk_watch_add(looking->local->disks, workload_uuid, project);
    arena_done(&arena);
    return project || looking->has_strays;
}

static bool clear_unknown(void *backend, const struct backend_known *known)
{
    struct local *local = backend;
    pthread_mutex_lock(&local->lock);
    bool has_strays = local->had_strays;
    pthread_mutex_unlock(&local->lock);
    if (log_keeper_find(local->logs, known, has_strays))
        return true;
    homes_sweep(local->homes, keeps_home, &(struct looking){local, known, has_strays});
    return false;
}

static void apply(void *backend, const struct backend_order *orders, size_t count)
{
    static void (*const ORDERS[])(struct local *, const struct backend_order *) = {[BACKEND_START] = order_start,
                                                                                   [BACKEND_STOP] = order_stop,
                                                                                   [BACKEND_FORGET] = order_forget,
                                                                                   [BACKEND_ADOPT] = order_adopt,
                                                                                   [BACKEND_CLEAR] = order_clear};
    struct local *local = backend;
    pthread_mutex_lock(&local->lock);
    for (size_t i = 0; i < count; i++)
        ORDERS[orders[i].verb](local, &orders[i]);
    pthread_mutex_unlock(&local->lock);
    local_wake(local);
}

static size_t take_facts(void *backend, struct arena *arena, struct backend_fact **out_facts)
{
    struct local *local = backend;
    pthread_mutex_lock(&local->lock);
    size_t count = backend_facts_take(&local->facts, arena, out_facts);
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
    bool is_all = folder_fd < 0 || pod_log_read(folder_fd, local->options.logs.pod_bytes, request, out, out_position);
    if (folder_fd >= 0)
        close(folder_fd);
    *out_ended = is_all && request->pod.completed_ms != 0;
    return 0;
}

static void read_storage(void *backend, struct arena *arena, struct backend_storage *out_storage)
{
    struct local *local = backend;
    *out_storage = (struct backend_storage){.image_bytes = image_files_bytes(local->options.images_folder)};
    log_keeper_read(local->logs, arena, out_storage);
    disk_watch_read(local->disks, arena, out_storage);
}

static void stop(void *backend)
{
    struct local *local = backend;
    if (!local->has_thread)
        return;
    inference_relay_stop(local->relay); // its thread may wait for the lock
    pthread_mutex_lock(&local->lock);
    local->stopping = true;
    pthread_mutex_unlock(&local->lock);
    images_destroy(local->images); // its threads may wait for the lock
    local->images = NULL;
    local_wake(local);
    pthread_join(local->thread, NULL);
    local->has_thread = false;
    gpu_watch_stop(local->gpus);
    local->gpus = NULL;
    log_keeper_stop(local->logs);
    disk_watch_stop(local->disks);
    loads_stop(local);
}

static int check(void *backend, const struct backend_pod *pod, struct error *err)
{
    const struct local *local = backend;
    char taken[QUANTITY_TEXT_SIZE], bound[QUANTITY_TEXT_SIZE];
    int64_t bytes;
    if (disk_watch_is_over(local->disks, pod->project_name, &bytes))
        return error_set(err, ERROR_INVALID,
                         "projectId: the homes of %s's workloads take %s, and may take %s (--local-home-project): "
                         "delete some, or what is in them",
                         pod->project_name, quantity_format_memory(bytes >> 20 << 20, taken),
                         quantity_format_memory(local->options.home_project, bound));
    return launch_check(&local->options, pod, err);
}

static void destroy(void *backend)
{
    struct local *local = backend;
    const int fds[] = {local->home_fd, local->epoll_fd, local->wake_fd, local->socket_fd};
    inference_relay_destroy(local->relay);
    local_pods_done(&local->pods);
    images_destroy(local->images);
    homes_destroy(local->homes);
    log_keeper_destroy(local->logs);
    disk_watch_destroy(local->disks);
    nvml_close(local->options.nvml);
    cgroups_close(&local->cgroups);
    start_marks_close(&local->start_marks);
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    backend_facts_done(&local->facts);
    free(local->seen);
    pthread_mutex_destroy(&local->lock);
    session_calls_done(&local->session_calls);
    free(local);
}

static const struct backend_ops OPS = {
    .name = "local",
    .start = start,
    .adopt = adopt,
    .clear_unknown = clear_unknown,
    .list_strays = strays_list,
    .apply = apply,
    .check = check,
    .check_caller = sessions_check_caller,
    .open_session = sessions_open,
    .open_port = pod_ports_open,
    .read_devices = gpus_read,
    .take_facts = take_facts,
    .logs = read_logs,
    .read_storage = read_storage,
    .find_address = addresses_find,
    .choose_address = addresses_choose,
    .serve = addresses_serve,
    .read_service = addresses_read,
    .stop = stop,
    .destroy = destroy,
};

static bool add_to_epoll(struct local *local, int fd, void *mark)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = mark};
    return fd >= 0 && epoll_ctl(local->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void tell_bounds(const struct cgroups *cgroups)
{
    const char *memory = cgroups_memory_by(cgroups), *cpu = cgroups_cpu_by(cgroups), *pids = cgroups_pids_by(cgroups);
    log_write(cgroups->reason[0] ? LOG_WARN : LOG_INFO, "backends",
              "bounds of pods: memory by %s, cores by %s, processes by %s%s%s", memory ? memory : "nothing",
              cpu ? cpu : "nothing", pids ? pids : "RLIMIT_NPROC", cgroups->reason[0] ? ": " : "", cgroups->reason);
    if (!memory)
        log_write(LOG_WARN, "backends",
                  "memory of pods is not bounded: one of them can use all of this machine's (prorata doctor)");
}

static void look_at_isolation(struct local_options *options)
{
    char reason[ISOLATION_REASON_SIZE];
    options->isolates = isolation_is_possible(reason);
    if (options->isolates)
        log_write(LOG_INFO, "backends", "each workload has shared memory of its own%s",
                  options->has_private_tmp ? ", each pod a /tmp of its own" : "; /tmp is the machine's");
    else
        log_write(LOG_WARN, "backends", "pods share this machine's /tmp and shared memory, which outlives them: %s",
                  reason);
}

int local_create(const struct local_options *options, struct backend *out_backend, struct error *err)
{
    if (access(options->supervisor, X_OK) < 0)
        return error_set(err, ERROR_INVALID, "%s: cannot run the program that supervises pods: %s", options->supervisor,
                         strerror(errno));
    if (volumes_open_scratch(options->scratch_above, options->scratch, err) < 0 ||
        volumes_open_scratch(options->scratch_above, options->homes, err) < 0)
        return -1;
    struct local *local = memory_array(1, sizeof(*local));
    local->options = *options;
    local->homes = homes_create(options->homes);
    local->images = images_create(options->images, options->images_folder, options->image_bytes, decide_take, local);
    cgroups_open(options->cgroup_name, &local->cgroups);
    tell_bounds(&local->cgroups);
    look_at_isolation(&local->options);
    holding_open(local);
    local->next_group = timestamp_now_ms(); // another server's run may have used the first ones
    pthread_mutex_init(&local->lock, NULL);
    session_calls_init(&local->session_calls);
    local->start_marks.fd = -1;
    local_pods_init(&local->pods);
    local->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    local->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    local->socket_fd = -1;
    local->home_fd = pod_folder_open_home(options->home, &local->socket_fd, err);
    if (local->home_fd >= 0)
        start_marks_open(&local->start_marks, local->home_fd);
    local->logs = log_keeper_create(local->home_fd, &options->logs, report_log, local);
    struct disk_bounds bounds = {options->data, options->homes, options->disk_reserve, options->home_project};
    local->disks = disk_watch_create(&bounds, report_disk, local);
    *out_backend = (struct backend){.ops = &OPS, .self = local};
    if (local->home_fd >= 0 && addresses_open(local, err) < 0) {
        destroy(local);
        *out_backend = (struct backend){0};
        return -1;
    }
    if (local->home_fd >= 0 && add_to_epoll(local, local->wake_fd, &local->wake_fd) &&
        add_to_epoll(local, local->socket_fd, &local->socket_fd))
        return 0;
    if (local->home_fd >= 0)
        error_set(err, ERROR_INTERNAL, "the local backend cannot watch: %s", strerror(errno));
    destroy(local);
    *out_backend = (struct backend){0};
    return -1;
}
