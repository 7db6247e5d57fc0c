#include "journal/reader.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "form/snapshot_reader.h"
#include "form/snapshot_writer.h"
#include "journal/folder.h"
#include "journal/segment.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Opens the segment that begins with a cycle. 0: it is gone, or not yet whole.
static int open_segment(const char *folder, int64_t first_cycle, struct segment_reader *out_segment)
{
    char path[FOLDER_PATH_SIZE];
    folder_path(folder, first_cycle, path);
    return segment_open(out_segment, path, NULL) == 0;
}

static int check_folder(size_t segment_count, const char *folder, struct error *err)
{
    return segment_count > 0 ? 0 : error_set(err, ERROR_INVALID, "%s: there is no journal", folder);
}

static struct journal_row row_of(const struct record *record)
{
    return (struct journal_row){record->cycle, record->time_ms, record->plan_us, record->decision_count};
}

// Whether cycles of that time may stand in the segments before this one.
static bool begins_after(const char *folder, int64_t first_cycle, int64_t time_ms)
{
    struct segment_reader segment;
    struct record record;
    if (!open_segment(folder, first_cycle, &segment))
        return true;
    bool is_after = !segment_next(&segment, &record) || record.time_ms >= time_ms;
    segment_done(&segment);
    return is_after;
}

int journal_list(const char *folder, int64_t from_ms, int64_t to_ms, struct arena *arena, struct journal_row **out_rows,
                 size_t *out_count, struct error *err)
{
    int64_t *first_cycles;
    struct journal_row *rows = NULL;
    size_t count = 0, capacity = 0, segments = folder_list(folder, arena, &first_cycles);
    if (check_folder(segments, folder, err) < 0)
        return -1;
    size_t first = segments - 1;
    while (first > 0 && begins_after(folder, first_cycles[first], from_ms))
        first--;
    for (size_t i = first; i < segments; i++) {
        struct segment_reader segment;
        struct record record;
        if (!open_segment(folder, first_cycles[i], &segment))
            continue;
        while (segment_next(&segment, &record)) {
            if (record.time_ms < from_ms || record.time_ms > to_ms)
                continue;
            rows = arena_grow(arena, rows, &capacity, count + 1, sizeof(*rows));
            rows[count++] = row_of(&record);
        }
        segment_done(&segment);
    }
    *out_rows = rows;
    *out_count = count;
    return 0;
}

struct visit {
    int64_t from_ms, to_ms;
    void (*visit)(const struct journal_row *row, const char *decisions, void *context);
    void *context;
};

// All records are unpacked: the stream of a segment is one.
static int visit_segment(const struct visit *visit, struct segment_reader *segment, struct error *err)
{
    int rc = 0;
    struct buffer text;
    struct record record;
    z_stream stream = {0};
    if (inflateInit(&stream) != Z_OK)
        return error_set(err, ERROR_INTERNAL, "there is no memory to unpack the journal");
    buffer_init(&text, 0);
    while (rc == 0 && segment_next(segment, &record)) {
        buffer_clear(&text);
        rc = segment_read(segment, &record, &stream, &text, err);
        const char *line = rc == 0 ? memchr(text.data, '\n', text.length) : NULL;
        if (rc == 0 && !line)
            rc = error_set(err, ERROR_INVALID, "cycle %" PRId64 ": the record is not whole", record.cycle);
        struct journal_row row = row_of(&record);
        if (rc == 0 && record.time_ms >= visit->from_ms && record.time_ms <= visit->to_ms)
            visit->visit(&row, line + 1, visit->context);
    }
    buffer_done(&text);
    inflateEnd(&stream);
    return rc;
}

int journal_visit(const char *folder, int64_t from_ms, int64_t to_ms,
                  void (*visit)(const struct journal_row *row, const char *decisions, void *context), void *context,
                  struct error *err)
{
    int64_t *first_cycles;
    struct arena arena;
    struct visit wanted = {from_ms, to_ms, visit, context};
    arena_init(&arena);
    size_t segments = folder_list(folder, &arena, &first_cycles);
    int rc = check_folder(segments, folder, err);
    size_t first = segments ? segments - 1 : 0;
    while (first > 0 && begins_after(folder, first_cycles[first], from_ms))
        first--;
    for (size_t i = first; i < segments && rc == 0; i++) {
        struct segment_reader segment;
        if (!open_segment(folder, first_cycles[i], &segment))
            continue;
        rc = visit_segment(&wanted, &segment, err);
        segment_done(&segment);
    }
    arena_done(&arena);
    return rc;
}

// The document as the records up to the present one leave it.
struct state {
    json_t *rules;
    json_t *lists[SNAPSHOT_LIST_COUNT]; // entries by name
    struct plan_digests digests;
    char whole_digest[DIGEST_SIZE];
};

static void state_init(struct state *state)
{
    *state = (struct state){.rules = json_object()};
    for (int i = 0; i < SNAPSHOT_LIST_COUNT; i++)
        state->lists[i] = json_object();
}

static void state_done(struct state *state)
{
    json_decref(state->rules);
    for (int i = 0; i < SNAPSHOT_LIST_COUNT; i++)
        json_decref(state->lists[i]);
}

static void apply_list(json_t *entries, const json_t *put, const json_t *drop)
{
    for (size_t i = 0; i < json_array_size(put); i++) {
        json_t *entry = json_array_get(put, i);
        const char *name = json_string_value(json_object_get(entry, "name"));
        if (name)
            json_object_set(entries, name, entry);
    }
    for (size_t i = 0; i < json_array_size(drop); i++)
        if (json_is_string(json_array_get(drop, i)))
            json_object_del(entries, json_string_value(json_array_get(drop, i)));
}

// A digest stays as it was where a record has none.
static void apply_digest(char digest[static DIGEST_SIZE], const json_t *change, const char *key)
{
    const char *text = json_string_value(json_object_get(change, key));
    if (text)
        snprintf(digest, DIGEST_SIZE, "%s", text);
}

static int apply(struct state *state, const char *text, size_t length, struct error *err)
{
    json_error_t cause;
    json_t *change = json_loadb(text, length, JSON_REJECT_DUPLICATES, &cause);
    if (!json_is_object(change)) {
        json_decref(change);
        return error_set(err, ERROR_INVALID, "the record holds no JSON object: %s", cause.text);
    }
    json_t *rules = json_object_get(change, "rules");
    const json_t *put = json_object_get(change, "put"), *drop = json_object_get(change, "drop");
    if (json_is_object(rules)) {
        json_decref(state->rules);
        state->rules = json_incref(rules);
    }
    for (int i = 0; i < SNAPSHOT_LIST_COUNT; i++) {
        const char *key = snapshot_list_key((enum snapshot_list)i);
        apply_list(state->lists[i], json_object_get(put, key), json_object_get(drop, key));
    }
    apply_digest(state->digests.decided, change, "decided");
    apply_digest(state->digests.words, change, "words");
    apply_digest(state->whole_digest, change, "digest");
    json_decref(change);
    return 0;
}

static int make_snapshot(const struct state *state, int64_t now_ms, struct arena *arena,
                         const struct snapshot **out_snapshot, struct error *err)
{
    char now[TIMESTAMP_SIZE];
    struct snapshot *snapshot;
    json_t *document = json_copy(state->rules);
    timestamp_format(now_ms, now);
    json_object_set_new(document, "now", json_string(now));
    for (int i = 0; i < SNAPSHOT_LIST_COUNT; i++) {
        json_t *entries = json_array();
        const char *name;
        json_t *entry;
        json_object_foreach(state->lists[i], name, entry)
            json_array_append(entries, entry);
        json_object_set_new(document, snapshot_list_key((enum snapshot_list)i), entries);
    }
    int rc = snapshot_read_json(document, arena, &snapshot, err);
    json_decref(document);
    *out_snapshot = rc == 0 ? snapshot : NULL;
    return rc;
}

// Runs through the segment up to the wanted record.
static int load(struct segment_reader *segment, const struct record *wanted, struct arena *arena,
                struct recorded_cycle *out_cycle, struct error *err)
{
    int rc = -1;
    struct state state;
    struct buffer text;
    struct record record;
    z_stream stream = {0};
    state_init(&state);
    buffer_init(&text, 0);
    if (inflateInit(&stream) != Z_OK) {
        error_set(err, ERROR_INTERNAL, "there is no memory to unpack the journal");
        goto done;
    }
    do {
        buffer_clear(&text);
        if (!segment_next(segment, &record)) {
            error_set(err, ERROR_INVALID, "the journal ends before cycle %" PRId64, wanted->cycle);
            goto done;
        }
        if (segment_read(segment, &record, &stream, &text, err) < 0)
            goto done;
        const char *line = memchr(text.data, '\n', text.length);
        if (!line || apply(&state, text.data, (size_t)(line - text.data), err) < 0) {
            error_prefix(err, "cycle %" PRId64 ": ", record.cycle);
            goto done;
        }
        out_cycle->decisions = line + 1;
    } while (record.offset != wanted->offset);
    out_cycle->row = row_of(&record);
    out_cycle->version = arena_strdup(arena, segment->version);
    out_cycle->digests = state.digests;
    memcpy(out_cycle->whole_digest, state.whole_digest, sizeof(state.whole_digest));
    out_cycle->decisions = arena_strdup(arena, out_cycle->decisions);
    rc = make_snapshot(&state, record.time_ms, arena, &out_cycle->snapshot, err);
done:
    inflateEnd(&stream);
    buffer_done(&text);
    state_done(&state);
    return rc;
}

struct search {
    int64_t cycle, at_ms;
    bool has_found;
    struct record record;
    int64_t segment;                                    // its first cycle
    int64_t first_ms, last_ms, first_cycle, last_cycle; // of what there is
};

static void search_segment(struct search *search, const char *folder, int64_t first_cycle)
{
    struct segment_reader segment;
    struct record record;
    if (!open_segment(folder, first_cycle, &segment))
        return;
    while (segment_next(&segment, &record)) {
        if (search->first_cycle == 0) {
            search->first_cycle = record.cycle;
            search->first_ms = record.time_ms;
        }
        search->last_cycle = record.cycle;
        search->last_ms = record.time_ms;
        bool is_wanted = search->cycle ? record.cycle == search->cycle : record.time_ms <= search->at_ms;
        if (!is_wanted)
            continue;
        search->has_found = true;
        search->record = record;
        search->segment = first_cycle;
    }
    segment_done(&segment);
}

int journal_find(const char *folder, int64_t cycle, int64_t at_ms, struct arena *arena,
                 struct recorded_cycle *out_cycle, struct error *err)
{
    int64_t *first_cycles;
    struct search search = {.cycle = cycle, .at_ms = at_ms};
    size_t segments = folder_list(folder, arena, &first_cycles);
    if (check_folder(segments, folder, err) < 0)
        return -1;
    for (size_t i = 0; i < segments; i++)
        search_segment(&search, folder, first_cycles[i]);
    if (search.has_found) {
        struct segment_reader segment;
        if (!open_segment(folder, search.segment, &segment))
            return error_set(err, ERROR_NOT_FOUND, "the cycle has left the journal meanwhile");
        int rc = load(&segment, &search.record, arena, out_cycle, err);
        segment_done(&segment);
        return rc;
    }
    if (search.first_cycle == 0)
        return error_set(err, ERROR_NOT_FOUND, "%s: the journal has no cycle that can be read", folder);
    char first[TIMESTAMP_SIZE], last[TIMESTAMP_SIZE];
    timestamp_format(search.first_ms, first);
    timestamp_format(search.last_ms, last);
    return error_set(err, ERROR_NOT_FOUND,
                     "the journal has no such cycle: it has %" PRId64 " to %" PRId64 ", from %s to %s",
                     search.first_cycle, search.last_cycle, first, last);
}

static void describe_damage(const char *path, bool is_last, struct buffer *out)
{
    struct segment_reader segment;
    struct record record;
    struct error err = {0};
    if (segment_open(&segment, path, &err) < 0) {
        if (access(path, F_OK) == 0) // else it has left the journal meanwhile
            buffer_printf(out, "%s; its cycles are lost\n", err.message);
        return;
    }
    bool is_whole = true;
    while (is_whole && segment_next(&segment, &record))
        is_whole = segment_check(&segment, &record);
    if (!is_whole)
        buffer_printf(
            out, "%s: the record of cycle %" PRId64 " is damaged; it and the cycles after it in this file are lost\n",
            path, record.cycle);
    else if (segment.offset < segment.length)
        buffer_printf(out, "%s: from byte %" PRId64 " on it is no record%s\n", path, segment.offset,
                      is_last ? ", or one that is being written; a server that starts cuts it off"
                              : "; the cycles after it in this file are lost");
    segment_done(&segment);
}

const char *journal_damage(const char *folder, struct arena *arena)
{
    int64_t *first_cycles;
    struct buffer text;
    char path[FOLDER_PATH_SIZE];
    buffer_init(&text, 0);
    size_t segments = folder_list(folder, arena, &first_cycles);
    for (size_t i = 0; i < segments; i++) {
        folder_path(folder, first_cycles[i], path);
        describe_damage(path, i + 1 == segments, &text);
    }
    const char *damage = text.length > 0 ? arena_strdup(arena, text.data) : NULL;
    buffer_done(&text);
    return damage;
}
