#include "base/places.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/condition.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/prometheus.h"
#include "base/timestamp.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>

enum {
    WAKE_MS = 50,
    WAKES = 20
};
static const int64_t TELL_EVERY_US = INT64_C(60) * 1000000;

static const struct row {
    const char *name;
    int bound;
    const char *holder;
    int holders_part, workloads_part, administrators_part;
} ROWS[] = {
#define PLACE(KIND, NAME, BOUND, HOLDER, HOLDERS, WORKLOADS, ADMINISTRATORS, SECONDS, WHAT) \
    [PLACE_##KIND] = {NAME, BOUND, HOLDER, HOLDERS, WORKLOADS, ADMINISTRATORS},
#include "base/places.def"
#undef PLACE
};

struct place {
    bool is_taken;
    uint64_t holder, workload; // hashes: two that collide share a part
    int socket;
    int held; // by its holder, this one with them
    int64_t moved_ms, idle_ms;
};

// Of a claim, as it stands.
struct standing {
    int taken, holders, workloads, free_place;
};

void places_init(struct places *places, enum place_kind kind, int count, struct place_book *book)
{
    *places = (struct places){.kind = kind, .count = count ? count : ROWS[kind].bound, .book = book};
    pthread_mutex_init(&places->lock, NULL);
    condition_init(&places->given_back);
    places->items = memory_array((size_t)places->count, sizeof(*places->items));
    if (book)
        atomic_store(&book->of[kind].bound, places->count);
}

void places_done(struct places *places)
{
    pthread_cond_destroy(&places->given_back);
    pthread_mutex_destroy(&places->lock);
    free(places->items);
}

static bool is_gone(int socket)
{
    struct pollfd look = {.fd = socket, .events = POLLRDHUP};
    return socket >= 0 && poll(&look, 1, 0) > 0;
}

bool places_is_gone(struct places *places, int place)
{
    return is_gone(places->items[place].socket); // written before the place was told
}

static uint64_t key_of(const char *text)
{
    return text ? hash_text(HASH_START, text) : 0;
}

static struct standing stand(const struct places *places, const struct place_claim *claim)
{
    struct standing standing = {.free_place = -1};
    uint64_t holder = key_of(claim->holder), workload = key_of(claim->workload);
    for (int i = 0; i < places->count; i++) {
        const struct place *place = &places->items[i];
        standing.taken += place->is_taken;
        standing.holders += place->is_taken && place->holder == holder;
        standing.workloads += place->is_taken && claim->workload && place->workload == workload;
        if (!place->is_taken)
            standing.free_place = i;
    }
    return standing;
}

static int part_of(int count, int part)
{
    return part == 0 ? count : count < part ? 1 : count / part;
}

size_t places_part(enum place_kind kind, size_t count)
{
    return (size_t)part_of((int)count, ROWS[kind].holders_part);
}

static bool has_its_part(const struct places *places, const struct standing *standing)
{
    return standing->holders >= part_of(places->count, ROWS[places->kind].holders_part);
}

static bool has_workloads_part(const struct places *places, const struct standing *standing)
{
    return standing->workloads >= part_of(places->count, ROWS[places->kind].workloads_part);
}

static bool is_kept(const struct places *places, const struct standing *standing, const struct place_claim *claim)
{
    int part = ROWS[places->kind].administrators_part;
    return part && !claim->is_administrator && standing->taken >= places->count - places->count / part;
}

static void count_held(struct places *places, uint64_t holder, int more)
{
    for (int i = 0; i < places->count; i++)
        if (places->items[i].is_taken && places->items[i].holder == holder)
            places->items[i].held += more;
}

// Under the lock, as those below.
static int take(struct places *places, const struct place_claim *claim, struct standing *out_standing, int *out_place,
                struct error *err)
{
    const struct row *row = &ROWS[places->kind];
    int count = places->count;
    struct standing standing = *out_standing = stand(places, claim);
    if (has_its_part(places, &standing))
        return error_set(err, ERROR_UNAVAILABLE, "%s: you hold %d, all that one %s may have of %d", row->name,
                         standing.holders, row->holder, count);
    if (has_workloads_part(places, &standing))
        return error_set(err, ERROR_UNAVAILABLE, "%s: %d are this workload's, all that one may have of %d", row->name,
                         standing.workloads, count);
    if (standing.free_place < 0 || is_kept(places, &standing, claim))
        return error_set(err, ERROR_UNAVAILABLE, "%s: all %d places are taken", row->name, count);
    places->items[standing.free_place] = (struct place){.is_taken = true,
                                                        .holder = key_of(claim->holder),
                                                        .workload = key_of(claim->workload),
                                                        .socket = claim->socket,
                                                        .held = standing.holders,
                                                        .idle_ms = INT64_MAX};
    count_held(places, key_of(claim->holder), 1);
    *out_place = standing.free_place;
    return 0;
}

// Whether one that is about to be given back is in the way.
static bool is_worth_waiting(const struct places *places, const struct place_claim *claim,
                             const struct standing *standing)
{
    bool is_own = has_its_part(places, standing);
    for (int i = 0; i < places->count; i++) {
        const struct place *place = &places->items[i];
        if (place->is_taken && (!is_own || place->holder == key_of(claim->holder)) && is_gone(place->socket))
            return true;
    }
    return false;
}

static void wait_for_one(struct places *places)
{
    struct timespec until = condition_after(WAKE_MS);
    if (places->wake)
        places->wake(places->wake_context);
    pthread_cond_timedwait(&places->given_back, &places->lock, &until);
}

void place_book_set(struct place_book *book, enum place_kind kind, size_t bound, size_t taken)
{
    if (!book)
        return;
    atomic_store(&book->of[kind].bound, (int)bound);
    atomic_store(&book->of[kind].taken, (int)taken);
}

void place_book_refuse(struct place_book *book, enum place_kind kind, const char *holder, size_t count)
{
    if (!book || count == 0)
        return;
    struct place_figures *figures = &book->of[kind];
    int64_t refused = atomic_fetch_add(&figures->refused, (int_fast64_t)count) + (int64_t)count;
    int_fast64_t now_us = timestamp_monotonic_us(), told_us = atomic_load(&figures->told_us);
    if ((told_us && now_us - told_us < TELL_EVERY_US) ||
        !atomic_compare_exchange_strong(&figures->told_us, &told_us, now_us))
        return;
    char text[LOG_TEXT_SIZE];
    log_write(LOG_WARN, "places",
              "places are scarce: who asked was refused, or another gave way place=%s %s=%s taken=%d "
              "bound=%d refused=%" PRId64,
              ROWS[kind].name, ROWS[kind].holder, log_text(holder ? holder : "", text), atomic_load(&figures->taken),
              atomic_load(&figures->bound), refused - atomic_exchange(&figures->told_refused, refused));
}

int places_take(struct places *places, const struct place_claim *claim, int *out_place, struct error *err)
{
    struct standing standing;
    pthread_mutex_lock(&places->lock);
    int rc = take(places, claim, &standing, out_place, err);
    for (int i = 0; rc < 0 && i < WAKES && is_worth_waiting(places, claim, &standing); i++) {
        wait_for_one(places);
        rc = take(places, claim, &standing, out_place, err);
    }
    if (rc == 0 && places->book)
        atomic_fetch_add(&places->book->of[places->kind].taken, 1);
    pthread_mutex_unlock(&places->lock);
    if (rc < 0)
        place_book_refuse(places->book, places->kind, claim->holder, 1);
    return rc;
}

void places_give_back(struct places *places, int place)
{
    pthread_mutex_lock(&places->lock);
    count_held(places, places->items[place].holder, -1);
    places->items[place] = (struct place){.socket = -1};
    if (places->book)
        atomic_fetch_sub(&places->book->of[places->kind].taken, 1);
    pthread_cond_broadcast(&places->given_back);
    pthread_mutex_unlock(&places->lock);
}

void places_note_use(struct places *places, int place, int64_t moved_ms, int64_t idle_ms)
{
    pthread_mutex_lock(&places->lock);
    places->items[place].moved_ms = moved_ms;
    places->items[place].idle_ms = idle_ms;
    pthread_mutex_unlock(&places->lock);
}

static bool gives_way_before(const struct place *a, const struct place *b, int64_t now_ms)
{
    bool is_a_idle = a->idle_ms <= now_ms, is_b_idle = b->idle_ms <= now_ms;
    if (is_a_idle != is_b_idle)
        return is_a_idle;
    if (a->held != b->held)
        return a->held > b->held;
    return a->moved_ms < b->moved_ms;
}

static int find_way(const struct places *places, const struct place_claim *claim, const struct standing *standing,
                    int64_t now_ms)
{
    bool is_own_alone = has_its_part(places, standing), is_workload_alone = has_workloads_part(places, standing);
    uint64_t holder = key_of(claim->holder), workload = key_of(claim->workload);
    int found = -1;
    if (!is_own_alone && !is_workload_alone && standing->free_place >= 0)
        return -1;
    for (int i = 0; i < places->count; i++) {
        const struct place *place = &places->items[i];
        bool is_idle_own = place->holder == holder && place->idle_ms <= now_ms;
        bool may_go = is_own_alone ? is_idle_own : is_idle_own || place->held > standing->holders + 1;
        if (is_workload_alone && place->workload != workload)
            may_go = false;
        if (place->is_taken && may_go && (found < 0 || gives_way_before(place, &places->items[found], now_ms)))
            found = i;
    }
    return found;
}

int places_find_way(struct places *places, const struct place_claim *claim, int64_t now_ms)
{
    pthread_mutex_lock(&places->lock);
    struct standing standing = stand(places, claim);
    int found = find_way(places, claim, &standing, now_ms);
    pthread_mutex_unlock(&places->lock);
    if (found >= 0)
        place_book_refuse(places->book, places->kind, claim->holder, 1);
    return found;
}

static void write_bounds(const struct place_book *book, struct buffer *out)
{
    prometheus_head(out, "prorata_places", "gauge", "Places that people share, by what for.");
    for (int i = 0; i < PLACE_KIND_COUNT; i++)
        if (atomic_load(&book->of[i].bound))
            buffer_printf(out, "prorata_places{place=\"%s\"} %d\n", ROWS[i].name, atomic_load(&book->of[i].bound));
}

static void write_taken(const struct place_book *book, struct buffer *out)
{
    prometheus_head(out, "prorata_places_taken", "gauge", "Those of them that are taken.");
    for (int i = 0; i < PLACE_KIND_COUNT; i++)
        if (atomic_load(&book->of[i].bound))
            buffer_printf(out, "prorata_places_taken{place=\"%s\"} %d\n", ROWS[i].name,
                          atomic_load(&book->of[i].taken));
}

void place_book_write(const struct place_book *book, struct buffer *out)
{
    write_bounds(book, out);
    write_taken(book, out);
    prometheus_head(out, "prorata_places_refused_total", "counter",
                    "Refusals, and places taken back for others, because too few were left.");
    for (int i = 0; i < PLACE_KIND_COUNT; i++)
        if (atomic_load(&book->of[i].bound))
            buffer_printf(out, "prorata_places_refused_total{place=\"%s\"} %" PRIdFAST64 "\n", ROWS[i].name,
                          atomic_load(&book->of[i].refused));
}
