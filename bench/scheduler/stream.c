#include "bench/scheduler/stream.h"

#include "bench/scheduler/clusters.h"
#include "bench/scheduler/measure.h"
#include "scheduler/scheduler.h"

#include <string.h>

enum {
    GANG_PODS = 4
};

struct live { // beside each workload of the snapshot
    int64_t run_us;
    int64_t end_us; // INT64_MAX: does not run
};

struct stream {
    const struct stream_spec *spec;
    struct cluster cluster;
    struct live *live;
    int64_t now_us;
    size_t arrived;
    int64_t *times_ns;
    size_t time_capacity;
    struct stream_figures figures;
};

static uint32_t mix(uint32_t value)
{
    value = (value ^ value >> 16) * UINT32_C(0x7feb352d);
    value = (value ^ value >> 15) * UINT32_C(0x846ca68b);
    return value ^ value >> 16;
}

static int64_t arrival_us(const struct stream *stream)
{
    return stream->arrived < stream->spec->workloads ? (int64_t)stream->arrived * stream->spec->gap_us : INT64_MAX;
}

static int64_t next_end_us(const struct stream *stream)
{
    int64_t next = INT64_MAX;
    for (size_t w = 0; w < stream->cluster.snapshot.workload_count; w++)
        next = stream->live[w].end_us < next ? stream->live[w].end_us : next;
    return next;
}

static void add_arrivals(struct stream *stream)
{
    const struct stream_spec *spec = stream->spec;
    struct cluster *cluster = &stream->cluster;
    for (; arrival_us(stream) <= stream->now_us; stream->arrived++) {
        uint32_t random = mix((uint32_t)stream->arrived + 1);
        bool is_gang = random % 10 == 0;
        uint32_t gpus = 1;
        for (uint32_t bits = random >> 8; bits & 1 && gpus < spec->largest; bits >>= 1)
            gpus *= 2;
        size_t index = cluster->snapshot.workload_count;
        struct snapshot_workload *workload = cluster_add(cluster, (uint32_t)((random >> 12) % spec->projects),
                                                         is_gang ? GANG_PODS : 1, gpus, SNAPSHOT_NONE, 0);
        workload->name = arena_printf(&cluster->arena, "workload-%06zu", stream->arrived);
        workload->created_ms = stream->now_us / 1000;
        stream->live[index] =
            (struct live){.run_us = (int64_t)spec->run_ms * (500 + random / 4 % 1000), .end_us = INT64_MAX};
    }
}

// Takes out what has ended; what stays moves together, in its order.
static void remove_ended(struct stream *stream)
{
    struct cluster *cluster = &stream->cluster;
    struct snapshot *snapshot = &cluster->snapshot;
    size_t workloads = 0, pods = 0;
    for (size_t w = 0; w < snapshot->workload_count; w++) {
        if (stream->live[w].end_us <= stream->now_us)
            continue;
        struct snapshot_workload workload = cluster->workloads[w];
        if (workloads != w) {
            memmove(cluster->pods + pods, cluster->pods + workload.first_pod,
                    workload.pod_count * sizeof(*cluster->pods));
            cluster->workloads[workloads] = workload;
            cluster->workloads[workloads].first_pod = (uint32_t)pods;
            stream->live[workloads] = stream->live[w];
            for (uint32_t i = 0; i < workload.pod_count; i++)
                cluster->pods[pods + i].workload = (uint32_t)workloads;
        }
        pods += workload.pod_count;
        workloads++;
    }
    snapshot->workload_count = workloads;
    snapshot->pod_count = pods;
}

// Bound pods run, evicted ones wait again, promises are kept.
static void obey(struct stream *stream, const struct plan *plan)
{
    struct cluster *cluster = &stream->cluster;
    for (size_t i = 0; i < plan->decision_count; i++) {
        const struct plan_decision *decision = &plan->decisions[i];
        struct snapshot_pod *pod = &cluster->pods[decision->pod];
        struct live *live = &stream->live[decision->workload];
        enum snapshot_pod_status status = plan->pods[decision->pod].status;
        if (decision->verb == PLAN_BIND && status == SNAPSHOT_POD_BINDING) {
            pod->status = SNAPSHOT_POD_RUNNING;
            pod->node = decision->node;
            pod->started_ms = stream->now_us / 1000;
            live->end_us = stream->now_us + live->run_us;
            stream->figures.bound_pods++;
        } else if (decision->verb == PLAN_EVICT) {
            pod->status = SNAPSHOT_POD_PENDING;
            pod->node = SNAPSHOT_NONE;
            live->end_us = INT64_MAX;
            stream->figures.evicted_pods++;
        }
    }
    for (size_t w = 0; w < cluster->snapshot.workload_count; w++)
        cluster->workloads[w].promise = plan->workloads[w].promise;
}

static void note(struct stream *stream, int64_t plan_ns, size_t arena_bytes)
{
    struct stream_figures *figures = &stream->figures;
    const struct snapshot *snapshot = &stream->cluster.snapshot;
    size_t waiting = 0;
    for (size_t w = 0; w < snapshot->workload_count; w++)
        waiting += stream->live[w].end_us == INT64_MAX;
    if (figures->cycles == stream->time_capacity) {
        stream->time_capacity = stream->time_capacity ? stream->time_capacity * 2 : 1024;
        stream->times_ns = memory_realloc(stream->times_ns, stream->time_capacity * sizeof(*stream->times_ns));
    }
    stream->times_ns[figures->cycles++] = plan_ns;
    figures->plan_seconds += (double)plan_ns / 1e9;
    figures->arena_bytes = arena_bytes > figures->arena_bytes ? arena_bytes : figures->arena_bytes;
    figures->pods = snapshot->pod_count > figures->pods ? snapshot->pod_count : figures->pods;
    figures->most_live = snapshot->workload_count > figures->most_live ? snapshot->workload_count : figures->most_live;
    figures->most_waiting = waiting > figures->most_waiting ? waiting : figures->most_waiting;
}

static bool go_on(struct stream *stream)
{
    int64_t period_us = (int64_t)stream->spec->period_ms * 1000;
    int64_t arrival = arrival_us(stream), end = next_end_us(stream);
    if (arrival == INT64_MAX && end == INT64_MAX)
        return false;
    int64_t next = arrival < end ? arrival : end;
    stream->now_us = period_us > 0 ? (next + period_us - 1) / period_us * period_us : next;
    return true;
}

static int run_cycles(struct stream *stream, struct error *err)
{
    struct arena arena;
    arena_init(&arena);
    int rc = 0;
    while (rc == 0 && go_on(stream)) {
        struct plan *plan;
        int64_t start_ns = measure_now_ns();
        remove_ended(stream);
        add_arrivals(stream);
        stream->cluster.snapshot.now_ms = stream->now_us / 1000;
        int64_t plan_ns = measure_now_ns();
        rc = scheduler_plan(&stream->cluster.snapshot, &arena, &plan, err);
        int64_t done_ns = measure_now_ns();
        if (rc == 0)
            obey(stream, plan);
        stream->figures.seconds += (double)(measure_now_ns() - start_ns) / 1e9;
        note(stream, done_ns - plan_ns, arena.used_bytes);
        arena_clear(&arena);
    }
    arena_done(&arena);
    return rc;
}

int stream_run(const struct stream_spec *spec, struct stream_figures *out_figures, struct error *err)
{
    struct stream stream = {.spec = spec};
    int64_t gpus = (int64_t)spec->nodes * CLUSTER_GPUS_PER_NODE;
    cluster_init(&stream.cluster);
    if (spec->budget > 0)
        stream.cluster.snapshot.settings.scenarios_per_workload = spec->budget;
    cluster_make_nodes(&stream.cluster, spec->nodes);
    cluster_make_projects(&stream.cluster, spec->departments, spec->projects, gpus / (int64_t)spec->projects);
    cluster_reserve(&stream.cluster, spec->workloads, spec->workloads * GANG_PODS);
    stream.live = arena_array(&stream.cluster.arena, spec->workloads, sizeof(*stream.live));
    int rc = run_cycles(&stream, err);
    if (rc == 0) {
        stream.figures.median_ms = measure_median_ms(stream.times_ns, stream.figures.cycles);
        stream.figures.longest_ms = (double)stream.times_ns[stream.figures.cycles - 1] / 1e6;
        *out_figures = stream.figures;
    }
    free(stream.times_ns);
    cluster_done(&stream.cluster);
    return rc;
}
