#include "journal/replay_command.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/timestamp.h"
#include "form/plan_writer.h"
#include "form/snapshot_writer.h"
#include "journal/reader.h"
#include "journal/verdict.h"
#include "scheduler/scheduler.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXIT_DIFFERENT = 1, // or the output could not be written
    EXIT_INPUT = 2
};

static const char HELP[] =
    "Usage: prorata replay --data DIR (--at TIME | --cycle N) [--snapshot FILE] [--pretty]\n"
    "       prorata replay --data DIR [--from TIME] [--to TIME] --list [--decisions] [--pretty]\n"
    "\n"
    "Plans a cycle of a server's journal again and compares the plan with the one that was recorded,\n"
    "byte for byte: the decisions and figures, and the words. The server may run or not; nothing is\n"
    "changed.\n"
    "\n"
    "  --data DIR       the server's data folder\n"
    "  --at TIME        the last cycle at this time or before it (2026-01-01T12:00:00Z)\n"
    "  --cycle N        the cycle of this number\n"
    "  --snapshot FILE  also write what the cycle saw, for prorata simulate\n"
    "  --list           the cycles from --from to --to, both included, instead\n"
    "  --decisions      with --list: also what each of them decided\n"
    "  --pretty         indent the output\n"
    "  --help           this text\n"
    "\n"
    "prorata replay TRACE runs a job trace instead: prorata replay --help.\n"
    "Exit status: 0 equal, or decided alike in other words; 1 different, or the output could not be\n"
    "written; 2 bad arguments or no such cycle (nothing is printed on standard output then).\n";

struct options {
    const char *data;
    const char *snapshot;
    int64_t cycle;
    int64_t at_ms, from_ms, to_ms;
    bool has_at, has_range, lists, decisions, pretty, help;
};

static int parse_option(struct options *options, int option, const char *text, struct error *err)
{
    char *end;
    switch (option) {
    case 'd':
        options->data = text;
        return 0;
    case 's':
        options->snapshot = text;
        return 0;
    case 'c':
        errno = 0;
        options->cycle = strtoll(text, &end, 10);
        return end != text && *end == '\0' && errno == 0 && options->cycle > 0
                   ? 0
                   : error_set(err, ERROR_INVALID, "--cycle: a whole number from 1 up, got \"%.40s\"", text);
    case 'a':
        options->has_at = true;
        return timestamp_parse(text, &options->at_ms, err) < 0 ? error_prefix(err, "--at: ") : 0;
    case 'f':
        options->has_range = true;
        return timestamp_parse(text, &options->from_ms, err) < 0 ? error_prefix(err, "--from: ") : 0;
    case 't':
        options->has_range = true;
        return timestamp_parse(text, &options->to_ms, err) < 0 ? error_prefix(err, "--to: ") : 0;
    case 'l':
        options->lists = true;
        return 0;
    case 'D':
        options->decisions = options->has_range = true;
        return 0;
    case 'p':
        options->pretty = true;
        return 0;
    default:
        options->help = true;
        return 0;
    }
}

static int check_options(struct options *options, struct error *err)
{
    if (!options->data)
        return error_set(err, ERROR_INVALID, "--data: the server's data folder is missing");
    if (options->has_range)
        options->lists = true;
    int asked = options->has_at + (options->cycle > 0) + options->lists;
    if (asked != 1)
        return error_set(err, ERROR_INVALID, "one of --at, --cycle and --list is needed");
    if (options->lists && options->snapshot)
        return error_set(err, ERROR_INVALID, "--snapshot: of one cycle only, with --at or --cycle");
    return 0;
}

static int parse_options(int argc, char **argv, struct options *out_options, struct error *err)
{
    static const struct option OPTIONS[] = {{"data", required_argument, NULL, 'd'},
                                            {"at", required_argument, NULL, 'a'},
                                            {"cycle", required_argument, NULL, 'c'},
                                            {"from", required_argument, NULL, 'f'},
                                            {"to", required_argument, NULL, 't'},
                                            {"snapshot", required_argument, NULL, 's'},
                                            {"list", no_argument, NULL, 'l'},
                                            {"decisions", no_argument, NULL, 'D'},
                                            {"pretty", no_argument, NULL, 'p'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    int option;
    *out_options = (struct options){.to_ms = INT64_MAX, .from_ms = INT64_MIN};
    optind = 0; // glibc: start over
    while ((option = getopt_long(argc, argv, ":h", OPTIONS, NULL)) != -1) {
        if (option == ':')
            return error_set(err, ERROR_INVALID, "%s: needs a value", argv[optind - 1]);
        if (option == '?')
            return error_set(err, ERROR_INVALID, "%.100s: unknown option; try prorata replay --data DIR --help",
                             argv[optind - 1]);
        if (parse_option(out_options, option, optarg, err) < 0)
            return -1;
    }
    if (out_options->help)
        return 0;
    if (optind < argc)
        return error_set(err, ERROR_INVALID, "%.100s: not with --data", argv[optind]);
    return check_options(out_options, err);
}

static int write_out(const struct buffer *text, const char *path, struct error *err)
{
    FILE *file = path ? fopen(path, "w") : stdout;
    if (!file)
        return error_set(err, ERROR_INTERNAL, "%s: %s", path, strerror(errno));
    bool is_written = fwrite(text->data, 1, text->length, file) == text->length;
    is_written = (path ? fclose(file) : fflush(file)) == 0 && is_written;
    return is_written ? 0 : error_set(err, ERROR_INTERNAL, "%s: %s", path ? path : "standard output", strerror(errno));
}

static int write_snapshot_file(const struct options *options, const struct snapshot *snapshot, struct error *err)
{
    struct buffer text;
    struct json_writer json;
    buffer_init(&text, 0);
    json_writer_init(&json, &text, options->pretty);
    snapshot_write(&json, snapshot);
    buffer_char(&text, '\n');
    int rc = write_out(&text, options->snapshot, err);
    buffer_done(&text);
    return rc;
}

static void write_row(struct json_writer *json, const struct journal_row *row)
{
    char time[TIMESTAMP_SIZE];
    timestamp_format(row->time_ms, time);
    json_int(json, "cycle", row->cycle);
    json_text(json, "time", time);
    json_int(json, "planMicroseconds", row->plan_us);
}

static void write_decision_of(struct json_writer *json, const char *key, const char *decisions, size_t at)
{
    json_t *list = json_loads(decisions, 0, NULL);
    char *text = json_dumps(json_array_get(list, at), JSON_COMPACT | JSON_ENCODE_ANY);
    json_raw(json, key, text);
    free(text);
    json_decref(list);
}

static void write_difference(struct json_writer *json, const struct verdict *verdict, const char *recorded,
                             const char *replayed)
{
    json_key(json, "difference");
    if (!verdict->sentence) {
        json_value_null(json);
        return;
    }
    json_begin_object(json);
    json_text(json, "sentence", verdict->sentence);
    if (verdict->decision != SIZE_MAX) {
        json_int(json, "decision", (int64_t)verdict->decision);
        write_decision_of(json, "recorded", recorded, verdict->decision);
        write_decision_of(json, "replayed", replayed, verdict->decision);
    }
    json_end_object(json);
}

static void write_digests(struct json_writer *json, const struct plan_digests *digests, const char *whole_digest)
{
    if (whole_digest[0] != '\0') {
        json_text(json, "digest", whole_digest);
        return;
    }
    json_key(json, "digests");
    json_begin_object(json);
    json_text(json, "decided", digests->decided);
    json_text(json, "words", digests->words);
    json_end_object(json);
}

static struct verdict write_answer(struct buffer *out, const struct options *options,
                                   const struct recorded_cycle *recorded, const struct plan *plan)
{
    struct json_writer json;
    struct buffer decisions;
    buffer_init(&decisions, 0);
    json_writer_init(&json, &decisions, false);
    plan_write_decisions(&json, recorded->snapshot, plan);
    struct verdict verdict = verdict_of(recorded, plan, decisions.data);
    json_writer_init(&json, out, options->pretty);
    json_begin_object(&json);
    write_row(&json, &recorded->row);
    json_text(&json, "version", recorded->version);
    json_bool(&json, "equal", verdict.kind == VERDICT_EQUAL);
    json_bool(&json, "decidedAlike", verdict.kind != VERDICT_DIFFERENT);
    write_difference(&json, &verdict, recorded->decisions, decisions.data);
    json_key(&json, "recorded");
    json_begin_object(&json);
    write_digests(&json, &recorded->digests, recorded->whole_digest);
    json_raw(&json, "decisions", recorded->decisions);
    json_end_object(&json);
    write_digests(&json, &verdict.digests, verdict.whole_digest);
    json_key(&json, "replayed");
    plan_write_cycle(&json, recorded->snapshot, plan, recorded->row.cycle);
    json_end_object(&json);
    buffer_char(out, '\n');
    buffer_done(&decisions);
    return verdict;
}

static int replay_cycle(const struct options *options, const char *folder, struct arena *arena, bool *out_alike,
                        struct error *err)
{
    struct recorded_cycle recorded;
    struct plan *plan;
    if (journal_find(folder, options->cycle, options->at_ms, arena, &recorded, err) < 0 ||
        scheduler_plan(recorded.snapshot, arena, &plan, err) < 0 ||
        (options->snapshot && write_snapshot_file(options, recorded.snapshot, err) < 0))
        return -1;
    struct buffer out;
    char time[TIMESTAMP_SIZE];
    buffer_init(&out, 0);
    struct verdict verdict = write_answer(&out, options, &recorded, plan);
    *out_alike = verdict.kind != VERDICT_DIFFERENT;
    int rc = write_out(&out, NULL, err);
    buffer_done(&out);
    timestamp_format(recorded.row.time_ms, time);
    fprintf(stderr, "cycle %" PRId64 " of %s, %" PRId64 " decisions: %s%s%s\n", recorded.row.cycle, time,
            recorded.row.decision_count, verdict.word,
            strcmp(recorded.version, PRORATA_VERSION) == 0 ? "" : "; recorded by version ",
            strcmp(recorded.version, PRORATA_VERSION) == 0 ? "" : recorded.version);
    return rc;
}

struct listing {
    struct json_writer json;
    bool decisions;
};

static void list_cycle(const struct journal_row *row, const char *decisions, void *context)
{
    struct listing *listing = context;
    json_begin_object(&listing->json);
    write_row(&listing->json, row);
    if (listing->decisions)
        json_raw(&listing->json, "decisions", decisions);
    else
        json_int(&listing->json, "decisions", row->decision_count);
    json_end_object(&listing->json);
}

static int list_rows(const struct options *options, const char *folder, struct arena *arena, struct listing *listing,
                     struct error *err)
{
    struct journal_row *rows;
    size_t count;
    if (options->decisions)
        return journal_visit(folder, options->from_ms, options->to_ms, list_cycle, listing, err);
    if (journal_list(folder, options->from_ms, options->to_ms, arena, &rows, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        list_cycle(&rows[i], NULL, listing);
    return 0;
}

static int list_cycles(const struct options *options, const char *folder, struct arena *arena, struct error *err)
{
    struct listing listing = {.decisions = options->decisions};
    struct buffer out;
    buffer_init(&out, 0);
    json_writer_init(&listing.json, &out, options->pretty);
    json_begin_object(&listing.json);
    json_key(&listing.json, "cycles");
    json_begin_array(&listing.json);
    int rc = list_rows(options, folder, arena, &listing, err);
    json_end_array(&listing.json);
    json_end_object(&listing.json);
    buffer_char(&out, '\n');
    if (rc == 0)
        rc = write_out(&out, NULL, err);
    buffer_done(&out);
    return rc;
}

static void report_damage(const char *folder, struct arena *arena)
{
    const char *damage = journal_damage(folder, arena);
    if (damage)
        fputs(damage, stderr);
}

int journal_replay_main(int argc, char **argv)
{
    struct error err = {0};
    struct options options;
    struct arena arena;
    bool is_alike = true;
    if (sodium_init() < 0 || parse_options(argc, argv, &options, &err) < 0) {
        fprintf(stderr, "prorata replay: %s\n", err.message);
        return EXIT_INPUT;
    }
    if (options.help)
        return fputs(HELP, stdout) < 0 ? EXIT_DIFFERENT : 0;
    arena_init(&arena);
    const char *folder = arena_printf(&arena, "%s/journal", options.data);
    int rc = options.lists ? list_cycles(&options, folder, &arena, &err)
                           : replay_cycle(&options, folder, &arena, &is_alike, &err);
    if (rc < 0)
        fprintf(stderr, "prorata replay: %s\n", err.message);
    if (rc < 0 || options.lists)
        report_damage(folder, &arena);
    arena_done(&arena);
    if (rc == 0)
        return is_alike ? 0 : EXIT_DIFFERENT;
    return err.code == ERROR_INTERNAL ? EXIT_DIFFERENT : EXIT_INPUT;
}
