#include "backends/local/pods/pod_state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum {
    STATE_MAX = 6 * POD_RECORD_MAX,
    STAT_START_TIME = 22 // the field's number in /proc/PID/stat, from 1
};

static bool read_text(int folder_fd, const char *name, char *text, size_t size)
{
    int fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, text, size - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    return length >= 0;
}

static void read_record(const char *line, struct pod_state *state)
{
    int pid, code, signal, memory;
    unsigned long long start;
    int64_t time_ms;
    char text[64];
    struct ports ports;
    if (sscanf(line, "supervisor %d %llu %63s", &pid, &start, text) == 3) {
        state->supervisor = pid;
        state->supervisor_start = start;
        snprintf(state->boot, sizeof(state->boot), "%s", text);
    } else if (sscanf(line, "running %d %llu %" SCNd64, &pid, &start, &time_ms) == 3) {
        state->pid = pid;
        state->start = start;
        state->running_ms = time_ms;
    } else if (strncmp(line, "holds ", 6) == 0) {
        state->has_holdings =
            sscanf(line, "holds %" SCNx64 " %127s %127s", &state->gpus, state->project, state->workload) == 3;
    } else if (strncmp(line, "container ", 10) == 0) {
        snprintf(state->container, sizeof(state->container), "%s", line + 10);
    } else if (sscanf(line, "waits %" SCNd64 " %63[^\n]", &time_ms, text) == 2) {
        snprintf(state->waits_for, sizeof(state->waits_for), "%s", text);
    } else if (sscanf(line, "refused %" SCNd64 " %d %63[^\n]", &time_ms, &code, text) == 3) {
        state->is_refused = true;
        state->over_ms = time_ms;
        state->refused_errno = code;
        snprintf(state->refused_what, sizeof(state->refused_what), "%s", text);
    } else if (sscanf(line, "ports %" SCNd64 " %" SCNd64 " %63s", &ports.first, &ports.count, text) == 3) {
        snprintf(ports.workload_uuid, sizeof(ports.workload_uuid), "%.36s", text);
        state->ports = ports;
    } else if (sscanf(line, "group %d", &code) == 1) {
        state->group = (gid_t)code;
    } else if (sscanf(line, "user %" SCNd64, &time_ms) == 1) {
        state->user = time_ms;
    } else if (strcmp(line, "shm") == 0) {
        state->has_own_shm = true;
    } else if (strcmp(line, "launcher") == 0) {
        state->is_launcher = true;
    } else if (sscanf(line, "memory %" SCNd64 " %63s", &time_ms, text) == 2) {
        state->memory_bytes = time_ms;
        state->is_memory_default = strcmp(text, "default") == 0;
    } else if (strncmp(line, "mig ", 4) == 0) {
        snprintf(state->mig, sizeof(state->mig), "%s", line + 4);
    } else if (sscanf(line, "ended %" SCNd64 " %d %d %d", &time_ms, &code, &signal, &memory) == 4) {
        state->is_ended = true;
        state->over_ms = time_ms;
        state->exit_code = code;
        state->signal = signal;
        state->was_out_of_memory = memory != 0;
        state->was_machine_out = memory == 2;
    }
}

bool pod_state_read(int folder_fd, struct pod_state *out_state)
{
    char text[STATE_MAX];
    *out_state = (struct pod_state){.user = -1};
    if (!read_text(folder_fd, POD_STATE_FILE, text, sizeof(text)))
        return false;
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) { // an unfinished record is none
        *end = '\0';
        read_record(line, out_state);
    }
    return true;
}

bool pod_state_is_locked(int folder_fd)
{
    int fd = openat(folder_fd, POD_STATE_FILE, O_RDONLY | O_CLOEXEC);
    bool is_locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0;
    if (fd >= 0)
        close(fd);
    return is_locked;
}

unsigned long long pod_state_start_time(pid_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    if (!read_text(AT_FDCWD, path, text, sizeof(text)))
        return 0;
    const char *field = strrchr(text, ')'); // the second field may hold anything, blanks and parentheses too
    for (int i = 2; field && i < STAT_START_TIME; i++)
        field = strchr(field + 1, ' ');
    return field ? strtoull(field + 1, NULL, 10) : 0;
}

void pod_state_boot(char boot[64])
{
    if (!read_text(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, 64))
        boot[0] = '\0';
    boot[strcspn(boot, "\n")] = '\0';
}
