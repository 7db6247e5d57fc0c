// The command as a process: started with its rights and limits in a session of its own, and gone with all it has
// started.
#pragma once
#include "supervisor/handover.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    COMMAND_GROUPS_MAX = 64,
    COMMAND_CGROUPS_V1_MAX = 4
};

// What a process reads and writes; -1: nothing.
struct command_stdio {
    int input, output, error;
    bool is_terminal; // all three are, and it becomes the session's
};

// What is run, and with whose rights.
enum command_part {
    COMMAND_BEFORE,   // of the user's, to the end, before the main one
    COMMAND_MAIN,     // the user's; the supervisor's where it is a container runtime's client, which drops them itself
    COMMAND_PRE_STOP, // with the main one's rights, before that is told to stop
    COMMAND_SESSION,  // a shell of a user's beside the main one, with its rights
    COMMAND_AFTER,    // of the supervisor's, when everything is over: what a container runtime has is put away
    COMMAND_CLEAR     // no program: the pod's own folder is removed, and the places of its host paths
};

struct command_options {
    // What the submission says. Its variables are those of what has the pod's user's rights, and of nothing else.
    struct handover said;
    const char *scratch; // a folder of the server's own, in which that of the pod is; NULL: it has none
    const char *uuid;    // the pod's, and the name of that
    bool changes_user;
    uid_t user;
    gid_t group;
    gid_t groups[COMMAND_GROUPS_MAX];
    int group_count;
    const char *cgroup;                             // a folder of cgroup v2 to enter; NULL: none
    const char *cgroups_v1[COMMAND_CGROUPS_V1_MAX]; // likewise of trees of cgroup v1
    int cgroup_v1_count;
    int64_t memory_bytes;  // bound of each process's data; 0: none
    int64_t process_count; // bound of the user's processes; 0: none
    bool keeps_rights;     // the main command and the one before the stop do
    // The server's name in host_places.h: the needs of a main command that keeps rights are put there. NULL: none are.
    const char *host_places;
    // Called while a part but a session and the one before the stop is being started: returns when fd can be read.
    // `what` is what it may be waiting for. False: the start took too long, and the process was killed.
    bool (*await)(void *context, pid_t pid, int fd, const char *what);
    void *context;
};

// Starts a part with its output going to output_fd. Returns its process, which leads a session and process group of its
// own and dies with the caller. -1: there is no such part, or *out_errno (not 0) and
// *out_what say why it could not.
pid_t command_start(const struct command_options *options, enum command_part part, int output_fd, int *out_errno,
                    const char **out_what);
// A further process beside the main one, likewise.
pid_t command_start_session(const struct command_options *options, char *const *argv, const struct command_stdio *stdio,
                            int *out_errno, const char **out_what);
// No signal is ignored or blocked. Whatever started the server may ignore some: nohup does, and a shell for what it
// starts in the background. By the system call, for the C library keeps two numbers to itself, which are inherited all
// the same.
void command_reset_signals(void);
