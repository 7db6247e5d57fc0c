// A trace, and behind a line `---` a policy: any bytes are refused in one line, or replayed to the end.
#include "base/arena.h"
#include "base/error.h"
#include "replay/nodes.h"
#include "replay/policy.h"
#include "replay/report.h"
#include "replay/run.h"
#include "replay/trace.h"
#include "replay/trace_reader.h"

#include <assert.h>
#include <string.h>

// Planning is not what is fuzzed here; small traces keep the runs short.
enum {
    REPLAYED_JOBS = 40,
    REPLAYED_PODS = 80
};

static const char BETWEEN[] = "\n---\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_refused(const struct error *err)
{
    assert(err->message[0] != '\0' && strchr(err->message, '\n') == NULL);
}

static bool is_small(const struct trace *trace)
{
    uint64_t pods = 0;
    for (size_t i = 0; i < trace->job_count && i < REPLAYED_JOBS; i++)
        pods += trace->jobs[i].pod_count;
    return trace->job_count <= REPLAYED_JOBS && pods <= REPLAYED_PODS;
}

static void replay(const struct trace *trace, const struct nodes *nodes, const struct policy *policy,
                   struct arena *arena)
{
    struct quota_file quotas = {0};
    struct run_options options = {.until_ms = INT64_MAX};
    struct run run;
    struct error err = {0};
    if (run_policy(trace, nodes, policy, &quotas, &options, arena, &run, &err) < 0) {
        assert(err.code == ERROR_INVALID); // of the policy; a plan that cannot be obeyed is ERROR_INTERNAL
        check_refused(&err);
        return;
    }
    struct report_run report = report_make_run(&run, arena);
    assert(report.finished <= report.arrived && report.arrived == trace->job_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *between = size > 0 ? memmem(text, size, BETWEEN, strlen(BETWEEN)) : NULL;
    size_t trace_size = between ? (size_t)(between - text) + 1 : size;
    struct arena arena;
    struct error err = {0};
    struct nodes nodes;
    struct trace trace;
    struct policy policy = policy_default();
    arena_init(&arena);
    int rc = nodes_read_file("2x4", &arena, &nodes, &err);
    assert(rc == 0);
    if (trace_read_text("trace.csv", text, trace_size, &nodes, &arena, &trace, &err) < 0)
        check_refused(&err);
    else if (between && policy_read_text("policy.yaml", between + strlen(BETWEEN),
                                         size - trace_size - strlen(BETWEEN) + 1, &arena, &policy, &err) < 0)
        check_refused(&err);
    else if (is_small(&trace))
        replay(&trace, &nodes, &policy, &arena);
    policy_done(&policy);
    arena_done(&arena);
    return 0;
}
