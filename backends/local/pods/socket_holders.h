// Which sockets a pod has open, as /proc/PID/fd says of the processes that belong to it (belonging.c).
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct local;
struct tcp_socket;

// Sets is_held of those sockets of which a process of the pod has one open. *last_holder: the process that had the
// last ones, which is looked at first; 0: none is known. False: time is up, or the server may not see what the pod's
// processes have open. Any thread, not under the lock. Reads a file or two for each process of the machine where the
// last holder has not all of them, and all that the pod's processes have open.
bool socket_holders_find(struct local *local, const char *pod_uuid, struct tcp_socket *sockets, size_t count,
                         pid_t *last_holder);
