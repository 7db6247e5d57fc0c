#include "cli/pod/session.h"

#include "base/error.h"
#include "cli/frames.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

enum {
    INPUT_SIZE = 192 << 10, // as base64 what one call may bring
    STATUS_LOST = 255
};

struct session {
    struct cli *cli;
    const struct session_wish *wish;
    const char *path;     // of the session
    struct client client; // the input's own: its calls run beside the stream
    struct arena arena;   // of the input's thread
    int over_fd, signal_fd;
    pthread_t thread;
    unsigned char input[INPUT_SIZE];
    char text[sodium_base64_ENCODED_LEN(INPUT_SIZE, sodium_base64_VARIANT_ORIGINAL)]; // of it
    bool is_over;
    int status;
    char words[128];        // of the end
    struct error input_err; // why the input did not come through; the session is hung up then
};

static void write_all(int fd, const char *data, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t written = write(fd, data + done, length - done);
        if (written < 0 && errno != EINTR)
            return;
        done += written > 0 ? (size_t)written : 0;
    }
}

static bool take_frame(void *context, char kind, const char *data, size_t length)
{
    struct session *session = context;
    if (kind == '1' || kind == '2')
        write_all(kind == '1' ? STDOUT_FILENO : STDERR_FILENO, data, length);
    if (kind != 'x')
        return true;
    char text[sizeof(session->words)], *end;
    snprintf(text, sizeof(text), "%.*s", (int)length, data);
    session->is_over = true;
    session->status = (int)strtol(text, &end, 10);
    snprintf(session->words, sizeof(session->words), "%s", end + strspn(end, " "));
    return true;
}

static void add_size(json_t *body)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_row || !size.ws_col)
        return;
    json_object_set_new(body, "rows", json_integer(size.ws_row));
    json_object_set_new(body, "columns", json_integer(size.ws_col));
}

// False where the session takes nothing more: it is over, its command has closed its input, or the call failed, which
// hangs it up. *out_taken: how many bytes of the body's data it took; untouched where all.
static bool tell(struct session *session, json_t *body, size_t *out_taken)
{
    struct error why = {0};
    json_t *answer = NULL;
    int rc = client_call(&session->client, "POST", arena_printf(&session->arena, "%s/input", session->path), body,
                         &answer, &why);
    const json_t *taken = json_object_get(answer, "taken");
    if (out_taken && json_is_integer(taken))
        *out_taken = (size_t)json_integer_value(taken);
    json_decref(answer);
    json_decref(body);
    if (rc < 0 && why.code != ERROR_NOT_FOUND && why.code != ERROR_CONFLICT) {
        session->input_err = why;
        error_prefix(&session->input_err, "the input broke off: ");
        (void)client_call(&session->client, "DELETE", session->path, NULL, NULL, NULL);
    }
    arena_clear(&session->arena);
    return rc == 0;
}

static bool pass_input(struct session *session)
{
    ssize_t length = read(STDIN_FILENO, session->input, sizeof(session->input));
    if (length < 0 && errno == EINTR)
        return true;
    if (length <= 0) {
        (void)tell(session, json_pack("{s:b}", "close", 1), NULL);
        return false;
    }
    for (size_t done = 0, taken; done < (size_t)length; done += taken) { // a command that does not read takes a part
        taken = (size_t)length - done;
        sodium_bin2base64(session->text, sizeof(session->text), session->input + done, taken,
                          sodium_base64_VARIANT_ORIGINAL);
        if (!tell(session, json_pack("{s:s, s:b}", "data", session->text, "partial", 1), &taken))
            return false;
    }
    return true;
}

static void *bring_input(void *context)
{
    struct session *session = context;
    struct signalfd_siginfo info;
    struct pollfd fds[] = {{.fd = session->over_fd, .events = POLLIN},
                           {.fd = session->signal_fd, .events = POLLIN},
                           {.fd = session->wish->has_input ? STDIN_FILENO : -1, .events = POLLIN}};
    for (;;) {
        if (poll(fds, 3, -1) < 0)
            continue;
        if (fds[0].revents)
            return NULL;
        if (fds[1].revents && read(session->signal_fd, &info, sizeof(info)) > 0) {
            json_t *body = json_object();
            add_size(body);
            (void)tell(session, body, NULL);
        }
        if (fds[2].revents && !pass_input(session))
            fds[2].fd = -1;
    }
}

static int open_session(struct session *session, struct error *err)
{
    struct cli *cli = session->cli;
    json_t *answer, *body = json_pack("{s:O, s:b}", "command", session->wish->command, "terminal",
                                      (int)session->wish->has_terminal);
    if (session->wish->pod)
        json_object_set_new(body, "pod", json_string(session->wish->pod));
    if (session->wish->has_terminal)
        add_size(body);
    const char *path = arena_printf(&cli->arena, "/api/v1/workloads/%s/exec", session->wish->workload_uuid);
    int rc = client_call(&cli->client, "POST", path, body, &answer, err);
    json_decref(body);
    if (rc < 0)
        return -1;
    session->path = arena_printf(&cli->arena, "%s/%s", path, cli_text(answer, "sessionId"));
    json_decref(answer);
    return 0;
}

// A stream may end before its session.
static int follow(struct session *session, struct error *err)
{
    struct frames frames;
    int rc = 0;
    frames_init(&frames, take_frame, session);
    while (rc == 0 && !session->is_over) {
        buffer_clear(&frames.bytes);
        rc = client_stream(&session->cli->client, session->path, frames_take, &frames, err);
    }
    frames_done(&frames);
    return session->is_over ? 0 : rc;
}

static int run(struct session *session, struct error *err)
{
    sigset_t resized;
    uint64_t one = 1;
    sigemptyset(&resized);
    sigaddset(&resized, SIGWINCH);
    pthread_sigmask(SIG_BLOCK, &resized, NULL);
    session->signal_fd = signalfd(-1, &resized, SFD_CLOEXEC);
    session->over_fd = eventfd(0, EFD_CLOEXEC);
    if (pthread_create(&session->thread, NULL, bring_input, session) != 0)
        return error_set(err, ERROR_INTERNAL, "no thread for the input");
    int rc = follow(session, err);
    (void)!write(session->over_fd, &one, sizeof(one));
    pthread_join(session->thread, NULL);
    close(session->over_fd);
    close(session->signal_fd);
    return rc;
}

int session_run(struct cli *cli, const struct session_wish *wish, int *out_status, struct error *err)
{
    struct termios usual, raw;
    struct session *session = memory_array(1, sizeof(*session));
    bool is_raw = wish->has_terminal && tcgetattr(STDIN_FILENO, &usual) == 0;
    *session = (struct session){.cli = cli, .wish = wish, .status = STATUS_LOST};
    arena_init(&session->arena);
    fflush(stdout);
    int rc = open_session(session, err);
    if (rc == 0)
        rc = client_open(cli->client.url, cli->client.token, &session->arena, &session->client, err);
    session->client.url = cli->client.url; // its arena is cleared after each call
    session->client.socket = cli->client.socket;
    if (rc == 0 && is_raw) {
        raw = usual;
        cfmakeraw(&raw);
        is_raw = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    }
    if (rc == 0) {
        rc = run(session, err);
        if (is_raw)
            tcsetattr(STDIN_FILENO, TCSANOW, &usual);
    }
    if (session->input_err.code) {
        rc = -1;
        *err = session->input_err;
    }
    if (rc == 0 && session->words[0])
        rc = error_set(err, ERROR_INVALID, "%s", session->words);
    *out_status = session->status;
    client_close(&session->client);
    arena_done(&session->arena);
    free(session);
    return rc;
}
