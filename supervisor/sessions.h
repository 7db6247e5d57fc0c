// Further processes in a pod, with its rights, environment and folder: shells that the server asks for. It sends
// SIGUSR1; the supervisor connects to the server's socket, says whose it is, and takes the words and the descriptors
// that follow. How the process ended goes back the same way. When the server lets go of the connection the process is
// hung up; when the pod's command ends it ends too.
#pragma once
#include "supervisor/command.h"
#include "supervisor/pod_folder.h"
#include <stdbool.h>

struct session {
    int fd;    // the connection; 0: none
    pid_t pid; // 0: has not been told what to start
};

struct sessions {
    struct session items[POD_SESSIONS_MAX];
};

struct pollfd;

// The server asks for one; it is told so at once where there is none to be had, or the command does not run.
void sessions_connect(struct sessions *sessions, const char *uuid, bool is_running);
// Adds what is to be waited for; returns how many.
int sessions_poll(const struct sessions *sessions, struct pollfd *fds);
// Takes what has come up.
void sessions_take(struct sessions *sessions, const struct command_options *options);
// A child is over; it may be none of these.
void sessions_reap(struct sessions *sessions, pid_t pid, int status);
