#include "replay/run.h"

#include "base/arena.h"
#include "base/error.h"
#include "replay/cluster.h"
#include "replay/decisions.h"
#include "replay/events.h"
#include "replay/nodes.h"
#include "replay/policy.h"
#include "replay/trace.h"
#include "replay/usage.h"
#include "scheduler/scheduler.h"

struct engine {
    const struct trace *trace;
    const struct policy *policy;
    const struct run_options *options;
    struct run *run;
    struct cluster cluster;
    struct events events;
    struct usage usage;
    struct arena arena;      // of a plan
    struct arena scratch;    // of its making
    uint64_t *last_eviction; // by job: the cycle
    size_t next_arrival;
    size_t next_unseen; // the first arrival that no cycle has looked at
    int64_t wake_ms;    // when the last plan may change with the clock alone
    bool is_due;        // something happened and no cycle has seen it
};

static int64_t at_least(int64_t value, int64_t minimum)
{
    return value > minimum ? value : minimum;
}

static void note_start(struct engine *engine, uint32_t index)
{
    const struct trace_job *job = &engine->trace->jobs[index];
    struct run_job *state = &engine->run->jobs[index];
    struct measure *measure = &engine->run->measure;
    state->started_ms = measure->now_ms;
    if (state->first_start_ms == RUN_TIME_NONE)
        state->first_start_ms = measure->now_ms;
    int64_t left_ms = at_least(job->duration_ms - state->done_ms, 0);
    events_add(&engine->events, (struct event){measure->now_ms + left_ms, index, ++state->starts});
    measure_wait(measure, job->size, -1);
    measure_refuse(measure, job->size, -1);
    measure->project_milli[job->project] += engine->trace->sizes_milli[job->size];
    struct measure_sums *interval = measure_interval(measure, measure->now_ms);
    if (interval)
        interval->starts++;
    usage_change(&engine->usage, engine->trace, index, 1);
}

static void note_stop(struct engine *engine, uint32_t index)
{
    const struct trace_job *job = &engine->trace->jobs[index];
    struct measure *measure = &engine->run->measure;
    engine->run->jobs[index].started_ms = RUN_TIME_NONE;
    measure->project_milli[job->project] -= engine->trace->sizes_milli[job->size];
    usage_change(&engine->usage, engine->trace, index, -1);
}

static void note_eviction(struct engine *engine, uint32_t index)
{
    const struct trace_job *job = &engine->trace->jobs[index];
    struct run_job *state = &engine->run->jobs[index];
    struct run_project *project = &engine->run->projects[job->project];
    struct measure *measure = &engine->run->measure;
    int64_t ran_ms = measure->now_ms - state->started_ms;
    int64_t gpu_milli = engine->trace->sizes_milli[job->size];
    if (engine->policy->keeps_progress) {
        state->done_ms += ran_ms;
    } else {
        state->lost_ms += ran_ms;
        project->lost += (__int128)gpu_milli * ran_ms;
        measure_lose(measure, gpu_milli, state->started_ms);
    }
    state->evictions++;
    project->evicted++;
    struct measure_sums *interval = measure_interval(measure, measure->now_ms);
    if (interval)
        interval->evictions++;
    note_stop(engine, index);
    measure_wait(measure, job->size, 1);
    measure_refuse(measure, job->size, 1);
}

// Whose jobs were evicted for whom, each job once a plan.
static void count_evictions(struct engine *engine, const struct plan *plan)
{
    for (size_t i = 0; i < plan->decision_count; i++) {
        const struct plan_decision *decision = &plan->decisions[i];
        uint32_t evicted = engine->cluster.jobs[decision->workload];
        if (decision->verb != PLAN_EVICT || engine->run->jobs[evicted].started_ms == RUN_TIME_NONE ||
            engine->last_eviction[evicted] == engine->run->cycles)
            continue; // what was bound in this very cycle never ran
        engine->last_eviction[evicted] = engine->run->cycles;
        engine->run->evictions[decision->action]++;
        engine->run->moves += decision->moved;
        if (decision->beneficiary != SNAPSHOT_NONE) {
            uint32_t job = engine->cluster.jobs[decision->beneficiary];
            engine->run->projects[engine->trace->jobs[job].project].caused++;
        }
    }
}

static int plan_and_obey(struct engine *engine, bool *out_goes_on, struct error *err)
{
    struct cluster *cluster = &engine->cluster;
    struct run *run = engine->run;
    struct plan *plan;
    // Nobody reads sentences but decisions.csv.
    struct scheduler_options options = {.scratch = &engine->scratch,
                                        .decisions_only = engine->options->decisions == NULL};
    arena_clear(&engine->arena);
    arena_clear(&engine->scratch);
    if (scheduler_plan_with(&cluster->snapshot, &options, &engine->arena, &plan, err) < 0)
        return -1;
    run->cycles++;
    run->decisions += plan->decision_count;
    run->search_cuts += plan->search_cut_count;
    engine->wake_ms = plan->good_until_ms;
    *out_goes_on = false;
    for (size_t i = 0; i < plan->decision_count; i++)
        *out_goes_on = *out_goes_on || plan->decisions[i].verb != PLAN_BIND;
    count_evictions(engine, plan);
    if (engine->options->decisions &&
        decisions_write(engine->options->decisions, run->policy->name, run->cycles, &cluster->snapshot, plan, err) < 0)
        return -1;
    if (cluster_obey(cluster, plan, err) < 0)
        return -1;
    for (size_t i = 0; i < cluster->touched_count; i++) {
        uint32_t workload = cluster->touched[i], job = cluster->jobs[workload];
        bool runs = cluster_running_pods(cluster, workload) == engine->trace->jobs[job].pod_count;
        bool ran = run->jobs[job].started_ms != RUN_TIME_NONE;
        if (runs && !ran)
            note_start(engine, job);
        else if (ran && !runs)
            note_eviction(engine, job);
    }
    run->measure.allocated_milli = cluster->devices.capacity_milli - cluster->devices.free_milli;
    run->measure.fragmented_milli = devices_fragmented_milli(&cluster->devices);
    return 0;
}

// A cycle, and those that promises and evictions ask for at once. Where nobody waits there is nothing to decide: no
// action has a candidate, and gangs are whole.
static int run_cycles(struct engine *engine, struct error *err)
{
    bool goes_on = engine->cluster.waiting > 0;
    engine->is_due = false;
    engine->wake_ms = EVENTS_NEVER;
    engine->cluster.snapshot.now_ms = engine->run->measure.now_ms;
    for (; engine->next_unseen < engine->next_arrival; engine->next_unseen++)
        measure_refuse(&engine->run->measure, engine->trace->jobs[engine->trace->arrivals[engine->next_unseen]].size,
                       1);
    if (goes_on && engine->policy->has_usage)
        usage_write(&engine->usage, engine->trace, &engine->cluster);
    for (int i = 0; goes_on && i < RUN_REPEATS_MAXIMUM; i++)
        if (plan_and_obey(engine, &goes_on, err) < 0)
            return -1;
    engine->run->unrested += goes_on;
    return 0;
}

static void take_events(struct engine *engine, int64_t now_ms)
{
    struct run *run = engine->run;
    while (events_next_ms(&engine->events) == now_ms) {
        struct event event = events_take(&engine->events);
        struct run_job *state = &run->jobs[event.job];
        if (state->started_ms == RUN_TIME_NONE || state->starts != event.start)
            continue;
        state->ended_ms = now_ms;
        note_stop(engine, event.job);
        cluster_remove(&engine->cluster, event.job);
        run->events_done++;
        engine->is_due = true;
    }
    for (; engine->next_arrival < engine->trace->arrival_count; engine->next_arrival++) {
        uint32_t job = engine->trace->arrivals[engine->next_arrival];
        if (engine->trace->jobs[job].submit_ms > now_ms)
            break;
        cluster_add(&engine->cluster, job);
        measure_wait(&run->measure, engine->trace->jobs[job].size, 1);
        run->events_done++;
        engine->is_due = true;
    }
    run->measure.allocated_milli = engine->cluster.devices.capacity_milli - engine->cluster.devices.free_milli;
    run->measure.fragmented_milli = devices_fragmented_milli(&engine->cluster.devices);
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// When the cycle is due that sees what has happened by now.
static int64_t cycle_ms(const struct engine *engine, int64_t now_ms)
{
    int64_t period = engine->policy->period_ms;
    if (period == 0)
        return now_ms;
    return (now_ms + period - 1) / period * period;
}

static int64_t next_ms(const struct engine *engine)
{
    int64_t next = earlier(events_next_ms(&engine->events), engine->cluster.waiting ? engine->wake_ms : EVENTS_NEVER);
    if (engine->next_arrival < engine->trace->arrival_count)
        next = earlier(next, engine->trace->jobs[engine->trace->arrivals[engine->next_arrival]].submit_ms);
    if (engine->is_due)
        next = earlier(next, cycle_ms(engine, engine->run->measure.now_ms));
    return next;
}

static int run_events(struct engine *engine, struct error *err)
{
    struct run *run = engine->run;
    int64_t last_ms = earlier(engine->options->until_ms, TRACE_FOREVER_MS - 1);
    for (int64_t now = next_ms(engine); now <= last_ms; now = next_ms(engine)) {
        measure_advance(&run->measure, now);
        usage_pass(&engine->usage, now);
        run->end_ms = now;
        take_events(engine, now);
        if (now >= engine->wake_ms) {
            engine->is_due = true;
            engine->wake_ms = EVENTS_NEVER;
        }
        if (engine->is_due && cycle_ms(engine, now) == now && run_cycles(engine, err) < 0)
            return -1;
        if (engine->options->progress)
            engine->options->progress(engine->options->progress_context, run);
    }
    if (engine->options->until_ms < INT64_MAX)
        run->end_ms = engine->options->until_ms;
    // A window that outlasts the events is filled with what stands.
    measure_advance(&run->measure, at_least(run->end_ms, run->measure.until_ms));
    run->end_allocated_milli = run->measure.allocated_milli;
    run->end_fragmented_milli = run->measure.fragmented_milli;
    return 0;
}

static void init_run(struct run *run, const struct trace *trace, const struct policy *policy,
                     const struct snapshot *base, struct arena *arena)
{
    *run = (struct run){.policy = policy, .trace = trace};
    run->jobs = arena_array(arena, trace->job_count, sizeof(*run->jobs));
    for (size_t i = 0; i < trace->job_count; i++)
        run->jobs[i].first_start_ms = run->jobs[i].started_ms = run->jobs[i].ended_ms = RUN_TIME_NONE;
    run->projects = arena_array(arena, trace->project_count, sizeof(*run->projects));
    for (size_t p = 0; p < trace->project_count; p++)
        run->projects[p].deserved_milli =
            policy->is_one_project ? QUANTITY_UNLIMITED : base->projects[p].queues[0].deserved.of[RESOURCE_GPU];
    run->events_total = trace->arrival_count * (trace->is_drawn ? 1 : 2);
    run->end_ms = trace->first_ms;
}

int run_policy(const struct trace *trace, const struct nodes *nodes, const struct policy *policy,
               const struct quota_file *quotas, const struct run_options *options, struct arena *arena,
               struct run *out_run, struct error *err)
{
    struct snapshot base;
    if (policy_make_snapshot(policy, nodes, trace, quotas, arena, &base, err) < 0)
        return -1;
    struct engine engine = {
        .trace = trace, .policy = policy, .options = options, .run = out_run, .wake_ms = EVENTS_NEVER};
    init_run(out_run, trace, policy, &base, arena);
    engine.last_eviction = arena_array(arena, trace->job_count, sizeof(*engine.last_eviction));
    measure_init(&out_run->measure, trace, nodes->gpu_milli, options->until_ms, arena);
    cluster_init(&engine.cluster, &base, trace, policy, arena);
    usage_init(&engine.usage, trace, policy->usage_half_life_ms, nodes, out_run->measure.now_ms, arena);
    out_run->measure.fragmented_milli = devices_fragmented_milli(&engine.cluster.devices);
    arena_init(&engine.arena);
    arena_init(&engine.scratch);
    int rc = run_events(&engine, err);
    arena_done(&engine.arena);
    arena_done(&engine.scratch);
    events_done(&engine.events);
    cluster_done(&engine.cluster);
    return rc;
}
