#include "replay/usage.h"

#include "base/arena.h"
#include "replay/cluster.h"
#include "replay/nodes.h"
#include "replay/policy.h"
#include "replay/trace.h"

#include <math.h>

static const double MIB = 1048576.0;

void usage_init(struct usage *usage, const struct trace *trace, int64_t half_life_ms, const struct nodes *nodes,
                int64_t now_ms, struct arena *arena)
{
    *usage = (struct usage){.half_life_ms = half_life_ms,
                            .now_ms = now_ms,
                            .project_count = trace->project_count,
                            .department_count = trace->department_count};
    usage->projects = arena_array(arena, trace->project_count, sizeof(*usage->projects));
    usage->departments = arena_array(arena, trace->department_count, sizeof(*usage->departments));
    for (size_t n = 0; n < nodes->count; n++) {
        usage->capacity.held[RESOURCE_GPU] += nodes->nodes[n].gpu_count * 1000.0;
        usage->capacity.held[RESOURCE_CPU] += (double)nodes->nodes[n].cpu_milli;
        usage->capacity.held[RESOURCE_MEMORY] += (double)nodes->nodes[n].memory_bytes;
    }
}

void usage_change(struct usage *usage, const struct trace *trace, uint32_t index, int change)
{
    const struct trace_job *job = &trace->jobs[index];
    const struct trace_shape *shape = &trace->shapes[job->shape];
    double pods = (double)job->pod_count * change;
    const double amounts[RESOURCE_COUNT] = {[RESOURCE_GPU] = (double)shape->gpu_milli * pods,
                                            [RESOURCE_CPU] = (double)shape->cpu_milli * pods,
                                            [RESOURCE_MEMORY] = (double)shape->memory_mib * MIB * pods};
    for (size_t r = 0; r < RESOURCE_COUNT; r++) {
        usage->projects[job->project].held[r] += amounts[r];
        usage->departments[trace->projects[job->project].department].held[r] += amounts[r];
    }
}

// The integral of held * 0.5 ^ (age / half life) goes on by so much time.
static void pass(struct usage_of *of, double decay, double weight)
{
    for (size_t r = 0; r < RESOURCE_COUNT; r++)
        of->sum[r] = of->sum[r] * decay + of->held[r] * weight;
}

void usage_pass(struct usage *usage, int64_t now_ms)
{
    double ms = (double)(now_ms - usage->now_ms), half_life = (double)usage->half_life_ms;
    double decay = usage->half_life_ms > 0 ? exp2(-ms / half_life) : 1.0;
    double weight = usage->half_life_ms > 0 ? (1.0 - decay) * half_life / M_LN2 : ms;
    if (ms <= 0)
        return;
    for (size_t p = 0; p < usage->project_count; p++)
        pass(&usage->projects[p], decay, weight);
    for (size_t d = 0; d < usage->department_count; d++)
        pass(&usage->departments[d], decay, weight);
    pass(&usage->capacity, decay, weight);
    usage->now_ms = now_ms;
}

static void write_queue(const struct usage *usage, const struct usage_of *of, struct snapshot_queue *queue)
{
    for (size_t r = 0; r < RESOURCE_COUNT; r++)
        queue->usage_micro.of[r] =
            usage->capacity.sum[r] > 0 ? llround(fmax(of->sum[r], 0) / usage->capacity.sum[r] * 1e6) : 0;
}

void usage_write(const struct usage *usage, const struct trace *trace, struct cluster *cluster)
{
    if (cluster->policy->is_one_project)
        return;
    for (size_t p = 0; p < trace->project_count; p++)
        write_queue(usage, &usage->projects[p], &cluster->projects[p]);
    for (size_t d = 0; d < trace->department_count; d++)
        write_queue(usage, &usage->departments[d], &cluster->departments[d]);
}
