#include "simulation/simulate.h"

#include "base/error.h"
#include "form/plan_writer.h"
#include "form/snapshot_reader.h"
#include "scheduler/simulation.h"
#include "simulation/questions.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXIT_WRITE = 1,
    EXIT_INPUT = 2,
    CYCLES_MAXIMUM = 1000000
};

static const char HELP[] =
    "Usage: prorata simulate FILE|- [--cycles N] [--explain] [--pretty]\n"
    "       prorata simulate FILE|- [--what-if WORKLOAD] [--fairshare POOL [--resource R]] [--queue POOL] [--pretty]\n"
    "\n"
    "Reads a snapshot of a cluster (JSON, see docs/snapshot.md; - is standard input), runs scheduling\n"
    "cycles over it, and prints what was decided and why, as JSON.\n"
    "\n"
    "  -n, --cycles N   how many cycles, 1 to 1000000 (default 1). Between cycles time stands still and the\n"
    "                   cluster obeys at once: what was bound runs, what was evicted is pending again\n"
    "      --explain    with the evidence behind each explanation and a receipt for each eviction\n"
    "      --what-if WORKLOAD\n"
    "                   no cycles: what would happen if the workload in this file (JSON, an entry of a snapshot's\n"
    "                   workloads) were submitted now; or the name of one that waits in the snapshot\n"
    "      --fairshare POOL\n"
    "                   no cycles: how the fair shares of the node pool come about\n"
    "      --resource R the resource: gpu (default), cpu, memory\n"
    "      --queue POOL no cycles: in which order the workloads that wait for the node pool are tried, and why\n"
    "      --pretty     indent the output\n"
    "  -h, --help       this text\n"
    "\n"
    "GET /api/v1/scheduler/snapshot of a server gives its cluster in the same form.\n"
    "Exit status: 0 done, 1 the output could not be written, 2 bad arguments or a bad snapshot (nothing is\n"
    "printed on standard output then; a line on standard error names the place).\n";

struct simulate_options {
    const char *path;
    int64_t cycles;
    struct question_options questions;
    bool explain;
    bool pretty;
    bool help;
};

static int parse_cycles(const char *text, int64_t *out_cycles, struct error *err)
{
    char *end;
    errno = 0;
    long long cycles = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || cycles < 1 || cycles > CYCLES_MAXIMUM)
        return error_set(err, ERROR_INVALID, "--cycles: a whole number from 1 to %d, got \"%.40s\"", CYCLES_MAXIMUM,
                         text);
    *out_cycles = cycles;
    return 0;
}

static void note_option(struct simulate_options *options, int option)
{
    options->explain |= option == 'e';
    options->pretty |= option == 'p';
    options->help |= option == 'h';
    if (option == 'w')
        options->questions.what_if = optarg;
    if (option == 'f')
        options->questions.fair_share = optarg;
    if (option == 'r')
        options->questions.resource = optarg;
    if (option == 'q')
        options->questions.queue = optarg;
}

static int parse_options(int argc, char **argv, struct simulate_options *out_options, struct error *err)
{
    static const struct option OPTIONS[] = {{"cycles", required_argument, NULL, 'n'},
                                            {"explain", no_argument, NULL, 'e'},
                                            {"what-if", required_argument, NULL, 'w'},
                                            {"fairshare", required_argument, NULL, 'f'},
                                            {"resource", required_argument, NULL, 'r'},
                                            {"queue", required_argument, NULL, 'q'},
                                            {"pretty", no_argument, NULL, 'p'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    struct simulate_options options = {.cycles = 1};
    int option;
    optind = 0; // glibc: start over
    while ((option = getopt_long(argc, argv, ":n:h", OPTIONS, NULL)) != -1) {
        if (option == 'n' && parse_cycles(optarg, &options.cycles, err) < 0)
            return -1;
        if (option == ':')
            return error_set(err, ERROR_INVALID, "%s: needs a value", argv[optind - 1]);
        if (option == '?')
            return error_set(err, ERROR_INVALID, "%.100s: unknown option; try prorata simulate --help",
                             argv[optind - 1]);
        note_option(&options, option);
    }
    if (!options.help && optind + 1 != argc)
        return error_set(err, ERROR_INVALID, "one FILE or - is needed; try prorata simulate --help");
    options.path = argv[optind];
    *out_options = options;
    return 0;
}

// What was written so far goes out cycle by cycle: many cycles of a large cluster never stand in memory together.
static int flush_output(struct buffer *out, struct error *err)
{
    if (out->length > 0 && fwrite(out->data, 1, out->length, stdout) != out->length)
        return error_set(err, ERROR_INTERNAL, "standard output: %s", strerror(errno));
    buffer_clear(out);
    return 0;
}

static int run_cycles(struct simulation *simulation, const struct simulate_options *options, struct buffer *out,
                      struct error *err)
{
    struct json_writer json;
    struct plan *plan;
    json_writer_init(&json, out, options->pretty);
    json_begin_object(&json);
    json_key(&json, "cycles");
    json_begin_array(&json);
    for (int64_t cycle = 1; cycle <= options->cycles; cycle++) {
        if (simulation_plan(simulation, &plan, err) < 0)
            return -1;
        (options->explain ? plan_write_explained_cycle : plan_write_cycle)(&json, &simulation->snapshot, plan, cycle);
        simulation_advance(simulation, plan);
        if (flush_output(out, err) < 0)
            return -1;
    }
    json_end_array(&json);
    if (simulation_look(simulation, &plan, err) < 0)
        return -1;
    json_key(&json, "final");
    plan_write_final(&json, &simulation->snapshot, plan);
    json_end_object(&json);
    buffer_char(out, '\n');
    if (flush_output(out, err) < 0)
        return -1;
    return fflush(stdout) == 0 ? 0 : error_set(err, ERROR_INTERNAL, "standard output: %s", strerror(errno));
}

static int answer_questions(const struct simulate_options *options, struct error *err)
{
    struct buffer out;
    buffer_init(&out, 0);
    int rc = questions_answer(options->path, &options->questions, options->pretty, &out, err);
    if (rc == 0)
        rc = flush_output(&out, err);
    if (rc == 0 && fflush(stdout) != 0)
        rc = error_set(err, ERROR_INTERNAL, "standard output: %s", strerror(errno));
    buffer_done(&out);
    return rc;
}

static int simulate_file(const struct simulate_options *options, struct error *err)
{
    int rc = -1;
    struct arena arena;
    struct buffer out;
    struct snapshot *snapshot;
    struct simulation simulation;
    arena_init(&arena);
    buffer_init(&out, 0);
    if (snapshot_read_file(options->path, &arena, &snapshot, err) == 0) {
        simulation_init(&simulation, snapshot);
        rc = run_cycles(&simulation, options, &out, err);
        simulation_done(&simulation);
    }
    buffer_done(&out);
    arena_done(&arena);
    return rc;
}

int simulate_main(int argc, char **argv)
{
    struct error err = {0};
    struct simulate_options options = {0};
    if (parse_options(argc, argv, &options, &err) == 0) {
        if (options.help)
            return fputs(HELP, stdout) < 0 ? EXIT_WRITE : 0;
        if ((questions_are_asked(&options.questions) ? answer_questions : simulate_file)(&options, &err) == 0)
            return 0;
    }
    fprintf(stderr, "prorata simulate: %s\n", err.message);
    return err.code == ERROR_INTERNAL ? EXIT_WRITE : EXIT_INPUT;
}
