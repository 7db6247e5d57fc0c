#include "scheduler/victims/fast/project_units.h"

#include "base/arena.h"
#include "scheduler/order/workload_order.h"
#include "scheduler/pod_status.h"
#include "scheduler/state/node.h"
#include "scheduler/state/queue.h"
#include "scheduler/state/unit.h"

#include <assert.h>
#include <string.h>

enum {
    FIRST_UNITS = 8,   // found at once
    MOST_PUT_BACK = 32 // pods; with more the rest is found again
};

struct project_units project_units_make(struct cycle *cycle, const struct holders *holders)
{
    const struct snapshot *snapshot = cycle->snapshot;
    return (struct project_units){
        .holders = holders,
        .projects = arena_array(cycle->scratch, snapshot->project_count, sizeof(struct project_unit_list)),
        .left = arena_array(cycle->scratch, snapshot->workload_count * 2, sizeof(struct workload *)),
        .begun = arena_array(cycle->scratch, snapshot->workload_count, sizeof(struct workload *))};
}

void project_units_forget(struct project_units *units, const struct cycle *cycle)
{
    for (size_t p = 0; p < cycle->snapshot->project_count; p++)
        units->projects[p].count = units->projects[p].pod_count = 0, units->projects[p].is_whole = false;
}

// Whether the workload, of which nothing is taken, gives way before this unit of another.
static bool goes_before(const struct workload *workload, int state, const struct project_unit *unit)
{
    const struct snapshot_workload *a = workload->spec, *b = unit->popped.workload->spec;
    if (a->priority != b->priority)
        return a->priority < b->priority;
    if (workload->turn != unit->popped.workload->turn)
        return workload->turn > unit->popped.workload->turn;
    if (state != unit->state)
        return state > unit->state;
    if (a->created_ms != b->created_ms)
        return a->created_ms > b->created_ms;
    return workload->index > unit->popped.workload->index;
}

// So many devices its pods hold, whole or in part; with a gang that is taken in parts those of the whole workload,
// which may go with it.
static int64_t most_devices(const struct cycle *cycle, const struct popped_unit *unit)
{
    const struct snapshot_workload *spec = unit->workload->spec;
    bool is_all = unit->count == unit->workload->counts.held;
    int64_t devices = 0;
    for (uint32_t i = 0; i < (is_all ? unit->count : spec->pod_count); i++) {
        const struct request *request = &cycle->pods[is_all ? unit->pods[i] : spec->first_pod + i].request;
        devices += request->of[DIMENSION_GPU] + request->shared_devices + request->is_mig;
    }
    return devices;
}

static bool stands_on_several(const struct cycle *cycle, const struct workload *workload)
{
    uint32_t node = SNAPSHOT_NONE;
    for (uint32_t i = 0; i < workload->spec->pod_count; i++) {
        const struct pod *pod = &cycle->pods[workload->spec->first_pod + i];
        if (!pod_status_is_held(pod->state.status))
            continue;
        if (node != SNAPSHOT_NONE && node != pod->state.place.node)
            return true;
        node = pod->state.place.node;
    }
    return false;
}

struct popped_unit project_units_take(struct cycle *cycle, struct workload *workload, uint32_t *pods, uint32_t *nodes)
{
    struct popped_unit unit = {.workload = workload, .pods = pods, .nodes = nodes};
    unit.count = unit_take_victims(cycle, workload, pods);
    assert(unit.count > 0); // only who still holds something is asked
    for (uint32_t i = 0; i < unit.count; i++) {
        const struct pod *pod = &cycle->pods[pods[i]];
        nodes[i] = pod->state.place.node;
        int64_t memory_mib = cycle->nodes[nodes[i]].gpu_memory_mib;
        unit.amounts = amounts_add(unit.amounts, request_amounts(&pod->request, memory_mib));
    }
    unit.devices = most_devices(cycle, &unit);
    unit.is_spread = stands_on_several(cycle, workload);
    return unit;
}

// Puts it among those that are left, in order. There is room for one before them.
static void insert(struct workload **left, size_t count, struct workload *workload)
{
    size_t place = workload_place_among_victims(left, count, workload);
    struct workload **begin = left - 1;
    memmove(begin, left, place * sizeof(*left));
    begin[place] = workload;
}

static void mark_taken(struct cycle *cycle, const struct popped_unit *unit)
{
    for (uint32_t i = 0; i < unit->count; i++) {
        struct pod *pod = &cycle->pods[unit->pods[i]];
        pod->taken = true;
        unit->workload->groups[pod->group].taken++;
    }
}

// Of which some units are known.
static bool is_begun(const struct workload *workload)
{
    for (uint32_t g = 0; g < workload->group_count; g++) {
        if (workload->groups[g].taken > 0)
            return true;
    }
    return false;
}

struct left {
    struct workload **next; // in order
    size_t count;
};

// Those with something left when the known units are taken, in order.
static struct left find_left(struct project_units *units, struct cycle *cycle, uint32_t index)
{
    const struct holders *holders = units->holders;
    const struct project_unit_list *project = &units->projects[index];
    uint32_t stamp = ++cycle->stamp;
    size_t begun = 0;
    for (size_t i = 0; i < project->count; i++)
        mark_taken(cycle, &project->units[i].popped);
    for (size_t i = 0; i < project->count; i++) {
        struct workload *workload = project->units[i].popped.workload;
        if (workload->stamp != stamp && workload_count_left(workload) > 0)
            units->begun[begun++] = workload;
        workload->stamp = stamp;
    }
    struct workload **workloads = holders->workloads + holders->first[index];
    struct left left = {.next = units->left + begun};
    for (size_t i = 0; i < holders->count[index]; i++) {
        if (holders_has(holders, workloads[i]) && !is_begun(workloads[i]))
            left.next[left.count++] = workloads[i];
    }
    for (size_t i = 0; i < begun; i++) {
        insert(left.next, left.count, units->begun[i]);
        left.next--;
        left.count++;
    }
    return left;
}

// Takes the workload's next unit and puts it at the position; what went before those from there on is to be summed up.
static void add_unit(struct cycle *cycle, struct project_unit_list *project, size_t at, struct workload *workload)
{
    struct arena *arena = cycle->scratch;
    size_t pods = project->pod_count + workload_count_left(workload);
    if (project->count == project->capacity)
        project->units =
            arena_grow(arena, project->units, &project->capacity, project->count + 1, sizeof(*project->units));
    // Units that are known keep theirs where they were.
    if (pods > project->pod_capacity)
        project->pods = arena_grow(arena, project->pods, &project->pod_capacity, pods, sizeof(*project->pods));
    if (pods > project->node_capacity)
        project->nodes = arena_grow(arena, project->nodes, &project->node_capacity, pods, sizeof(*project->nodes));
    struct project_unit *unit = &project->units[at];
    memmove(unit + 1, unit, (project->count - at) * sizeof(*unit));
    *unit = (struct project_unit){.head = workload_left(cycle, workload), .state = workload_rest_state(workload)};
    unit->popped =
        project_units_take(cycle, workload, project->pods + project->pod_count, project->nodes + project->pod_count);
    project->pod_count += unit->popped.count;
    project->count++;
}

static void sum_up(struct project_unit_list *project, size_t from)
{
    for (size_t i = from; i < project->count; i++) {
        struct project_unit *unit = &project->units[i];
        unit->before = i == 0 ? (struct amounts){0} : amounts_add(unit[-1].before, unit[-1].popped.amounts);
    }
}

static void find_more(struct project_units *units, struct cycle *cycle, uint32_t index)
{
    struct project_unit_list *project = &units->projects[index];
    size_t wanted = project->count < FIRST_UNITS ? FIRST_UNITS : project->count * 4;
    size_t before = project->count;
    struct left left = find_left(units, cycle, index);
    while (left.count > 0 && project->count < wanted) {
        struct workload *workload = *left.next++;
        left.count--;
        add_unit(cycle, project, project->count, workload);
        if (workload_count_left(workload) > 0) {
            insert(left.next, left.count, workload);
            left.next--;
            left.count++;
        }
    }
    project->is_whole = left.count == 0;
    sum_up(project, before);
    for (size_t i = 0; i < project->count; i++)
        unit_give_back(cycle, project->units[i].popped.workload);
}

// Takes the workload's units out; returns the position of the first one, or how many units there are.
static size_t remove_units(struct project_unit_list *project, const struct workload *workload)
{
    size_t first = 0;
    while (first < project->count && project->units[first].popped.workload != workload)
        first++;
    size_t left = first;
    for (size_t i = first; i < project->count; i++) {
        if (project->units[i].popped.workload != workload)
            project->units[left++] = project->units[i];
    }
    project->count = left;
    return first;
}

void project_units_touch(struct project_units *units, struct cycle *cycle, struct workload *workload)
{
    struct project_unit_list *project = &units->projects[workload->spec->project];
    size_t changed = remove_units(project, workload);
    if (workload->spec->preemptible && holders_has(units->holders, workload)) {
        for (size_t at = 0; workload_count_left(workload) > 0; at++) {
            int state = workload_rest_state(workload);
            while (at < project->count && !goes_before(workload, state, &project->units[at]))
                at++;
            if (at == project->count && !project->is_whole)
                break; // behind all that is known
            if (workload->counts.held > MOST_PUT_BACK) {
                project->count = at;
                project->is_whole = false;
                break;
            }
            changed = at < changed ? at : changed;
            add_unit(cycle, project, at, workload);
        }
        unit_give_back(cycle, workload);
    }
    sum_up(project, changed);
}

const struct project_unit *project_units_at(struct project_units *units, struct cycle *cycle, uint32_t index,
                                            size_t position)
{
    const struct project_unit_list *project = &units->projects[index];
    if (position >= project->count && !project->is_whole)
        find_more(units, cycle, index);
    return position < project->count ? &project->units[position] : NULL;
}
