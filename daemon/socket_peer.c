#include "daemon/socket_peer.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/uuid.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

enum {
    UID_OVERFLOW = 65534,
    CGROUP_TEXT_SIZE = 16384
};

static bool is_within(const struct uid_range *ranges, size_t count, int64_t number)
{
    for (size_t i = 0; i < count; i++)
        if (number >= ranges[i].first && number < ranges[i].first + ranges[i].count)
            return true;
    return false;
}

static int check_user(const struct ucred *peer, const struct pod_marks *marks, struct error *err)
{
    if (peer->uid == UID_OVERFLOW)
        return error_set(err, ERROR_FORBIDDEN, "user %d is nobody: the socket is for people of this machine",
                         UID_OVERFLOW);
    if (is_within(marks->users, marks->user_count, peer->uid))
        return error_set(err, ERROR_FORBIDDEN, "user %u is a user of pods: the socket is for people of this machine",
                         (unsigned)peer->uid);
    if (peer->uid == 0 && !marks->admits_root) {
        error_set(err, ERROR_FORBIDDEN, "root is not let in by the socket");
        return error_details(err, "--socket-root administrator lets root in; people come in by their groups: "
                                  "--socket-group GROUP=PROJECT:ROLE");
    }
    return 0;
}

static int refuse_pod(struct error *err)
{
    error_set(err, ERROR_FORBIDDEN, "a process of a pod is not let in by the socket");
    return error_details(err, "in a pod, sign in by TCP with a service account: prorata login application");
}

static int check_groups(int fd, const struct ucred *peer, const struct pod_marks *marks, struct error *err)
{
    socklen_t size = 0;
    gid_t *groups = NULL;
    bool is_pod = is_within(marks->groups, marks->group_count, peer->gid);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) < 0 && errno != ERANGE)
        return error_set(err, ERROR_FORBIDDEN, "the groups of who connected cannot be read: %s", strerror(errno));
    if (size > 0) {
        groups = memory_alloc(size);
        if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0) {
            free(groups);
            return error_set(err, ERROR_FORBIDDEN, "the groups of who connected cannot be read: %s", strerror(errno));
        }
    }
    for (size_t i = 0; i < size / sizeof(*groups); i++)
        is_pod = is_pod || is_within(marks->groups, marks->group_count, groups[i]);
    free(groups);
    return is_pod ? refuse_pod(err) : 0;
}

// .../prorata-801-2ae3f/UUID...: the folder's name is made by daemon/local_backend.c.
bool socket_peer_is_pods_cgroup(const char *text)
{
    static const char NAME[] = "/prorata-", HEX[] = "0123456789abcdef";
    for (const char *at = strstr(text, NAME); at; at = strstr(at + 1, NAME)) {
        const char *one = at + strlen(NAME);
        size_t first = strspn(one, HEX);
        if (first == 0 || one[first] != '-')
            continue;
        const char *two = one + first + 1;
        size_t second = strspn(two, HEX);
        char uuid[UUID_SIZE];
        snprintf(uuid, sizeof(uuid), "%.36s", second > 0 && two[second] == '/' ? two + second + 1 : "");
        if (uuid_is_valid(uuid))
            return true;
    }
    return false;
}

// -1: it cannot be read.
static int is_in_pods_cgroup(pid_t pid)
{
    char path[48], *text = memory_alloc(CGROUP_TEXT_SIZE);
    size_t length = 0;
    ssize_t got = -1;
    snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && length < CGROUP_TEXT_SIZE - 1 &&
           (got = read(fd, text + length, CGROUP_TEXT_SIZE - 1 - length)) > 0)
        length += (size_t)got;
    if (fd >= 0)
        close(fd);
    text[length] = '\0';
    int answer = got != 0 ? -1 : socket_peer_is_pods_cgroup(text);
    free(text);
    return answer;
}

static int refuse_gone(struct error *err)
{
    return error_set(err, ERROR_FORBIDDEN, "the process that connected has ended");
}

static int check_cgroup(int fd, const struct ucred *peer, struct error *err)
{
    int process = -1;
    socklen_t size = sizeof(process);
    bool is_old_kernel = false;
    if (peer->pid <= 0)
        return error_set(err, ERROR_FORBIDDEN, "who connected is in a container that hides its processes");
    if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &process, &size) < 0) {
        is_old_kernel = errno == ENOPROTOOPT;
        if (!is_old_kernel)
            return refuse_gone(err);
    }
    int is_pod = is_in_pods_cgroup(peer->pid);
    bool is_there = is_old_kernel || syscall(SYS_pidfd_send_signal, process, 0, NULL, 0) == 0;
    if (process >= 0)
        close(process);
    if (is_pod < 0 || !is_there)
        return refuse_gone(err);
    return is_pod ? refuse_pod(err) : 0;
}

int socket_peer_read(int fd, const struct pod_marks *marks, int64_t *out_uid, struct error *err)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    *out_uid = -1;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || size != sizeof(peer))
        return error_set(err, ERROR_FORBIDDEN, "the kernel does not say who connected");
    *out_uid = peer.uid;
    if (check_user(&peer, marks, err) < 0 || check_groups(fd, &peer, marks, err) < 0)
        return -1;
    return check_cgroup(fd, &peer, err);
}
