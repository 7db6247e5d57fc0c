#include "backends/local/pods/pod_ports.h"

#include "backends/local/local_state.h"
#include "backends/local/pods/pod_state.h"
#include "backends/local/pods/session_user.h"
#include "backends/local/pods/sessions.h"
#include "backends/local/pods/socket_holders.h"
#include "backends/local/serving/tcp_sockets.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    WAIT_MS = 3000, // for what listens to take a connection
    PAUSE_MS = 10,
    TRIES = 3, // to see whose the other end is: it may be on its way from one process of the pod to another
    TARGETS_MAX = 4
};

struct target {
    int family;
    struct in6_addr address; // as of a tcp_socket
};

struct sockets {
    struct tcp_socket *items;
    size_t count;
};

struct attempt {
    struct local *local;
    const char *pod_uuid;
    uint16_t port;
    struct arena arena;
    struct sockets before; // that listened at the port
    pid_t holder;
    int64_t until_us;
};

static bool is_any(const struct tcp_socket *socket)
{
    static const struct in6_addr ANY;
    return memcmp(&socket->address, &ANY, sizeof(ANY)) == 0;
}

// Whether a connection to the target could come to the one that listens.
static bool can_take(const struct tcp_socket *listens, const struct target *target)
{
    if (listens->family != target->family)
        return listens->family == AF_INET6 && is_any(listens) && !listens->is_v6_only;
    return is_any(listens) || memcmp(&listens->address, &target->address, sizeof(target->address)) == 0;
}

static int find_holders(struct attempt *attempt, struct sockets sockets, struct error *err)
{
    if (socket_holders_find(attempt->local, attempt->pod_uuid, sockets.items, sockets.count, &attempt->holder))
        return 0;
    error_set(err, ERROR_UNAVAILABLE, "port %u: it could not be seen whether it is the pod's", attempt->port);
    return error_details(err, "the server must see what the pod's processes have open (CAP_SYS_PTRACE)");
}

static int list(struct attempt *attempt, struct sockets *out, struct error *err)
{
    if (!tcp_sockets_list(attempt->port, &attempt->arena, &out->items, &out->count))
        return error_set(err, ERROR_UNAVAILABLE, "port %u: the kernel does not tell who listens there", attempt->port);
    return find_holders(attempt, *out, err);
}

static void add_target(struct target targets[TARGETS_MAX], size_t *count, int family, const struct in6_addr *address)
{
    for (size_t i = 0; i < *count; i++)
        if (targets[i].family == family && memcmp(&targets[i].address, address, sizeof(*address)) == 0)
            return;
    if (*count < TARGETS_MAX)
        targets[(*count)++] = (struct target){family, *address};
}

// Addresses at which the pod's own can be reached, those of loopback first.
static size_t list_targets(const struct attempt *attempt, struct target targets[TARGETS_MAX])
{
    const struct target loopback[] = {{AF_INET, {.s6_addr = {127, 0, 0, 1}}}, {AF_INET6, IN6ADDR_LOOPBACK_INIT}};
    size_t count = 0;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < attempt->before.count; i++)
            if (attempt->before.items[i].is_held && can_take(&attempt->before.items[i], &loopback[k]))
                add_target(targets, &count, loopback[k].family, &loopback[k].address);
    for (size_t i = 0; i < attempt->before.count; i++) {
        const struct tcp_socket *listens = &attempt->before.items[i];
        if (listens->is_held && !is_any(listens))
            add_target(targets, &count, listens->family, &listens->address);
    }
    return count;
}

// A connection; -1.
static int try_target(const struct attempt *attempt, const struct target *target)
{
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } address = {0};
    bool is_four = target->family == AF_INET;
    if (is_four) {
        address.four = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(attempt->port)};
        memcpy(&address.four.sin_addr, &target->address, sizeof(address.four.sin_addr));
    } else {
        address.six = (struct sockaddr_in6){
            .sin6_family = AF_INET6, .sin6_port = htons(attempt->port), .sin6_addr = target->address};
    }
    int cause = 0, on = 1;
    socklen_t size = sizeof(cause);
    int fd = socket(target->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct pollfd wanted = {.fd = fd, .events = POLLOUT};
    bool is_connected =
        fd >= 0 && (connect(fd, &address.any, is_four ? sizeof(address.four) : sizeof(address.six)) == 0 ||
                    (errno == EINPROGRESS && poll(&wanted, 1, WAIT_MS) == 1 &&
                     getsockopt(fd, SOL_SOCKET, SO_ERROR, &cause, &size) == 0 && cause == 0));
    if (is_connected) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool has(const struct sockets *sockets, uint32_t number)
{
    for (size_t i = 0; i < sockets->count; i++)
        if (sockets->items[i].number == number)
            return true;
    return false;
}

enum verdict {
    VERDICT_OWN,
    VERDICT_OTHER,  // not, or not to be seen at this moment
    VERDICT_WAITS,  // what listens has not taken it
    VERDICT_FAILED, // err says why
};

// Of a connection that no process has open: everything that can take it is the pod's, and was there before.
static enum verdict judge_listening(struct attempt *attempt, const struct target *target, int fd, struct error *err)
{
    struct sockets after;
    struct tcp_socket other;
    size_t count = 0;
    if (list(attempt, &after, err) < 0)
        return VERDICT_FAILED;
    for (size_t i = 0; i < after.count; i++) {
        if (!can_take(&after.items[i], target))
            continue;
        if (!after.items[i].is_held || !has(&attempt->before, after.items[i].number))
            return VERDICT_OTHER;
        count++;
    }
    for (size_t i = 0; i < attempt->before.count; i++)
        if (can_take(&attempt->before.items[i], target) && !has(&after, attempt->before.items[i].number))
            return VERDICT_OTHER;
    if (count == 0 ||
        (tcp_sockets_find_other_end(fd, &other) == TCP_OTHER_END_FOUND && other.number != 0)) // taken meanwhile
        return VERDICT_OTHER;
    return VERDICT_OWN;
}

static enum verdict judge(struct attempt *attempt, const struct target *target, int fd, struct error *err)
{
    struct tcp_socket other = {0};
    enum tcp_other_end found = tcp_sockets_find_other_end(fd, &other);
    if (found == TCP_OTHER_END_UNKNOWN) {
        error_set(err, ERROR_UNAVAILABLE, "port %u: the kernel does not tell whose the connection is", attempt->port);
        return VERDICT_FAILED;
    }
    if (found == TCP_OTHER_END_FOUND && other.state == TCP_SYN_RECV)
        return VERDICT_WAITS;
    if (found == TCP_OTHER_END_GONE || other.number == 0)
        return judge_listening(attempt, target, fd, err);
    if (find_holders(attempt, (struct sockets){&other, 1}, err) < 0)
        return VERDICT_FAILED;
    return other.is_held ? VERDICT_OWN : VERDICT_OTHER;
}

static int check(struct attempt *attempt, const struct target *target, int fd, struct error *err)
{
    int tries = 0;
    for (;;) {
        switch (judge(attempt, target, fd, err)) {
        case VERDICT_OWN:
            return 0;
        case VERDICT_FAILED:
            return -1;
        case VERDICT_OTHER:
            if (++tries == TRIES)
                return error_set(err, ERROR_NOT_FOUND, "port %u: another process than the pod's took the connection",
                                 attempt->port);
            break;
        case VERDICT_WAITS:
            if (timestamp_monotonic_us() >= attempt->until_us)
                return error_set(err, ERROR_UNAVAILABLE, "port %u: the pod takes no connections at present",
                                 attempt->port);
            break;
        }
        (void)poll(NULL, 0, PAUSE_MS);
    }
}

static int open_stream(struct attempt *attempt, int *out_fd, struct error *err)
{
    struct target targets[TARGETS_MAX];
    if (list(attempt, &attempt->before, err) < 0)
        return -1;
    size_t count = list_targets(attempt, targets);
    if (count == 0)
        return attempt->before.count == 0
                   ? error_set(err, ERROR_NOT_FOUND, "nothing of the pod listens at port %u", attempt->port)
                   : error_set(err, ERROR_NOT_FOUND, "port %u is not the pod's: something else listens there",
                               attempt->port);
    attempt->until_us = timestamp_monotonic_us() + WAIT_MS * INT64_C(1000);
    for (size_t i = 0; i < count; i++) {
        int fd = try_target(attempt, &targets[i]);
        if (fd < 0)
            continue;
        if (check(attempt, &targets[i], fd, err) == 0) {
            *out_fd = fd;
            return 0;
        }
        close(fd);
        return -1;
    }
    return error_set(err, ERROR_UNAVAILABLE, "port %u: the pod takes no connections at present", attempt->port);
}

static pid_t read_holder(struct local *local, const char *pod_uuid)
{
    pthread_mutex_lock(&local->lock);
    const struct local_pod *pod = local_pods_find(&local->pods, pod_uuid);
    pid_t holder = pod ? pod->port_holder : 0;
    pthread_mutex_unlock(&local->lock);
    return holder;
}

static void keep_holder(struct local *local, const char *pod_uuid, pid_t holder)
{
    pthread_mutex_lock(&local->lock);
    struct local_pod *pod = local_pods_find(&local->pods, pod_uuid);
    if (pod)
        pod->port_holder = holder;
    pthread_mutex_unlock(&local->lock);
}

int pod_ports_open(void *backend, const struct backend_port_request *request, int *out_fd, struct error *err)
{
    struct local *local = backend;
    struct attempt attempt = {.local = local, .pod_uuid = request->pod.uuid, .port = request->port};
    struct pod_state state = {0};
    pid_t supervisor;
    int pidfd;
    if (sessions_find_supervisor(local, request->pod.uuid, &supervisor, &pidfd, &state, err) < 0)
        return -1;
    close(pidfd);
    if (session_user_check(&local->options.users, &request->pod, &request->caller, state.container[0] ? 0 : state.pid,
                           err) < 0)
        return -1;
    arena_init(&attempt.arena);
    attempt.holder = read_holder(local, request->pod.uuid);
    int rc = open_stream(&attempt, out_fd, err);
    if (rc == 0)
        keep_holder(local, request->pod.uuid, attempt.holder);
    arena_done(&attempt.arena);
    return rc;
}
