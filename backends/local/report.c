#include "backends/local/images/program.h"
#include "backends/local/local_state.h"
#include "backends/local/pods/leftovers.h"
#include "backends/local/pods/pod_folder.h"
#include "backends/local/pods/pod_state.h"
#include "base/log.h"
#include "base/quantity.h"
#include "base/timestamp.h"
#include "supervisor/host_places.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    EXIT_NOT_STARTED = 128, // as containers' runtimes say it
    EXIT_BY_SIGNAL = 128,   // and the signal's number
    REMOVE_MS = 10 * 1000
};

struct backend_fact *report_fact(struct local *local, enum backend_fact_kind kind, const char *pod_uuid,
                                 int64_t decision, int64_t time_ms)
{
    return backend_facts_add(&local->facts, kind, pod_uuid, decision, time_ms);
}

// The pod's processes are over. Where a driver knows its devices, the end is told when it has let go of them.
static void end_pod(struct local *local, struct local_pod *pod, int64_t time_ms, int64_t exit_code, const char *reason,
                    const char *message)
{
    enum backend_fact_kind kind = pod->is_stopping ? BACKEND_POD_GONE : BACKEND_POD_ENDED;
    struct backend_fact *fact = report_fact(local, kind, pod->uuid, pod->decision, time_ms);
    fact->exit_code = exit_code;
    if (pod->failure_reason)
        backend_fact_say(fact, pod->failure_reason, pod->failure_message);
    else
        backend_fact_say(fact, reason, message);
    if (pod->pidfd >= 0)
        close(pod->pidfd);
    pod->pidfd = -1;
    pod->phase = LOCAL_OVER;
    pod->ports.count = 0;
    if (!local->gpus || !pod->gpus) {
        holding_follow(local, pod);
        return;
    }
    pod->phase = LOCAL_LEAVING;
    pod->end = *fact;
    local->facts.count--;
    gpu_watch_hurry(local->gpus);
}

void report_left(struct local *local, struct local_pod *pod)
{
    *report_fact(local, pod->end.kind, pod->uuid, pod->decision, pod->end.time_ms) = pod->end;
    pod->phase = LOCAL_OVER;
    holding_follow(local, pod);
}

void report_not_started(struct local *local, struct local_pod *pod, const char *message)
{
    end_pod(local, pod, timestamp_now_ms(), EXIT_NOT_STARTED, "StartError", message);
}

void report_never_started(struct local *local, struct local_pod *pod, const char *message)
{
    report_not_started(local, pod, message);
    if (pod->phase == LOCAL_LEAVING)
        pod->end.is_final = true;
    else
        local->facts.items[local->facts.count - 1].is_final = true;
}

static void report_late(struct local *local, struct local_pod *pod, const struct pod_state *state)
{
    if (pod->is_late || !state->waits_for[0] || state->pid || state->is_refused || state->is_ended)
        return;
    pod->is_late = true;
    struct backend_fact *fact = report_fact(local, BACKEND_POD_WARNING, pod->uuid, pod->decision, timestamp_now_ms());
    backend_fact_say(fact, "StartWaits", "");
    snprintf(fact->message, sizeof(fact->message), "does not start yet: waits for %s%s, which does not answer",
             state->waits_for[0] == '/' ? "" : "its ", state->waits_for);
}

void report_running(struct local *local, struct local_pod *pod, const struct pod_state *state)
{
    if (pod->phase == LOCAL_STARTING)
        report_late(local, pod, state);
    if (pod->phase != LOCAL_STARTING || !state->pid)
        return;
    pod->phase = LOCAL_RUNNING;
    struct backend_fact *fact = report_fact(local, BACKEND_POD_RUNNING, pod->uuid, pod->decision, state->running_ms);
    snprintf(fact->node_name, sizeof(fact->node_name), "%s", local->options.node_name);
    char bound[MEMORY_BOUND_TEXT_SIZE];
    if (pod->memory_bytes)
        memory_bound_say(pod->memory_bytes, pod->is_memory_default, bound);
    snprintf(fact->message, sizeof(fact->message), "runs as process %d of this machine%s%s; %s%s", (int)state->pid,
             pod->about[0] ? ", " : "", pod->about,
             pod->memory_bytes ? "memory: at most " : "nothing bounds its memory", pod->memory_bytes ? bound : "");
}

// Where a killed supervisor did not.
static void remove_volumes(const struct local *local, const struct local_pod *pod)
{
    host_places_remove(local->options.cgroup_name, pod->uuid);
    volumes_remove(local->options.scratch, pod->uuid);
}

void report_stopped(struct local *local, struct local_pod *pod)
{
    struct backend_fact *fact = report_fact(local, BACKEND_POD_LOST, pod->uuid, pod->decision, timestamp_now_ms());
    snprintf(fact->node_name, sizeof(fact->node_name), "%s", local->options.node_name);
    cgroups_remove(&local->cgroups, pod->uuid);
    remove_volumes(local, pod);
    report_forgotten(local, pod->uuid);
    pod->phase = LOCAL_OVER;
}

void report_forgotten(struct local *local, const char *pod_uuid)
{
    log_keeper_end(local->logs, pod_uuid, pod_folder_forget(local->home_fd, &local->spares, pod_uuid));
}

// Which of its processes the kernel chose matters to nobody: the pod has ended, and not well.
static void end_out_of_memory(struct local *local, struct local_pod *pod, const struct pod_state *state)
{
    char message[MEMORY_BOUND_TEXT_SIZE + 96], bound[MEMORY_BOUND_TEXT_SIZE];
    snprintf(message, sizeof(message), "used more than its memory bound of %s; ask for more with cpuMemoryLimit",
             memory_bound_say(pod->memory_bytes, pod->is_memory_default, bound));
    end_pod(local, pod, state->over_ms, state->exit_code >= 0 ? state->exit_code : EXIT_BY_SIGNAL + state->signal,
            "OOMKilled",
            pod->memory_bytes && !state->was_machine_out ? message
                                                         : "was ended by the kernel: the machine ran out of memory");
}

// Its supervisor would have done it.
static void remove_container(const struct local_pod *pod, const struct pod_state *state)
{
    char name[UUID_SIZE + 16];
    const char *const argv[] = {state->container, "rm", "--force", name, NULL};
    snprintf(name, sizeof(name), "prorata-%s", pod->uuid);
    if (state->container[0])
        (void)program_run(argv, REMOVE_MS, -1, NULL);
}

void report_lost(struct local *local, struct local_pod *pod)
{
    enum backend_fact_kind kind = pod->is_stopping ? BACKEND_POD_GONE : BACKEND_POD_ENDED;
    struct backend_fact *fact = report_fact(local, kind, pod->uuid, pod->decision, timestamp_now_ms());
    fact->exit_code = EXIT_BY_SIGNAL + SIGKILL;
    backend_fact_say(fact, pod->failure_reason ? pod->failure_reason : "Unkillable", pod->failure_message);
    if (!pod->failure_message[0])
        snprintf(fact->message, sizeof(fact->message), "process %d of it does not end", (int)pod->unkilled);
}

// Whether something of it is left, which is waited for. Where the supervisor is gone without a word, and nobody has
// tried yet, what it left is killed by who reports the end.
static bool is_left(struct local *local, struct local_pod *pod, const struct pod_state *state)
{
    bool has_said = state->is_ended || state->is_refused;
    pid_t process = has_said || pod->is_forced ? unkilled_kill(local, pod, state) : 0;
    if (process)
        unkilled_keep(local, pod, process);
    return process != 0;
}

void report_end(struct local *local, struct local_pod *pod, const struct pod_state *state)
{
    char message[128], boot[64];
    if (is_left(local, pod, state))
        return;
    cgroups_remove(&local->cgroups, pod->uuid);
    if (state->is_refused) {
        snprintf(message, sizeof(message), "%s%s%s", state->refused_what, state->refused_errno ? ": " : "",
                 state->refused_errno ? strerror(state->refused_errno) : "");
        report_not_started(local, pod, message);
    } else if (state->is_ended && state->was_out_of_memory && state->exit_code != 0) {
        end_out_of_memory(local, pod, state);
    } else if (state->is_ended && state->exit_code >= 0) {
        end_pod(local, pod, state->over_ms, state->exit_code, state->exit_code == 0 ? "Completed" : "Error", "");
    } else if (state->is_ended) {
        const char *name = sigabbrev_np(state->signal);
        snprintf(message, sizeof(message), "ended by SIG%s", name ? name : "?");
        end_pod(local, pod, state->over_ms, EXIT_BY_SIGNAL + state->signal, "Error", message);
    } else {
        // The supervisor is gone without a word.
        pod_state_boot(boot);
        bool is_old = state->boot[0] && strcmp(state->boot, boot) != 0;
        size_t left = is_old ? 0 : leftovers_kill(&(struct leftovers){state->group, state->pid, state->start});
        pid_t process = unkilled_kill(local, pod, state);
        if (process) {
            unkilled_keep(local, pod, process);
            return;
        }
        remove_container(pod, state);
        snprintf(message, sizeof(message), "its supervisor was killed; %zu processes that it left were ended", left);
        end_pod(local, pod, timestamp_now_ms(), EXIT_BY_SIGNAL + SIGKILL, is_old ? "Rebooted" : "SupervisorLost",
                is_old ? "the machine was restarted" : message);
    }
    remove_volumes(local, pod);
}

static struct backend_fact *report_node(struct local *local, enum backend_fact_kind kind, const char *reason)
{
    struct backend_fact *fact = report_fact(local, kind, "", 0, timestamp_now_ms());
    snprintf(fact->node_name, sizeof(fact->node_name), "%s", local->options.node_name);
    backend_fact_say(fact, reason, "");
    return fact;
}

void report_log(void *context, const struct log_told *told)
{
    static const char *const FLAGS[LOG_BOUND_COUNT] = {[LOG_BOUND_POD] = "--local-log-pod",
                                                       [LOG_BOUND_PROJECT] = "--local-log-project",
                                                       [LOG_BOUND_TOTAL] = "--local-log-total"};
    struct local *local = context;
    char amount[QUANTITY_TEXT_SIZE];
    quantity_format_memory(told->bound_bytes, amount);
    log_write(LOG_WARN, "backends", "%s of project=%s %s: the bound is %s (%s)", told->pod ? "a running pod" : "logs",
              told->project, told->pod ? "lost earlier output" : "were removed", amount, FLAGS[told->bound]);
    pthread_mutex_lock(&local->lock);
    struct backend_fact *fact = told->pod ? report_fact(local, BACKEND_POD_WARNING, told->pod, 0, timestamp_now_ms())
                                          : report_node(local, BACKEND_NODE_WARNING, "LogsRemoved");
    if (told->pod)
        backend_fact_say(fact, "LogCut", "");
    if (told->pod)
        snprintf(fact->message, sizeof(fact->message), "lost earlier output: logs may take %s (%s)", amount,
                 FLAGS[told->bound]);
    else
        snprintf(fact->message, sizeof(fact->message), "old logs of project %.60s were removed: logs may take %s (%s)",
                 told->project, amount, FLAGS[told->bound]);
    pthread_mutex_unlock(&local->lock);
    local_wake(local);
}

void report_disk(void *context, const struct disk_told *told)
{
    static const char *const REASONS[] = {
        [DISK_IS_LOW] = "DiskPressure", [DISK_IS_WELL] = "DiskHasRoom", [DISK_HOMES_ARE_LARGE] = "HomesTooLarge"};
    struct local *local = context;
    char message[160] = "disks have room: pods start again";
    if (told->news == DISK_IS_LOW)
        snprintf(message, sizeof(message),
                 "no pod starts: %" PRId64 " MiB of the disk of %.40s are free, expected %" PRId64
                 " (--local-disk-reserve)",
                 told->bytes >> 20, told->where, told->bound >> 20);
    else if (told->news == DISK_HOMES_ARE_LARGE)
        snprintf(message, sizeof(message),
                 "homes of project %.40s take %" PRId64 " MiB, more than %" PRId64
                 ": it submits nothing (--local-home-project)",
                 told->where, told->bytes >> 20, told->bound >> 20);
    log_write(told->news == DISK_IS_WELL ? LOG_INFO : LOG_WARN, "backends", "%s", message);
    pthread_mutex_lock(&local->lock);
    if (told->news != DISK_HOMES_ARE_LARGE)
        report_node(local, BACKEND_NODE_STATE, told->news == DISK_IS_LOW ? "DiskPressure" : "")->ready =
            told->news == DISK_IS_WELL;
    struct backend_fact *fact = report_node(local, BACKEND_NODE_WARNING, REASONS[told->news]);
    snprintf(fact->message, sizeof(fact->message), "%s", message);
    pthread_mutex_unlock(&local->lock);
    local_wake(local);
}
