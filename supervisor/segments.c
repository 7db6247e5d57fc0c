#include "supervisor/segments.h"

#include "supervisor/state.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

enum {
    SLACK_S = 1 // times of segments are whole seconds
};

static int64_t now_s(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec;
}

void segments_note(struct segments *segments, pid_t pid)
{
    int64_t boot_s = now_s(CLOCK_REALTIME) - now_s(CLOCK_BOOTTIME);
    int64_t from_s = boot_s + (int64_t)(state_start_time(pid) / (unsigned long long)sysconf(_SC_CLK_TCK));
    size_t at = segments->count++ % SEGMENTS_NOTED_MAX;
    segments->noted[at].pid = pid;
    segments->noted[at].from_s = from_s - SLACK_S;
    segments->noted[at].to_s = now_s(CLOCK_REALTIME) + SLACK_S;
}

static bool is_ours(const struct segments *segments, pid_t pid, int64_t made_s)
{
    for (size_t i = 0; i < segments->count && i < SEGMENTS_NOTED_MAX; i++)
        if (segments->noted[i].pid == pid && made_s >= segments->noted[i].from_s && made_s <= segments->noted[i].to_s)
            return true;
    return false;
}

void segments_remove(const struct segments *segments)
{
    char line[512];
    int id, pid, users;
    int64_t made_s;
    FILE *list = segments->count ? fopen("/proc/sysvipc/shm", "re") : NULL;
    while (list && fgets(line, sizeof(line), list))
        if (sscanf(line, "%*s %d %*s %*s %d %*s %d %*s %*s %*s %*s %*s %*s %" SCNd64, &id, &pid, &users, &made_s) ==
                4 &&
            users == 0 && is_ours(segments, (pid_t)pid, made_s))
            (void)shmctl(id, IPC_RMID, NULL);
    if (list)
        fclose(list);
}
