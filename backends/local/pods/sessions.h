// Shells in pods: asked of the pod's supervisor, which starts them with the pod's rights (supervisor/pod_folder.h says
// how the two talk).
#pragma once
#include "backends/backend.h"

struct local;

// backend: a struct local. By the rules alone, as session_user.h has them.
int sessions_check_caller(void *backend, const struct backend_pod *pod, const struct backend_caller *caller,
                          struct error *err);
int sessions_open(void *local, const struct backend_session_request *request, struct backend_session *out,
                  struct error *err);
