#include "backends/simulated/simulated.h"

#include "backends/simulated/pod_table.h"
#include "backends/simulated/sim_clock.h"
#include "backends/simulated/sim_log.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/timestamp.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct simulated {
    struct simulated_options options;
    pthread_mutex_t lock; // of all below
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread, stopping, woken;
    backend_wake_fn wake;
    void *wake_context;
    struct sim_clock clock;
    struct pod_table pods;
    struct backend_fact *facts; // not taken yet
    size_t fact_count, fact_capacity;
    char **lost_nodes; // names of nodes that are not ready or gone
    size_t lost_node_count;
};

static int64_t now_ms(const struct simulated *simulated)
{
    return simulated->options.now_ms ? simulated->options.now_ms(simulated->options.now_context) : timestamp_now_ms();
}

static struct backend_fact *add_fact(struct simulated *simulated, enum backend_fact_kind kind, const char *pod_uuid,
                                     int64_t decision, int64_t time_ms)
{
    if (simulated->fact_count == simulated->fact_capacity) {
        simulated->fact_capacity = simulated->fact_capacity ? simulated->fact_capacity * 2 : 64;
        simulated->facts = memory_realloc(simulated->facts, simulated->fact_capacity * sizeof(*simulated->facts));
    }
    struct backend_fact *fact = &simulated->facts[simulated->fact_count++];
    *fact = (struct backend_fact){.kind = kind, .decision = decision, .time_ms = time_ms};
    snprintf(fact->pod_uuid, sizeof(fact->pod_uuid), "%s", pod_uuid);
    return fact;
}

static void set_words(struct backend_fact *fact, const char *reason, const char *message)
{
    snprintf(fact->reason, sizeof(fact->reason), "%s", reason);
    snprintf(fact->message, sizeof(fact->message), "%s", message);
}

static bool is_lost(const struct simulated *simulated, const char *node_name)
{
    for (size_t i = 0; i < simulated->lost_node_count; i++)
        if (strcmp(simulated->lost_nodes[i], node_name) == 0)
            return true;
    return false;
}

static void lose_pod(struct simulated *simulated, struct sim_pod *pod)
{
    struct backend_fact *fact = add_fact(simulated, BACKEND_POD_LOST, pod->uuid, pod->decision, now_ms(simulated));
    snprintf(fact->node_name, sizeof(fact->node_name), "%s", pod->node_name);
    set_words(fact, "NodeLost", "its node is not ready");
    pod_table_remove(&simulated->pods, pod);
}

static void enter_running(struct simulated *simulated, struct sim_pod *pod, int64_t time_ms, double sim_ms)
{
    pod->phase = SIM_RUNNING;
    pod_table_set_due(&simulated->pods, pod,
                      pod->life.duration_ms >= 0 ? sim_ms + (double)pod->life.duration_ms : INFINITY);
    struct backend_fact *usage = add_fact(simulated, BACKEND_POD_USAGE, pod->uuid, pod->decision, time_ms);
    usage->gpu_utilization = pod->life.gpu_utilization;
}

// What is due for the pod happens; it may be gone afterwards.
static void take_step(struct simulated *simulated, struct sim_pod *pod)
{
    double due = pod->due;
    int64_t time_ms = sim_clock_wall(&simulated->clock, due);
    if (pod->phase == SIM_STARTING) {
        add_fact(simulated, BACKEND_POD_RUNNING, pod->uuid, pod->decision, time_ms);
        enter_running(simulated, pod, time_ms, due);
    } else if (pod->phase == SIM_RUNNING) {
        struct backend_fact *fact = add_fact(simulated, BACKEND_POD_ENDED, pod->uuid, pod->decision, time_ms);
        fact->exit_code = pod->life.exit_code;
        if (pod->life.exit_code == 0)
            set_words(fact, "Completed", "");
        else
            set_words(fact, "Error", "the simulated process failed");
        pod->phase = SIM_ENDED;
        pod_table_set_due(&simulated->pods, pod, INFINITY);
    } else {
        add_fact(simulated, BACKEND_POD_GONE, pod->uuid, pod->decision, time_ms);
        pod_table_remove(&simulated->pods, pod);
    }
}

static void live_until_now(struct simulated *simulated)
{
    double now = sim_clock_at(&simulated->clock, now_ms(simulated));
    for (struct sim_pod *pod; (pod = pod_table_first(&simulated->pods)) && pod->due <= now + 1e-6;)
        take_step(simulated, pod);
}

static void *thread_main(void *context)
{
    struct simulated *simulated = context;
    pthread_mutex_lock(&simulated->lock);
    while (!simulated->stopping) {
        const struct sim_pod *pod = pod_table_first(&simulated->pods);
        bool idle = simulated->woken || !pod || isinf(pod->due);
        int64_t due_ms = idle ? 0 : sim_clock_wall(&simulated->clock, pod->due);
        if (idle) {
            pthread_cond_wait(&simulated->changed, &simulated->lock);
        } else if (due_ms > now_ms(simulated)) {
            struct timespec until = {.tv_sec = (time_t)(due_ms / 1000), .tv_nsec = (long)(due_ms % 1000) * 1000000};
            pthread_cond_timedwait(&simulated->changed, &simulated->lock, &until);
        } else {
            simulated->woken = true; // once, until somebody looks
            pthread_mutex_unlock(&simulated->lock);
            simulated->wake(simulated->wake_context);
            pthread_mutex_lock(&simulated->lock);
        }
    }
    pthread_mutex_unlock(&simulated->lock);
    return NULL;
}

static int start(void *backend, backend_wake_fn wake, void *wake_context, struct error *err)
{
    struct simulated *simulated = backend;
    simulated->wake = wake;
    simulated->wake_context = wake_context;
    if (simulated->options.now_ms)
        return 0;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    int rc = pthread_create(&simulated->thread, &attributes, thread_main, simulated);
    pthread_attr_destroy(&attributes);
    if (rc != 0)
        return error_set(err, ERROR_INTERNAL, "cannot start the simulated backend's thread: %s", strerror(rc));
    simulated->has_thread = true;
    return 0;
}

static void note_nodes(struct simulated *simulated, const struct backend_node *nodes, size_t count)
{
    for (size_t i = 0; i < simulated->lost_node_count; i++)
        free(simulated->lost_nodes[i]);
    simulated->lost_node_count = 0;
    simulated->lost_nodes = memory_realloc(simulated->lost_nodes, count * sizeof(char *));
    for (size_t i = 0; i < count; i++)
        if (!nodes[i].ready || nodes[i].removed)
            simulated->lost_nodes[simulated->lost_node_count++] = memory_strdup(nodes[i].name);
}

static void lose_pods_of_lost_nodes(struct simulated *simulated)
{
    for (size_t i = 0; i < simulated->pods.count && simulated->lost_node_count > 0;) {
        struct sim_pod *pod = simulated->pods.heap[i];
        if (pod->phase != SIM_ENDED && is_lost(simulated, pod->node_name)) {
            lose_pod(simulated, pod);
            i = 0; // the heap has moved; lost pods are few
        } else {
            i++;
        }
    }
}

static void nodes_changed(void *backend, const struct backend_node *nodes, size_t count)
{
    struct simulated *simulated = backend;
    pthread_mutex_lock(&simulated->lock);
    live_until_now(simulated);
    note_nodes(simulated, nodes, count);
    lose_pods_of_lost_nodes(simulated);
    bool any = simulated->fact_count > 0;
    pthread_mutex_unlock(&simulated->lock);
    if (any && simulated->wake)
        simulated->wake(simulated->wake_context);
}

static void begin_stopping(struct simulated *simulated, struct sim_pod *pod, int64_t grace_ms, double from)
{
    int64_t stop_ms = pod->life.stop_duration_ms < grace_ms ? pod->life.stop_duration_ms : grace_ms;
    pod->phase = SIM_STOPPING;
    pod_table_set_due(&simulated->pods, pod, from + (double)stop_ms);
}

// Takes up a pod's life where its rows say it stands.
static void adopt_pod(struct simulated *simulated, const struct backend_pod *row)
{
    if (row->completed_ms || !row->node_name || pod_table_find(&simulated->pods, row->uuid))
        return;
    struct sim_pod *pod = pod_table_add(&simulated->pods, row->uuid, row->node_name);
    life_read(row->spec_json, &pod->life);
    if (is_lost(simulated, row->node_name)) {
        lose_pod(simulated, pod);
        return;
    }
    if (row->started_ms) {
        double started = sim_clock_at(&simulated->clock, row->started_ms);
        enter_running(simulated, pod, row->started_ms, started);
    } else {
        pod->phase = SIM_STARTING;
        double scheduled = sim_clock_at(&simulated->clock, row->scheduled_ms);
        pod_table_set_due(&simulated->pods, pod, scheduled + (double)pod->life.start_delay_ms);
    }
    if (row->stopping_ms)
        begin_stopping(simulated, pod, row->grace_ms, sim_clock_at(&simulated->clock, row->stopping_ms));
}

static int adopt(void *backend, const struct backend_rows *rows, struct error *err)
{
    (void)err;
    struct simulated *simulated = backend;
    pthread_mutex_lock(&simulated->lock);
    note_nodes(simulated, rows->nodes, rows->node_count);
    for (size_t i = 0; i < rows->pod_count; i++)
        adopt_pod(simulated, &rows->pods[i]);
    pthread_cond_signal(&simulated->changed);
    pthread_mutex_unlock(&simulated->lock);
    return 0;
}

static void start_pod(struct simulated *simulated, const struct backend_order *order, double now)
{
    struct sim_pod *pod = pod_table_find(&simulated->pods, order->pod.uuid);
    if (pod && (pod->decision >= order->decision || pod->phase != SIM_ENDED)) {
        if (pod->decision < order->decision)
            pod->decision = order->decision;
        return;
    }
    if (pod)
        pod_table_remove(&simulated->pods, pod);
    pod = pod_table_add(&simulated->pods, order->pod.uuid, order->pod.node_name);
    pod->decision = order->decision;
    pod->phase = SIM_STARTING;
    life_read(order->pod.spec_json, &pod->life);
    if (is_lost(simulated, pod->node_name)) {
        lose_pod(simulated, pod);
        return;
    }
    add_fact(simulated, BACKEND_POD_STARTING, pod->uuid, order->decision, now_ms(simulated));
    pod_table_set_due(&simulated->pods, pod, now + (double)pod->life.start_delay_ms);
}

static void stop_pod(struct simulated *simulated, const struct backend_order *order, double now)
{
    struct sim_pod *pod = pod_table_find(&simulated->pods, order->pod.uuid);
    if (!pod) { // not there, as it should be
        add_fact(simulated, BACKEND_POD_GONE, order->pod.uuid, order->decision, now_ms(simulated));
        return;
    }
    if (pod->decision >= order->decision && pod->phase == SIM_STOPPING)
        return;
    pod->decision = order->decision;
    if (pod->phase == SIM_ENDED)
        pod_table_set_due(&simulated->pods, pod, now);
    if (pod->phase != SIM_STOPPING)
        begin_stopping(simulated, pod, pod->phase == SIM_ENDED ? 0 : order->pod.grace_ms, now);
}

static void apply(void *backend, const struct backend_order *orders, size_t count)
{
    struct simulated *simulated = backend;
    pthread_mutex_lock(&simulated->lock);
    live_until_now(simulated);
    double now = sim_clock_at(&simulated->clock, now_ms(simulated));
    for (size_t i = 0; i < count; i++) {
        if (orders[i].verb == BACKEND_START) {
            start_pod(simulated, &orders[i], now);
        } else if (orders[i].verb == BACKEND_STOP) {
            stop_pod(simulated, &orders[i], now);
        } else if (orders[i].verb == BACKEND_FORGET) {
            struct sim_pod *pod = pod_table_find(&simulated->pods, orders[i].pod.uuid);
            if (pod)
                pod_table_remove(&simulated->pods, pod);
        }
    }
    live_until_now(simulated);
    bool any = simulated->fact_count > 0;
    pthread_cond_signal(&simulated->changed);
    pthread_mutex_unlock(&simulated->lock);
    if (any && simulated->wake)
        simulated->wake(simulated->wake_context);
}

static size_t take_facts(void *backend, struct arena *arena, struct backend_fact **out_facts)
{
    struct simulated *simulated = backend;
    pthread_mutex_lock(&simulated->lock);
    live_until_now(simulated);
    size_t count = simulated->fact_count;
    *out_facts = arena_array(arena, count, sizeof(struct backend_fact));
    if (count)
        memcpy(*out_facts, simulated->facts, count * sizeof(struct backend_fact));
    simulated->fact_count = 0;
    simulated->woken = false;
    pthread_cond_signal(&simulated->changed);
    pthread_mutex_unlock(&simulated->lock);
    return count;
}

static int read_logs(void *backend, const struct backend_log_request *request, struct buffer *out,
                     int64_t *out_position, bool *out_ended, struct error *err)
{
    (void)backend;
    (void)err;
    sim_log_read(request, out, out_position, out_ended);
    return 0;
}

static void stop(void *backend)
{
    struct simulated *simulated = backend;
    if (!simulated->has_thread)
        return;
    pthread_mutex_lock(&simulated->lock);
    simulated->stopping = true;
    pthread_cond_signal(&simulated->changed);
    pthread_mutex_unlock(&simulated->lock);
    pthread_join(simulated->thread, NULL);
    simulated->has_thread = false;
}

static void destroy(void *backend)
{
    struct simulated *simulated = backend;
    note_nodes(simulated, NULL, 0);
    free(simulated->lost_nodes);
    pod_table_done(&simulated->pods);
    free(simulated->facts);
    pthread_mutex_destroy(&simulated->lock);
    pthread_cond_destroy(&simulated->changed);
    free(simulated);
}

static double clock_speed(void *backend)
{
    struct simulated *simulated = backend;
    pthread_mutex_lock(&simulated->lock);
    double speed = sim_clock_speed(&simulated->clock);
    pthread_mutex_unlock(&simulated->lock);
    return speed;
}

static void clock_set_speed(void *backend, double speed, struct buffer *out_state)
{
    struct simulated *simulated = backend;
    pthread_mutex_lock(&simulated->lock);
    sim_clock_set_speed(&simulated->clock, now_ms(simulated), speed);
    sim_clock_save(&simulated->clock, out_state);
    pthread_cond_signal(&simulated->changed);
    pthread_mutex_unlock(&simulated->lock);
}

static const struct backend_clock_ops CLOCK = {.speed = clock_speed, .set_speed = clock_set_speed};

static const struct backend_ops OPS = {
    .name = "simulated",
    .start = start,
    .adopt = adopt,
    .apply = apply,
    .nodes_changed = nodes_changed,
    .take_facts = take_facts,
    .logs = read_logs,
    .stop = stop,
    .destroy = destroy,
    .clock = &CLOCK,
};

int simulated_create(const struct simulated_options *options, struct backend *out_backend, struct error *err)
{
    struct sim_clock clock;
    int64_t now = options->now_ms ? options->now_ms(options->now_context) : timestamp_now_ms();
    if (!options->state)
        sim_clock_init(&clock, now, options->speed);
    else if (sim_clock_load(&clock, options->state, err) < 0)
        return -1;
    else if (sim_clock_speed(&clock) < options->speed || sim_clock_speed(&clock) > options->speed)
        sim_clock_set_speed(&clock, now, options->speed);
    struct simulated *simulated = memory_array(1, sizeof(*simulated));
    simulated->options = *options;
    simulated->clock = clock;
    pthread_mutex_init(&simulated->lock, NULL);
    pthread_cond_init(&simulated->changed, NULL);
    pod_table_init(&simulated->pods);
    *out_backend = (struct backend){.ops = &OPS, .self = simulated};
    return 0;
}
