// What does not end though it was told to: a supervisor that does not obey is killed, and its pod with it; a process
// that SIGKILL does not end (it waits for a device, or for a file system that does not answer) costs its pod's devices
// until it is gone. (Slurm's UnkillableStepTimeout is the same idea.)
#include "backends/local/local_state.h"
#include "backends/local/pods/leftovers.h"
#include "backends/local/pods/pod_state.h"
#include "base/log.h"
#include "base/timestamp.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

enum {
    PATH_SIZE = 640,
    OBEYS_PART = 6 // of the limit: how long a supervisor may take beyond the grace
};

// What became of a number: neither gone nor dead already.
static bool lives(pid_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t length = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[length] = '\0';
    const char *state = strrchr(text, ')');
    return state && state[1] && !strchr("ZXx", state[2]);
}

pid_t unkilled_signal(const struct local *local, const char *uuid, int number)
{
    char path[PATH_SIZE], line[32];
    pid_t first = 0;
    if (!local->cgroups.path[0])
        return 0;
    snprintf(path, sizeof(path), "%.500s/%.40s/cgroup.procs", local->cgroups.path, uuid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file)) {
        pid_t pid = (pid_t)strtol(line, NULL, 10);
        if (pid <= 0 || !lives(pid))
            continue;
        first = first ? first : pid;
        if (number)
            (void)kill(pid, number);
    }
    if (file)
        fclose(file);
    return first;
}

static void read_state(const struct local *local, const struct local_pod *pod, struct pod_state *out)
{
    int folder_fd = pod_folder_find(local->home_fd, pod->uuid);
    *out = (struct pod_state){0};
    if (folder_fd < 0)
        return;
    (void)pod_state_read(folder_fd, out);
    close(folder_fd);
}

pid_t unkilled_kill(const struct local *local, const struct local_pod *pod, const struct pod_state *state)
{
    char boot[64];
    pid_t first = unkilled_signal(local, pod->uuid, SIGKILL);
    // A supervisor that has come to its end has left nothing, but what it gave up waiting for.
    if (state->is_ended || (state->is_refused && state->refused_errno != ETIMEDOUT))
        return first;
    pod_state_boot(boot);
    if (!state->boot[0] || strcmp(state->boot, boot) == 0)
        (void)leftovers_kill_once(&(struct leftovers){state->group, state->pid, state->start}, &first);
    return first;
}

// The devices that it holds, for people; "" where there are none.
static const char *say_devices(const struct local_pod *pod, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < 64 && pod->gpus != UINT64_MAX && length + 8 < size; i++)
        if (pod->gpus >> i & 1)
            length += (size_t)snprintf(text + length, size - length, "%s%u", length ? ", " : "GPU ", i);
    return text;
}

static void tell_lost(struct local *local, struct local_pod *pod)
{
    char devices[64];
    say_devices(pod, devices, sizeof(devices));
    log_write(LOG_ERROR, "backends", "a process does not end: its devices are lost pod=%s process=%d %s", pod->uuid,
              (int)pod->unkilled, devices);
    struct backend_fact *fact = report_fact(local, BACKEND_POD_WARNING, pod->uuid, pod->decision, timestamp_now_ms());
    backend_fact_say(fact, "Unkillable", "");
    snprintf(fact->message, sizeof(fact->message), "does not end: process %d stays after SIGKILL%s%s%s",
             (int)pod->unkilled, devices[0] ? "; " : "", devices, devices[0] ? " is lost until it is gone" : "");
    if (devices[0]) // an event of the node says so
        return;
    fact = report_fact(local, BACKEND_NODE_WARNING, "", 0, timestamp_now_ms());
    snprintf(fact->node_name, sizeof(fact->node_name), "%s", local->options.node_name);
    backend_fact_say(fact, "Unkillable", "");
    snprintf(fact->message, sizeof(fact->message), "process %d of pod %s does not end", (int)pod->unkilled, pod->uuid);
}

// Its workload may end; its devices stay away.
static void lose(struct local *local, struct local_pod *pod)
{
    if (pod->pidfd >= 0)
        close(pod->pidfd);
    pod->pidfd = -1;
    tell_lost(local, pod);
    report_lost(local, pod);
    pod->phase = LOCAL_LOST;
    local->has_lost = true;
    gpus_report(local);
}

void unkilled_keep(struct local *local, struct local_pod *pod, pid_t process)
{
    if (pod->pidfd >= 0)
        close(pod->pidfd);
    pod->pidfd = -1;
    pod->unkilled = process;
    pod->phase = LOCAL_STUCK;
    if (!pod->told_ms)
        pod->told_ms = timestamp_now_ms();
    local->has_lost = true;
}

void unkilled_lose(struct local *local, struct local_pod *pod, uint64_t gpus)
{
    pod->gpus |= gpus;
    lose(local, pod);
}

// It is gone at last.
static void let_go(struct local *local, struct local_pod *pod, const struct pod_state *state)
{
    bool was_lost = pod->phase == LOCAL_LOST, is_forgotten = pod->is_forgotten;
    log_write(LOG_INFO, "backends", "what did not end is gone pod=%s process=%d", pod->uuid, (int)pod->unkilled);
    pod->unkilled = 0;
    size_t facts = local->facts.count;
    pod->phase = LOCAL_RUNNING;
    report_end(local, pod, state);
    if (was_lost) // its end was told
        local->facts.count = facts;
    if (was_lost && pod->phase == LOCAL_LEAVING)
        pod->phase = LOCAL_OVER;
    if (is_forgotten) {
        report_forgotten(local, pod->uuid);
        local_pods_remove(&local->pods, pod);
    }
    gpus_report(local);
}

static int64_t limit_of(const struct local *local, const struct local_pod *pod)
{
    return pod->told_ms + (pod->is_stopping ? pod->grace_ms : 0) + local->options.unkillable_ms;
}

static void look_at_stuck(struct local *local, struct local_pod *pod, int64_t now_ms)
{
    struct pod_state state;
    read_state(local, pod, &state);
    pid_t process = unkilled_kill(local, pod, &state);
    if (!process && pod->unkilled_supervisor && lives(pod->unkilled_supervisor) &&
        pod_state_start_time(pod->unkilled_supervisor) == state.supervisor_start)
        process = pod->unkilled_supervisor;
    if (!process) {
        let_go(local, pod, &state);
        return;
    }
    pod->unkilled = process;
    if (pod->phase == LOCAL_STUCK && now_ms >= limit_of(local, pod))
        lose(local, pod);
}

// Whether its supervisor, or what this one waits for, has had its time.
static void look_at_told(struct local *local, struct local_pod *pod, int64_t now_ms)
{
    struct pod_state state;
    if (now_ms < pod->told_ms + pod->grace_ms + local->options.unkillable_ms / OBEYS_PART)
        return;
    if (!pod->is_forced)
        log_write(LOG_WARN, "backends", "a supervisor does not end its pod, and is killed pod=%s process=%d", pod->uuid,
                  (int)pod->supervisor);
    pod->is_forced = true;
    read_state(local, pod, &state);
    pid_t process = unkilled_kill(local, pod, &state);
    (void)pidfd_send_signal(pod->pidfd, SIGKILL, NULL, 0); // its end is heard of
    if (now_ms < limit_of(local, pod))
        return;
    pod->unkilled = process ? process : pod->supervisor; // not even that one
    pod->unkilled_supervisor = pod->supervisor;
    lose(local, pod);
}

// A stray whose supervisor is gone: nobody tells of its end.
static void look_at_loose(struct local *local, struct local_pod *pod, int64_t now_ms)
{
    bool is_late = pod->told_ms && now_ms >= pod->told_ms + pod->grace_ms;
    pid_t process = unkilled_signal(local, pod->uuid, is_late ? SIGKILL : 0);
    if (process) {
        pod->supervisor = process;
        return;
    }
    cgroups_remove(&local->cgroups, pod->uuid);
    strays_forget(local, pod);
}

void unkilled_sweep(struct local *local)
{
    int64_t now_ms = timestamp_now_ms();
    for (struct local_pod *pod = local_pods_next(&local->pods, NULL), *next; pod; pod = next) {
        next = local_pods_next(&local->pods, pod);
        if (pod->told_ms > now_ms)
            pod->told_ms = now_ms; // the clock was set back
        if (pod->phase == LOCAL_STUCK || pod->phase == LOCAL_LOST)
            look_at_stuck(local, pod, now_ms);
        else if (pod->is_stray && pod->phase == LOCAL_RUNNING && pod->pidfd < 0)
            look_at_loose(local, pod, now_ms);
        else if (pod->told_ms && pod->pidfd >= 0)
            look_at_told(local, pod, now_ms);
    }
}
