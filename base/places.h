// Bounded places, shared so that one who takes many keeps nobody else out. base/places.def is the table: how many there
// are of a kind, the part that one holder may have, the part that one workload may have, and the last part, which is
// for administrators of the tenant. Who takes one says for whom; all else is here: the count, the refusal, the figures
// in /metrics, and a line in the log for what was refused, one a minute and kind.
//
// Where places are held without being used, an idle one may give way to who finds none: places_find_way.
// A place may name its holder's socket. Where that is gone its end is near: who finds no place because of it waits for
// that, a second at most.
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct error;

enum place_kind {
#define PLACE(KIND, ...) PLACE_##KIND,
#include "base/places.def"
#undef PLACE
    PLACE_KIND_COUNT
};

// How many, and after how long one is given back.
enum {
#define PLACE(KIND, NAME, BOUND, HOLDER, HOLDERS, WORKLOADS, ADMINISTRATORS, SECONDS, WHAT) PLACE_BOUND_##KIND = BOUND,
#include "base/places.def"
#undef PLACE
};
enum {
#define PLACE(KIND, NAME, BOUND, HOLDER, HOLDERS, WORKLOADS, ADMINISTRATORS, SECONDS, WHAT) \
    PLACE_SECONDS_##KIND = SECONDS,
#include "base/places.def"
#undef PLACE
};

// Figures of all kinds. Any thread. All 0 is a new one.
struct place_book {
    struct place_figures {
        atomic_int bound, taken;
        atomic_int_fast64_t refused, told_refused, told_us; // told: in the log's last line
    } of[PLACE_KIND_COUNT];
};

void place_book_write(const struct place_book *book, struct buffer *out);
// Of what counts its own places: how many there are and are taken; and that so many were refused, one of them to the
// holder. book NULL is fine.
void place_book_set(struct place_book *book, enum place_kind kind, size_t bound, size_t taken);
void place_book_refuse(struct place_book *book, enum place_kind kind, const char *holder, size_t count);
// How many of `count` one holder may have; at least one.
size_t places_part(enum place_kind kind, size_t count);

struct places {
    enum place_kind kind;
    pthread_mutex_t lock;
    pthread_cond_t given_back;
    int count;
    struct place *items; // of count
    struct place_book *book;
    void (*wake)(void *context); // what waits while it holds one; NULL: it looks often enough
    void *wake_context;
};

// Who takes a place. Texts end with the call.
struct place_claim {
    const char *holder;   // NULL: nobody knows who
    const char *workload; // NULL: of none
    bool is_administrator;
    int socket; // the holder's own as long as it has the place; -1: not known
};

// count 0: the row's. book NULL: there are no figures; else it outlives them.
void places_init(struct places *places, enum place_kind kind, int count, struct place_book *book);
void places_done(struct places *places);
// Sets out_place, to be given back. ERROR_UNAVAILABLE where none is left for the claim. O(places).
int places_take(struct places *places, const struct place_claim *claim, int *out_place, struct error *err);
void places_give_back(struct places *places, int place);
// The place was used last at moved_ms, and counts as idle from idle_ms on (INT64_MAX: not by itself); both monotonic.
void places_note_use(struct places *places, int place, int64_t moved_ms, int64_t idle_ms);
// A place whose holder has to let it go, so that the claim gets one; -1: it needs none, or there is none. Where the
// claim's holder has used up their share it is one of their own that is idle. Else it is any (where the workload's
// share is used up, any of the workload's) of a holder who has at least two more: idle ones first; then of who has
// most; then the one that has been silent the longest. Counts as a refusal. O(places).
int places_find_way(struct places *places, const struct place_claim *claim, int64_t now_ms);
// Whether the peer of the place's socket has gone, or sends no more.
bool places_is_gone(struct places *places, int place);
