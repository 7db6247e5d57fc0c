#include "backends/simulated/simulated.h"

#include "backends/facts.h"
#include "backends/simulated/pod_table.h"
#include "backends/simulated/sim_clock.h"
#include "backends/simulated/sim_log.h"
#include "backends/simulated/sim_nodes.h"
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
    struct backend_facts facts;
    struct sim_nodes nodes;
};

static int64_t now_ms(const struct simulated *simulated)
{
    return simulated->options.now_ms ? simulated->options.now_ms(simulated->options.now_context) : timestamp_now_ms();
}

static struct backend_fact *add_fact(struct simulated *simulated, enum backend_fact_kind kind, const char *pod_uuid,
                                     int64_t decision, int64_t time_ms)
{
    return backend_facts_add(&simulated->facts, kind, pod_uuid, decision, time_ms);
}

static bool is_lost(struct simulated *simulated, const char *node_name)
{
    return sim_nodes_get(&simulated->nodes, node_name)->is_lost;
}

// Its node's use counts it, or does not any more.
static void set_using(struct simulated *simulated, struct sim_pod *pod, bool is_using)
{
    if (pod->is_using == is_using)
        return;
    int64_t sign = is_using ? 1 : -1;
    pod->is_using = is_using;
    sim_nodes_use(&simulated->nodes, pod->node_name, sign * pod->life.cpu_milli, sign * pod->life.memory_bytes);
}

static void remove_pod(struct simulated *simulated, struct sim_pod *pod)
{
    set_using(simulated, pod, false);
    pod_table_remove(&simulated->pods, pod);
}

static void lose_pod(struct simulated *simulated, struct sim_pod *pod)
{
    struct backend_fact *fact = add_fact(simulated, BACKEND_POD_LOST, pod->uuid, pod->decision, now_ms(simulated));
    snprintf(fact->node_name, sizeof(fact->node_name), "%s", pod->node_name);
    backend_fact_say(fact, "NodeLost", "its node is not ready");
    remove_pod(simulated, pod);
}

// The same part of each device that it holds.
static void read_row(struct sim_pod *pod, const struct backend_pod *row)
{
    life_read(row->spec_json, &pod->life);
    int64_t whole_milli = (int64_t)row->gpu_index_count * 1000;
    for (size_t i = 0; i < row->gpu_index_count; i++)
        if (row->gpu_indices[i] < BACKEND_DEVICES_MAX)
            pod->gpus |= UINT64_C(1) << row->gpu_indices[i];
    if (pod->gpus && row->gpu_memory_mib < INT32_MAX)
        pod->gpu_memory_mib = (int64_t)((double)row->gpu_memory_mib * life_gpu_memory_percent(&pod->life) / 100 *
                                        (double)row->gpu_milli / (double)whole_milli);
}

static void enter_running(struct simulated *simulated, struct sim_pod *pod, int64_t time_ms, double sim_ms)
{
    pod->phase = SIM_RUNNING;
    pod_table_set_due(&simulated->pods, pod,
                      pod->life.duration_ms >= 0 ? sim_ms + (double)pod->life.duration_ms : INFINITY);
    struct backend_fact *usage = add_fact(simulated, BACKEND_POD_USAGE, pod->uuid, pod->decision, time_ms);
    usage->gpu_utilization = pod->life.gpu_utilization;
    usage->has_gpu_memory = pod->gpu_memory_mib > 0;
    for (size_t i = 0; i < BACKEND_DEVICES_MAX && usage->has_gpu_memory; i++)
        usage->gpu_memory_mib[i] = (pod->gpus >> i & 1) != 0 ? (int32_t)pod->gpu_memory_mib : -1;
    struct backend_fact *load = add_fact(simulated, BACKEND_POD_LOAD, pod->uuid, pod->decision, time_ms);
    load->cpu_milli = pod->life.cpu_milli;
    load->memory_bytes = pod->life.memory_bytes;
    set_using(simulated, pod, true);
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
            backend_fact_say(fact, "Completed", "");
        else
            backend_fact_say(fact, "Error", "the simulated process failed");
        pod->phase = SIM_ENDED;
        set_using(simulated, pod, false);
        pod_table_set_due(&simulated->pods, pod, INFINITY);
    } else {
        add_fact(simulated, BACKEND_POD_GONE, pod->uuid, pod->decision, time_ms);
        remove_pod(simulated, pod);
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

static void lose_pods_of_lost_nodes(struct simulated *simulated)
{
    for (size_t i = 0; i < simulated->pods.count && simulated->nodes.lost_count > 0;) {
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
    sim_nodes_list(&simulated->nodes, nodes, count);
    lose_pods_of_lost_nodes(simulated);
    bool any = simulated->facts.count > 0 || simulated->nodes.changed;
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
    read_row(pod, row);
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
    sim_nodes_list(&simulated->nodes, rows->nodes, rows->node_count);
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
        remove_pod(simulated, pod);
    pod = pod_table_add(&simulated->pods, order->pod.uuid, order->pod.node_name);
    pod->decision = order->decision;
    pod->phase = SIM_STARTING;
    read_row(pod, &order->pod);
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
                remove_pod(simulated, pod);
        }
    }
    live_until_now(simulated);
    bool any = simulated->facts.count > 0;
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
    sim_nodes_tell(&simulated->nodes, &simulated->facts, now_ms(simulated));
    size_t count = backend_facts_take(&simulated->facts, arena, out_facts);
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
    sim_nodes_done(&simulated->nodes);
    pod_table_done(&simulated->pods);
    backend_facts_done(&simulated->facts);
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

// The memory that pods use; nothing else is known of a device that is none.
static size_t read_devices(void *backend, const char *node_name, struct arena *arena,
                           struct backend_device **out_devices)
{
    struct simulated *simulated = backend;
    size_t count = 0;
    struct backend_device *devices = arena_array(arena, BACKEND_DEVICES_MAX, sizeof(*devices));
    for (size_t i = 0; i < BACKEND_DEVICES_MAX; i++)
        devices[i] = (struct backend_device){"", true, "", -1, -1, -1, -1, NULL, 0};
    pthread_mutex_lock(&simulated->lock);
    for (size_t i = 0; i < simulated->pods.count; i++) {
        const struct sim_pod *pod = simulated->pods.heap[i];
        bool is_known = pod->gpu_memory_mib && (pod->phase == SIM_RUNNING || pod->phase == SIM_STOPPING);
        if (!is_known || strcmp(pod->node_name, node_name) != 0)
            continue;
        for (uint64_t left = pod->gpus; left; left &= left - 1) {
            size_t device = (size_t)__builtin_ctzll(left);
            devices[device].memory_used_mib =
                pod->gpu_memory_mib + (devices[device].memory_used_mib > 0 ? devices[device].memory_used_mib : 0);
            count = device + 1 > count ? device + 1 : count;
        }
    }
    pthread_mutex_unlock(&simulated->lock);
    *out_devices = devices;
    return count;
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
    .read_devices = read_devices,
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
