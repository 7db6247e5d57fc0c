// Who connected to a Unix socket, as the kernel says, and whether he may at all. Refused are pods: by the group that
// each has of its own, by their cgroup, by the users of the range; root, unless he is let in; and user 65534, whom the
// kernel names where a number means nothing here. A process holds its groups and the kernel kept them when it
// connected, so they say it whatever becomes of it. Its cgroup is looked up by its number: where the kernel has
// SO_PEERPIDFD (6.5) a process that has ended meanwhile is refused, so that nobody else's cgroup is read.
#pragma once
#include "backends/local/users/uid_range.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

enum {
    POD_RANGES_MAX = 4
};

// What tells pods of this machine.
struct pod_marks {
    struct uid_range users[POD_RANGES_MAX];
    size_t user_count;
    struct uid_range groups[POD_RANGES_MAX];
    size_t group_count;
    bool admits_root;
};

// ERROR_FORBIDDEN says why not; out_uid is set then, too, where the kernel told it, else -1.
int socket_peer_read(int fd, const struct pod_marks *marks, int64_t *out_uid, struct error *err);
// Whether the text of a /proc/PID/cgroup is a pod's of any server of this machine.
bool socket_peer_is_pods_cgroup(const char *text);
