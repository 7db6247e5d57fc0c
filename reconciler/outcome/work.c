#include "reconciler/outcome/held.h"
#include "reconciler/outcome/sampler.h"

#include <math.h>
#include <string.h>

static void add_load(struct load *sum, const struct load *load)
{
    if (load->cpu_milli < 0)
        return;
    sum->cpu_milli = (sum->cpu_milli < 0 ? 0 : sum->cpu_milli) + load->cpu_milli;
    sum->memory_bytes = (sum->memory_bytes < 0 ? 0 : sum->memory_bytes) + load->memory_bytes;
}

// The pod's part of the memory of the devices that it holds, as far as that is known.
static double memory_held_of(const struct world *world, const struct cache_pod *pod)
{
    uint32_t node = world_node(world, pod->node_id);
    return node == SNAPSHOT_NONE
               ? 0
               : (double)(world->nodes[node].gpu_memory_mib << 20) * (double)pod->gpu_allocated_milli / 1000;
}

// Of what a device's memory is used; NAN: nobody measures it.
static void sample_device_memory(struct sampler *sampler, const struct cache_pod *pod, size_t device, double used)
{
    sampler_set_sparse(sampler, "pod", pod->id, 0,
                       arena_printf(sampler->arena, "GPU_MEMORY_USAGE_BYTES_PER_GPU:%zu", device), used, isnan(used));
}

// Of all its devices, and of each.
static void sample_gpu_memory(struct sampler *sampler, const struct cache_pod *pod)
{
    const struct gpu_memory *memory = &pod->gpu_memory;
    bool is_known = held_memory_is_measured(pod);
    sampler_set_sparse(sampler, "pod", pod->id, 0, "GPU_MEMORY_USAGE_BYTES",
                       is_known ? (double)memory->used_bytes : NAN, !is_known);
    for (size_t i = 0; is_known && i < memory->device_count; i++)
        if (memory->device_mib[i] >= 0)
            sample_device_memory(sampler, pod, i, (double)((int64_t)memory->device_mib[i] << 20));
    for (size_t i = 0; !is_known && i < pod->gpu_index_count; i++)
        sample_device_memory(sampler, pod, pod->gpu_indices[i], NAN);
}

// What nobody measures is not 0, nor what was measured before the server's last start: its series ends.
static void sample_pod(struct sampler *sampler, const struct cache_pod *pod)
{
    if (!pod->started_ms)
        return;
    sampler_set_load(sampler, "pod", pod->id, &pod->load, pod->status == POD_STATUS_RUNNING);
    bool has_gpus = pod->gpu_index_count || pod->gpu_allocated_milli;
    bool is_known = held_is_measured(pod) && pod->gpu_allocated_milli;
    if (has_gpus)
        sampler_set_sparse(sampler, "pod", pod->id, 0, "GPU_UTILIZATION", is_known ? held_busy_of(pod) * 100 : NAN,
                           !is_known);
    if (has_gpus || held_memory_is_measured(pod))
        sample_gpu_memory(sampler, pod);
}

// NAN: nobody measures it.
static void sample_figure(struct sampler *sampler, const char *scope, int64_t id, const char *metric, double value)
{
    sampler_set_sparse(sampler, scope, id, 0, metric, value, isnan(value));
}

// Of what inferences do: requests a second of all replicas, and what one takes on the mean of them.
static void sample_service(struct sampler *sampler, const struct cache_workload *workload)
{
    double throughput = 0, latency = 0, nothing = 0;
    int64_t with_throughput = 0, with_latency = 0;
    for (size_t i = 0; i < workload->pod_count; i++) {
        const struct cache_pod *pod = workload->pods[i];
        if (pod->status != POD_STATUS_RUNNING)
            continue;
        nothing = NAN;
        sample_figure(sampler, "pod", pod->id, "THROUGHPUT", pod->throughput >= 0 ? pod->throughput : NAN);
        sample_figure(sampler, "pod", pod->id, "LATENCY", pod->latency_ms >= 0 ? pod->latency_ms : NAN);
        if (pod->throughput >= 0) {
            throughput += pod->throughput;
            with_throughput++;
        }
        if (pod->latency_ms >= 0) {
            latency += pod->latency_ms;
            with_latency++;
        }
    }
    sample_figure(sampler, "workload", workload->id, "THROUGHPUT", with_throughput ? throughput : nothing);
    sample_figure(sampler, "workload", workload->id, "LATENCY",
                  with_latency ? latency / (double)with_latency : nothing);
}

void work_sample(struct sampler *sampler, const struct world *world, const struct cache_workload *workload)
{
    int64_t gpu_milli = 0, cpu_milli = 0, memory = 0, running = 0, live = 0;
    bool has_started = false;
    struct load load = {-1, -1};
    struct held_use use = {0};
    double gpu_memory = NAN, gpu_memory_held = 0;
    for (size_t i = 0; i < workload->pod_count; i++) {
        const struct cache_pod *pod = workload->pods[i];
        live += !pod_status_is_over(pod->status);
        has_started |= pod->started_ms > 0;
        add_load(&load, &pod->load);
        sample_pod(sampler, pod);
        if (held_memory_is_measured(pod))
            gpu_memory = (isnan(gpu_memory) ? 0 : gpu_memory) + (double)pod->gpu_memory.used_bytes;
        running += pod->status == POD_STATUS_RUNNING;
        if (!pod_status_is_over(pod->status)) {
            cpu_milli = quantity_add(cpu_milli, pod->cpu_milli);
            memory = quantity_add(memory, pod->memory_bytes);
        }
        if (!pod_status_is_placed(pod->status))
            continue;
        gpu_milli += pod->gpu_allocated_milli;
        gpu_memory_held += memory_held_of(world, pod);
        held_use_add(&use, pod);
    }
    sampler_set(sampler, "workload", workload->id, 0, "GPU_ALLOCATION", (double)gpu_milli / 1000);
    sampler_set(sampler, "workload", workload->id, 0, "GPU_UTILIZATION", held_use_percent(&use));
    sampler_set_sparse(sampler, "workload", workload->id, 0, "GPU_MEMORY_USAGE_BYTES", gpu_memory, isnan(gpu_memory));
    sampler_set_sparse(sampler, "workload", workload->id, 0, "GPU_MEMORY_REQUEST_BYTES", gpu_memory_held,
                       gpu_memory_held <= 0);
    if (has_started)
        sampler_set_load(sampler, "workload", workload->id, &load, running > 0);
    sampler_set(sampler, "workload", workload->id, 0, "CPU_REQUEST_CORES", (double)cpu_milli / 1000);
    sampler_set(sampler, "workload", workload->id, 0, "CPU_MEMORY_REQUEST_BYTES", (double)memory);
    sampler_set(sampler, "workload", workload->id, 0, "POD_COUNT", (double)live);
    sampler_set(sampler, "workload", workload->id, 0, "RUNNING_POD_COUNT", (double)running);
    if (workload->serving_json)
        sample_service(sampler, workload);
}

// What each kind of work holds of the cluster's GPUs, and how many workloads there are of it.
void work_sample_categories(struct sampler *sampler, const struct cache *cache)
{
    static const char *const CATEGORIES[] = {"Build", "Train", "Deploy"};
    for (size_t c = 0; c < sizeof(CATEGORIES) / sizeof(CATEGORIES[0]); c++) {
        const char *name = CATEGORIES[c];
        int64_t held_milli = 0, count = 0, id = cache->world->rows.cluster_id;
        for (size_t i = 0; i < cache->workload_count; i++) {
            const struct cache_workload *workload = cache->order[i];
            if (strcmp(workload->category ? workload->category : "", name) != 0)
                continue;
            count++;
            for (size_t k = 0; k < workload->pod_count; k++)
                if (pod_status_holds_place(workload->pods[k]->status))
                    held_milli += workload->pods[k]->gpu_allocated_milli;
        }
        sampler_set(sampler, "cluster", id, 0, arena_printf(sampler->arena, "ALLOCATED_GPU:%s", name),
                    (double)held_milli / 1000);
        sampler_set(sampler, "cluster", id, 0, arena_printf(sampler->arena, "WORKLOADS_COUNT:%s", name), (double)count);
    }
}
