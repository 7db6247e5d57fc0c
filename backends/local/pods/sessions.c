#include "backends/local/pods/sessions.h"

#include "backends/local/local_state.h"
#include "backends/local/pods/pod_folder.h"
#include "backends/local/pods/pod_state.h"
#include "backends/local/pods/session_user.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "supervisor/pod_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    ANSWER_MS = 5000,
    BACKLOG = 16,
    PREFIX_MAX = 5,
    TERMINAL_NAME_SIZE = 64
};

int sessions_find_supervisor(struct local *local, const char *uuid, pid_t *out_pid, int *out_pidfd,
                             struct pod_state *out_state, struct error *err)
{
    pthread_mutex_lock(&local->lock);
    const struct local_pod *pod = local_pods_find(&local->pods, uuid);
    bool runs = pod && pod->phase == LOCAL_RUNNING && pod->pidfd >= 0;
    *out_pid = runs ? pod->supervisor : 0;
    *out_pidfd = runs ? fcntl(pod->pidfd, F_DUPFD_CLOEXEC, 0) : -1;
    pthread_mutex_unlock(&local->lock);
    if (*out_pidfd < 0)
        return error_set(err, ERROR_CONFLICT, "the pod does not run");
    int folder_fd = pod_folder_find(local->home_fd, uuid);
    (void)pod_state_read(folder_fd, out_state);
    if (folder_fd >= 0)
        close(folder_fd);
    return 0;
}

static int left_ms(int64_t until_us)
{
    int64_t left = (until_us - timestamp_monotonic_us()) / 1000;
    return left > 0 ? (int)left : 0;
}

// What the supervisor says behind its pod's uuid. False: it is somebody else, or late.
static bool hear(int fd, pid_t supervisor, const char *uuid, int64_t until_us, char *out_said, size_t size)
{
    char text[UUID_SIZE + 1] = "";
    size_t length = strlen(uuid);
    struct ucred peer;
    socklen_t peer_size = sizeof(peer);
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    bool is_here = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) == 0 && peer.pid == supervisor &&
                   poll(&wanted, 1, left_ms(until_us)) == 1 && recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT) > 0 &&
                   strncmp(text, uuid, length) == 0;
    if (is_here)
        snprintf(out_said, size, "%s", text + length);
    return is_here;
}

// The supervisor's connection; -1: it does not come, or *out_is_over: it has ended.
static int accept_supervisor(int listen_fd, pid_t supervisor, int pidfd, const char *uuid, char *out_said, size_t size,
                             bool *out_is_over)
{
    int64_t until_us = timestamp_monotonic_us() + ANSWER_MS * 1000LL;
    while (left_ms(until_us) > 0) {
        struct pollfd wanted[] = {{.fd = listen_fd, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
        if (poll(wanted, 2, left_ms(until_us)) <= 0)
            continue;
        int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd >= 0 && hear(fd, supervisor, uuid, until_us, out_said, size))
            return fd;
        if (fd >= 0)
            close(fd);
        else if ((*out_is_over = wanted[1].revents != 0))
            return -1;
    }
    return -1;
}

static int call_supervisor(int listen_fd, pid_t supervisor, int pidfd, const char *uuid, int *out_fd, struct error *err)
{
    char said[2] = "";
    bool is_over = false;
    int fd = -1;
    if (pidfd_send_signal(pidfd, SIGUSR1, NULL, 0) < 0)
        is_over = errno == ESRCH;
    else
        fd = accept_supervisor(listen_fd, supervisor, pidfd, uuid, said, sizeof(said), &is_over);
    if (fd >= 0 && !said[0]) {
        *out_fd = fd;
        return 0;
    }
    if (fd >= 0)
        close(fd);
    if (is_over || strcmp(said, POD_SESSION_OVER) == 0)
        return error_set(err, ERROR_CONFLICT, "the pod does not run");
    if (strcmp(said, POD_SESSION_FULL) == 0)
        return error_set(err, ERROR_TOO_MANY, "the pod has %d sessions already: end one first", POD_SESSIONS_MAX);
    return error_set(err, ERROR_UNAVAILABLE, "the pod's supervisor does not answer");
}

static int listen_at(int home_fd, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", home_fd, name);
    (void)unlinkat(home_fd, name, 0); // of the server before
    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

// A pod that does not answer holds up nobody but those who ask for the same one.
static int call(struct local *local, pid_t supervisor, int pidfd, const char *uuid, int *out_fd, struct error *err)
{
    struct session_call own = {.uuid = uuid};
    char name[sizeof(POD_SESSION_SOCKET) + UUID_SIZE];
    if (!session_calls_begin(&local->session_calls, &own, ANSWER_MS))
        return error_set(err, ERROR_UNAVAILABLE, "the pod's supervisor does not answer");
    snprintf(name, sizeof(name), POD_SESSION_SOCKET "%s", uuid);
    int fd = listen_at(local->home_fd, name);
    int rc = fd >= 0 ? call_supervisor(fd, supervisor, pidfd, uuid, out_fd, err)
                     : error_set(err, ERROR_UNAVAILABLE, "the socket for shells in the pod: %s", strerror(errno));
    if (fd >= 0) {
        (void)unlinkat(local->home_fd, name, 0);
        close(fd);
    }
    session_calls_end(&local->session_calls, &own);
    return rc;
}

// A terminal's two sides.
static bool open_terminal(const struct backend_session_request *request, struct backend_session *out, int fds[3])
{
    char name[TERMINAL_NAME_SIZE];
    struct winsize size = {.ws_row = request->rows, .ws_col = request->columns};
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return false;
    out->input_fd = fd;
    out->output_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (grantpt(fd) < 0 || unlockpt(fd) < 0 || ptsname_r(fd, name, sizeof(name)) != 0 ||
        ioctl(fd, TIOCSWINSZ, &size) < 0)
        return false;
    fds[0] = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    return fds[0] >= 0 && out->output_fd >= 0;
}

static bool open_pipes(struct backend_session *out, int fds[3])
{
    int input[2], output[2], error[2];
    if (pipe2(input, O_CLOEXEC) < 0)
        return false;
    fds[0] = input[0];
    out->input_fd = input[1];
    if (pipe2(output, O_CLOEXEC) < 0)
        return false;
    fds[1] = output[1];
    out->output_fd = output[0];
    if (pipe2(error, O_CLOEXEC) < 0)
        return false;
    fds[2] = error[1];
    out->error_fd = error[0];
    return true;
}

// All words, each with its zero. 0: too many.
static size_t join(const struct backend_session_request *request, const struct pod_state *state, char *text)
{
    char name[UUID_SIZE + 16];
    const char *prefix[PREFIX_MAX + 1] = {state->container, "exec", request->has_terminal ? "-it" : "-i", name};
    const char *const *lists[] = {state->container[0] ? prefix : (const char *const[]){NULL}, request->words};
    size_t length = 0, count = 0;
    snprintf(name, sizeof(name), "prorata-%s", request->pod.uuid);
    for (size_t i = 0; i < 2; i++)
        for (const char *const *word = lists[i]; *word; word++) {
            size_t size = strlen(*word) + 1;
            if (length + size > POD_SESSION_WORDS_SIZE || ++count > POD_SESSION_WORDS_MAX)
                return 0;
            memcpy(text + length, *word, size);
            length += size;
        }
    return length;
}

static bool pass(int fd, char *text, size_t length, const int *fds, size_t count)
{
    union {
        char space[CMSG_SPACE(3 * sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec part = {text, length};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.space,
                             .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(header), fds, count * sizeof(int));
    return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)length;
}

static void close_all(const int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

int sessions_check_caller(void *backend, const struct backend_pod *pod, const struct backend_caller *caller,
                          struct error *err)
{
    const struct local *local = backend;
    return session_user_check(&local->options.users, pod, caller, 0, err);
}

int sessions_open(void *backend, const struct backend_session_request *request, struct backend_session *out,
                  struct error *err)
{
    struct local *local = backend;
    struct backend_session session = {-1, -1, -1, -1};
    struct pod_state state = {0};
    int pidfd, fds[3] = {-1, -1, -1}, rc = -1;
    pid_t supervisor;
    if (sessions_find_supervisor(local, request->pod.uuid, &supervisor, &pidfd, &state, err) < 0)
        return -1;
    if (session_user_check(&local->options.users, &request->pod, &request->caller, state.container[0] ? 0 : state.pid,
                           err) < 0) {
        close(pidfd);
        return -1;
    }
    char *text = memory_alloc(POD_SESSION_WORDS_SIZE);
    size_t length = join(request, &state, text);
    if (length == 0)
        error_set(err, ERROR_INVALID, "command: at most %d words of %d bytes together", POD_SESSION_WORDS_MAX,
                  POD_SESSION_WORDS_SIZE);
    else if (!(request->has_terminal ? open_terminal(request, &session, fds) : open_pipes(&session, fds)))
        error_set(err, ERROR_UNAVAILABLE, "a terminal for the session: %s", strerror(errno));
    else if (call(local, supervisor, pidfd, request->pod.uuid, &session.control_fd, err) == 0)
        rc = pass(session.control_fd, text, length, fds, request->has_terminal ? 1 : 3)
                 ? 0
                 : error_set(err, ERROR_UNAVAILABLE, "the pod's supervisor: %s", strerror(errno));
    free(text);
    close(pidfd);
    close_all(fds, 3);
    if (rc == 0)
        *out = session;
    else
        close_all((const int[]){session.input_fd, session.output_fd, session.error_fd, session.control_fd}, 4);
    return rc;
}
