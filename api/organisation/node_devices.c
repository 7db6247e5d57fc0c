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
        add_pod(sorted[at], &pods[i], arena);
    }
    for (size_t i = 0; i < count; i++)
        set_states(&views[i]);
    return 0;
}

int node_views_read_utilization(struct db_conn *conn, struct node_view *views, size_t count, int64_t now_ms,
                                struct arena *arena, struct error *err)
{
    size_t held = 0, capacity = 0;
    struct latest_sample *samples = NULL;
    for (size_t i = 0; i < count; i++)
        for (int64_t g = 0; g < views[i].node.gpu_count; g++) {
            views[i].devices[g].utilization = NAN;
            if (!views[i].devices[g].holder_count)
                continue;
            samples = arena_grow(arena, samples, &capacity, held + 1, sizeof(*samples));
            samples[held++] = (struct latest_sample){
                .scope_id = views[i].node.id, .metric = arena_printf(arena, "GPU_UTILIZATION_PER_GPU:%" PRId64, g)};
        }
    if (db_read_latest(conn, "node", samples, held, now_ms, err) < 0)
        return -1;
    held = 0;
    for (size_t i = 0; i < count; i++)
        for (int64_t g = 0; g < views[i].node.gpu_count; g++)
            if (views[i].devices[g].holder_count)
                views[i].devices[g].utilization = samples[held++].value;
    return 0;
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
        if (isnan(device->utilization))
            json_null_at(json, "utilization");
        else
            json_number(json, "utilization", device->utilization);
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
