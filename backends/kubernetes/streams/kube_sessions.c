#include "backends/kubernetes/streams/kube_sessions.h"

#include "backends/kubernetes/client/kube_path.h"
#include "backends/kubernetes/manifests/kube_manifest.h"
#include "backends/kubernetes/streams/kube_relay.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/places.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

enum {
    STACK_BYTES = 512 * 1024,
    TERMINAL_NAME_SIZE = 64
};

struct kube_sessions {
    struct kube_access *access;
    pthread_mutex_t lock;
    pthread_cond_t less; // sessions
    int count;
    struct places places;
    atomic_bool stopping;
};

struct session {
    struct kube_sessions *sessions;
    int place;
    struct kube_relay relay;
};

struct kube_sessions *kube_sessions_create(struct kube_access *access, struct place_book *book)
{
    struct kube_sessions *sessions = memory_array(1, sizeof(*sessions));
    sessions->access = access;
    pthread_mutex_init(&sessions->lock, NULL);
    pthread_cond_init(&sessions->less, NULL);
    places_init(&sessions->places, PLACE_KUBERNETES_SHELLS, 0, book);
    return sessions;
}

void kube_sessions_destroy(struct kube_sessions *sessions)
{
    if (!sessions)
        return;
    atomic_store(&sessions->stopping, true);
    pthread_mutex_lock(&sessions->lock);
    while (sessions->count > 0)
        pthread_cond_wait(&sessions->less, &sessions->lock);
    pthread_mutex_unlock(&sessions->lock);
    places_done(&sessions->places);
    pthread_cond_destroy(&sessions->less);
    pthread_mutex_destroy(&sessions->lock);
    free(sessions);
}

static int take_place(struct kube_sessions *sessions, const struct backend_caller *caller, int *out_place,
                      struct error *err)
{
    struct place_claim claim = {.holder = caller->uuid, .is_administrator = caller->is_administrator, .socket = -1};
    int rc = 0;
    pthread_mutex_lock(&sessions->lock);
    if (atomic_load(&sessions->stopping))
        rc = error_set(err, ERROR_UNAVAILABLE, "the server stops");
    else if ((rc = places_take(&sessions->places, &claim, out_place, err)) == 0)
        sessions->count++;
    pthread_mutex_unlock(&sessions->lock);
    return rc;
}

static void leave_place(struct kube_sessions *sessions, int place)
{
    pthread_mutex_lock(&sessions->lock);
    places_give_back(&sessions->places, place);
    sessions->count--;
    pthread_cond_broadcast(&sessions->less);
    pthread_mutex_unlock(&sessions->lock);
}

static void close_all(const int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

// The caller's side, and ours, which changes nothing of what passes: the pod's terminal does.
static bool open_terminal(const struct backend_session_request *request, struct backend_session *out,
                          struct kube_relay *relay)
{
    char name[TERMINAL_NAME_SIZE];
    struct termios settings;
    struct winsize size = {.ws_row = request->rows, .ws_col = request->columns};
    out->input_fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (out->input_fd < 0)
        return false;
    out->output_fd = fcntl(out->input_fd, F_DUPFD_CLOEXEC, 0);
    if (grantpt(out->input_fd) < 0 || unlockpt(out->input_fd) < 0 ||
        ptsname_r(out->input_fd, name, sizeof(name)) != 0 || ioctl(out->input_fd, TIOCSWINSZ, &size) < 0)
        return false;
    relay->input_fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (relay->input_fd < 0 || tcgetattr(relay->input_fd, &settings) < 0)
        return false;
    cfmakeraw(&settings);
    relay->output_fd = fcntl(relay->input_fd, F_DUPFD_CLOEXEC, 0);
    return tcsetattr(relay->input_fd, TCSANOW, &settings) == 0 && relay->output_fd >= 0 && out->output_fd >= 0;
}

// The caller's end blocks, ours does not.
static bool open_pipe(int *theirs, int *ours, bool is_theirs_read)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    *theirs = ends[is_theirs_read ? 0 : 1];
    *ours = ends[is_theirs_read ? 1 : 0];
    return fcntl(*ours, F_SETFL, O_NONBLOCK) == 0;
}

static bool open_ends(const struct backend_session_request *request, struct backend_session *out,
                      struct kube_relay *relay)
{
    int control[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) < 0)
        return false;
    out->control_fd = control[0];
    relay->control_fd = control[1];
    relay->has_terminal = request->has_terminal;
    if (request->has_terminal)
        return open_terminal(request, out, relay);
    return open_pipe(&out->input_fd, &relay->input_fd, false) && open_pipe(&out->output_fd, &relay->output_fd, true) &&
           open_pipe(&out->error_fd, &relay->error_fd, true);
}

static void close_session(struct session *session)
{
    struct kube_sessions *sessions = session->sessions;
    int place = session->place;
    kube_relay_done(&session->relay);
    free(session);
    leave_place(sessions, place);
}

static void *run(void *context)
{
    struct session *session = context;
    kube_relay_run(&session->relay, &session->sessions->stopping);
    close_session(session);
    return NULL;
}

static int start_thread(struct session *session, struct error *err)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int code = pthread_create(&thread, &attributes, run, session);
    pthread_attr_destroy(&attributes);
    return code == 0 ? 0 : error_set(err, ERROR_UNAVAILABLE, "a thread for the session: %s", strerror(code));
}

static int open_socket(struct session *session, const char *namespace, const char *name,
                       const struct backend_session_request *request, struct error *err)
{
    struct buffer path, query;
    buffer_init(&path, 0);
    buffer_init(&query, 0);
    kube_path(&path, "/api/v1/namespaces/%s/pods/%s/exec", namespace, name);
    kube_query(&query, "container", KUBE_MAIN_CONTAINER);
    kube_query(&query, "stdin", "true");
    kube_query(&query, "stdout", "true");
    kube_query(&query, request->has_terminal ? "tty" : "stderr", "true");
    for (const char *const *word = request->words; *word; word++)
        kube_query(&query, "command", *word);
    int rc = kube_socket_open(&session->relay.socket, session->sessions->access, path.data, query.data, err);
    buffer_done(&path);
    buffer_done(&query);
    return rc;
}

// With a place, or freed by close_session.
static int create_session(struct kube_sessions *sessions, const struct backend_caller *caller,
                          struct session **out_session, struct error *err)
{
    int place;
    if (take_place(sessions, caller, &place, err) < 0)
        return -1;
    struct session *session = memory_array(1, sizeof(*session));
    session->sessions = sessions;
    session->place = place;
    kube_relay_init(&session->relay);
    *out_session = session;
    return 0;
}

int kube_sessions_open(struct kube_sessions *sessions, const char *namespace, const char *name,
                       const struct backend_session_request *request, struct backend_session *out, struct error *err)
{
    struct backend_session ends = {-1, -1, -1, -1};
    struct session *session;
    if (create_session(sessions, &request->caller, &session, err) < 0)
        return -1;
    int rc = open_ends(request, &ends, &session->relay)
                 ? open_socket(session, namespace, name, request, err)
                 : error_set(err, ERROR_UNAVAILABLE, "ends for the session: %s", strerror(errno));
    if (rc == 0)
        rc = start_thread(session, err);
    if (rc == 0) {
        *out = ends;
        return 0;
    }
    close_all((const int[]){ends.input_fd, ends.output_fd, ends.error_fd, ends.control_fd}, 4);
    close_session(session);
    return -1;
}

// The caller's side, and ours.
static bool open_port_ends(int *out_fd, struct kube_relay *relay)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
        return false;
    *out_fd = ends[0];
    relay->is_port = true;
    relay->input_fd = ends[1];
    relay->output_fd = fcntl(ends[1], F_DUPFD_CLOEXEC, 0);
    return relay->output_fd >= 0;
}

static int open_port_socket(struct session *session, const char *namespace, const char *name, uint16_t port,
                            struct error *err)
{
    char number[8];
    struct buffer path, query;
    buffer_init(&path, 0);
    buffer_init(&query, 0);
    snprintf(number, sizeof(number), "%u", (unsigned)port);
    kube_path(&path, "/api/v1/namespaces/%s/pods/%s/portforward", namespace, name);
    kube_query(&query, "ports", number);
    int rc = kube_socket_open(&session->relay.socket, session->sessions->access, path.data, query.data, err);
    buffer_done(&path);
    buffer_done(&query);
    return rc;
}

int kube_sessions_open_port(struct kube_sessions *sessions, const char *namespace, const char *name,
                            const struct backend_port_request *request, int *out_fd, struct error *err)
{
    struct session *session;
    int fd = -1;
    if (create_session(sessions, &request->caller, &session, err) < 0)
        return -1;
    int rc = open_port_ends(&fd, &session->relay)
                 ? open_port_socket(session, namespace, name, request->port, err)
                 : error_set(err, ERROR_UNAVAILABLE, "ends for the connection: %s", strerror(errno));
    if (rc == 0 && (rc = start_thread(session, err)) == 0) {
        *out_fd = fd;
        return 0;
    }
    close_all(&fd, 1);
    close_session(session);
    return -1;
}
