#include "backends/local/pods/leftovers.h"

#include "backends/local/pods/pod_state.h"
#include "backends/local/users/origin.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    ROUNDS_MAX = 500,
    PAUSE_NS = 10 * 1000 * 1000
};

static bool is_supervisor(pid_t pid)
{
    static const char NAME[] = "prorata-supervi"; // as much of it as the kernel keeps
    char path[64], name[32] = "";
    struct stat about;
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
    FILE *file = fopen(path, "re");
    bool is_ours = file && fstat(fileno(file), &about) == 0 && about.st_uid == geteuid() &&
                   fgets(name, sizeof(name), file) && strncmp(name, NAME, strlen(NAME)) == 0;
    if (file)
        fclose(file);
    return is_ours;
}

static bool has_group(const struct leftovers *leftovers, struct origin *origin)
{
    bool is_supervised = false;
    if (!leftovers->group || origin->group != leftovers->group)
        return false;
    origin_read_above(origin);
    for (size_t i = 0; i < origin->above_count; i++)
        is_supervised = is_supervised || is_supervisor(origin->above[i]);
    return !is_supervised;
}

// A number stays a session's as long as one process is in it; the pod's own command may be gone.
static bool is_in_session(const struct leftovers *leftovers, pid_t pid)
{
    if (leftovers->session <= 0 || getsid(pid) != leftovers->session)
        return false;
    unsigned long long leader = pod_state_start_time(leftovers->session);
    return (leader == 0 || leader == leftovers->started_at) && pod_state_start_time(pid) >= leftovers->started_at;
}

static bool is_left(const struct leftovers *leftovers, pid_t pid)
{
    struct origin_places places = {.cgroups = "", .groups = {leftovers->group, leftovers->group ? 1 : 0}};
    struct origin origin;
    origin_read(&places, pid, &origin);
    return !origin.is_over && (has_group(leftovers, &origin) || is_in_session(leftovers, pid));
}

// It is held before it is looked at: its number may become another's.
static bool kill_if_left(const struct leftovers *leftovers, pid_t pid)
{
    int fd = pidfd_open(pid, 0);
    bool is_killed = fd >= 0 && is_left(leftovers, pid) && pidfd_send_signal(fd, SIGKILL, NULL, 0) == 0;
    if (fd >= 0)
        close(fd);
    return is_killed;
}

size_t leftovers_kill_once(const struct leftovers *leftovers, pid_t *out_first)
{
    size_t found = 0;
    DIR *folder = opendir("/proc");
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (strspn(entry->d_name, "0123456789") == strlen(entry->d_name)) {
            pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
            bool is_killed = kill_if_left(leftovers, pid);
            found += is_killed;
            if (is_killed && *out_first == 0)
                *out_first = pid;
        }
    if (folder)
        closedir(folder);
    return found;
}

size_t leftovers_kill(const struct leftovers *leftovers)
{
    size_t all = 0;
    // What was killed takes a moment to go, and may have started another meanwhile.
    for (int round = 0; round < ROUNDS_MAX; round++) {
        pid_t first = 0;
        size_t found = leftovers_kill_once(leftovers, &first);
        if (found == 0)
            break;
        all += found;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    return all;
}
