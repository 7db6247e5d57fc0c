// Shells in pods: asked of the pod's supervisor, which starts them with the pod's rights (supervisor/pod_folder.h says
// how the two talk).
#pragma once
#include "backends/backend.h"

#include <sys/types.h>

struct local;
struct pod_state;

// backend: a struct local. By the rules alone, as session_user.h has them.
int sessions_check_caller(void *backend, const struct backend_pod *pod, const struct backend_caller *caller,
                          struct error *err);
int sessions_open(void *local, const struct backend_session_request *request, struct backend_session *out,
                  struct error *err);
// The supervisor of a pod that runs, and the container it is in. *out_pidfd is the caller's. ERROR_CONFLICT: it does
// not.
int sessions_find_supervisor(struct local *local, const char *uuid, pid_t *out_pid, int *out_pidfd,
                             struct pod_state *out_state, struct error *err);
