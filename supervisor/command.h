// The command as a process: started with its rights and limits in a session of its own, and gone with all it has
// started.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    COMMAND_GROUPS_MAX = 64
};

struct command_options {
    char *const *argv;
    const char *folder; // where it starts
    bool changes_user;
    uid_t user;
    gid_t group;
    gid_t groups[COMMAND_GROUPS_MAX];
    int group_count;
    const char *cgroup;   // a folder of cgroup v2 to enter; NULL: none
    int64_t memory_bytes; // bound of each process's data; 0: none
    const char *pre_stop; // a shell command run before it is told to stop; NULL: none
};

// Starts argv with its output going to output_fd; the environment is the caller's. Returns its process, which leads a
// session and process group of its own and dies with the caller. -1: *out_errno and *out_what say why it could not.
pid_t command_start(const struct command_options *options, int output_fd, int *out_errno, const char **out_what);
// Starts the pre-stop command with the same rights; -1 where there is none or it cannot be started.
pid_t command_start_pre_stop(const struct command_options *options, int output_fd);
// Sends SIGKILL to every process that is left below this one. False where there is none.
bool command_kill_rest(void);
