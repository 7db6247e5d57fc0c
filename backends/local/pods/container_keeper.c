#include "backends/local/pods/container_keeper.h"

#include "backends/local/images/program.h"
#include "backends/local/pods/pod_state.h"
#include "backends/local/pods/pod_use.h"
#include "base/buffer.h"
#include "base/uuid.h"

#include <stdio.h>
#include <string.h>

enum {
    ASK_MS = 5000,
    ASKS_MAX = 10,
    ANSWER_MAX = 256,
    STAT_MAX = 1024
};

static pid_t first_process(const char *runtime, const char *pod_uuid)
{
    char name[UUID_SIZE + 16];
    const char *const argv[] = {runtime, "inspect", "--format", "{{.State.Pid}}", name, NULL};
    int64_t pid = 0;
    struct buffer said;
    snprintf(name, sizeof(name), "prorata-%s", pod_uuid);
    buffer_init(&said, ANSWER_MAX);
    if (program_run(argv, ASK_MS, -1, &said) != 0 || !pod_use_parse_number(said.data, said.length, &pid) ||
        pid > INT32_MAX)
        pid = 0;
    buffer_done(&said);
    return (pid_t)pid;
}

static pid_t parent_of(pid_t pid)
{
    char path[32], text[STAT_MAX];
    struct process_use process = {0};
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    size_t length = file ? fread(text, 1, sizeof(text), file) : 0;
    if (file)
        fclose(file);
    return pod_use_parse_process(text, length, &process) ? process.parent : 0;
}

bool container_keeper_find(struct container_keeper *keeper, const char *runtime, const char *pod_uuid)
{
    if (keeper->pid > 0 && pod_state_start_time(keeper->pid) == keeper->start)
        return true;
    keeper->pid = 0;
    if (keeper->asks >= ASKS_MAX)
        return false;
    keeper->asks++;
    pid_t first = first_process(runtime, pod_uuid);
    pid_t parent = first > 1 ? parent_of(first) : 0;
    if (parent <= 1) // below init is everything
        return false;
    *keeper = (struct container_keeper){.pid = parent, .start = pod_state_start_time(parent)};
    return true;
}
