#include "supervisor/sessions.h"

#include "supervisor/pod_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CANNOT_START = 127,
    BY_SIGNAL = 128
};

void sessions_connect(struct sessions *sessions, const char *uuid, bool is_running)
{
    struct session *session = sessions->items;
    while (session < sessions->items + POD_SESSIONS_MAX && session->fd)
        session++;
    const char *refusal = !is_running                                     ? POD_SESSION_OVER
                          : session == sessions->items + POD_SESSIONS_MAX ? POD_SESSION_FULL
                                                                          : "";
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return; // the server waits a moment, and gives up
    char text[128];
    int length = snprintf(text, sizeof(text), "%s%s", uuid, refusal);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" POD_SESSION_SOCKET "%s", POD_HOME_FD,
             uuid);
    bool is_told = connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
                   send(fd, text, (size_t)length, MSG_NOSIGNAL) == length;
    if (is_told && !refusal[0])
        *session = (struct session){.fd = fd};
    else
        close(fd);
}

int sessions_poll(const struct sessions *sessions, struct pollfd *fds)
{
    int count = 0;
    for (int i = 0; i < POD_SESSIONS_MAX; i++)
        if (sessions->items[i].fd)
            fds[count++] = (struct pollfd){.fd = sessions->items[i].fd, .events = POLLIN};
    return count;
}

static void tell_end(struct session *session, int status, const char *what, int code)
{
    char text[128];
    int length = snprintf(text, sizeof(text), "%d %.60s%s%.50s", status, what, code ? ": " : "",
                          code ? strerrordesc_np(code) : "");
    (void)send(session->fd, text, (size_t)length, MSG_NOSIGNAL);
    close(session->fd);
    *session = (struct session){0};
}

// The words behind one another, and the descriptors beside them. -1: no such message.
static ssize_t receive(int fd, char *text, size_t size, int fds[3], int *out_count)
{
    union {
        char space[CMSG_SPACE(3 * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec part = {text, size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof(control.space)};
    ssize_t length = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    struct cmsghdr *header = length > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    *out_count = 0;
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
        *out_count = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(fds, CMSG_DATA(header), (size_t)*out_count * sizeof(int));
    }
    return length;
}

static void begin(struct session *session, const struct command_options *options)
{
    static char text[POD_SESSION_WORDS_SIZE + 1];
    static char *words[POD_SESSION_WORDS_MAX + 1];
    int fds[3], count, code = 0;
    const char *what = "request";
    ssize_t length = receive(session->fd, text, POD_SESSION_WORDS_SIZE, fds, &count);
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (length <= 0 || (count != 1 && count != 3)) {
        close(session->fd);
        *session = (struct session){0};
        return;
    }
    text[length] = '\0';
    size_t word_count = 0;
    for (char *at = text; at < text + length && word_count < POD_SESSION_WORDS_MAX; at += strlen(at) + 1)
        words[word_count++] = at;
    words[word_count] = NULL;
    struct command_stdio stdio = {fds[0], fds[count == 3 ? 1 : 0], fds[count == 3 ? 2 : 0], count == 1};
    pid_t pid = words[0] ? command_start_session(options, words, &stdio, &code, &what) : -1;
    for (int i = 0; i < count; i++)
        close(fds[i]);
    if (pid > 0)
        session->pid = pid;
    else
        tell_end(session, CANNOT_START, what, code);
}

void sessions_take(struct sessions *sessions, const struct command_options *options)
{
    char rest;
    for (struct session *session = sessions->items; session < sessions->items + POD_SESSIONS_MAX; session++) {
        if (session->fd && !session->pid) {
            begin(session, options);
        } else if (session->fd && recv(session->fd, &rest, 1, MSG_DONTWAIT) == 0) {
            kill(-session->pid, SIGHUP);
            kill(-session->pid, SIGCONT);
            close(session->fd);
            *session = (struct session){0};
        }
    }
}

void sessions_reap(struct sessions *sessions, pid_t pid, int status)
{
    for (struct session *session = sessions->items; session < sessions->items + POD_SESSIONS_MAX; session++)
        if (session->fd && session->pid == pid)
            tell_end(session, WIFEXITED(status) ? WEXITSTATUS(status) : BY_SIGNAL + WTERMSIG(status), "", 0);
}
