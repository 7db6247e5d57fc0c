// Who may enter a pod: whose own pods in its project would run as the user that it runs as; so those of a project's
// user are open to the project's people, and those of a person to that person alone. Who else may steer the workload
// could be the person on this machine, with all of his files. The map is looked at as it is now, the pod's user as its
// processes have it. Root of this machine may, an administrator of the server as little as others.
#pragma once
#include <sys/types.h>

struct backend_caller;
struct backend_pod;
struct error;
struct user_rules;

// pid: the pod's first process, by which its user is known; 0: by the rules alone. ERROR_FORBIDDEN.
int session_user_check(const struct user_rules *rules, const struct backend_pod *pod,
                       const struct backend_caller *caller, pid_t pid, struct error *err);
