// Simulated lives: what annotations make of them, what orders do to them, and that a restart changes nothing.
#include "backends/simulated/simulated.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "tests/support/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define START INT64_C(1700000000000)

struct bench {
    struct backend backend;
    struct arena arena;
    int64_t now_ms;
    int wakes;
    char facts[512]; // "RUNNING@0 ENDED@5000:3": kind and time since START
};

static int64_t now_of(void *context)
{
    return ((struct bench *)context)->now_ms;
}

static void wake(void *context)
{
    ((struct bench *)context)->wakes++;
}

static void bench_open(struct bench *bench, double speed, const char *state)
{
    struct error err = {0};
    struct simulated_options options = {.speed = speed, .state = state, .now_ms = now_of, .now_context = bench};
    if (!bench->now_ms)
        *bench = (struct bench){.now_ms = START};
    arena_init(&bench->arena);
    check_int(simulated_create(&options, &bench->backend, &err), 0, "it is made");
    check_int(bench->backend.ops->start(bench->backend.self, wake, bench, &err), 0, "it starts");
}

static void bench_close(struct bench *bench)
{
    backend_destroy(&bench->backend);
    arena_done(&bench->arena);
}

static const char *take(struct bench *bench)
{
    static const char *const NAMES[] = {
        [BACKEND_POD_RUNNING] = "RUNNING", [BACKEND_POD_ENDED] = "ENDED", [BACKEND_POD_GONE] = "GONE",
        [BACKEND_POD_REFUSED] = "REFUSED", [BACKEND_POD_LOST] = "LOST",   [BACKEND_POD_UNKNOWN] = "UNKNOWN",
        [BACKEND_POD_WARNING] = "WARNING", [BACKEND_NODE_STATE] = "NODE",
    };
    struct backend_fact *facts;
    size_t count = bench->backend.ops->take_facts(bench->backend.self, &bench->arena, &facts);
    bench->facts[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(bench->facts);
        if (facts[i].kind == BACKEND_POD_USAGE || facts[i].kind == BACKEND_POD_LOAD ||
            facts[i].kind == BACKEND_POD_STARTING || facts[i].kind == BACKEND_NODE_LOAD)
            continue;
        snprintf(bench->facts + length, sizeof(bench->facts) - length, "%s%s@%" PRId64, length ? " " : "",
                 NAMES[facts[i].kind], (facts[i].time_ms - START));
        if (facts[i].kind == BACKEND_POD_ENDED) {
            length = strlen(bench->facts);
            snprintf(bench->facts + length, sizeof(bench->facts) - length, ":%" PRId64, facts[i].exit_code);
        }
    }
    return bench->facts;
}

static struct backend_pod pod_of(const char *annotations, char spec[1024])
{
    snprintf(spec, 1024, "{\"annotations\":[%s]}", annotations);
    return (struct backend_pod){.uuid = "11111111-2222-4333-8444-555555555555",
                                .name = "job-0-0",
                                .role = "worker",
                                .workload_uuid = "w",
                                .workload_name = "job",
                                .workload_type = "Training",
                                .project_name = "team-a",
                                .namespace = "runai-team-a",
                                .spec_json = spec,
                                .node_name = "node0",
                                .gpu_milli = 1000,
                                .grace_ms = 30000,
                                .scheduled_ms = START};
}

static void order(struct bench *bench, int64_t decision, enum backend_verb verb, const struct backend_pod *pod)
{
    struct backend_order one = {decision, verb, *pod};
    bench->backend.ops->apply(bench->backend.self, &one, 1);
}

#define SIM(key, value) "{\"name\":\"prorata.io/sim-" key "\",\"value\":\"" value "\"}"

struct life_case {
    const char *name;
    const char *annotations;
    double speed;
    int64_t stop_after_ms; // 0: not told to stop
    int64_t until_ms;
    const char *want;
};

static const struct life_case LIVES[] = {
    {"by default it starts at once and runs on", "", 1, 0, 1000000, "RUNNING@0"},
    {"and stops at once", "", 1, 5000, 10000, "RUNNING@0 GONE@5000"},
    {"a start delay", SIM("start-delay", "10s"), 1, 0, 20000, "RUNNING@10000"},
    {"not before it is due", SIM("start-delay", "10s"), 1, 0, 9999, ""},
    {"a duration", SIM("duration", "1m"), 1, 0, 70000, "RUNNING@0 ENDED@60000:0"},
    {"it counts from the start", SIM("start-delay", "10s") "," SIM("duration", "5s"), 1, 0, 70000,
     "RUNNING@10000 ENDED@15000:0"},
    {"an exit code", SIM("duration", "5s") "," SIM("exit-code", "137"), 1, 0, 70000, "RUNNING@0 ENDED@5000:137"},
    {"a stop takes its time", SIM("stop-duration", "20s"), 1, 5000, 60000, "RUNNING@0 GONE@25000"},
    {"but no more than the grace time", SIM("stop-duration", "5m"), 1, 5000, 60000, "RUNNING@0 GONE@35000"},
    {"stopped while it starts", SIM("start-delay", "1m"), 1, 5000, 70000, "GONE@5000"},
    {"ten times faster", SIM("start-delay", "10s") "," SIM("duration", "50s"), 10, 0, 70000,
     "RUNNING@1000 ENDED@6000:0"},
    {"what cannot be read keeps its default", SIM("duration", "soon"), 1, 0, 70000, "RUNNING@0"},
    {"an annotation that is excluded", "{\"name\":\"prorata.io/sim-duration\",\"value\":\"1s\",\"exclude\":true}", 1, 0,
     70000, "RUNNING@0"},
};

static void append(char all[1024], const char *facts)
{
    if (*facts)
        snprintf(all + strlen(all), 1024 - strlen(all), "%s%s", *all ? " " : "", facts);
}

// With restarts: before every step the backend is thrown away and adopts what its rows would say.
static void live_through(const struct life_case *row, bool restarts)
{
    struct bench bench = {0};
    char all[1024] = "", spec[1024];
    struct error err = {0};
    bench_open(&bench, row->speed, NULL);
    struct backend_pod pod = pod_of(row->annotations, spec);
    struct buffer state;
    buffer_init(&state, 0);
    bench.backend.ops->clock->set_speed(bench.backend.self, row->speed, &state);
    order(&bench, 1, BACKEND_START, &pod);
    bool is_over = false;
    for (int64_t at = 0; !is_over; at = at + 2500 < row->until_ms ? at + 2500 : row->until_ms) {
        bench.now_ms = START + at;
        if (restarts && at > 0) {
            bench_close(&bench);
            bench_open(&bench, row->speed, state.data);
            struct backend_node node = {.name = "node0", .ready = true, .reason = ""};
            struct backend_rows rows = {.pods = &pod, .pod_count = 1, .nodes = &node, .node_count = 1};
            bench.backend.ops->adopt(bench.backend.self, &rows, &err);
        }
        if (row->stop_after_ms && at == row->stop_after_ms) {
            pod.stopping_ms = bench.now_ms;
            order(&bench, 2, BACKEND_STOP, &pod);
        }
        const char *facts = take(&bench);
        append(all, facts);
        const char *running = strstr(facts, "RUNNING@");
        int64_t started;
        if (running && sscanf(running, "RUNNING@%" SCNd64, &started) == 1)
            pod.started_ms = START + started;
        if (strstr(facts, "ENDED") || strstr(facts, "GONE"))
            pod.completed_ms = bench.now_ms;
        is_over = at == row->until_ms;
    }
    check_text(all, row->want, "%s%s", row->name, restarts ? ", restarted at every step" : "");
    buffer_done(&state);
    bench_close(&bench);
}

static void test_orders_twice(void)
{
    struct bench bench = {0};
    char spec[1024];
    bench_open(&bench, 1, NULL);
    struct backend_pod pod = pod_of(SIM("duration", "10s"), spec);
    order(&bench, 1, BACKEND_START, &pod);
    check_text(take(&bench), "RUNNING@0", "started");
    bench.now_ms += 4000;
    order(&bench, 1, BACKEND_START, &pod);
    check_text(take(&bench), "", "the same order again changes nothing");
    bench.now_ms += 7000;
    check_text(take(&bench), "ENDED@10000:0", "it ends when it was to");
    order(&bench, 2, BACKEND_STOP, &pod);
    check_text(take(&bench), "GONE@11000", "to stop what has ended: it is gone");
    order(&bench, 3, BACKEND_STOP, &pod);
    check_text(take(&bench), "GONE@11000", "to stop what is not there, too");
    bench_close(&bench);
}

static void test_load(void)
{
    struct bench bench = {0};
    char spec[1024];
    bench_open(&bench, 1, NULL);
    struct backend_pod pod = pod_of("", spec);
    snprintf(spec, sizeof(spec), "{\"compute\":{\"cpuCoreRequest\":2,\"cpuMemoryRequest\":\"1G\"}}");
    order(&bench, 1, BACKEND_START, &pod);
    struct backend_fact *facts;
    size_t count = bench.backend.ops->take_facts(bench.backend.self, &bench.arena, &facts), loads = 0;
    for (size_t i = 0; i < count; i++) {
        if (facts[i].kind != BACKEND_POD_LOAD)
            continue;
        loads++;
        check_int(facts[i].cpu_milli, 1200, "six tenths of the CPU that it asks for");
        check_int(facts[i].memory_bytes, 600000000, "and of the memory");
    }
    check_int((int64_t)loads, 1, "what a pod uses is told once it runs");
    bench_close(&bench);
}

// "NODE CORES/1000 BYTES" of each node whose use is told, by the order of its name.
static void check_node_loads(struct bench *bench, const char *want, const char *what)
{
    struct buffer got;
    struct backend_fact *facts;
    buffer_init(&got, 0);
    buffer_text(&got, "");
    size_t count = bench->backend.ops->take_facts(bench->backend.self, &bench->arena, &facts);
    for (size_t i = 0; i < count; i++)
        if (facts[i].kind == BACKEND_NODE_LOAD)
            buffer_printf(&got, "%s %" PRId64 " %" PRId64 ";", facts[i].node_name, facts[i].cpu_milli,
                          facts[i].memory_bytes);
    check_text(got.data, want, "%s", what);
    buffer_done(&got);
}

static void test_node_loads(void)
{
    struct bench bench = {0};
    char spec[1024];
    bench_open(&bench, 1, NULL);
    struct backend_pod pod = pod_of("", spec), second = pod;
    const struct backend_node ready = {.name = pod.node_name, .ready = true}, lost = {.name = pod.node_name};
    snprintf(spec, sizeof(spec), "{\"compute\":{\"cpuCoreRequest\":2,\"cpuMemoryRequest\":\"1G\"}}");
    second.uuid = "00000000-0000-4000-8000-000000000002";
    bench.backend.ops->nodes_changed(bench.backend.self, &ready, 1);
    check_node_loads(&bench, "node0 0 0;", "a node without pods uses nothing");
    order(&bench, 1, BACKEND_START, &pod);
    order(&bench, 2, BACKEND_START, &second);
    check_node_loads(&bench, "node0 2400 1200000000;", "else what its pods use");
    check_node_loads(&bench, "", "told once");
    order(&bench, 3, BACKEND_STOP, &pod);
    check_node_loads(&bench, "node0 1200 600000000;", "those that run");
    bench.backend.ops->nodes_changed(bench.backend.self, &lost, 1);
    check_node_loads(&bench, "node0 -1 -1;", "of a lost node nothing is known");
    bench.backend.ops->nodes_changed(bench.backend.self, &ready, 1);
    check_node_loads(&bench, "node0 0 0;", "it comes back without its pods");
    bench_close(&bench);
}

// A half of two devices of 1000 MiB, at 50 %: half of its part of each.
static void test_gpu_memory(void)
{
    struct bench bench = {0};
    char spec[1024];
    bench_open(&bench, 1, NULL);
    struct backend_pod pod = pod_of(SIM("gpu-utilization", "50"), spec);
    static const uint32_t DEVICES[] = {1, 3};
    pod.gpu_indices = DEVICES;
    pod.gpu_index_count = 2;
    pod.gpu_memory_mib = 1000;
    order(&bench, 1, BACKEND_START, &pod);
    struct backend_fact *facts;
    size_t count = bench.backend.ops->take_facts(bench.backend.self, &bench.arena, &facts), found = 0;
    for (size_t i = 0; i < count; i++) {
        if (facts[i].kind != BACKEND_POD_USAGE)
            continue;
        found++;
        check_true(facts[i].has_gpu_memory, "it is told");
        for (int d = 0; d < 5; d++)
            check_int(facts[i].gpu_memory_mib[d], d == 1 || d == 3 ? 250 : -1, "device %d", d);
    }
    check_int((int64_t)found, 1, "once it runs");
    struct backend_device *devices;
    check_int((int64_t)bench.backend.ops->read_devices(bench.backend.self, "node0", &bench.arena, &devices), 4,
              "up to the last one that is held");
    check_int(devices[3].memory_used_mib, 250, "used of one");
    check_int(devices[2].memory_used_mib, -1, "nobody measures what nobody holds");
    check_int((int64_t)bench.backend.ops->read_devices(bench.backend.self, "node1", &bench.arena, &devices), 0,
              "another node");
    bench_close(&bench);
}

static void test_nodes(void)
{
    struct bench bench = {0};
    char spec[1024];
    bench_open(&bench, 1, NULL);
    struct backend_pod pod = pod_of("", spec);
    order(&bench, 1, BACKEND_START, &pod);
    (void)take(&bench);
    struct backend_node nodes[] = {{.name = "node0", .ready = true, .reason = ""},
                                   {.name = "node1", .ready = false, .reason = ""}};
    bench.backend.ops->nodes_changed(bench.backend.self, nodes, 2);
    check_text(take(&bench), "", "another node's failure is nothing to it");
    nodes[0].ready = false;
    bench.wakes = 0;
    bench.backend.ops->nodes_changed(bench.backend.self, nodes, 2);
    check_true(bench.wakes > 0, "somebody is woken");
    check_text(take(&bench), "LOST@0", "its own node's takes it along");
    order(&bench, 2, BACKEND_START, &pod);
    check_text(take(&bench), "LOST@0", "nothing starts there");
    nodes[0].ready = true;
    bench.backend.ops->nodes_changed(bench.backend.self, nodes, 2);
    order(&bench, 3, BACKEND_START, &pod);
    check_text(take(&bench), "RUNNING@0", "until it recovers");
    bench_close(&bench);
}

static void test_speed_changes_on_the_way(void)
{
    struct bench bench = {0};
    char spec[1024];
    bench_open(&bench, 1, NULL);
    struct backend_pod pod = pod_of(SIM("duration", "100s"), spec);
    order(&bench, 1, BACKEND_START, &pod);
    (void)take(&bench);
    bench.now_ms += 50000;
    struct buffer state;
    buffer_init(&state, 0);
    for (int i = 0; i < 100; i++) { // the same speed again, as every start of the server sets it, forgets nothing
        buffer_clear(&state);
        bench.backend.ops->clock->set_speed(bench.backend.self, 10, &state);
    }
    bench.now_ms += 4900;
    check_text(take(&bench), "", "half its life is left, which takes five seconds");
    bench_close(&bench);
    bench_open(&bench, 10, state.data);
    pod.started_ms = START;
    struct backend_node node = {.name = "node0", .ready = true, .reason = ""};
    struct error err = {0};
    struct backend_rows rows = {.pods = &pod, .pod_count = 1, .nodes = &node, .node_count = 1};
    bench.backend.ops->adopt(bench.backend.self, &rows, &err);
    bench.now_ms += 200;
    check_text(take(&bench), "ENDED@55000:0", "and is not changed by a restart");
    buffer_done(&state);
    bench_close(&bench);
    struct backend none;
    struct simulated_options options = {.speed = 1, .state = "nonsense", .now_ms = now_of, .now_context = &bench};
    check_int(simulated_create(&options, &none, &err), -1, "a state that cannot be read is refused");
}

static void test_logs(void)
{
    struct bench bench = {0};
    char spec[1024];
    bench_open(&bench, 1, NULL);
    struct backend_log_request request = {
        .pod = pod_of("", spec), .tail = -1, .now_ms = START + 20000, .max_bytes = 1 << 20};
    request.pod.started_ms = START;
    struct buffer all, parts, tail;
    struct error err = {0};
    int64_t position;
    bool ended;
    buffer_init(&all, 0);
    buffer_init(&parts, 0);
    buffer_init(&tail, 0);
    bench.backend.ops->logs(bench.backend.self, &request, &all, &position, &ended, &err);
    check_true(all.length > 0 && !ended, "it prints, and goes on");
    request.now_ms = START + 7000;
    bench.backend.ops->logs(bench.backend.self, &request, &parts, &request.position, &ended, &err);
    bench_close(&bench);
    bench_open(&bench, 1, NULL);
    request.now_ms = START + 20000;
    bench.backend.ops->logs(bench.backend.self, &request, &parts, &request.position, &ended, &err);
    check_text(parts.data, all.data, "in two parts and over a restart, the same");
    request.position = 0;
    request.tail = 2;
    bench.backend.ops->logs(bench.backend.self, &request, &tail, &position, &ended, &err);
    check_text(tail.data, all.data + all.length - tail.length, "the tail is the end of it");
    request.pod.completed_ms = START + 20000;
    bench.backend.ops->logs(bench.backend.self, &request, &tail, &position, &ended, &err);
    check_true(ended, "what is over ends");
    buffer_done(&all);
    buffer_done(&parts);
    buffer_done(&tail);
    bench_close(&bench);
}

int main(void)
{
    for (size_t i = 0; i < COUNT(LIVES); i++) {
        live_through(&LIVES[i], false);
        live_through(&LIVES[i], true);
    }
    test_orders_twice();
    test_load();
    test_node_loads();
    test_gpu_memory();
    test_nodes();
    test_speed_changes_on_the_way();
    test_logs();
    return check_finish();
}
