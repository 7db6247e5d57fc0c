// Runs every case of tests/conformance/cases and compares with tests/conformance/expected_failures.txt: a case that
// fails and is not listed there is a regression, one that passes and is listed must be taken off the list.
// With names of cases as arguments it runs these alone and says what each differs in.
#include "base/arena.h"
#include "base/error.h"
#include "form/snapshot_reader.h"
#include "scheduler/simulation.h"
#include "tests/support/check.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASES "tests/conformance/cases"
#define EXPECTED_FAILURES "tests/conformance/expected_failures.txt"

enum {
    DIFFERENCE_SIZE = 400
};

static int check_status(const struct snapshot *snapshot, const struct plan *plan, size_t pod, const json_t *want,
                        char *difference)
{
    const char *status = json_string_value(json_object_get(want, "status"));
    const char *node = json_string_value(json_object_get(want, "node"));
    const char *got_status = snapshot_pod_status_name(plan->pods[pod].status);
    uint32_t got = plan->pods[pod].node;
    const char *got_node = got == SNAPSHOT_NONE ? "(none)" : snapshot->nodes[got].name;
    if ((!status || strcmp(status, got_status) == 0) && (!node || strcmp(node, got_node) == 0))
        return 0;
    snprintf(difference, DIFFERENCE_SIZE, "pod %s is %s on %s, want %s on %s", snapshot->pods[pod].name, got_status,
             got_node, status ? status : "(any)", node ? node : "(any)");
    return -1;
}

static int check_pods(const struct snapshot *snapshot, const struct plan *plan, const json_t *expect, char *difference)
{
    const json_t *workloads = json_object_get(expect, "workloads"), *pods = json_object_get(expect, "pods");
    size_t found_workloads = 0, found_pods = 0;
    for (size_t i = 0; i < snapshot->workload_count; i++)
        found_workloads += json_object_get(workloads, snapshot->workloads[i].name) != NULL;
    for (size_t i = 0; i < snapshot->pod_count; i++) {
        const char *workload = snapshot->workloads[snapshot->pods[i].workload].name;
        const json_t *of_workload = json_object_get(workloads, workload);
        const json_t *of_pod = json_object_get(pods, snapshot->pods[i].name);
        found_pods += of_pod != NULL;
        if (of_workload && check_status(snapshot, plan, i, of_workload, difference) < 0)
            return -1;
        if (of_pod && check_status(snapshot, plan, i, of_pod, difference) < 0)
            return -1;
    }
    if (found_workloads == json_object_size(workloads) && found_pods == json_object_size(pods))
        return 0;
    snprintf(difference, DIFFERENCE_SIZE, "expects a workload or pod that is not there");
    return -1;
}

static int check_nodes(const struct snapshot *snapshot, const struct plan *plan, const json_t *expect, char *difference)
{
    const char *name;
    const json_t *want;
    json_object_foreach(json_object_get(expect, "nodes"), name, want) {
        size_t node = 0;
        while (node < snapshot->node_count && strcmp(snapshot->nodes[node].name, name) != 0)
            node++;
        if (node == snapshot->node_count) {
            snprintf(difference, DIFFERENCE_SIZE, "expects a node that is not there: %s", name);
            return -1;
        }
        const json_t *idle = json_object_get(want, "idleGpus"), *releasing = json_object_get(want, "releasingGpus");
        const struct plan_node *got = &plan->nodes[node];
        if ((idle && json_integer_value(idle) != got->idle_gpus) ||
            (releasing && json_integer_value(releasing) != got->releasing_gpus)) {
            snprintf(difference, DIFFERENCE_SIZE, "node %s has idle %" PRId64 ", releasing %" PRId64, name,
                     got->idle_gpus, got->releasing_gpus);
            return -1;
        }
    }
    return 0;
}

// 0: what was planned is what is expected.
static int compare(const struct snapshot *snapshot, const struct plan *plan, const json_t *expect, char *difference)
{
    if (check_pods(snapshot, plan, expect, difference) < 0)
        return -1;
    return check_nodes(snapshot, plan, expect, difference);
}

static int run_cycles(struct simulation *simulation, const json_t *expect, char *difference, struct error *err)
{
    int64_t cycles = json_integer_value(json_object_get(expect, "cycles"));
    int64_t stable_for = json_integer_value(json_object_get(expect, "stableFor"));
    struct plan *plan;
    for (int64_t cycle = 1; cycle <= cycles + stable_for; cycle++) {
        if (simulation_plan(simulation, &plan, err) < 0)
            return -1;
        if (stable_for == 0 && cycle == cycles)
            return compare(&simulation->snapshot, plan, expect, difference);
        simulation_advance(simulation, plan);
        if (cycle < cycles)
            continue;
        if (simulation_look(simulation, &plan, err) < 0)
            return -1;
        if (compare(&simulation->snapshot, plan, expect, difference) < 0) {
            size_t used = strlen(difference);
            snprintf(difference + used, DIFFERENCE_SIZE - used, " after cycle %" PRId64, cycle);
            return -1;
        }
    }
    return 0;
}

// 0: passed; else difference says in what not.
static int run_case(const json_t *test_case, char *difference)
{
    struct arena arena;
    struct error err = {0};
    struct snapshot *snapshot;
    struct simulation simulation;
    arena_init(&arena);
    *difference = '\0';
    int rc = snapshot_read_json(json_object_get(test_case, "snapshot"), &arena, &snapshot, &err);
    if (rc == 0) {
        simulation_init(&simulation, snapshot);
        rc = run_cycles(&simulation, json_object_get(test_case, "expect"), difference, &err);
        simulation_done(&simulation);
    }
    if (err.code != ERROR_NONE)
        snprintf(difference, DIFFERENCE_SIZE, "%s", err.message);
    arena_done(&arena);
    return rc;
}

struct feature {
    const char *name;
    int passed, total;
};

// The first one is every case that needs none of the three kinds of shared devices.
static struct feature features[] = {
    {"whole devices", 0, 0},  {"gang", 0, 0},       {"elastic", 0, 0},  {"cpu", 0, 0},
    {"stale", 0, 0},          {"deleting", 0, 0},   {"affinity", 0, 0}, {"fraction", 0, 0},
    {"multi-fraction", 0, 0}, {"gpu-memory", 0, 0}, {"mig", 0, 0},      {"min-runtime", 0, 0},
};

static void count_features(const json_t *test_case, bool passed)
{
    static const char *const SHARED[] = {"fraction", "multi-fraction", "gpu-memory", "mig"};
    const json_t *list = json_object_get(test_case, "features"), *item;
    bool whole = true;
    size_t i;
    json_array_foreach(list, i, item) {
        for (size_t j = 0; j < COUNT(SHARED); j++)
            whole = whole && strcmp(json_string_value(item), SHARED[j]) != 0;
        for (size_t j = 1; j < COUNT(features); j++)
            if (strcmp(json_string_value(item), features[j].name) == 0) {
                features[j].passed += passed;
                features[j].total++;
            }
    }
    features[0].passed += whole && passed;
    features[0].total += whole;
}

static json_t *load_expected_failures(void)
{
    json_t *names = json_object();
    char line[200];
    FILE *file = fopen(EXPECTED_FAILURES, "r");
    check_true(file != NULL, EXPECTED_FAILURES);
    while (file && fgets(line, sizeof(line), file)) {
        line[strcspn(line, " #\n")] = '\0';
        if (*line)
            json_object_set_new(names, line, json_true());
    }
    if (file)
        fclose(file);
    return names;
}

static bool run_file(const char *name, const json_t *expected_failures, bool verbose)
{
    char path[300], difference[DIFFERENCE_SIZE];
    snprintf(path, sizeof(path), CASES "/%s.json", name);
    json_t *test_case = json_load_file(path, 0, NULL);
    check_true(test_case != NULL, "%s can be read", path);
    bool passed = run_case(test_case, difference) == 0;
    bool listed = json_object_get(expected_failures, name) != NULL;
    count_features(test_case, passed);
    check_true(passed || listed, "%s: %s", name, difference);
    check_true(!passed || !listed, "%s passes: take it off " EXPECTED_FAILURES, name);
    if (verbose)
        printf("%s: %s\n", name, passed ? "passed" : difference);
    json_decref(test_case);
    return passed;
}

static int compare_entries(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_case(const struct dirent *entry)
{
    return strstr(entry->d_name, ".json") != NULL;
}

static void run_all(const json_t *expected_failures)
{
    struct dirent **entries = NULL;
    int count = scandir(CASES, &entries, is_case, compare_entries), passed = 0;
    check_true(count > 0, CASES " has cases");
    size_t listed = json_object_size(expected_failures), found = 0;
    for (int i = 0; i < count; i++) {
        *strstr(entries[i]->d_name, ".json") = '\0';
        found += json_object_get(expected_failures, entries[i]->d_name) != NULL;
        passed += run_file(entries[i]->d_name, expected_failures, false);
        free(entries[i]);
    }
    free(entries);
    check_int((int64_t)found, (int64_t)listed, "every name in " EXPECTED_FAILURES " is a case");
    printf("%d cases: %d passed, %d failed\n", count, passed, count - passed);
    for (size_t i = 0; i < COUNT(features); i++)
        if (features[i].total > 0)
            printf("  %-14s %3d of %3d\n", features[i].name, features[i].passed, features[i].total);
}

int main(int argc, char **argv)
{
    json_t *expected_failures = load_expected_failures();
    if (argc == 1)
        run_all(expected_failures);
    for (int i = 1; i < argc; i++)
        run_file(argv[i], expected_failures, true);
    json_decref(expected_failures);
    return check_finish();
}
