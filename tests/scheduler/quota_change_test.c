// Other quotas over random clusters: both ends are at rest within the cycles there are, what workloads gain and lose is
// what queues gain and lose, and who asks the other way round hears the opposite. Arguments: first seed, how many.
#include "base/arena.h"
#include "base/error.h"
#include "scheduler/ask/quota_change.h"
#include "scheduler/scheduler.h"
#include "tests/support/check.h"
#include "tests/support/random_cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned outcomes[QUOTA_OUTCOME_COUNT];
static uint32_t most_cycles;

static void ask(const struct snapshot *without, const struct snapshot *with, bool knows_plan, struct arena *arena,
                struct quota_answer *answer, const char *name)
{
    struct quota_question *question;
    struct error err = {0};
    bool is_over = false;
    struct plan *plan = NULL;
    check_int(scheduler_plan(without, arena, &plan, &err), 0, "%s: %s", name, err.message);
    quota_question_open(without, with, knows_plan ? plan : NULL, &question);
    while (!is_over && quota_question_step(question, &is_over, &err) == 0)
        continue;
    check_text(err.message, "", "%s", name);
    quota_question_answer(question, arena, answer);
    quota_question_close(question);
    most_cycles = answer->cycles > most_cycles ? answer->cycles : most_cycles;
    check_true(answer->is_at_rest && answer->cycles <= QUOTA_CYCLES_MAXIMUM, "%s: rest", name);
    check_true(*answer->sentence, "%s: a sentence", name);
}

static void change_queue(const struct snapshot_queue **queues, size_t pool_count, uint64_t *random, struct arena *arena)
{
    struct snapshot_queue *changed = arena_array(arena, pool_count, sizeof(*changed));
    memcpy(changed, *queues, pool_count * sizeof(*changed));
    struct snapshot_queue *queue = &changed[random_below(random, (uint32_t)pool_count)];
    queue->deserved.of[RESOURCE_GPU] = 1000 * random_below(random, 9);
    queue->limit.of[RESOURCE_GPU] = random_below(random, 2) ? QUANTITY_UNLIMITED : 8000;
    queue->over_quota_weight_milli.of[RESOURCE_GPU] = 1000 * random_below(random, 4);
    queue->rank = 50 + 25 * random_below(random, 7);
    *queues = changed;
}

static struct snapshot change(const struct snapshot *snapshot, uint64_t *random, struct arena *arena)
{
    struct snapshot changed = *snapshot;
    struct snapshot_project *projects = arena_array(arena, snapshot->project_count, sizeof(*projects));
    struct snapshot_department *departments = arena_array(arena, snapshot->department_count, sizeof(*departments));
    memcpy(projects, snapshot->projects, snapshot->project_count * sizeof(*projects));
    memcpy(departments, snapshot->departments, snapshot->department_count * sizeof(*departments));
    change_queue(&projects[random_below(random, (uint32_t)snapshot->project_count)].queues, snapshot->node_pool_count,
                 random, arena);
    if (random_below(random, 2))
        change_queue(&departments[random_below(random, (uint32_t)snapshot->department_count)].queues,
                     snapshot->node_pool_count, random, arena);
    changed.projects = projects;
    changed.departments = departments;
    return changed;
}

static int64_t gain_of(const struct quota_workload *one)
{
    return one->outcome == QUOTA_RESTARTS                                ? 0
           : one->outcome == QUOTA_STARTS || one->outcome == QUOTA_KEEPS ? one->gpu_milli
                                                                         : -one->gpu_milli;
}

// A request for an amount of memory counts otherwise on another node.
static bool has_exact_amounts(const struct snapshot *snapshot, uint32_t project)
{
    for (size_t i = 0; i < snapshot->pod_count; i++)
        if (snapshot->workloads[snapshot->pods[i].workload].project == project && snapshot->pods[i].gpu_memory_mib > 0)
            return false;
    return true;
}

static void check_sums(const struct snapshot *snapshot, const struct quota_answer *answer, const char *name)
{
    for (uint32_t p = 0; p < snapshot->project_count; p++) {
        int64_t queues = 0, workloads = 0;
        for (size_t i = 0; i < answer->queue_count; i++)
            if (answer->queues[i].kind == QUEUE_KIND_PROJECT && answer->queues[i].queue == p)
                queues += answer->queues[i].after.allocated.of[RESOURCE_GPU] -
                          answer->queues[i].before.allocated.of[RESOURCE_GPU];
        for (size_t i = 0; i < answer->workload_count; i++)
            if (snapshot->workloads[answer->workloads[i].workload].project == p)
                workloads += gain_of(&answer->workloads[i]);
        if (has_exact_amounts(snapshot, p))
            check_int(workloads, queues, "%s: GPUs of %s", name, snapshot->projects[p].name);
    }
}

static void check_seed(uint64_t seed)
{
    struct arena arena;
    struct quota_answer answer, same, back;
    uint64_t random = seed;
    char name[40];
    snprintf(name, sizeof(name), "cluster %" PRIu64, seed);
    arena_init(&arena);
    const struct snapshot *snapshot = random_cluster(seed, &arena);
    const struct snapshot changed = change(snapshot, &random, &arena);
    ask(snapshot, snapshot, seed % 2, &arena, &same, name);
    check_int((int64_t)(same.workload_count + same.queue_count + same.excess_count), 0, "%s: nothing", name);
    ask(snapshot, &changed, true, &arena, &answer, name);
    check_sums(snapshot, &answer, name);
    ask(&changed, snapshot, false, &arena, &back, name);
    check_int(answer.gained_milli, back.lost_milli, "%s: what is gained is lost on the way back", name);
    check_int(answer.lost_milli, back.gained_milli, "%s: what is lost is gained on the way back", name);
    for (size_t i = 0; i < QUOTA_OUTCOME_COUNT; i++)
        outcomes[i] += answer.counts[i];
    arena_done(&arena);
}

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, count = argc > 2 ? strtoull(argv[2], NULL, 10) : 500;
    for (uint64_t seed = first; seed < first + count; seed++)
        check_seed(seed);
    for (size_t i = 0; i < COUNT(outcomes); i++) {
        printf("%s: %u\n", quota_outcome_name((enum quota_outcome)i), outcomes[i]);
        check_true(outcomes[i] > 0 || count < 500, "%s occurs", quota_outcome_name((enum quota_outcome)i));
    }
    printf("at most %u cycles\n", most_cycles);
    return check_finish();
}
