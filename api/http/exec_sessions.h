// Shells in pods, and connections to their ports, that callers hold open: made by one request, read by a stream,
// written to by further requests, each of which may run on a thread of its own. A session belongs to who opened it. One
// that nobody reads is hung up.
#pragma once
#include "base/places.h"
#include "base/uuid.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct error;
struct exec_sessions;

struct exec_session {
    char id[UUID_SIZE];
    char owner[UUID_SIZE]; // the caller's subject
    int64_t workload_id;   // row
    enum place_kind kind;  // PLACE_SHELLS or PLACE_FORWARDS
    bool has_terminal;
    char pod[UUID_SIZE]; // of a connection: whose port it is
    uint16_t port;
    int place;                                     // of exec_sessions_take
    int input_fd, output_fd, error_fd, control_fd; // -1: none, or closed; as reconciler.h has them. Of a connection
                                                   // input and output are one socket, and there are no others
    pthread_mutex_t input_lock;                    // of who writes, and of input_fd
    // The table's.
    bool is_read, is_over;
    int references;
    int64_t left_us; // monotonic, since when nobody has read it
    struct exec_session *next;
};

struct exec_sessions *exec_sessions_create(struct place_book *book);
void exec_sessions_destroy(struct exec_sessions *sessions); // NULL is fine; nobody may hold one

// A place for a session, before it is opened. ERROR_UNAVAILABLE: none is left for the caller.
int exec_sessions_take(struct exec_sessions *sessions, enum place_kind kind, const struct place_claim *claim,
                       int *out_place, struct error *err);
void exec_sessions_leave(struct exec_sessions *sessions, enum place_kind kind, int place); // nothing was opened
// Whether the owner has a connection to this port of the pod already.
bool exec_sessions_has_port(struct exec_sessions *sessions, const char *owner, const char *pod, uint16_t port);
// Takes the descriptors and the place over. The session's id is written to out_id.
void exec_sessions_add(struct exec_sessions *sessions, const struct exec_session *what, char out_id[UUID_SIZE]);
// The caller's session, held until it is given back; ERROR_NOT_FOUND.
int exec_sessions_hold(struct exec_sessions *sessions, const char *id, const char *owner, int64_t workload_id,
                       struct exec_session **out_session, struct error *err);
void exec_sessions_give_back(struct exec_sessions *sessions, struct exec_session *session);
// To be its reader: false where somebody is.
bool exec_sessions_read(struct exec_sessions *sessions, struct exec_session *session);
void exec_sessions_stop_reading(struct exec_sessions *sessions, struct exec_session *session);
// Hangs up; it is gone when all have given it back.
void exec_sessions_end(struct exec_sessions *sessions, struct exec_session *session);
