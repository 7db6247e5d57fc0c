#include "replay/replay.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/duration.h"
#include "base/error.h"
#include "replay/nodes.h"
#include "replay/output.h"
#include "replay/policy.h"
#include "replay/progress.h"
#include "replay/report.h"
#include "replay/run.h"
#include "replay/trace.h"
#include "replay/trace_reader.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXIT_WRITE = 1,
    EXIT_INPUT = 2,
    POLICIES_MAXIMUM = 8, // as many as the page has colours
    DEMAND_MAXIMUM = 100000
};

static const char HELP[] =
    "Usage: prorata replay TRACE --nodes FILE [OPTION]...\n"
    "\n"
    "Runs a trace of jobs (CSV, see docs/replay.md) through the scheduler with a simulated clock, once for each\n"
    "policy, and prints utilisation, allocation, fragmentation, waits and evictions.\n"
    "\n"
    "  -n, --nodes FILE      the nodes (CSV), or COUNTxGPUS: 140x8 is 140 nodes of 8 GPUs\n"
    "  -q, --quota FILE      quotas of the projects (YAML, JSON, CSV). Without it all GPUs are divided in\n"
    "                        proportion to the GPU time that each project's jobs ask for\n"
    "  -p, --policy FILE     how the scheduler is set (YAML, JSON); up to 8, compared side by side. Without it:\n"
    "                        the defaults\n"
    "  -u, --until T         stop at this time of the trace: seconds, or 7d, 36h; jobs after it never come\n"
    "  -o, --out DIR         write decisions.csv, jobs.csv, projects.csv, series.csv, summary.csv and report.html\n"
    "      --demand PERCENT  draw jobs from the trace at random, one a second, until they ask for so much of all\n"
    "                        GPUs; nothing ends\n"
    "      --seed N          of the draw (default 1)\n"
    "  -h, --help            this text\n"
    "\n"
    "The same input gives the same bytes. A recorded cycle of a server is replayed by another form of this\n"
    "command: prorata replay --data DIR --help.\n"
    "Exit status: 0 done, 1 the output could not be written, 2 bad arguments or a bad file (nothing is printed\n"
    "on standard output then; a line on standard error names line and column).\n";

struct options {
    const char *trace;
    const char *nodes;
    const char *quota;
    const char *out;
    const char *policies[POLICIES_MAXIMUM];
    size_t policy_count;
    int64_t until_ms;
    int64_t demand_percent;
    int64_t seed;
    bool help;
};

struct session {
    const struct options *options;
    struct arena arena;
    struct trace trace;
    struct nodes nodes;
    struct quota_file quotas;
    struct policy policies[POLICIES_MAXIMUM];
    struct run runs[POLICIES_MAXIMUM];
    struct report_run reports[POLICIES_MAXIMUM];
    size_t policy_count;
};

static int parse_number(const char *text, const char *name, int64_t minimum, int64_t maximum, int64_t *out_number,
                        struct error *err)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < minimum || number > maximum)
        return error_set(err, ERROR_INVALID, "%s: a whole number from %" PRId64 " to %" PRId64 ", got \"%.40s\"", name,
                         minimum, maximum, text);
    *out_number = number;
    return 0;
}

static int take_option(struct options *options, int option, const char *value, struct error *err)
{
    switch (option) {
    case 'n':
        options->nodes = value;
        return 0;
    case 'q':
        options->quota = value;
        return 0;
    case 'o':
        options->out = value;
        return 0;
    case 'p':
        if (options->policy_count == POLICIES_MAXIMUM)
            return error_set(err, ERROR_INVALID, "--policy: at most %d", POLICIES_MAXIMUM);
        options->policies[options->policy_count++] = value;
        return 0;
    case 'u':
        return duration_parse(value, &options->until_ms, err) < 0 ? error_prefix(err, "--until: ") : 0;
    case 'd':
        return parse_number(value, "--demand", 1, DEMAND_MAXIMUM, &options->demand_percent, err);
    case 's':
        return parse_number(value, "--seed", 0, INT64_MAX, &options->seed, err);
    default:
        options->help = true;
        return 0;
    }
}

static int parse_options(int argc, char **argv, struct options *out_options, struct error *err)
{
    static const struct option OPTIONS[] = {{"nodes", required_argument, NULL, 'n'},
                                            {"quota", required_argument, NULL, 'q'},
                                            {"policy", required_argument, NULL, 'p'},
                                            {"until", required_argument, NULL, 'u'},
                                            {"out", required_argument, NULL, 'o'},
                                            {"demand", required_argument, NULL, 'd'},
                                            {"seed", required_argument, NULL, 's'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    struct options options = {.until_ms = INT64_MAX, .seed = 1};
    int option;
    optind = 0; // glibc: start over
    while ((option = getopt_long(argc, argv, ":n:q:p:u:o:h", OPTIONS, NULL)) != -1) {
        if (option == ':')
            return error_set(err, ERROR_INVALID, "%.100s: needs a value", argv[optind - 1]);
        if (option == '?')
            return error_set(err, ERROR_INVALID, "%.100s: unknown option; try prorata replay --help", argv[optind - 1]);
        if (take_option(&options, option, optarg, err) < 0)
            return -1;
    }
    if (!options.help && optind + 1 != argc)
        return error_set(err, ERROR_INVALID, "one TRACE is needed; try prorata replay --help");
    if (!options.help && !options.nodes)
        return error_set(err, ERROR_INVALID, "--nodes is needed: a file, or COUNTxGPUS like 140x8");
    if (options.demand_percent > 0 && options.until_ms != INT64_MAX)
        return error_set(err, ERROR_INVALID, "--until and --demand: only one of them");
    options.trace = argv[optind];
    *out_options = options;
    return 0;
}

static int read_policies(struct session *session, struct error *err)
{
    const struct options *options = session->options;
    if (options->policy_count == 0) {
        session->policies[session->policy_count++] = policy_default();
        return 0;
    }
    for (size_t i = 0; i < options->policy_count; i++) {
        if (policy_read_file(options->policies[i], &session->arena, &session->policies[i], err) < 0)
            return -1;
        session->policy_count++;
        for (size_t j = 0; j < i; j++)
            if (strcmp(session->policies[i].name, session->policies[j].name) == 0)
                return error_set(err, ERROR_INVALID, "%.100s: a second policy called %.60s", options->policies[i],
                                 session->policies[i].name);
    }
    return 0;
}

static int read_input(struct session *session, struct error *err)
{
    const struct options *options = session->options;
    if (nodes_read_file(options->nodes, &session->arena, &session->nodes, err) < 0 ||
        trace_read(options->trace, &session->nodes, &session->arena, &session->trace, err) < 0 ||
        read_policies(session, err) < 0 ||
        (options->quota && quota_read_file(options->quota, &session->quotas, err) < 0))
        return -1;
    if (options->demand_percent > 0) {
        struct trace from = session->trace;
        if (trace_draw(&from, options->demand_percent, (uint64_t)options->seed, session->nodes.gpu_milli,
                       &session->arena, &session->trace, err) < 0)
            return -1;
    }
    if (session->trace.first_ms > options->until_ms)
        return error_set(err, ERROR_INVALID, "--until: the first job arrives after it");
    trace_cut(&session->trace, options->until_ms);
    return 0;
}

// All policies are tried on a snapshot before anything is written.
static int check_policies(struct session *session, struct error *err)
{
    struct snapshot snapshot;
    for (size_t i = 0; i < session->policy_count; i++)
        if (policy_make_snapshot(&session->policies[i], &session->nodes, &session->trace, &session->quotas,
                                 &session->arena, &snapshot, err) < 0)
            return -1;
    return 0;
}

static int run_all(struct session *session, FILE *decisions, struct error *err)
{
    struct progress progress = progress_begin();
    struct run_options options = {.until_ms = session->options->until_ms,
                                  .decisions = decisions,
                                  .progress = progress_show,
                                  .progress_context = &progress};
    int rc = 0;
    for (size_t i = 0; i < session->policy_count && rc == 0; i++) {
        rc = run_policy(&session->trace, &session->nodes, &session->policies[i], &session->quotas, &options,
                        &session->arena, &session->runs[i], err);
        if (rc == 0)
            session->reports[i] = report_make_run(&session->runs[i], &session->arena);
    }
    progress_end(&progress);
    return rc;
}

static int replay(struct session *session, struct error *err)
{
    const struct options *options = session->options;
    FILE *decisions = NULL;
    if (read_input(session, err) < 0 || check_policies(session, err) < 0)
        return -1;
    if (options->out && output_open(options->out, &decisions, err) < 0)
        return -1;
    int rc = run_all(session, decisions, err);
    if (decisions && fclose(decisions) != 0 && rc == 0)
        rc = error_set(err, ERROR_INTERNAL, "%.150s/decisions.csv: %s", options->out, strerror(errno));
    if (rc < 0)
        return -1;
    struct report report = {.trace = &session->trace,
                            .nodes = &session->nodes,
                            .nodes_name = options->nodes,
                            .runs = session->reports,
                            .run_count = session->policy_count,
                            .demand_percent = options->demand_percent,
                            .seed = (uint64_t)options->seed};
    if (options->out && output_write(options->out, &report, err) < 0)
        return -1;
    return output_print(&report, err);
}

int replay_main(int argc, char **argv)
{
    struct error err = {0};
    struct options options = {0};
    int rc = parse_options(argc, argv, &options, &err);
    if (rc == 0 && options.help)
        return fputs(HELP, stdout) < 0 ? EXIT_WRITE : 0;
    struct session *session = memory_array(1, sizeof(*session)); // too large for the stack
    session->options = &options;
    arena_init(&session->arena);
    if (rc == 0)
        rc = replay(session, &err);
    for (size_t i = 0; i < session->policy_count; i++)
        policy_done(&session->policies[i]);
    quota_done(&session->quotas);
    arena_done(&session->arena);
    free(session);
    if (rc == 0)
        return 0;
    fprintf(stderr, "prorata replay: %s\n", err.message);
    return err.code == ERROR_INTERNAL ? EXIT_WRITE : EXIT_INPUT;
}
