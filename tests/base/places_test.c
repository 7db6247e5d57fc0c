// Bounded places: whose they are, and who is refused.
#include "base/buffer.h"
#include "base/error.h"
#include "base/places.h"
#include "tests/support/check.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int take(struct places *places, const char *holder, bool is_administrator, struct error *err)
{
    struct place_claim claim = {.holder = holder, .is_administrator = is_administrator, .socket = -1};
    int place = -1;
    *err = (struct error){0};
    return places_take(places, &claim, &place, err) < 0 ? -1 : place;
}

static int take_many(struct places *places, const char *holder, bool is_administrator, int count)
{
    struct error err;
    int got = 0;
    for (int i = 0; i < count; i++)
        got += take(places, holder, is_administrator, &err) >= 0;
    return got;
}

// count, and how many of those asked for each gets, one after the other.
static const struct share_case {
    const char *name;
    int count, first, second, third, administrator;
} SHARES[] = {
    {"a quarter each, and an eighth is kept", 16, 4, 4, 4, 4},
    {"as many of a small number", 8, 2, 2, 2, 2},
    {"one at least", 3, 1, 1, 1, 0},
};

static void test_shares(void)
{
    for (size_t i = 0; i < sizeof(SHARES) / sizeof(*SHARES); i++) {
        const struct share_case *row = &SHARES[i];
        struct place_book book = {0};
        struct places places;
        places_init(&places, PLACE_STREAMS, row->count, &book);
        check_int(take_many(&places, "a", false, row->count), row->first, "%s: first", row->name);
        check_int(take_many(&places, "b", false, row->count), row->second, "%s: second", row->name);
        check_int(take_many(&places, "c", false, row->count), row->third, "%s: third", row->name);
        check_int(take_many(&places, "root", true, row->count), row->administrator, "%s: administrator", row->name);
        check_int(atomic_load(&book.of[PLACE_STREAMS].taken),
                  row->first + row->second + row->third + row->administrator, "%s: taken", row->name);
        places_done(&places);
    }
}

static void test_messages(void)
{
    struct place_book book = {0};
    struct places places;
    struct error err;
    places_init(&places, PLACE_STREAMS, 8, &book);
    int first = take(&places, "a", false, &err);
    take(&places, "a", false, &err);
    check_int(take(&places, "a", false, &err), -1, "a third");
    check_text(err.message, "streams: you hold 2, all that one account may have of 8", "its own share");
    take_many(&places, "b", false, 8);
    take_many(&places, "c", false, 8);
    take(&places, "d", false, &err);
    check_int(take(&places, "e", false, &err), -1, "the last one");
    check_text(err.message, "streams: all 8 places are taken", "all");
    check_int((int64_t)atomic_load(&book.of[PLACE_STREAMS].refused), 14, "refused");
    places_give_back(&places, first);
    check_int(take(&places, "e", false, &err) >= 0, 1, "one was given back");
    places_done(&places);
}

static void test_one_that_is_gone_is_waited_for(void)
{
    struct places places;
    struct error err = {0};
    int ends[2], place;
    places_init(&places, PLACE_STREAMS, 4, NULL);
    check_int(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0, "sockets");
    struct place_claim claim = {.holder = "a", .socket = ends[0]};
    check_int(places_take(&places, &claim, &place, &err), 0, "taken");
    check_int(places_is_gone(&places, place), 0, "it is there");
    close(ends[1]);
    check_int(places_is_gone(&places, place), 1, "it is gone");
    places_give_back(&places, place);
    close(ends[0]);
    places_done(&places);
}

enum {
    NOW = 1000
};

// In the order in which they take: holder, workload, when it moved last, whether it is idle; then who asks for a place.
static const struct way_case {
    const char *name;
    struct {
        const char *holder, *workload;
        int64_t moved_ms;
        bool is_idle;
    } held[8];
    const char *holder, *workload;
    int want; // -1: nobody gives way
} WAYS[] = {
    {"a free place needs none", {{"a", "w", 1, true}, {"b", "w", 2, true}}, "c", "v", -1},
    {"of one's own share the one that is idle the longest",
     {{"a", "w", 3, true}, {"b", "v", 1, true}, {"a", "v", 2, true}},
     "a",
     "w",
     2},
    {"of one's own share none that is in use",
     {{"a", "w", 1, false}, {"a", "v", 2, false}, {"b", "w", 1, true}},
     "a",
     "w",
     -1},
    {"the workload's share: of its own ones alone",
     {{"a", "w", 5, true}, {"a", "w", 4, true}, {"b", "w", 9, false}, {"b", "w", 3, false}, {"c", "v", 1, true}},
     "d",
     "w",
     1},
    {"all are taken: idle ones first",
     {{"a", "w", 1, false},
      {"a", "w", 2, false},
      {"b", "w", 3, false},
      {"b", "w", 7, true},
      {"c", "v", 4, false},
      {"c", "v", 5, true},
      {"d", "v", 6, false},
      {"d", "v", 8, false}},
     "e",
     "v",
     5},
    {"none is idle: the longest silent of who holds two more",
     {{"a", "w", 9, false},
      {"a", "w", 2, false},
      {"b", "w", 3, false},
      {"c", "w", 1, false},
      {"c", "v", 4, false},
      {"d", "v", 5, false},
      {"d", "v", 6, false},
      {"e", "v", 1, false}},
     "f",
     "x",
     3},
    {"one more is not enough",
     {{"a", "w", 1, false}, {"b", "w", 1, false}, {"c", "w", 1, false}, {"d", "w", 1, false}},
     "e",
     "w",
     -1},
};

static void test_who_gives_way(void)
{
    for (size_t i = 0; i < COUNT(WAYS); i++) {
        const struct way_case *row = &WAYS[i];
        struct places places;
        struct error err = {0};
        int taken[8] = {0}, want = -1;
        places_init(&places, PLACE_INFERENCES, 8, NULL);
        for (int k = 0; k < 8 && row->held[k].holder; k++) {
            struct place_claim claim = {.holder = row->held[k].holder, .workload = row->held[k].workload, .socket = -1};
            check_int(places_take(&places, &claim, &taken[k], &err), 0, "%s: %d", row->name, k);
            places_note_use(&places, taken[k], row->held[k].moved_ms, row->held[k].is_idle ? NOW : INT64_MAX);
            if (k == row->want)
                want = taken[k];
        }
        struct place_claim claim = {.holder = row->holder, .workload = row->workload, .socket = -1};
        int way = places_find_way(&places, &claim, NOW);
        check_int(way, want, "%s", row->name);
        if (way >= 0)
            places_give_back(&places, way);
        if (way >= 0)
            check_int(places_take(&places, &claim, &way, &err), 0, "%s: it has a place", row->name);
        places_done(&places);
    }
}

static void test_figures(void)
{
    struct place_book book = {0};
    struct places places;
    struct buffer out;
    struct error err;
    places_init(&places, PLACE_SHELLS, 0, &book);
    take(&places, "a", false, &err);
    buffer_init(&out, 0);
    place_book_write(&book, &out);
    check_int(strstr(out.data, "prorata_places{place=\"shells\"} 256\n") != NULL, 1, "bound");
    check_int(strstr(out.data, "prorata_places_taken{place=\"shells\"} 1\n") != NULL, 1, "taken");
    check_int(strstr(out.data, "prorata_places_refused_total{place=\"shells\"} 0\n") != NULL, 1, "refused");
    check_int(strstr(out.data, "streams") == NULL, 1, "what is not there is not told");
    buffer_done(&out);
    places_done(&places);
}

int main(void)
{
    test_shares();
    test_messages();
    test_one_that_is_gone_is_waited_for();
    test_who_gives_way();
    test_figures();
    return check_finish();
}
