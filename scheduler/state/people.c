#include "scheduler/state/people.h"

#include "base/arena.h"
#include "base/compare.h"
#include "base/quantity.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/node.h"

#include <stdlib.h>
#include <string.h>

static bool speaks_of_people(const struct snapshot_project *project)
{
    return project->is_fair_among_people || project->person_gpu_limit_milli != QUANTITY_UNLIMITED ||
           project->person_workload_limit != SNAPSHOT_COUNT_UNLIMITED;
}

static int compare_people(const void *a, const void *b)
{
    const struct snapshot_workload *left = (*(struct workload *const *)a)->spec;
    const struct snapshot_workload *right = (*(struct workload *const *)b)->spec;
    if (left->project != right->project)
        return left->project < right->project ? -1 : 1;
    return strcmp(left->person, right->person);
}

static int compare_names(const void *name, const void *person)
{
    return strcmp(name, ((const struct snapshot_person *)person)->name);
}

static int64_t find_use(const struct snapshot_project *project, const char *name)
{
    const struct snapshot_person *person = NULL;
    if (project->person_count > 0)
        person = bsearch(name, project->people, project->person_count, sizeof(*project->people), compare_names);
    return person ? person->use_gpu_hours_milli : 0;
}

void people_find(struct cycle *cycle)
{
    const struct snapshot *snapshot = cycle->snapshot;
    struct workload **workloads = NULL;
    size_t count = 0;
    for (size_t i = 0; i < snapshot->workload_count; i++) {
        const struct snapshot_workload *spec = &snapshot->workloads[i];
        if (!spec->person || !speaks_of_people(&snapshot->projects[spec->project]))
            continue;
        if (!workloads)
            workloads = arena_array(cycle->scratch, snapshot->workload_count - i, sizeof(struct workload *));
        workloads[count++] = &cycle->workloads[i];
    }
    if (count == 0)
        return;
    qsort(workloads, count, sizeof(struct workload *), compare_people);
    struct person *people = arena_array(cycle->scratch, count, sizeof(*people));
    for (size_t i = 0; i < count; i++) {
        const struct snapshot_workload *spec = workloads[i]->spec;
        const struct snapshot_project *project = &snapshot->projects[spec->project];
        bool is_another = i == 0 || compare_people(&workloads[i - 1], &workloads[i]) != 0;
        people += i > 0 && is_another;
        if (is_another)
            *people = (struct person){.project = project, .use_gpu_hours_milli = find_use(project, spec->person)};
        workloads[i]->person = people;
    }
}

// Person by person: what holds something, then what waits; of each the higher priority, the older, by name.
static int compare_in_line(const void *a, const void *b)
{
    const struct workload *left = *(struct workload *const *)a, *right = *(struct workload *const *)b;
    int order = (left->person > right->person) - (left->person < right->person);
    order = order ? order : (left->counts.held == 0) - (right->counts.held == 0);
    order = order ? order : compare_numbers(right->spec->priority, left->spec->priority);
    order = order ? order : compare_numbers(left->spec->created_ms, right->spec->created_ms);
    return order ? order : compare_numbers(left->index, right->index);
}

// GPUs of the pods that are held, by their nodes, or of those that wait, by the smallest device of its first node pool.
static int64_t sum_gpu_milli(const struct cycle *cycle, const struct workload *workload, bool are_held)
{
    const struct snapshot_workload *spec = workload->spec;
    int64_t smallest_mib = cycle->pools[spec->node_pools[0]].smallest_gpu_memory_mib;
    int64_t sum = 0;
    for (uint32_t i = 0; i < spec->pod_count; i++) {
        const struct pod *pod = &cycle->pods[spec->first_pod + i];
        int64_t memory_mib = smallest_mib;
        if (are_held ? !pod_status_is_held(pod->state.status) : pod->state.status != SNAPSHOT_POD_PENDING)
            continue;
        if (are_held)
            memory_mib = cycle->nodes[pod->state.place.node].gpu_memory_mib;
        sum = quantity_add(sum, request_amounts(&pod->request, memory_mib).of[RESOURCE_GPU]);
    }
    return sum;
}

void people_take_turns(struct cycle *cycle)
{
    struct workload **workloads = NULL;
    size_t count = 0;
    for (size_t i = 0; i < cycle->snapshot->workload_count; i++) {
        struct workload *workload = &cycle->workloads[i];
        if (!workload->person || !workload->person->project->is_fair_among_people)
            continue;
        if (!workloads)
            workloads = arena_array(cycle->scratch, cycle->snapshot->workload_count - i, sizeof(struct workload *));
        workloads[count++] = workload;
    }
    if (count == 0)
        return;
    qsort(workloads, count, sizeof(struct workload *), compare_in_line);
    int64_t before = 0;
    for (size_t i = 0; i < count; i++) {
        struct workload *workload = workloads[i];
        if (i == 0 || workloads[i - 1]->person != workload->person)
            before = workload->person->use_gpu_hours_milli;
        workload->turn = quantity_add(before, sum_gpu_milli(cycle, workload, true));
        before = quantity_add(workload->turn, sum_gpu_milli(cycle, workload, false));
    }
}
