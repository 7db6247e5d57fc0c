#include "api/http/exec_sessions.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const int64_t UNREAD_MAX_US = PLACE_SECONDS_SHELLS * INT64_C(1000000);
_Static_assert((int)PLACE_SECONDS_FORWARDS == (int)PLACE_SECONDS_SHELLS, "one bound for what nobody reads");

struct exec_sessions {
    pthread_mutex_t lock;
    struct exec_session *first;
    struct places shells, forwards;
};

struct exec_sessions *exec_sessions_create(struct place_book *book)
{
    struct exec_sessions *sessions = memory_array(1, sizeof(*sessions));
    pthread_mutex_init(&sessions->lock, NULL);
    places_init(&sessions->shells, PLACE_SHELLS, 0, book);
    places_init(&sessions->forwards, PLACE_FORWARDS, 0, book);
    return sessions;
}

static void close_all(const struct exec_session *session)
{
    const int fds[] = {session->input_fd, session->output_fd, session->error_fd, session->control_fd};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

static void free_session(struct exec_session *session)
{
    close_all(session);
    pthread_mutex_destroy(&session->input_lock);
    free(session);
}

void exec_sessions_destroy(struct exec_sessions *sessions)
{
    if (!sessions)
        return;
    for (struct exec_session *session = sessions->first, *next; session; session = next) {
        next = session->next;
        free_session(session);
    }
    places_done(&sessions->shells);
    places_done(&sessions->forwards);
    pthread_mutex_destroy(&sessions->lock);
    free(sessions);
}

static struct places *places_of(struct exec_sessions *sessions, enum place_kind kind)
{
    return kind == PLACE_FORWARDS ? &sessions->forwards : &sessions->shells;
}

// Under the lock: frees what is over and held by nobody, hangs up what nobody reads.
static void sweep(struct exec_sessions *sessions)
{
    int64_t now_us = timestamp_monotonic_us();
    for (struct exec_session **at = &sessions->first; *at;) {
        struct exec_session *session = *at;
        if (!session->is_read && !session->is_over && now_us - session->left_us > UNREAD_MAX_US)
            session->is_over = true;
        if (!session->is_over || session->references > 0) {
            at = &session->next;
            continue;
        }
        *at = session->next;
        places_give_back(places_of(sessions, session->kind), session->place);
        free_session(session);
    }
}

int exec_sessions_take(struct exec_sessions *sessions, enum place_kind kind, const struct place_claim *claim,
                       int *out_place, struct error *err)
{
    pthread_mutex_lock(&sessions->lock);
    sweep(sessions);
    pthread_mutex_unlock(&sessions->lock);
    return places_take(places_of(sessions, kind), claim, out_place, err);
}

void exec_sessions_leave(struct exec_sessions *sessions, enum place_kind kind, int place)
{
    places_give_back(places_of(sessions, kind), place);
}

bool exec_sessions_has_port(struct exec_sessions *sessions, const char *owner, const char *pod, uint16_t port)
{
    bool has_it = false;
    pthread_mutex_lock(&sessions->lock);
    for (const struct exec_session *session = sessions->first; session; session = session->next)
        has_it |= session->kind == PLACE_FORWARDS && session->port == port && !session->is_over &&
                  strcmp(session->pod, pod) == 0 && strcmp(session->owner, owner) == 0;
    pthread_mutex_unlock(&sessions->lock);
    return has_it;
}

void exec_sessions_add(struct exec_sessions *sessions, const struct exec_session *what, char out_id[UUID_SIZE])
{
    struct exec_session *session = memory_array(1, sizeof(*session));
    *session = *what;
    uuid_create(session->id);
    memcpy(out_id, session->id, UUID_SIZE);
    pthread_mutex_init(&session->input_lock, NULL);
    session->left_us = timestamp_monotonic_us();
    pthread_mutex_lock(&sessions->lock);
    session->next = sessions->first;
    sessions->first = session;
    pthread_mutex_unlock(&sessions->lock);
}

int exec_sessions_hold(struct exec_sessions *sessions, const char *id, const char *owner, int64_t workload_id,
                       struct exec_session **out_session, struct error *err)
{
    struct exec_session *found = NULL;
    pthread_mutex_lock(&sessions->lock);
    sweep(sessions);
    for (struct exec_session *session = sessions->first; session; session = session->next)
        if (strcmp(session->id, id) == 0 && strcmp(session->owner, owner) == 0 && session->workload_id == workload_id &&
            !session->is_over)
            found = session;
    if (found)
        found->references++;
    pthread_mutex_unlock(&sessions->lock);
    if (!found)
        return error_set(err, ERROR_NOT_FOUND, "session %.40s: not found, or it is over", id);
    *out_session = found;
    return 0;
}

void exec_sessions_give_back(struct exec_sessions *sessions, struct exec_session *session)
{
    pthread_mutex_lock(&sessions->lock);
    session->references--;
    sweep(sessions);
    pthread_mutex_unlock(&sessions->lock);
}

bool exec_sessions_read(struct exec_sessions *sessions, struct exec_session *session)
{
    pthread_mutex_lock(&sessions->lock);
    bool is_free = !session->is_read;
    session->is_read = true;
    pthread_mutex_unlock(&sessions->lock);
    return is_free;
}

void exec_sessions_stop_reading(struct exec_sessions *sessions, struct exec_session *session)
{
    pthread_mutex_lock(&sessions->lock);
    session->is_read = false;
    session->left_us = timestamp_monotonic_us();
    pthread_mutex_unlock(&sessions->lock);
}

void exec_sessions_end(struct exec_sessions *sessions, struct exec_session *session)
{
    pthread_mutex_lock(&sessions->lock);
    session->is_over = true;
    (void)shutdown(session->control_fd >= 0 ? session->control_fd : session->output_fd, SHUT_RDWR);
    pthread_mutex_unlock(&sessions->lock);
}
