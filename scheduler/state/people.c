#include "scheduler/state/people.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

static bool bounds_people(const struct snapshot_project *project)
{
    return project->person_gpu_limit_milli != QUANTITY_UNLIMITED ||
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

void people_find(struct cycle *cycle)
{
    const struct snapshot *snapshot = cycle->snapshot;
    struct workload **bound = NULL;
    size_t count = 0;
    for (size_t i = 0; i < snapshot->workload_count; i++) {
        const struct snapshot_workload *spec = &snapshot->workloads[i];
        if (!spec->person || !bounds_people(&snapshot->projects[spec->project]))
            continue;
        if (!bound)
            bound = arena_array(cycle->scratch, snapshot->workload_count - i, sizeof(struct workload *));
        bound[count++] = &cycle->workloads[i];
    }
    if (count == 0)
        return;
    qsort(bound, count, sizeof(struct workload *), compare_people);
    struct person *people = arena_array(cycle->scratch, count, sizeof(*people));
    for (size_t i = 0; i < count; i++) {
        people += i > 0 && compare_people(&bound[i - 1], &bound[i]) != 0;
        people->project = &snapshot->projects[bound[i]->spec->project];
        bound[i]->person = people;
    }
}
