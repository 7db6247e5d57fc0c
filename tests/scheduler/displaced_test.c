// Who counts as displaced after a plan: patience and what a reclaim may take hang on it (docs/scheduler.md, 9.3).
#include "base/arena.h"
#include "base/error.h"
#include "form/snapshot_reader.h"
#include "scheduler/scheduler.h"
#include "tests/support/check.h"
#include "tests/support/take_out.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char SNAPSHOT[] =
    "{\"version\":1,\"now\":\"2026-01-01T12:00:00Z\",\"nodePools\":[{\"name\":\"default\"}],"
    "\"nodes\":[{\"name\":\"n\",\"nodePool\":\"default\",\"gpus\":1}],\"departments\":[{\"name\":\"d\"}],"
    "\"projects\":[{\"name\":\"a\",\"department\":\"d\",\"resources\":[{\"gpu\":{\"deserved\":1}}]},"
    "{\"name\":\"b\",\"department\":\"d\"}],\"workloads\":[%s]}";

#define PODS(name, more) "\"pods\":[{\"name\":\"" name "\",\"gpuDevices\":1" more "}]}"
#define RUNS ",\"status\":\"Running\",\"node\":\"n\""
#define STOPS ",\"status\":\"Releasing\",\"node\":\"n\""
#define OF_A "{\"name\":\"w\",\"project\":\"a\"," PODS("w-0", "")

static const struct {
    const char *name;
    const char *workloads;
    bool was_displaced; // the first of them
} CASES[] = {
    {"it starts", "{\"name\":\"v\",\"project\":\"b\"," PODS("v-0", ""), false},
    {"it goes on", "{\"name\":\"v\",\"project\":\"a\"," PODS("v-0", RUNS) "," OF_A, false},
    {"its pod is evicted", "{\"name\":\"v\",\"project\":\"b\"," PODS("v-0", RUNS) "," OF_A, true},
    {"its promise is withdrawn",
     "{\"name\":\"v\",\"project\":\"b\",\"promise\":0," PODS(
         "v-0", "") ",{\"name\":\"u\",\"project\":\"b\",\"deleting\":true," PODS("u-0", STOPS) "," OF_A,
     true},
    {"its promise is kept",
     "{\"name\":\"v\",\"project\":\"b\",\"promise\":0," PODS(
         "v-0", "") ",{\"name\":\"w\",\"project\":\"b\",\"deleting\":true," PODS("w-0", STOPS),
     false},
};

static void check_case(size_t index)
{
    char text[2048];
    struct arena arena;
    struct error err = {0};
    struct snapshot *snapshot;
    struct plan *plan;
    arena_init(&arena);
    snprintf(text, sizeof(text), SNAPSHOT, CASES[index].workloads);
    if (snapshot_read(text, strlen(text), &arena, &snapshot, &err) == 0 &&
        scheduler_plan(snapshot, &arena, &plan, &err) == 0)
        check_int(plan->workloads[snapshot_find(snapshot, "v")].was_displaced, CASES[index].was_displaced, "%s",
                  CASES[index].name);
    check_text(err.message, "", "%s: reads and plans", CASES[index].name);
    arena_done(&arena);
}

// Times at the end of all times: nobody waits for ever, and nothing is protected by what cannot be reckoned.
static void check_end_of_time(void)
{
    char text[2048];
    struct arena arena;
    struct error err = {0};
    struct snapshot *snapshot;
    struct plan *plan;
    arena_init(&arena);
    snprintf(text, sizeof(text), SNAPSHOT, CASES[2].workloads);
    check_int(snapshot_read(text, strlen(text), &arena, &snapshot, &err), 0, "reads: %s", err.message);
    struct snapshot_workload *late = (struct snapshot_workload *)&snapshot->workloads[1];
    late->displaced_count = 1;
    late->displaced_ms = INT64_MAX;
    ((struct snapshot_pod *)snapshot->pods)[0].started_ms = INT64_MAX - 1;
    ((struct snapshot_project *)snapshot->projects)[1].reclaim_min_run_time_ms = 1000;
    check_int(scheduler_plan(snapshot, &arena, &plan, &err), 0, "plans: %s", err.message);
    check_true(plan->workloads[0].was_displaced, "what is owed to nobody is taken all the same");
    arena_done(&arena);
}

int main(void)
{
    for (size_t i = 0; i < COUNT(CASES); i++)
        check_case(i);
    check_end_of_time();
    return check_finish();
}
