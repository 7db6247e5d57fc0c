// What is kept of the victims, by an example: three nodes, a gang of three pods of 2 GPUs each waits.
//
//    popped      u0 (2 GPUs on n2)   u1 (1 on n0)   u2 (3 on n0, 1 on n1)          units, in the order of giving way
//
//                free  recorded  freed     last_on_node
//        n0       1       0       4        u2 -> u1                a scenario of n0 takes both
//        n1       0       0       1        u2
//        n2       0       0       2        u0
//
// free is idle and releasing; recorded are the victims of a smaller probe, which stay evicted; freed grows with each
// unit. From the sums alone three filters say, before anything is simulated, whether the waiting pods could fit:
// as many places of 2 GPUs as pods (n0 has 2, n2 has 1: just enough), a node that each may go to, and room inside the
// domains of required levels (victim_domains.c). victim_losses.c asks whether so much may be lost lawfully.
//
// A filter that says no is certain. One that says yes costs a simulation.
#include "scheduler/victims/victims.h"

#include "scheduler/state/node.h"
#include "scheduler/state/queue.h"
#include "scheduler/state/rules.h"
#include "scheduler/state/unit.h"
#include "scheduler/victims/fairness.h"
#include "scheduler/victims/fast/victim_order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int64_t victims_pending_milli(const struct search *search, const struct pod *pod)
{
    return request_gpu_milli(&pod->request, search->pool->largest_gpu_memory_mib);
}

int64_t victims_node_milli(const struct victims *victims, uint32_t node)
{
    return victims->free_milli[node] + victims->freed_milli[node];
}

static void find_demand(struct victims *victims)
{
    const struct search *search = victims->search;
    const struct workload *workload = search->workload;
    victims->smallest_milli = INT64_MAX;
    for (uint32_t i = 0; i < search->pending_count; i++) {
        int64_t milli = victims_pending_milli(search, &search->cycle->pods[workload->unit[i]]);
        victims->lack_milli += milli;
        victims->smallest_milli = milli < victims->smallest_milli ? milli : victims->smallest_milli;
        if (i == 0)
            victims->same_milli = milli;
        else if (victims->same_milli != milli)
            victims->same_milli = -1;
    }
}

static void find_accepts(struct victims *victims)
{
    const struct search *search = victims->search;
    victims->accepts = arena_array(&victims->search->probe_arena, search->pending_count, sizeof(*victims->accepts));
    for (uint32_t i = 0; i < search->pending_count; i++) {
        const struct pod *pod = &search->cycle->pods[search->workload->unit[i]];
        const bool *accepts = rules_accepting_nodes(search->cycle, pod);
        if (victims->accepts_count == 0 || victims->accepts[victims->accepts_count - 1] != accepts)
            victims->accepts[victims->accepts_count++] = accepts;
    }
}

// How many pods of the same request so much has room for.
static int64_t places_in(const struct victims *victims, int64_t milli)
{
    return milli > 0 ? milli / victims->same_milli : 0;
}

static void free_pod(struct victims *victims, const struct pod *pod)
{
    uint32_t node = pod->state.place.node;
    int64_t before = victims_node_milli(victims, node);
    victims->freed_milli[node] += victims_amounts(victims->search->cycle, pod).of[RESOURCE_GPU];
    if (victims->same_milli > 0)
        victims->place_count += places_in(victims, victims_node_milli(victims, node)) - places_in(victims, before);
}

// Whether room can be counted in places for one of the pending pods.
static bool counts_places(const struct victims *victims)
{
    const struct search *search = victims->search;
    return victims->same_milli > 0 && search->cycle->pods[search->workload->unit[0]].request.memory_mib == 0;
}

static int64_t loss_of(const struct search *search, const struct workload *workload, struct amounts amounts)
{
    return !search->may_lose || search->may_lose(search, workload) ? amounts.of[RESOURCE_GPU] : 0;
}

// Whether the pending pods may use the node's room without a unit that goes there.
static bool has_room_apart(const struct victims *victims, uint32_t node)
{
    return victims->search->feasible[node] || victims->recorded_milli[node] > 0;
}

static void note_node(struct victims *victims, uint32_t node)
{
    if (victims->last_on_node[node] == 0) {
        victims->seen_at[node] = victims->seen_count++;
        victims->prefixes_failed = victims->prefixes_failed && !has_room_apart(victims, node);
        if (has_room_apart(victims, node))
            victims->lack_milli += victims->free_milli[node] + victims->recorded_milli[node];
    }
    int64_t milli = victims_node_milli(victims, node);
    victims->prefixes_failed = victims->prefixes_failed && milli < victims->smallest_milli;
    if (victims->is_candidate[node] || milli < victims->smallest_milli)
        return;
    victims->is_candidate[node] = true;
    victims->candidates[victims->candidate_count++] = (struct node_room){node, milli, victims->seen_at[node]};
}

static void list_on_nodes(struct victims *victims, size_t unit, const struct popped_unit *popped)
{
    struct arena *arena = &victims->search->probe_arena;
    for (uint32_t i = 0; i < popped->count; i++) {
        uint32_t node = popped->nodes[i];
        size_t *last = &victims->last_on_node[node];
        note_node(victims, node);
        if (*last > 0 && victims->on_nodes[*last - 1].unit == unit)
            continue;
        if (victims->on_node_count == victims->on_node_capacity)
            victims->on_nodes = arena_grow(arena, victims->on_nodes, &victims->on_node_capacity,
                                           victims->on_node_count + 1, sizeof(*victims->on_nodes));
        victims->on_nodes[victims->on_node_count++] = (struct unit_on_node){unit, *last};
        *last = victims->on_node_count;
        victims->node_devices[node] += popped->devices;
        victims->is_spread[node] = victims->is_spread[node] || popped->is_spread;
    }
}

struct victim_mark *victims_mark(const struct victims *victims, const struct workload *workload)
{
    struct victim_mark *mark = &victims->marks->workloads[workload - victims->search->cycle->workloads];
    if (mark->stamp != victims->stamp)
        *mark = (struct victim_mark){.stamp = victims->stamp};
    return mark;
}

// The tables by node, side by side: one victims at a time is open.
static void open_tables(struct victims *victims)
{
    enum {
        WIDE = 7 // tables of 64 bits
    };
    size_t nodes = victims->search->cycle->snapshot->node_count;
    size_t bytes = nodes * (WIDE * sizeof(int64_t) + sizeof(uint32_t) + 2 * sizeof(bool));
    static_assert(sizeof(size_t) == sizeof(int64_t), "one of them holds positions");
    if (!victims->marks->tables)
        victims->marks->tables = arena_alloc(victims->search->cycle->scratch, bytes);
    memset(victims->marks->tables, 0, bytes);
    int64_t *wide = victims->marks->tables;
    victims->refused_devices = wide;
    victims->node_devices = wide + nodes;
    victims->last_on_node = (size_t *)(wide + 2 * nodes);
    victims->free_milli = wide + 3 * nodes;
    victims->freed_milli = wide + 4 * nodes;
    victims->recorded_milli = wide + 5 * nodes;
    victims->scratch_milli = wide + 6 * nodes;
    victims->seen_at = (uint32_t *)(wide + WIDE * nodes);
    victims->is_spread = (bool *)(victims->seen_at + nodes);
    victims->is_candidate = victims->is_spread + nodes;
    victims->candidates =
        arena_array(&victims->search->probe_arena, victims->search->pool->node_count, sizeof(*victims->candidates));
}

// Where all of its units stand on the node alone, the places that they free are known.
static bool node_leaves_room(const struct victims *victims, uint32_t node)
{
    const struct search *search = victims->search;
    if (search->cycle->is_plain || victims->is_spread[node] || !counts_places(victims))
        return true;
    int64_t without = victims->free_milli[node] + victims->recorded_milli[node];
    int64_t more = places_in(victims, victims_node_milli(victims, node)) - places_in(victims, without);
    return victims->recorded_place_count + more >= search->pending_count;
}

bool victims_node_may_suffice(const struct victims *victims, uint32_t node)
{
    const struct search *search = victims->search;
    // Units without GPUs that came since make no difference to what is lost and what room there is.
    if (victims->refused_devices[node] == victims->node_devices[node] + 1)
        return false;
    return node_leaves_room(victims, node) &&
           (!search->most_lost || search->must_free_devices <= 0 ||
            victims->recorded_devices + victims->node_devices[node] >= search->must_free_devices);
}

void victims_open(struct victims *victims, struct search *search)
{
    struct cycle *cycle = search->cycle;
    *victims = (struct victims){.search = search};
    if (!cycle->victim_marks) {
        cycle->victim_marks = arena_alloc(cycle->scratch, sizeof(*cycle->victim_marks));
        cycle->victim_marks->workloads =
            arena_array(cycle->scratch, cycle->snapshot->workload_count, sizeof(*cycle->victim_marks->workloads));
        cycle->victim_marks->recorded =
            arena_array(cycle->scratch, cycle->snapshot->pod_count, sizeof(*cycle->victim_marks->recorded));
    }
    victims->marks = cycle->victim_marks;
    victims->stamp = ++cycle->stamp;
    open_tables(victims);
    find_demand(victims);
    find_accepts(victims);
    for (size_t i = 0; i < search->pool->node_count; i++) {
        uint32_t node = search->pool->node_indices[i];
        victims->free_milli[node] = search->free_milli[i];
        if (victims->same_milli > 0)
            victims->place_count += places_in(victims, victims->free_milli[node]);
    }
    for (size_t i = 0; i < search->recorded.count; i++) {
        const struct pod *pod = &cycle->pods[search->recorded.pods[i]];
        victims->marks->recorded[pod->index] = victims->stamp;
        free_pod(victims, pod);
        victims->recorded_milli[pod->state.place.node] += victims_amounts(cycle, pod).of[RESOURCE_GPU];
        victims->recorded_loss_milli += loss_of(search, &cycle->workloads[pod->workload], victims_amounts(cycle, pod));
    }
    for (size_t i = 0; i < search->pool->node_count; i++) {
        uint32_t node = search->pool->node_indices[i];
        if (has_room_apart(victims, node))
            victims->lack_milli -= victims_node_milli(victims, node);
    }
    victims->recorded_place_count = victims->place_count;
    victims_open_losses(victims);
    if (!search->order) {
        search->order = arena_alloc(&search->walk_arena, sizeof(*search->order));
        victim_order_open(search->order, search, &search->walk_arena);
    }
    victims->order = search->order;
    if (search->is_sparing)
        victims->sparing = sparing_make(search);
}

static void make_room_for_unit(struct victims *victims)
{
    struct arena *arena = &victims->search->probe_arena;
    size_t needed = victims->unit_count + 1;
    if (needed > victims->unit_capacity)
        victims->units = arena_grow(arena, victims->units, &victims->unit_capacity, needed, sizeof(*victims->units));
    if (needed > victims->chosen_capacity)
        victims->is_chosen =
            arena_grow(arena, victims->is_chosen, &victims->chosen_capacity, needed, sizeof(*victims->is_chosen));
    if (needed > victims->selected_capacity)
        victims->selected =
            arena_grow(arena, victims->selected, &victims->selected_capacity, needed, sizeof(*victims->selected));
}

static void add_unit(struct victims *victims, const struct popped_unit *popped)
{
    struct search *search = victims->search;
    struct victim_mark *mark = victims_mark(victims, popped->workload);
    make_room_for_unit(victims);
    for (uint32_t i = 0; i < popped->count && popped->amounts.of[RESOURCE_GPU] > 0; i++)
        free_pod(victims, &search->cycle->pods[popped->pods[i]]);
    struct victim_unit *unit = &victims->units[victims->unit_count++];
    *unit = (struct victim_unit){
        .workload = popped->workload,
        .pods = popped->pods,
        .nodes = popped->nodes,
        .count = popped->count,
        .loss_milli = popped->amounts.of[RESOURCE_GPU] > 0 ? loss_of(search, popped->workload, popped->amounts) : 0,
        .whole_milli = mark->popped_milli,
        .previous = mark->last_unit};
    victims->loss_milli += unit->loss_milli;
    mark->last_unit = victims->unit_count;
    // With an earlier unit of its workload it may go where that does.
    victims->prefixes_failed = victims->prefixes_failed && unit->previous == 0;
    list_on_nodes(victims, victims->unit_count - 1, popped);
    victims->prefixes_refused = victims->prefixes_refused && popped->devices == 0;
}

bool victims_take(struct victims *victims)
{
    const struct popped_unit *popped;
    while ((popped = victim_order_at(victims->order, victims->popped_count))) {
        victims->popped_count++;
        victims->search->cycle->search_budget.taken++;
        bool is_recorded = false;
        for (uint32_t i = 0; i < popped->count && victims->search->recorded.count > 0; i++)
            is_recorded = is_recorded || victims->marks->recorded[popped->pods[i]] == victims->stamp;
        victims_mark(victims, popped->workload)->popped_milli += popped->amounts.of[RESOURCE_GPU];
        if (is_recorded || (victims->search->is_sparing && !sparing_takes(&victims->sparing, popped)))
            continue;
        add_unit(victims, popped);
        return true;
    }
    return false;
}

void victims_close(struct victims *victims)
{
    if (!victims->search->cycle->is_plain)
        return;
    victim_order_close(victims->order);
    victims->search->order = NULL;
}

bool victims_leave_room(struct victims *victims, const size_t *units, size_t count)
{
    const struct search *search = victims->search;
    const struct cycle *cycle = search->cycle;
    if (!counts_places(victims))
        return true;
    int64_t places = victims->recorded_place_count;
    for (size_t u = 0; u < count; u++) {
        const struct victim_unit *unit = &victims->units[units[u]];
        for (uint32_t i = 0; i < unit->count; i++) {
            const struct pod *pod = &cycle->pods[unit->pods[i]];
            uint32_t node = pod->state.place.node;
            int64_t before = victims->free_milli[node] + victims->recorded_milli[node] + victims->scratch_milli[node];
            int64_t freed = victims_amounts(cycle, pod).of[RESOURCE_GPU];
            victims->scratch_milli[node] += freed;
            places += places_in(victims, before + freed) - places_in(victims, before);
        }
    }
    for (size_t u = 0; u < count; u++) {
        for (uint32_t i = 0; i < victims->units[units[u]].count; i++)
            victims->scratch_milli[cycle->pods[victims->units[units[u]].pods[i]].state.place.node] = 0;
    }
    return places >= search->pending_count;
}

static int compare_descending(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left < right) - (left > right);
}

bool victims_first_fit(int64_t *demands, size_t demand_count, int64_t *rooms, size_t room_count)
{
    qsort(demands, demand_count, sizeof(*demands), compare_descending);
    qsort(rooms, room_count, sizeof(*rooms), compare_descending);
    for (size_t d = 0; d < demand_count; d++) {
        size_t i = 0;
        while (i < room_count && rooms[i] < demands[d])
            i++;
        if (i == room_count)
            return false;
        rooms[i] -= demands[d];
    }
    return true;
}

static bool gpus_may_suffice(const struct victims *victims)
{
    struct search *search = victims->search;
    if (victims->same_milli >= 0)
        return victims->same_milli == 0 || victims->place_count >= search->pending_count;
    int64_t *demands = arena_array(&search->arena, search->pending_count, sizeof(*demands));
    int64_t *rooms = arena_array(&search->arena, search->pool->node_count, sizeof(*rooms));
    for (uint32_t i = 0; i < search->pending_count; i++)
        demands[i] = victims_pending_milli(search, &search->cycle->pods[search->workload->unit[i]]);
    for (size_t i = 0; i < search->pool->node_count; i++)
        rooms[i] = victims_node_milli(victims, search->pool->node_indices[i]);
    bool suffices = victims_first_fit(demands, search->pending_count, rooms, search->pool->node_count);
    arena_clear(&search->arena);
    return suffices;
}

static bool has_match(const struct victims *victims, const bool *accepts)
{
    const struct search *search = victims->search;
    const struct cycle *cycle = search->cycle;
    for (size_t n = 0; n < search->pool->node_count; n++) {
        uint32_t node = search->pool->node_indices[n];
        if (accepts[node] && (search->feasible[node] || victims->last_on_node[node] > 0))
            return true;
    }
    for (size_t p = 0; p < search->recorded.count; p++) {
        if (accepts[cycle->pods[search->recorded.pods[p]].state.place.node])
            return true;
    }
    return false;
}

// Every pending pod has a node that may take it, among feasible nodes and those of victims.
static bool nodes_may_match(const struct victims *victims)
{
    for (size_t i = 0; i < victims->accepts_count; i++) {
        if (!has_match(victims, victims->accepts[i]))
            return false;
    }
    return true;
}

bool victims_may_suffice(struct victims *victims)
{
    return victims_may_lose_enough(victims, victims->loss_milli) && gpus_may_suffice(victims) &&
           nodes_may_match(victims) && victims_domains_may_suffice(victims) && victims_all_may_lose_enough(victims);
}
