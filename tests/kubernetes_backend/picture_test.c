// A watch without its threads: bytes are cut into objects, objects are compared, and each end of a request leads to the
// right next step.
#include "backends/kubernetes/watch/kube_lines.h"
#include "backends/kubernetes/watch/kube_next.h"
#include "backends/kubernetes/watch/kube_picture.h"
#include "backends/kubernetes/watch/kube_trim.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

struct lines_case {
    enum kube_lines_form form;
    const char *text, *want; // the pieces, each in <>, then the rest
};

static const struct lines_case LINES[] = {
    {KUBE_LINES_WATCH, "{a}\n{b}\n\n{c", "<{a}><{b}>"},
    {KUBE_LINES_WATCH, "", ""},
    {KUBE_LINES_LIST, "{\"kind\":\"L\",\"metadata\":{\"x\":[1]},\"items\":[{\"a\":{}},{\"b\":[{}]}]}",
     "<{\"a\":{}}><{\"b\":[{}]}>{\"kind\":\"L\",\"metadata\":{\"x\":[1]},\"items\":[]}"},
    {KUBE_LINES_LIST, "{\"items\" : [ {\"a\":\"]}\\\"{\"} , {} ] , \"z\":{\"items\":[{\"n\":1}]}}\n",
     "<{\"a\":\"]}\\\"{\"}><{}>{\"items\" : [] , \"z\":{\"items\":[{\"n\":1}]}}\n"},
    {KUBE_LINES_LIST, "{\"items\":[]}", "{\"items\":[]}"},
    {KUBE_LINES_LIST, "{\"items\":null}", "{\"items\":null}"},
    {KUBE_LINES_LIST, "{\"a\":\"items\",\"b\":[{\"c\":1}]}", "{\"a\":\"items\",\"b\":[{\"c\":1}]}"},
    {KUBE_LINES_LIST, "{\"items\":[1,\"x\",[2],{\"a\":1}]}", "<[2]><{\"a\":1}>{\"items\":[]}"},
};

static int add_piece(void *context, const char *text, size_t length)
{
    buffer_printf(context, "<%.*s>", (int)length, text);
    return 0;
}

static void check_lines(void)
{
    for (size_t i = 0; i < COUNT(LINES); i++) {
        size_t length = strlen(LINES[i].text);
        for (size_t step = 1; step <= length + 1; step++) {
            struct kube_lines lines;
            struct buffer got;
            buffer_init(&got, 0);
            kube_lines_init(&lines, LINES[i].form, 1000, add_piece, &got);
            for (size_t at = 0; at < length; at += step)
                check_int(kube_lines_feed(&lines, LINES[i].text + at, at + step < length ? step : length - at), 0,
                          "case %zu is read", i);
            if (LINES[i].form == KUBE_LINES_LIST)
                buffer_text(&got, lines.rest.data ? lines.rest.data : "");
            check_text(got.data ? got.data : "", LINES[i].want, "case %zu by %zu bytes", i, step);
            check_int(kube_lines_is_whole(&lines), LINES[i].form == KUBE_LINES_LIST, "case %zu is whole", i);
            kube_lines_done(&lines);
            buffer_done(&got);
        }
    }
    struct kube_lines lines;
    struct buffer got;
    buffer_init(&got, 0);
    kube_lines_init(&lines, KUBE_LINES_WATCH, 4, add_piece, &got);
    check_int(kube_lines_feed(&lines, "1234\n", 5), 0, "as long as may be");
    check_int(kube_lines_feed(&lines, "12345\n", 6), -1, "a line too long");
    kube_lines_done(&lines);
    kube_lines_init(&lines, KUBE_LINES_LIST, 40, add_piece, &got);
    check_int(kube_lines_feed(&lines, "{\"items\":[{\"a\":\"1234567890123456789012345678901234567890\"}]}", 55), -1,
              "an item too long");
    check_int(kube_lines_is_whole(&lines), 0, "a list that was cut");
    kube_lines_done(&lines);
    buffer_done(&got);
}

struct trim_case {
    const char *text, *want;
};

static const struct trim_case TRIMS[] = {
    {"{\"a\":1,\"m\":[{\"x\":\"]\\\"\"},[2]],\"b\":[3]}", "{\"a\":1,\"m\":[],\"b\":[3]}"},
    {"{\"m\":[1]}", "{\"m\":[]}"},
    {"{\"m\":[],\"n\":{\"m\":[1,2]}}", "{\"m\":[],\"n\":{\"m\":[]}}"},
    {"{\"a\":\",\\\"m\\\":[1]\"}", "{\"a\":\",\\\"m\\\":[1]\"}"},
    {"{\"m\" : [1]}", "{\"m\" : [1]}"},
    {"{\"m\":[1,{\"a\"", "{\"m\":[1,{\"a\""},
    {"{\"mm\":[1]}", "{\"mm\":[1]}"},
    {"", ""},
};

static void check_trims(void)
{
    for (size_t i = 0; i < COUNT(TRIMS); i++) {
        char *text = memory_strdup(TRIMS[i].text);
        check_int((int64_t)kube_trim_array(text, strlen(text), "m"), (int64_t)strlen(TRIMS[i].want), "%s: length",
                  TRIMS[i].text);
        check_text(text, TRIMS[i].want, "%s", TRIMS[i].text);
        free(text);
    }
}

// Records are written as words: LIST, a=3 (item a, version 3), LISTED=9, +a=4 ~a=5 -a=6 (events), B=7 (bookmark),
// E410; a name a.2 has another uid. What is told reads +a:4 ~a:4>5 -a:5(6) or -a:5(), S or s (first, later).
struct story {
    const char *what, *records, *told, *position;
};

static const struct story STORIES[] = {
    {"a list", "LIST a=1 b=2 LISTED=5", "+a:1 +b:2 S ", "5"},
    {"the same list again tells nothing", "LIST a=1 b=2 LISTED=5 LIST a=1 b=2 LISTED=9", "+a:1 +b:2 S s ", "9"},
    {"differences alone", "LIST a=1 b=2 c=3 LISTED=5 LIST a=1 b=7 d=8 LISTED=9",
     "+a:1 +b:2 +c:3 S ~b:2>7 +d:8 -c:3() s ", "9"},
    {"another one under the same name", "LIST a=1 LISTED=5 LIST a.2=7 LISTED=9", "+a:1 S -a:1() +a.2:7 s ", "9"},
    {"a list that does not end removes nothing", "LIST a=1 b=2 LISTED=5 LIST a=1 LIST a=1 b=2 LISTED=9",
     "+a:1 +b:2 S s ", "9"},
    {"events", "LIST LISTED=5 +a=6 ~a=7 -a=8", "S +a:6 ~a:6>7 -a:7(8) ", "8"},
    {"doubled and old events", "LIST a=4 LISTED=5 ~a=7 ~a=7 ~a=6 +a=4 -a=6 B=6", "+a:4 S ~a:4>7 ", "7"},
    {"an added one that is known has changed", "LIST a=4 LISTED=5 +a=6", "+a:4 S ~a:4>6 ", "6"},
    {"a changed one that is not known is new", "LIST LISTED=5 ~a=6", "S +a:6 ", "6"},
    {"an end of who is not known", "LIST LISTED=5 -a=6", "S ", "6"},
    {"an end of another one under the name", "LIST a.2=4 LISTED=5 -a=6", "+a.2:4 S ", "6"},
    {"deleted and made again", "LIST a=4 LISTED=5 -a=6 +a.2=7", "+a:4 S -a:4(6) +a.2:7 ", "7"},
    {"made again, its end unseen", "LIST a=4 LISTED=5 +a.2=7", "+a:4 S -a:4() +a.2:7 ", "7"},
    {"bookmarks", "LIST LISTED=5 B=60 ~a=50 +b=70", "S +b:70 ", "70"},
    {"versions grow by a digit", "LIST LISTED=99 +a=100", "S +a:100 ", "100"},
    {"versions that are no numbers", "LIST LISTED=x +a=y ~a=y ~a=x", "S +a:y ~a:y>x ", "x"},
    {"an older state", "LIST a=8 b=9 LISTED=9 LIST a=3 LISTED=4 ~a=5", "+a:8 +b:9 S ~a:8>3 -b:9() s ~a:3>5 ", "5"},
    {"an error changes nothing", "LIST a=1 LISTED=5 E410", "+a:1 S ", "5"},
    {"rubbish changes nothing", "LIST a=1 LISTED=5 ? K=9 T=9", "+a:1 S ", "5"},
};

static void *keep_version(void *context, const json_t *object)
{
    (void)context;
    return memory_strdup(json_string_value(json_object_get(json_object_get(object, "metadata"), "resourceVersion")));
}

static void free_kept(void *context, void *kept)
{
    (void)context;
    free(kept);
}

static void add_told(void *context, const struct kube_event *event)
{
    struct buffer *told = context;
    const char *twin = strcmp(event->uid, "u") == 0 ? "" : ".2";
    const json_t *version = json_object_get(json_object_get(event->object, "metadata"), "resourceVersion");
    switch (event->kind) {
    case KUBE_ADDED:
        buffer_printf(told, "+%s%s:%s ", event->name, twin, (char *)event->kept);
        break;
    case KUBE_CHANGED:
        buffer_printf(told, "~%s%s:%s>%s ", event->name, twin, (char *)event->before, (char *)event->kept);
        break;
    case KUBE_GONE:
        buffer_printf(told, "-%s%s:%s(%s) ", event->name, twin, (char *)event->kept,
                      version ? json_string_value(version) : "");
        break;
    case KUBE_SYNCED:
        buffer_text(told, event->is_first ? "S " : "s ");
        break;
    }
}

static char *object_text(const char *name, const char *version)
{
    char plain[32];
    json_t *meta = json_object();
    snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(name, "."), name);
    json_object_set_new(meta, "name", json_string(plain));
    json_object_set_new(meta, "uid", json_string(strchr(name, '.') ? "u2" : "u"));
    json_object_set_new(meta, "resourceVersion", json_string(version));
    json_t *object = json_pack("{s:s, s:o}", "kind", "Thing", "metadata", meta);
    char *text = json_dumps(object, 0);
    json_decref(object);
    return text;
}

static void give_event(struct kube_picture *picture, const char *type, const char *name, const char *version)
{
    char *object = object_text(name, version), *text = NULL;
    if (asprintf(&text, "{\"type\":\"%s\",\"object\":%s}", type, object) < 0)
        abort();
    kube_picture_take(picture, KUBE_RECORD_EVENT, text, strlen(text));
    free(object);
    free(text);
}

static void give(struct kube_picture *picture, char *word)
{
    static const char OTHER[] = "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Other\",\"metadata\":{\"name\":\"z\","
                                "\"uid\":\"z\",\"resourceVersion\":\"99\"}}}";
    static const char ERROR[] = "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}";
    char *equals = strchr(word, '='), *name = word + (strchr("+~-", *word) != NULL);
    char *version = equals ? equals + 1 : "";
    if (equals)
        *equals = '\0';
    if (strcmp(word, "LIST") == 0) {
        kube_picture_take(picture, KUBE_RECORD_LIST, "", 0);
    } else if (strcmp(word, "LISTED") == 0) {
        kube_picture_take(picture, KUBE_RECORD_LISTED, version, strlen(version));
    } else if (strcmp(word, "B") == 0) {
        give_event(picture, "BOOKMARK", "b", version);
    } else if (strcmp(word, "T") == 0) {
        give_event(picture, "SURPRISE", "t", version);
    } else if (strcmp(word, "K") == 0) {
        kube_picture_take(picture, KUBE_RECORD_EVENT, OTHER, strlen(OTHER));
    } else if (strcmp(word, "E410") == 0) {
        kube_picture_take(picture, KUBE_RECORD_EVENT, ERROR, strlen(ERROR));
    } else if (strcmp(word, "?") == 0) {
        kube_picture_take(picture, KUBE_RECORD_EVENT, "{\"type\":", 8);
        kube_picture_take(picture, KUBE_RECORD_EVENT, "7", 1);
        kube_picture_take(picture, KUBE_RECORD_ITEM, "{}", 2);
    } else if (name > word) {
        give_event(picture, *word == '+' ? "ADDED" : *word == '~' ? "MODIFIED" : "DELETED", name, version);
    } else {
        char *text = object_text(name, version);
        kube_picture_take(picture, KUBE_RECORD_ITEM, text, strlen(text));
        free(text);
    }
}

static void check_stories(void)
{
    struct kube_watch_ops ops = {.keep = keep_version, .release = free_kept, .tell = add_told};
    for (size_t i = 0; i < COUNT(STORIES); i++) {
        struct kube_picture picture;
        struct buffer told;
        char *records = memory_strdup(STORIES[i].records), *at = NULL;
        buffer_init(&told, 0);
        kube_picture_init(&picture, "Thing", &ops, &told);
        for (char *word = strtok_r(records, " ", &at); word; word = strtok_r(NULL, " ", &at))
            give(&picture, word);
        check_text(told.data ? told.data : "", STORIES[i].told, "%s", STORIES[i].what);
        check_text(picture.position, STORIES[i].position, "%s: how far", STORIES[i].what);
        check_int(picture.has_error && picture.error.code == 410, strstr(STORIES[i].records, "E410") != NULL,
                  "%s: an error", STORIES[i].what);
        kube_picture_done(&picture);
        buffer_done(&told);
        free(records);
    }
}

struct next_case {
    const char *what;
    enum kube_step step;
    enum kube_outcome outcome;
    int code, error_code; // of the answer; of an ERROR event, 0: none
    bool is_too_large, had_lines, was_silent;
    int64_t lasted_ms;
    enum kube_step want;
    bool waits;
    enum kube_verdict verdict;
};

#define ANSWERED KUBE_ANSWERED
static const struct next_case NEXT[] = {
    {"listed", KUBE_STEP_LIST, ANSWERED, 200, 0, 0, 0, 0, 5, KUBE_STEP_WATCH, false, KUBE_VERDICT_GOOD},
    {"known", KUBE_STEP_PROBE, ANSWERED, 200, 0, 0, 0, 0, 5, KUBE_STEP_WATCH, false, KUBE_VERDICT_GOOD},
    {"a watch ends", KUBE_STEP_WATCH, ANSWERED, 200, 0, 0, 0, 0, 5000, KUBE_STEP_WATCH, false, KUBE_VERDICT_GOOD},
    {"with events", KUBE_STEP_WATCH, ANSWERED, 200, 0, 0, 1, 0, 5, KUBE_STEP_WATCH, false, KUBE_VERDICT_GOOD},
    {"at once", KUBE_STEP_WATCH, ANSWERED, 200, 0, 0, 0, 0, 5, KUBE_STEP_PROBE, true, KUBE_VERDICT_FAILED},
    {"cut", KUBE_STEP_WATCH, KUBE_NO_ANSWER, 200, 0, 0, 1, 0, 5, KUBE_STEP_PROBE, false, KUBE_VERDICT_CUT},
    {"silent", KUBE_STEP_WATCH, KUBE_STOPPED, 200, 0, 0, 0, 1, 5, KUBE_STEP_WATCH, false, KUBE_VERDICT_CUT},
    {"no server", KUBE_STEP_WATCH, KUBE_NOT_SENT, 0, 0, 0, 0, 0, 5, KUBE_STEP_PROBE, true, KUBE_VERDICT_FAILED},
    {"no server for a list", KUBE_STEP_LIST, KUBE_NOT_SENT, 0, 0, 0, 0, 0, 5, KUBE_STEP_LIST, true,
     KUBE_VERDICT_FAILED},
    {"410", KUBE_STEP_WATCH, ANSWERED, 410, 0, 0, 0, 0, 5, KUBE_STEP_LIST, false, KUBE_VERDICT_EXPIRED},
    {"410 as event", KUBE_STEP_WATCH, ANSWERED, 200, 410, 0, 0, 0, 5, KUBE_STEP_LIST, false, KUBE_VERDICT_EXPIRED},
    {"410 while listing", KUBE_STEP_LIST, ANSWERED, 410, 0, 0, 0, 0, 5, KUBE_STEP_LIST, false, KUBE_VERDICT_EXPIRED},
    {"429", KUBE_STEP_WATCH, ANSWERED, 429, 0, 0, 0, 0, 5, KUBE_STEP_PROBE, true, KUBE_VERDICT_FAILED},
    {"500 as event", KUBE_STEP_WATCH, ANSWERED, 200, 500, 0, 0, 0, 5, KUBE_STEP_PROBE, true, KUBE_VERDICT_FAILED},
    {"403", KUBE_STEP_WATCH, ANSWERED, 403, 0, 0, 0, 0, 5, KUBE_STEP_LIST, true, KUBE_VERDICT_FAILED},
    {"401", KUBE_STEP_WATCH, ANSWERED, 401, 0, 0, 0, 0, 5, KUBE_STEP_WATCH, true, KUBE_VERDICT_FAILED},
    {"403 for a list", KUBE_STEP_LIST, ANSWERED, 403, 0, 0, 0, 0, 5, KUBE_STEP_LIST, true, KUBE_VERDICT_FAILED},
    {"no match rule there", KUBE_STEP_LIST, ANSWERED, 422, 0, 0, 0, 0, 5, KUBE_STEP_LIST_FRESH, true,
     KUBE_VERDICT_FAILED},
    {"too new", KUBE_STEP_PROBE, ANSWERED, 504, 0, 1, 0, 0, 5, KUBE_STEP_PROBE, true, KUBE_VERDICT_TOO_NEW},
    {"too new for a list", KUBE_STEP_LIST, ANSWERED, 504, 0, 1, 0, 0, 5, KUBE_STEP_LIST, true, KUBE_VERDICT_TOO_NEW},
    {"another 504", KUBE_STEP_PROBE, ANSWERED, 504, 0, 0, 0, 0, 5, KUBE_STEP_PROBE, true, KUBE_VERDICT_FAILED},
    {"not a list", KUBE_STEP_LIST, KUBE_BAD_ANSWER, 200, 0, 0, 0, 0, 5, KUBE_STEP_LIST, true, KUBE_VERDICT_FAILED},
};

static struct kube_status status_of(int code, bool is_too_large)
{
    struct kube_status status = {.code = code, .cause_count = is_too_large};
    snprintf(status.causes[0].reason, sizeof(status.causes[0].reason), "ResourceVersionTooLarge");
    return status;
}

static enum kube_step step_after(struct kube_course *course, const struct next_case *row, int64_t *wait_ms,
                                 enum kube_verdict *verdict)
{
    struct kube_answer answer = {
        .outcome = row->outcome, .status = status_of(row->code, row->is_too_large), .retry_after_ms = -1};
    struct kube_status error = {.code = row->error_code};
    struct kube_end end = {.step = row->step,
                           .answer = &answer,
                           .error = row->error_code ? &error : NULL,
                           .had_lines = row->had_lines,
                           .was_silent = row->was_silent,
                           .lasted_ms = row->lasted_ms};
    return kube_next_step(course, &end, 12345, wait_ms, verdict);
}

static void check_steps(void)
{
    struct kube_course start = {.backoff_ms = 800, .backoff_max_ms = 30000, .too_new_wait_ms = 1000}, course;
    int64_t wait_ms, before_ms = 0;
    enum kube_verdict verdict;
    for (size_t i = 0; i < COUNT(NEXT); i++) {
        course = start;
        check_int(step_after(&course, &NEXT[i], &wait_ms, &verdict), NEXT[i].want, "%s: the next step", NEXT[i].what);
        check_int(wait_ms > 0, NEXT[i].waits, "%s: waits", NEXT[i].what);
        check_int(verdict, NEXT[i].verdict, "%s: verdict", NEXT[i].what);
    }
    struct next_case too_new = NEXT[18], expired = NEXT[10], listed = NEXT[0], alive = NEXT[3];
    course = start;
    step_after(&course, &too_new, &wait_ms, &verdict);
    step_after(&course, &too_new, &wait_ms, &verdict);
    check_int(step_after(&course, &too_new, &wait_ms, &verdict), KUBE_STEP_LIST_FRESH, "too new three times");
    course = start;
    for (int i = 0; i < 8; i++) { // a storm of 410
        step_after(&course, &listed, &wait_ms, &verdict);
        step_after(&course, &expired, &wait_ms, &verdict);
        check_true(i < 2 || wait_ms >= before_ms / 2, "a storm of 410: wait %d is %" PRId64, i, wait_ms);
        before_ms = wait_ms;
    }
    check_true(wait_ms >= 15000 && wait_ms <= 30000, "and the waits have grown: %" PRId64, wait_ms);
    step_after(&course, &alive, &wait_ms, &verdict);
    step_after(&course, &expired, &wait_ms, &verdict);
    check_int(wait_ms, 0, "after a good watch all is as at first");
}

int main(void)
{
    check_lines();
    check_trims();
    check_stories();
    check_steps();
    return check_finish();
}
