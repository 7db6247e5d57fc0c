#include "api/organisation/node_devices.h"

#include "base/arena.h"
#include "base/json_writer.h"
#include "db/samples.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#define UNREADABLE_NAME "another project's workload"

static int compare_by_id(const void *a, const void *b)
{
    const struct node_view *left = *(struct node_view *const *)a, *right = *(struct node_view *const *)b;
    return (left->node.id > right->node.id) - (left->node.id < right->node.id);
}

static const char *ids_json(struct node_view **views, size_t count, struct arena *arena)
{
    size_t size = count * 24 + 3, length = 1;
    char *text = arena_alloc(arena, size);
    text[0] = '[';
    for (size_t i = 0; i < count; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%" PRId64, i ? "," : "", views[i]->node.id);
    text[length] = ']';
    return text;
}

static void hold(struct node_view *view, json_int_t index, struct device_holder holder, struct arena *arena)
{
    if (index < 0 || index >= view->node.gpu_count)
        return;
    struct device *device = &view->devices[index];
    device->holders = arena_grow(arena, device->holders, &device->holder_capacity, device->holder_count + 1,
                                 sizeof(*device->holders));
    device->holders[device->holder_count++] = holder;
}

// What it holds is the same of each device: whole ones, or a part of each.
static void add_pod(struct node_view *view, const struct node_pod *pod, struct arena *arena)
{
    json_t *indices = json_loads(pod->gpu_indices_json, 0, NULL);
    size_t count = json_array_size(indices);
    for (size_t i = 0; i < count; i++)
        hold(view, json_integer_value(json_array_get(indices, i)),
             (struct device_holder){pod, pod->gpu_milli / (int64_t)count, i == 0}, arena);
    json_decref(indices);
    view->gpu_allocated_milli += pod->gpu_milli;
    view->cpu_allocated_milli += pod->cpu_milli;
    view->memory_allocated_bytes += pod->memory_bytes;
    view->pod_count++;
}

static enum device_state held_state(const struct device *device)
{
    for (size_t i = 0; i < device->holder_count; i++)
        if (!device->holders[i].pod->is_releasing)
            return DEVICE_ALLOCATED;
    return DEVICE_RELEASING;
}

static void set_states(struct node_view *view)
{
    for (int64_t i = 0; i < view->node.gpu_count; i++) {
        struct device *device = &view->devices[i];
        if (view->node.status != NODE_STATUS_READY)
            device->state = DEVICE_DOWN;
        else if (device->holder_count)
            device->state = held_state(device);
        else
            device->state = view->node.is_cordoned ? DEVICE_CORDONED : DEVICE_FREE;
    }
    json_t *unhealthy = json_loads(view->node.unhealthy_gpus_json, 0, NULL);
    for (size_t i = 0; i < json_array_size(unhealthy); i++) {
        json_int_t index = json_integer_value(json_array_get(unhealthy, i));
        if (index >= 0 && index < view->node.gpu_count)
            view->devices[index].state = DEVICE_DOWN;
    }
    json_decref(unhealthy);
}

int node_views_read_devices(struct db_conn *conn, struct node_view *views, size_t count, struct arena *arena,
                            struct error *err)
{
    struct node_view **sorted = arena_array(arena, count, sizeof(struct node_view *));
    struct node_pod *pods;
    size_t pod_count;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = &views[i];
        views[i].devices = arena_array(arena, (size_t)views[i].node.gpu_count, sizeof(struct device));
    }
    if (count)
        qsort(sorted, count, sizeof(struct node_view *), compare_by_id);
    if (db_read_node_pods(conn, ids_json(sorted, count, arena), arena, &pods, &pod_count, err) < 0)
        return -1;
    for (size_t i = 0, at = 0; i < pod_count; i++) {
        while (sorted[at]->node.id != pods[i].node_id)
            at++;
        if (!sorted[at]->pod_count)
            sorted[at]->pods = &pods[i];
        add_pod(sorted[at], &pods[i], arena);
    }
    for (size_t i = 0; i < count; i++)
        set_states(&views[i]);
    return 0;
}

// What nobody used does nothing, too: it is idle from when the last of its holders began.
static int64_t idle_since(const struct device *device, const struct latest_sample *sample)
{
    int64_t since_ms = sample->zero_since_ms;
    if (!since_ms)
        return 0;
    for (size_t i = 0; i < device->holder_count; i++) {
        int64_t started_ms = device->holders[i].pod->started_ms;
        if (!started_ms)
            return 0;
        since_ms = started_ms > since_ms ? started_ms : since_ms;
    }
    return since_ms;
}

struct wanted {
    struct latest_sample *samples;
    size_t count, capacity;
    struct arena *arena;
};

static void want(struct wanted *wanted, const struct node_view *view, const char *metric)
{
    wanted->samples =
        arena_grow(wanted->arena, wanted->samples, &wanted->capacity, wanted->count + 1, sizeof(*wanted->samples));
    wanted->samples[wanted->count++] = (struct latest_sample){.scope_id = view->node.id, .metric = metric};
}

int node_views_read_measured(struct db_conn *conn, struct node_view *views, size_t count, int64_t now_ms,
                             struct arena *arena, struct error *err)
{
    struct wanted wanted = {.arena = arena};
    for (size_t i = 0; i < count; i++) {
        want(&wanted, &views[i], "CPU_USAGE_CORES");
        want(&wanted, &views[i], "CPU_MEMORY_USAGE_BYTES");
        for (int64_t g = 0; g < views[i].node.gpu_count; g++)
            if (views[i].devices[g].holder_count)
                want(&wanted, &views[i], arena_printf(arena, "GPU_UTILIZATION_PER_GPU:%" PRId64, g));
    }
    if (db_read_latest(conn, "node", wanted.samples, wanted.count, now_ms, err) < 0)
        return -1;
    const struct latest_sample *sample = wanted.samples;
    for (size_t i = 0; i < count; i++) {
        views[i].cpu_used_cores = (sample++)->value;
        views[i].memory_used_bytes = (sample++)->value;
        for (int64_t g = 0; g < views[i].node.gpu_count; g++) {
            struct device *device = &views[i].devices[g];
            device->utilization = NAN;
            if (!device->holder_count)
                continue;
            device->idle_since_ms = idle_since(device, sample);
            device->utilization = (sample++)->value;
        }
    }
    return 0;
}

static void write_used(struct json_writer *json, const char *key, double used)
{
    if (isnan(used))
        json_null_at(json, key);
    else
        json_number(json, key, used);
}

void node_view_write_load(const struct node_view *view, struct json_writer *json)
{
    json_milli(json, "cpuCores", view->node.cpu_milli);
    json_milli(json, "allocatedCpuCores", view->cpu_allocated_milli);
    write_used(json, "usedCpuCores", view->cpu_used_cores);
    json_int(json, "cpuMemoryBytes", view->node.memory_bytes);
    json_int(json, "allocatedCpuMemoryBytes", view->memory_allocated_bytes);
    write_used(json, "usedCpuMemoryBytes", view->memory_used_bytes);
}

void node_pod_write_workload(const struct node_pod *pod, const struct scope_filter *readable, struct json_writer *json)
{
    bool is_readable = scope_filter_shows(readable, &pod->path);
    char project_id[24];
    snprintf(project_id, sizeof(project_id), "%" PRId64, pod->path.project_id);
    json_text(json, "id", is_readable ? pod->workload_uuid : NULL);
    json_text(json, "name", is_readable ? pod->workload_name : UNREADABLE_NAME);
    json_text(json, "projectId", is_readable ? project_id : NULL);
    json_text(json, "projectName", is_readable ? pod->project_name : NULL);
    json_bool(json, "preemptible", pod->is_preemptible);
}

void node_view_write_devices(const struct node_view *view, const struct scope_filter *readable,
                             struct json_writer *json)
{
    static const char *const STATE_TEXT[] = {
        [DEVICE_FREE] = "free", [DEVICE_ALLOCATED] = "allocated", [DEVICE_RELEASING] = "releasing",
        [DEVICE_DOWN] = "down", [DEVICE_CORDONED] = "cordoned",
    };
    json_begin_array(json);
    for (int64_t i = 0; i < view->node.gpu_count; i++) {
        const struct device *device = &view->devices[i];
        json_begin_object(json);
        json_int(json, "index", i);
        json_text(json, "state", STATE_TEXT[device->state]);
        write_used(json, "utilization", device->utilization);
        if (device->idle_since_ms)
            json_time(json, "idleSince", device->idle_since_ms);
        json_key(json, "workloads");
        json_begin_array(json);
        for (size_t h = 0; h < device->holder_count; h++) {
            json_begin_object(json);
            node_pod_write_workload(device->holders[h].pod, readable, json);
            json_milli(json, "share", device->holders[h].share_milli);
            json_end_object(json);
        }
        json_end_array(json);
        json_end_object(json);
    }
    json_end_array(json);
}
