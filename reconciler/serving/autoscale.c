#include "reconciler/serving/autoscale.h"

#include "model/serving.h"

#include <math.h>
#include <string.h>

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

// Replicas that have the target each. Load moves them between 1 and the maximum: the last goes when nobody calls.
static int64_t replicas_for(const struct serving *serving, double load)
{
    double wanted = ceil(load / serving->target - 1e-9);
    if (!(wanted > 1))
        wanted = 1;
    if (wanted > (double)serving->max_replicas)
        wanted = (double)serving->max_replicas;
    return clamp((int64_t)wanted, serving->min_replicas, serving->max_replicas);
}

static int64_t window_of(const struct serving *serving, const struct autoscale_reading *reading)
{
    int64_t window_ms = AUTOSCALE_WINDOW * reading->interval_ms;
    return serving->scale_down_delay_ms > window_ms ? serving->scale_down_delay_ms : window_ms;
}

static void keep_recent(struct autoscale_memory *memory, double load)
{
    if (memory->recent_count == AUTOSCALE_SHORT)
        memmove(memory->recent, memory->recent + 1, sizeof(*memory->recent) * (AUTOSCALE_SHORT - 1));
    else
        memory->recent_count++;
    memory->recent[memory->recent_count - 1] = load;
}

static void keep_highest(struct autoscale_memory *memory, int64_t window_ms, int64_t now_ms, int64_t replicas)
{
    int64_t width = window_ms / (AUTOSCALE_BUCKETS - 2) + 1;
    int64_t begin = now_ms - now_ms % width;
    size_t at = (size_t)(now_ms / width % AUTOSCALE_BUCKETS);
    if (memory->bucket_ms[at] != begin) {
        memory->bucket_ms[at] = begin;
        memory->bucket_replicas[at] = 0;
    }
    if (replicas > memory->bucket_replicas[at])
        memory->bucket_replicas[at] = replicas;
}

static int64_t highest_since(const struct autoscale_memory *memory, int64_t since_ms, int64_t now_ms)
{
    int64_t highest = 0;
    for (size_t i = 0; i < AUTOSCALE_BUCKETS; i++)
        if (memory->bucket_ms[i] >= since_ms && memory->bucket_ms[i] <= now_ms && memory->bucket_replicas[i] > highest)
            highest = memory->bucket_replicas[i];
    return highest;
}

static double mean_of(const struct autoscale_memory *memory)
{
    double sum = 0;
    for (int i = 0; i < memory->recent_count; i++)
        sum += memory->recent[i];
    return sum / memory->recent_count;
}

static struct autoscale_answer by_load(const struct serving *serving, struct autoscale_memory *memory, int64_t replicas,
                                       const struct autoscale_reading *reading)
{
    struct autoscale_answer stay = {.replicas = replicas};
    int64_t window_ms = window_of(serving, reading);
    if (!memory->since_ms || memory->since_ms > reading->now_ms)
        memory->since_ms = reading->now_ms;
    keep_recent(memory, reading->load);
    double load = mean_of(memory);
    int64_t wanted = replicas_for(serving, load);
    keep_highest(memory, window_ms, reading->now_ms, wanted);
    if (memory->recent_count < AUTOSCALE_SHORT ||
        (memory->changed_ms <= reading->now_ms &&
         reading->now_ms - memory->changed_ms < AUTOSCALE_SHORT * reading->interval_ms))
        return stay;
    if (wanted > replicas)
        return (struct autoscale_answer){wanted < replicas * 2 ? wanted : replicas * 2, AUTOSCALE_MORE, load};
    if (wanted == replicas || reading->now_ms - memory->since_ms < window_ms)
        return stay;
    int64_t highest = highest_since(memory, reading->now_ms - window_ms, reading->now_ms);
    if (highest >= replicas)
        return stay;
    int64_t least = replicas - (replicas > 1 ? replicas / 2 : 1);
    return (struct autoscale_answer){highest > least ? highest : least, AUTOSCALE_LESS, load};
}

static void forget_loads(struct autoscale_memory *memory)
{
    memory->recent_count = 0;
    memory->since_ms = 0;
}

static struct autoscale_answer decide(const struct serving *serving, struct autoscale_memory *memory, int64_t replicas,
                                      const struct autoscale_reading *reading)
{
    int64_t bounded = clamp(replicas, serving->min_replicas, serving->max_replicas);
    if (replicas == 0 && serving->min_replicas == 0) {
        forget_loads(memory);
        if (!reading->has_caller)
            return (struct autoscale_answer){.replicas = 0};
        return (struct autoscale_answer){serving->activation_replicas, AUTOSCALE_FROM_ZERO, 0};
    }
    if (bounded != replicas)
        return (struct autoscale_answer){bounded, AUTOSCALE_BOUNDS, 0};
    if (serving->min_replicas == 0 && reading->is_idle)
        return (struct autoscale_answer){0, AUTOSCALE_TO_ZERO, 0};
    if (!reading->has_load || !serving->metric || !(reading->load >= 0)) {
        forget_loads(memory);
        return (struct autoscale_answer){.replicas = replicas};
    }
    return by_load(serving, memory, replicas, reading);
}

struct autoscale_answer autoscale_decide(const struct serving *serving, struct autoscale_memory *memory,
                                         int64_t replicas, const struct autoscale_reading *reading)
{
    struct autoscale_answer answer = decide(serving, memory, replicas, reading);
    if (answer.replicas != replicas)
        memory->changed_ms = reading->now_ms;
    return answer;
}
