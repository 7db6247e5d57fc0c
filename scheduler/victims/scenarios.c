#include "scheduler/victims/scenarios.h"

// The two generators of scenarios: see search.h and docs/scheduler.md, 6.6.
#include "scheduler/state/unit.h"
#include "scheduler/victims/search.h"
#include "scheduler/victims/victims.h"

#include <stdlib.h>
#include <string.h>

// The units that a scenario takes: those with a pod on a chosen node.
struct selection {
    struct victims *victims;
    size_t *units;
    size_t count;
};

static void choose_unit(struct selection *selection, size_t unit)
{
    struct victims *victims = selection->victims;
    if (victims->is_chosen[unit])
        return;
    victims->is_chosen[unit] = true;
    selection->units[selection->count++] = unit;
}

static void choose_node(struct selection *selection, uint32_t node)
{
    const struct victims *victims = selection->victims;
    for (size_t at = victims->last_on_node[node]; at > 0; at = victims->on_nodes[at - 1].next)
        choose_unit(selection, victims->on_nodes[at - 1].unit);
}

// Whether no gang of the workload is left in part with the recorded victims and the chosen units gone.
static bool leaves_whole(const struct victims *victims, const struct workload *workload)
{
    const struct cycle *cycle = victims->search->cycle;
    uint32_t *left = arena_array(&victims->search->arena, workload->group_count, sizeof(*left));
    for (uint32_t g = 0; g < workload->group_count; g++)
        left[g] = workload->groups[g].counts.held;
    for (uint32_t p = 0; p < workload->spec->pod_count && victims->search->recorded.count > 0; p++)
        left[cycle->pods[workload->spec->first_pod + p].group] -=
            victims->marks->recorded[workload->spec->first_pod + p] == victims->stamp;
    for (size_t unit = victims_mark(victims, workload)->last_unit; unit > 0; unit = victims->units[unit - 1].previous) {
        const struct victim_unit *taken = &victims->units[unit - 1];
        for (uint32_t i = 0; i < taken->count && victims->is_chosen[unit - 1]; i++)
            left[cycle->pods[taken->pods[i]].group]--;
    }
    bool is_whole = unit_is_whole(workload, left);
    arena_clear(&victims->search->arena);
    return is_whole;
}

// Where a gang would be left in part, all that was taken of the workload before goes with it. False where nothing is
// added.
static bool complete_gangs(struct selection *selection)
{
    struct victims *victims = selection->victims;
    size_t chosen = selection->count;
    victims->selection++;
    for (size_t i = 0; i < chosen; i++) {
        const struct workload *workload = victims->units[selection->units[i]].workload;
        struct victim_mark *mark = victims_mark(victims, workload);
        if (mark->completed == victims->selection)
            continue;
        mark->completed = victims->selection;
        size_t last = mark->last_unit;
        while (!victims->is_chosen[last - 1])
            last = victims->units[last - 1].previous;
        size_t before = victims->units[last - 1].previous;
        if (before == 0 || leaves_whole(victims, workload))
            continue;
        for (; before > 0; before = victims->units[before - 1].previous)
            choose_unit(selection, before - 1);
    }
    return selection->count > chosen;
}

static int compare_units(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

// Tries the recorded victims and the chosen units, in the order in which they were taken.
static bool try_chosen(struct selection *selection)
{
    struct victims *victims = selection->victims;
    struct search *search = victims->search;
    size_t count = search->recorded.count;
    int64_t loss_milli = 0;
    for (size_t i = 0; i < selection->count; i++) {
        count += victims->units[selection->units[i]].count;
        loss_milli += victims->units[selection->units[i]].loss_milli;
    }
    search->cycle->search_budget.taken += (int64_t)selection->count;
    victims->was_refused = !victims_may_lose_enough(victims, loss_milli) ||
                           !victims_leave_room(victims, selection->units, selection->count) ||
                           !victims_sides_may_lose_enough(victims, selection->units, selection->count);
    if (victims->was_refused) {
        search->cycle->counts[search->cycle->action].scenarios_filtered++;
        return false;
    }
    qsort(selection->units, selection->count, sizeof(*selection->units), compare_units);
    uint32_t *pods = arena_array(&search->probe_arena, count, sizeof(*pods));
    struct scenario scenario = {pods, search->recorded.count};
    if (search->recorded.count > 0)
        memcpy(pods, search->recorded.pods, search->recorded.count * sizeof(*pods));
    for (size_t i = 0; i < selection->count; i++) {
        const struct victim_unit *unit = &victims->units[selection->units[i]];
        memcpy(pods + scenario.count, unit->pods, unit->count * sizeof(*pods));
        scenario.count += unit->count;
    }
    return search_try(search, &scenario);
}

// The chosen units as they are; where that fails, with all that their gangs cannot do without.
static bool try_selection(struct selection *selection)
{
    struct victims *victims = selection->victims;
    bool found = try_chosen(selection);
    if (!found && complete_gangs(selection)) {
        bool was_refused = victims->was_refused;
        found = try_chosen(selection);
        victims->was_refused = victims->was_refused && was_refused;
    }
    for (size_t i = 0; i < selection->count; i++)
        victims->is_chosen[selection->units[i]] = false;
    return found;
}

static struct selection start_selection(struct victims *victims)
{
    return (struct selection){.victims = victims, .units = victims->selected};
}

static int compare_nodes(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

// For each node of the last unit: all victims taken so far that have a pod there.
static bool try_nodes_of_last(struct victims *victims)
{
    struct search *search = victims->search;
    const struct cycle *cycle = search->cycle;
    const struct victim_unit *last = &victims->units[victims->unit_count - 1];
    const uint32_t *nodes = last->nodes;
    if (last->count > 1) {
        uint32_t *sorted = arena_array(&search->probe_arena, last->count, sizeof(*sorted));
        memcpy(sorted, last->nodes, last->count * sizeof(*sorted));
        qsort(sorted, last->count, sizeof(*sorted), compare_nodes);
        nodes = sorted;
    }
    for (uint32_t i = 0; i < last->count && !search_is_over(search); i++) {
        if (i > 0 && nodes[i] == nodes[i - 1])
            continue;
        if (!victims_node_may_suffice(victims, nodes[i])) {
            search->cycle->counts[search->cycle->action].scenarios_filtered++;
            continue;
        }
        struct selection selection = start_selection(victims);
        choose_node(&selection, nodes[i]);
        if (try_selection(&selection))
            return true;
        if (victims->was_refused && !cycle->is_plain)
            victims->refused_devices[nodes[i]] = victims->node_devices[nodes[i]] + 1;
    }
    return false;
}

static int compare_rooms(const void *a, const void *b)
{
    const struct node_room *left = a, *right = b;
    if (left->milli != right->milli)
        return left->milli < right->milli ? -1 : 1;
    return (left->first_seen > right->first_seen) - (left->first_seen < right->first_seen);
}

struct prefix_plan {
    struct node_room *nodes; // of victims, by room, smallest first
    size_t count;
    size_t first; // the smallest prefix that covers the demand
    bool covers;
};

static struct prefix_plan plan_prefixes(struct victims *victims)
{
    struct prefix_plan plan = {.nodes = victims->candidates, .count = victims->candidate_count};
    for (size_t i = 0; i < plan.count; i++)
        plan.nodes[i].milli = victims_node_milli(victims, plan.nodes[i].node);
    victims->search->cycle->search_budget.taken += (int64_t)plan.count;
    qsort(plan.nodes, plan.count, sizeof(*plan.nodes), compare_rooms);
    int64_t lack_milli = victims->lack_milli;
    while (lack_milli > 0 && plan.first < plan.count)
        lack_milli -= plan.nodes[plan.first++].milli;
    plan.covers = lack_milli <= 0;
    return plan;
}

static bool try_prefix(struct victims *victims, const struct prefix_plan *plan, size_t length)
{
    struct selection selection = start_selection(victims);
    for (size_t i = 0; i < length; i++)
        choose_node(&selection, plan->nodes[i].node);
    return try_selection(&selection);
}

// Prefixes of the nodes with victims, smallest room first: just enough of them, then more and more.
static bool try_prefixes(struct victims *victims)
{
    struct search *search = victims->search;
    if (victims->prefixes_refused || victims->prefixes_failed)
        return false;
    struct prefix_plan plan = plan_prefixes(victims);
    victims->prefixes_refused = victims->prefixes_failed = !search->cycle->is_plain;
    if (!plan.covers)
        return false;
    for (size_t more = 0; !search_is_over(search); more = more ? more * 2 : 1) {
        bool all = plan.first + more >= plan.count;
        victims->was_refused = false;
        if (try_prefix(victims, &plan, all ? plan.count : plan.first + more))
            return true;
        victims->prefixes_refused = victims->prefixes_refused && victims->was_refused;
        if (all)
            return false;
    }
    return false;
}

static bool generate(struct search *search, bool (*try_taken)(struct victims *victims))
{
    bool found = search->recorded.count > 0 && search_try(search, &search->recorded);
    if (found)
        return true;
    struct victims victims;
    victims_open(&victims, search);
    while (!found && !search_is_over(search) && victims_take(&victims)) {
        if (victims_may_suffice(&victims))
            found = try_taken(&victims);
    }
    victims_close(&victims);
    return found;
}

bool scenarios_by_node(struct search *search)
{
    return generate(search, try_nodes_of_last);
}

bool scenarios_over_nodes(struct search *search)
{
    return generate(search, try_prefixes);
}
