// What runs and isn't as rows and folders say: pods that no row asks for, since the database is an older one, and pods
// whose folder is gone. Nobody ends them but people.
#include "backends/local/local_state.h"
#include "backends/local/pods/pod_folder.h"
#include "backends/local/pods/pod_state.h"
#include "backends/local/pods/supervisors.h"
#include "base/log.h"
#include "base/timestamp.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    ENDED_KEPT_MS = 10 * 1000 // who adopts it at this moment learns how it ended
};

const struct supervisors *strays_find_supervisors(const struct local *local, struct arena *arena)
{
    struct supervisors *found = arena_array(arena, 1, sizeof(*found));
    supervisors_find(local->options.home, arena, found);
    return found;
}

static struct backend_fact *warn_of_node(struct local *local, const char *reason)
{
    struct backend_fact *fact = report_fact(local, BACKEND_NODE_WARNING, "", 0, timestamp_now_ms());
    snprintf(fact->node_name, sizeof(fact->node_name), "%s", local->options.node_name);
    backend_fact_say(fact, reason, "");
    return fact;
}

static struct local_pod *watch_without_folder(struct local *local, const struct found_supervisor *found)
{
    struct local_pod *pod = local_pods_add(&local->pods, found->uuid);
    pod->supervisor = found->pid;
    pod->phase = LOCAL_STARTING;
    pod->failure_reason = "FolderLost"; // when it ends
    snprintf(pod->failure_message, sizeof(pod->failure_message), "its folder was lost, and with it how it ended");
    if (attend_watch(local, pod, found->started))
        return pod;
    local_pods_remove(&local->pods, pod);
    return NULL;
}

// Nothing of it runs but what its cgroup names: that is to end before anything else gets its devices.
static struct local_pod *keep_leftover(struct local *local, const char *uuid)
{
    if (!unkilled_signal(local, uuid, 0))
        return NULL;
    struct local_pod *pod = local_pods_add(&local->pods, uuid);
    pod->phase = LOCAL_STARTING;
    pod->is_forced = true;
    return pod;
}

struct local_pod *strays_keep_without_folder(struct local *local, const struct supervisors *supervisors,
                                             const char *uuid)
{
    struct local_pod *pod = NULL;
    for (size_t i = 0; i < supervisors->count && !pod; i++)
        if (strcmp(supervisors->items[i].uuid, uuid) == 0)
            pod = watch_without_folder(local, &supervisors->items[i]);
    if (!pod)
        return keep_leftover(local, uuid);
    report_running(local, pod, &(struct pod_state){.pid = pod->supervisor, .running_ms = timestamp_now_ms()});
    log_write(LOG_WARN, "backends", "a pod runs on without its folder pod=%s process=%d", uuid, (int)pod->supervisor);
    backend_fact_say(report_fact(local, BACKEND_POD_WARNING, uuid, 0, timestamp_now_ms()), "FolderLost",
                     "runs on, but its folder was lost: what it prints is not kept");
    return pod;
}

static void tell(struct local *local, const struct local_pod *pod)
{
    log_write(LOG_WARN, "backends", "a pod runs that no row knows pod=%s project=%s workload=%s process=%d", pod->uuid,
              pod->project, pod->workload, (int)pod->supervisor);
    struct backend_fact *fact = warn_of_node(local, "StrayPod");
    snprintf(fact->message, sizeof(fact->message), "pod %s runs, which no workload asks for: prorata pods list",
             pod->uuid);
}

static void become_stray(struct local *local, struct local_pod *pod, const struct pod_state *state, const char *record)
{
    pod->is_stray = local->had_strays = true;
    pod->is_forgotten = true;
    pod->gpus = state->has_holdings ? state->gpus : UINT64_MAX;
    pod->project = arena_strdup(&pod->arena, state->project);
    pod->workload = arena_strdup(&pod->arena, state->workload);
    pod->since_ms = state->running_ms;
    pod->record = record;
    tell(local, pod);
}

struct taking {
    struct local *local;
    const struct backend_rows *rows;
};

// What rows want to be over ends at once.
static void take_folder(const char *uuid, void *context)
{
    const struct taking *taking = context;
    struct local *local = taking->local;
    struct pod_state state;
    if (local_pods_find(&local->pods, uuid))
        return;
    int folder_fd = pod_folder_find(local->home_fd, uuid);
    if (folder_fd < 0)
        return;
    bool is_over = taking->rows->is_over && taking->rows->is_over(uuid, taking->rows->context);
    struct local_pod *pod = local_pods_add(&local->pods, uuid);
    size_t facts = local->facts.count;
    pod->is_stopping = pod->is_forgotten = pod->is_forced = is_over;
    attend_take_up(local, pod, folder_fd);
    local->facts.count = facts;
    (void)pod_state_read(folder_fd, &state);
    if (pod->phase == LOCAL_STUCK) {
        pod->is_forgotten = true;
        snprintf(pod->name, sizeof(pod->name), "%.90s", state.workload);
        unkilled_lose(local, pod, state.has_holdings ? state.gpus : UINT64_MAX);
    } else if (pod->phase == LOCAL_OVER) {
        strays_forget(local, pod);
    } else if (is_over) {
        attend_stop(local, pod);
    } else {
        become_stray(local, pod, &state, pod_folder_read_record(folder_fd, &pod->arena));
    }
    close(folder_fd);
}

// Neither a row nor a folder nor a supervisor: only the cgroup shows that something of a pod runs, and not what it
// holds.
static void take_cgroups(struct local *local)
{
    DIR *folder = local->cgroups.path[0] ? opendir(local->cgroups.path) : NULL;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        pid_t process = uuid_is_valid(entry->d_name) && !local_pods_find(&local->pods, entry->d_name)
                            ? unkilled_signal(local, entry->d_name, 0)
                            : 0;
        if (!process)
            continue;
        struct local_pod *pod = local_pods_add(&local->pods, entry->d_name);
        pod->phase = LOCAL_RUNNING;
        pod->supervisor = process;
        become_stray(local, pod, &(struct pod_state){.pid = process}, NULL);
    }
    if (folder)
        closedir(folder);
}

void strays_take_up(struct local *local, const struct supervisors *supervisors, const struct backend_rows *rows)
{
    struct taking taking = {local, rows};
    pod_folder_list(local->home_fd, take_folder, &taking);
    for (size_t i = 0; i < supervisors->count; i++) {
        const struct found_supervisor *found = &supervisors->items[i];
        if (!found->is_here || local_pods_find(&local->pods, found->uuid))
            continue;
        struct local_pod *pod = watch_without_folder(local, found);
        if (pod) {
            pod->phase = LOCAL_RUNNING;
            become_stray(local, pod, &(struct pod_state){.pid = found->pid}, NULL);
        }
    }
    take_cgroups(local);
    gpus_report(local);
}

bool strays_is_one(const struct local_pod *pod)
{
    return pod->is_stray && pod->phase < LOCAL_LEAVING;
}

void strays_end(struct local *local, struct local_pod *pod)
{
    pod->over_ms = timestamp_now_ms();
    gpus_report(local);
}

void strays_forget_ended(struct local *local)
{
    int64_t now_ms = timestamp_now_ms();
    for (struct local_pod *pod = local_pods_next(&local->pods, NULL), *next; local->had_strays && pod; pod = next) {
        next = local_pods_next(&local->pods, pod);
        bool is_kept = now_ms >= pod->over_ms && now_ms - pod->over_ms < ENDED_KEPT_MS;
        if (pod->is_stray && !strays_is_one(pod) && pod->phase != LOCAL_LOST && !is_kept)
            strays_forget(local, pod);
    }
}

void strays_adopt(struct local *local, struct local_pod *pod)
{
    struct pod_state state = {0};
    int folder_fd = pod_folder_find(local->home_fd, pod->uuid);
    pod->is_stray = pod->is_forgotten = pod->is_stopping = false;
    pod->record = NULL;
    if (folder_fd >= 0 && pod->pidfd < 0) {
        attend_take_up(local, pod, folder_fd); // it has ended meanwhile
    } else if (folder_fd >= 0) {
        pod->phase = LOCAL_STARTING;
        (void)pod_state_read(folder_fd, &state);
        report_running(local, pod, &state);
    }
    if (folder_fd >= 0)
        close(folder_fd);
    gpus_report(local);
}

void strays_forget(struct local *local, struct local_pod *pod)
{
    bool was_stray = pod->is_stray;
    report_forgotten(local, pod->uuid);
    local_pods_remove(&local->pods, pod);
    if (was_stray)
        gpus_report(local);
}

size_t strays_list(void *context, struct arena *arena, struct backend_stray **out_strays)
{
    struct local *local = context;
    size_t count = 0, capacity = 0;
    *out_strays = NULL;
    pthread_mutex_lock(&local->lock);
    for (const struct local_pod *pod = NULL; local->had_strays && (pod = local_pods_next(&local->pods, pod));) {
        if (!strays_is_one(pod))
            continue;
        *out_strays = arena_grow(arena, *out_strays, &capacity, count + 1, sizeof(**out_strays));
        struct backend_stray *stray = &(*out_strays)[count++];
        *stray = (struct backend_stray){.project_name = arena_strdup(arena, pod->project),
                                        .workload_name = arena_strdup(arena, pod->workload),
                                        .gpus = pod->gpus,
                                        .pid = pod->supervisor,
                                        .since_ms = pod->since_ms,
                                        .is_ending = pod->is_stopping,
                                        .record = arena_strdup(arena, pod->record),
                                        .node_name = arena_strdup(arena, local->options.node_name)};
        snprintf(stray->uuid, sizeof(stray->uuid), "%s", pod->uuid);
    }
    pthread_mutex_unlock(&local->lock);
    return count;
}
