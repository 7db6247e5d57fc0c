#include "scheduler/ask/what_if_fixes.h"

#include "base/error.h"
#include "model/pod.h"
#include "model/priority.h"
#include "model/told.h"
#include "scheduler/ask/what_if_answer.h"
#include "scheduler/ask/what_if_pools.h"
#include "scheduler/placing/explain.h"
#include "scheduler/state/wording.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// Bounds that keep all fixes together under WHAT_IF_PLANS_MAXIMUM cycles.
enum {
    MOST_NODE_POOLS = 6,
    MOST_SIZES = 6,
    MOST_PRIORITIES = 3,
    MOST_QUOTAS = 6,                              // for the project, and again for the department
    PLANS_OF_QUESTION = 3 + WHAT_IF_TIMES_MAXIMUM // asked, without it, alone
};
_Static_assert(PLANS_OF_QUESTION + MOST_NODE_POOLS + 1 + 2 * MOST_SIZES + MOST_PRIORITIES + 2 * MOST_QUOTAS <=
                   WHAT_IF_PLANS_MAXIMUM,
               "the fixes plan more cycles than they may");

// A change that was tried.
struct tried {
    bool starts;
    struct what_if_fix fix;
    int loss; // 0: nobody is displaced; 1: some are moved; 2: some lose their place
};

static void keep_displaced(struct tried *tried, const struct what_if_outcome *outcome, struct arena *arena)
{
    struct what_if_displaced *list = arena_array(arena, outcome->displaced_count, sizeof(*list));
    for (size_t i = 0; i < outcome->displaced_count; i++) {
        list[i] = outcome->displaced[i];
        list[i].sentence = arena_strdup(arena, list[i].sentence);
        int loss = list[i].moved ? 1 : 2;
        tried->loss = loss > tried->loss ? loss : tried->loss;
    }
    tried->fix.displaced = list;
    tried->fix.displaced_count = outcome->displaced_count;
}

static int try_change(struct what_if_inquiry *inquiry, struct what_if_change change, struct tried *out_tried,
                      struct error *err)
{
    struct what_if_trial trial;
    uint32_t most_scenarios = inquiry->question->fix_scenarios;
    *out_tried = (struct tried){.fix = {.change = change}};
    if (most_scenarios > 0 && inquiry->fix_scenarios >= most_scenarios)
        return 0;
    int rc = what_if_try(inquiry, &change, &inquiry->scratch, &trial, err);
    if (rc == 0) {
        struct what_if_outcome outcome = what_if_read(&trial, &inquiry->scratch);
        out_tried->starts =
            outcome.verdict != WHAT_IF_WAITS && (most_scenarios == 0 || trial.plan->search_cut_count == 0);
        if (out_tried->starts) {
            out_tried->fix.verdict = outcome.verdict;
            out_tried->fix.effect = arena_strdup(inquiry->arena, outcome.sentence);
            keep_displaced(out_tried, &outcome, inquiry->arena);
            if (change.kind == FIX_OTHER_PREEMPTIBILITY)
                out_tried->fix.price =
                    arena_strdup(inquiry->arena, what_if_could_lose_to(&trial, outcome.node_pool, &inquiry->scratch));
        }
    }
    arena_clear(&inquiry->scratch);
    return rc;
}

static const struct snapshot_workload *asked_workload(const struct what_if_inquiry *inquiry)
{
    return &inquiry->asked->snapshot->workloads[inquiry->asked->workload];
}

static const struct snapshot_pod *asked_pods(const struct what_if_inquiry *inquiry)
{
    return &inquiry->asked->snapshot->pods[asked_workload(inquiry)->first_pod];
}

static bool is_better(const struct tried *a, const struct tried *b)
{
    if (!a->starts || !b->starts)
        return a->starts && !b->starts;
    return a->loss != b->loss ? a->loss < b->loss : a->fix.verdict < b->fix.verdict;
}

// Its GPUs, where all nodes with some have the same.
static const char *word_hardware(const struct snapshot *snapshot, uint32_t node_pool, struct arena *arena)
{
    const char *type = NULL;
    for (size_t i = 0; i < snapshot->node_count; i++) {
        const struct snapshot_node *node = &snapshot->nodes[i];
        if (node->node_pool == node_pool && node->gpu_count > 0 && node->gpu_type && !type)
            type = node->gpu_type;
    }
    const char *name = snapshot->node_pools[node_pool].name;
    return type ? arena_printf(arena, "Runs in %s, on %s", name, type) : arena_printf(arena, "Runs in %s", name);
}

static int try_node_pools(struct what_if_inquiry *inquiry, struct tried *out_best, struct error *err)
{
    const struct snapshot *snapshot = inquiry->snapshot;
    uint32_t *pools;
    size_t count = what_if_other_pools(inquiry->asked->snapshot, asked_workload(inquiry), inquiry->arena, &pools);
    for (size_t i = 0; i < count && i < MOST_NODE_POOLS; i++) {
        struct tried tried;
        struct what_if_change change = {.kind = FIX_OTHER_NODE_POOL, .node_pool = pools[i]};
        if (try_change(inquiry, change, &tried, err) < 0)
            return -1;
        if (is_better(&tried, out_best))
            *out_best = tried;
    }
    if (out_best->starts) {
        uint32_t pool = out_best->fix.change.node_pool;
        out_best->fix.sentence = arena_printf(inquiry->arena, "Use node pool %s", snapshot->node_pools[pool].name);
        out_best->fix.price = word_hardware(snapshot, pool, inquiry->arena);
    }
    return 0;
}

static int try_preemptibility(struct what_if_inquiry *inquiry, struct tried *out_best, struct error *err)
{
    bool preemptible = !asked_workload(inquiry)->preemptible;
    struct what_if_change change = {.kind = FIX_OTHER_PREEMPTIBILITY, .preemptible = preemptible};
    if (try_change(inquiry, change, out_best, err) < 0)
        return -1;
    if (!out_best->starts)
        return 0;
    out_best->fix.sentence = preemptible ? "Make it preemptible" : "Make it non-preemptible";
    out_best->fix.price =
        preemptible ? arena_printf(inquiry->arena, "May be stopped again, by %c%s", out_best->fix.price[0] | 0x20,
                                   out_best->fix.price + 1)
                    : arena_printf(inquiry->arena, "Uses quota of %s that preemptible work could otherwise borrow",
                                   told_name(inquiry->arena, TOLD_PROJECT,
                                             inquiry->snapshot->projects[asked_workload(inquiry)->project].name));
    return 0;
}

static struct what_if_change make_size(enum what_if_fix_kind kind, uint32_t size)
{
    return (struct what_if_change){.kind = kind, .gpu_devices = size, .pods = size};
}

// The largest size from `least` to below `from` that starts: step by step where they are few, else between one that
// does and one that does not.
static int try_sizes(struct what_if_inquiry *inquiry, enum what_if_fix_kind kind, uint32_t least, uint32_t from,
                     struct tried *out_best, struct error *err)
{
    struct tried tried;
    if (from <= MOST_SIZES + least) {
        for (uint32_t size = from - 1; size >= least && !out_best->starts; size--) {
            if (try_change(inquiry, make_size(kind, size), out_best, err) < 0)
                return -1;
        }
        return 0;
    }
    uint32_t works = least - 1, fails = from;
    for (unsigned tries = 0; tries < MOST_SIZES && fails - works > 1; tries++) {
        uint32_t size = tries == 0 ? from - 1 : works + (fails - works) / 2;
        if (try_change(inquiry, make_size(kind, size), &tried, err) < 0)
            return -1;
        if (tried.starts) {
            *out_best = tried;
            works = size;
        } else {
            fails = size;
        }
    }
    return 0;
}

static int try_fewer_gpus(struct what_if_inquiry *inquiry, struct tried *out_best, struct error *err)
{
    const struct snapshot_workload *workload = asked_workload(inquiry);
    uint32_t most = 0;
    for (uint32_t i = 0; i < workload->pod_count; i++) {
        const struct snapshot_pod *pod = &asked_pods(inquiry)[i];
        if (pod->gpu_portion_milli > 0 || pod->gpu_memory_mib > 0)
            return 0;
        most = pod->gpu_devices > most ? pod->gpu_devices : most;
    }
    if (most < 2)
        return 0;
    if (try_sizes(inquiry, FIX_FEWER_GPUS, 1, most, out_best, err) < 0)
        return -1;
    if (out_best->starts) {
        uint32_t size = out_best->fix.change.gpu_devices;
        const char *each = workload->pod_count > 1 ? " per pod" : "";
        out_best->fix.sentence =
            arena_printf(inquiry->arena, "Ask for %u GPU%s%s instead of %u", size, size == 1 ? "" : "s", each, most);
        out_best->fix.price =
            arena_printf(inquiry->arena, "%u GPU%s%s fewer", most - size, most - size == 1 ? "" : "s", each);
    }
    return 0;
}

// Whether its sub-groups are the master and the workers, as an elastic gang has them without being asked.
static bool has_roles_alone(const struct snapshot_workload *workload)
{
    for (size_t g = 0; g < workload->sub_group_count; g++)
        if (strcmp(workload->sub_groups[g].name, POD_ROLE_TEXT_MASTER) != 0 &&
            strcmp(workload->sub_groups[g].name, POD_ROLE_TEXT_WORKER) != 0)
            return false;
    return true;
}

// Pods that must start together; 0: sub-groups say which, so that none is left out without another shape of the gang.
static uint32_t gang_of(const struct snapshot_workload *workload)
{
    uint32_t sum = 0;
    if (!has_roles_alone(workload))
        return 0;
    for (size_t g = 0; g < workload->sub_group_count; g++)
        sum += workload->sub_groups[g].min_pods;
    uint32_t gang = workload->sub_group_count > 0 ? sum : workload->min_pods;
    return gang < workload->pod_count ? gang : workload->pod_count;
}

static int try_fewer_pods(struct what_if_inquiry *inquiry, struct tried *out_best, struct error *err)
{
    const struct snapshot_workload *workload = asked_workload(inquiry);
    uint32_t gang = gang_of(workload);
    uint32_t leading = 0; // they are of no use alone
    for (uint32_t i = 0; i < workload->pod_count; i++)
        leading += asked_pods(inquiry)[i].role != POD_ROLE_NONE;
    uint32_t least = leading < workload->pod_count ? leading + 1 : 1;
    if (gang <= least)
        return 0;
    if (try_sizes(inquiry, FIX_FEWER_PODS, least, gang, out_best, err) < 0)
        return -1;
    if (out_best->starts) {
        uint32_t size = out_best->fix.change.pods;
        out_best->fix.sentence =
            arena_printf(inquiry->arena, "Run %u pod%s instead of %u", size, size == 1 ? "" : "s", workload->pod_count);
        out_best->fix.price = arena_printf(inquiry->arena, "%u pod%s fewer", workload->pod_count - size,
                                           workload->pod_count - size == 1 ? "" : "s");
    }
    return 0;
}

// Whether another workload of the project would be passed by going up from one priority to the other.
static bool passes_somebody(const struct what_if_inquiry *inquiry, int64_t from, int64_t to)
{
    const struct snapshot *snapshot = inquiry->asked->snapshot;
    for (uint32_t i = 0; i < snapshot->workload_count; i++) {
        const struct snapshot_workload *other = &snapshot->workloads[i];
        if (i != inquiry->asked->workload && other->project == asked_workload(inquiry)->project &&
            other->priority >= from && other->priority <= to)
            return true;
    }
    return false;
}

static int try_priorities(struct what_if_inquiry *inquiry, struct tried *out_best, struct error *err)
{
    int64_t from = asked_workload(inquiry)->priority;
    unsigned tries = 0;
    for (size_t i = 0; i < PRIORITY_CLASS_COUNT && tries < MOST_PRIORITIES && !out_best->starts; i++) {
        const struct priority_class *class = &PRIORITY_CLASSES[i];
        if (class->value <= from || !passes_somebody(inquiry, from, class->value))
            continue;
        struct what_if_change change = {.kind = FIX_OTHER_PRIORITY, .priority = class->value};
        if (try_change(inquiry, change, out_best, err) < 0)
            return -1;
        tries++;
        from = class->value;
        if (!out_best->starts)
            continue;
        out_best->fix.sentence =
            arena_printf(inquiry->arena, "Raise its priority to %s (%" PRId64 ")", class->name, class->value);
        out_best->fix.price =
            arena_printf(inquiry->arena, "Lower-priority work of %s comes after it and may give way to it",
                         told_name(inquiry->arena, TOLD_PROJECT,
                                   inquiry->snapshot->projects[asked_workload(inquiry)->project].name));
    }
    return 0;
}

static int64_t whole_gpus(int64_t milli)
{
    return (milli + GPU_MILLI_PER_DEVICE - 1) / GPU_MILLI_PER_DEVICE * GPU_MILLI_PER_DEVICE;
}

// The most that its pods can be charged with.
static int64_t asked_milli(const struct what_if_inquiry *inquiry)
{
    const struct snapshot *snapshot = inquiry->snapshot;
    int64_t sum = 0;
    for (uint32_t i = 0; i < asked_workload(inquiry)->pod_count; i++) {
        const struct snapshot_pod *pod = &asked_pods(inquiry)[i];
        int64_t each = pod->gpu_portion_milli > 0 ? pod->gpu_portion_milli : GPU_MILLI_PER_DEVICE;
        sum += each * pod->gpu_devices;
        for (size_t e = 0; e < pod->extended_count; e++)
            sum += snapshot->extended_resources[pod->extended[e].resource].gpu_milli * pod->extended[e].count;
    }
    return sum;
}

static int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

// What is held, and all that is asked for: no more can be needed.
static int64_t enough(const struct plan_queue *queue, int64_t asked)
{
    return whole_gpus(queue->allocated.of[RESOURCE_GPU] + asked);
}

static bool is_over_limit(const struct what_if_inquiry *inquiry, enum queue_kind kind, uint32_t node_pool)
{
    for (size_t i = 0; i < inquiry->answer->explanation_count; i++) {
        const struct plan_explanation *explanation = &inquiry->answer->explanations[i];
        if (explanation->code == EXPLANATION_OVER_LIMIT && explanation->node_pool == node_pool &&
            explanation->queue != SNAPSHOT_NONE && explanation->queue_kind == kind &&
            explanation->resource == RESOURCE_GPU)
            return true;
    }
    return false;
}

// Sets the quota of the project or department in the change, and the limit where that would be below it or is in the
// way.
static void set_quota(struct what_if_inquiry *inquiry, struct what_if_change *change, enum queue_kind kind,
                      int64_t deserved, int64_t most)
{
    const struct what_if_answer *answer = inquiry->answer;
    bool is_project = kind == QUEUE_KIND_PROJECT;
    const struct plan_queue *queue = is_project ? &answer->project_with : &answer->department_with;
    int64_t limit = queue->limit.of[RESOURCE_GPU];
    if (is_over_limit(inquiry, kind, change->node_pool))
        limit = at_least(limit, most);
    if (deserved != QUANTITY_UNLIMITED && deserved > queue->deserved.of[RESOURCE_GPU])
        limit = at_least(limit, deserved);
    *(is_project ? &change->project_deserved : &change->department_deserved) = deserved;
    *(is_project ? &change->project_limit : &change->department_limit) = limit;
    *(is_project ? &change->changes_project : &change->changes_department) = true;
}

// The smallest quota, in whole GPUs, with which it still starts.
static int shrink_quota(struct what_if_inquiry *inquiry, enum queue_kind kind, int64_t most, struct tried *best,
                        struct error *err)
{
    const struct what_if_answer *answer = inquiry->answer;
    const struct plan_queue *queue = kind == QUEUE_KIND_PROJECT ? &answer->project_with : &answer->department_with;
    int64_t deserved = queue->deserved.of[RESOURCE_GPU];
    if (deserved == QUANTITY_UNLIMITED || deserved >= most)
        return 0;
    // With a limit or the department out of the way the quota it has may do.
    bool may_stay = is_over_limit(inquiry, kind, best->fix.change.node_pool) ||
                    (kind == QUEUE_KIND_PROJECT && best->fix.change.changes_department);
    int64_t works = most / GPU_MILLI_PER_DEVICE, fails = deserved / GPU_MILLI_PER_DEVICE - may_stay;
    for (unsigned tries = 0; tries < MOST_QUOTAS - 2 && works - fails > 1; tries++) {
        int64_t middle = fails + (works - fails) / 2;
        struct what_if_change change = best->fix.change;
        struct tried tried;
        set_quota(inquiry, &change, kind, at_least(middle * GPU_MILLI_PER_DEVICE, deserved), most);
        if (try_change(inquiry, change, &tried, err) < 0)
            return -1;
        if (tried.starts) {
            *best = tried;
            works = middle;
        } else {
            fails = middle;
        }
    }
    return 0;
}

static const char *word_quota(struct arena *arena, const char *name, const struct plan_queue *queue, int64_t deserved,
                              int64_t limit)
{
    const char *text = "";
    if (deserved != queue->deserved.of[RESOURCE_GPU])
        text = arena_printf(arena, "the quota of %s from %s to %s", name,
                            wording_number(arena, RESOURCE_GPU, queue->deserved.of[RESOURCE_GPU]),
                            wording_amount(arena, RESOURCE_GPU, deserved));
    if (limit != queue->limit.of[RESOURCE_GPU])
        text = arena_printf(arena, "%s%sthe limit of %s from %s to %s", text, *text ? " and " : "", name,
                            wording_number(arena, RESOURCE_GPU, queue->limit.of[RESOURCE_GPU]),
                            wording_amount(arena, RESOURCE_GPU, limit));
    return text;
}

static void word_quotas(struct what_if_inquiry *inquiry, struct what_if_fix *fix)
{
    struct arena *arena = inquiry->arena;
    const struct snapshot *snapshot = inquiry->snapshot;
    const struct what_if_answer *answer = inquiry->answer;
    const struct what_if_change *change = &fix->change;
    const char *project =
        change->changes_project
            ? word_quota(arena, told_name(arena, TOLD_PROJECT, snapshot->projects[change->project].name),
                         &answer->project_with, change->project_deserved, change->project_limit)
            : "";
    const char *department =
        change->changes_department
            ? word_quota(arena, told_name(arena, TOLD_DEPARTMENT, snapshot->departments[change->department].name),
                         &answer->department_with, change->department_deserved, change->department_limit)
            : "";
    fix->sentence = arena_printf(arena, "Raise %s%s%s in node pool %s", project, *project && *department ? " and " : "",
                                 department, snapshot->node_pools[change->node_pool].name);
    fix->price = arena_printf(arena, "Others can only borrow what belongs to %s",
                              told_name(arena, TOLD_PROJECT, snapshot->projects[change->project].name));
}

static void drop_what_stays(const struct what_if_answer *answer, struct what_if_change *change)
{
    const struct plan_queue *project = &answer->project_with, *department = &answer->department_with;
    if (change->project_deserved == project->deserved.of[RESOURCE_GPU] &&
        change->project_limit == project->limit.of[RESOURCE_GPU])
        change->changes_project = false;
    if (change->department_deserved == department->deserved.of[RESOURCE_GPU] &&
        change->department_limit == department->limit.of[RESOURCE_GPU])
        change->changes_department = false;
}

static int try_quota(struct what_if_inquiry *inquiry, struct tried *out_best, struct error *err)
{
    const struct what_if_answer *answer = inquiry->answer;
    int64_t asked = asked_milli(inquiry);
    int64_t project_most = enough(&answer->project_with, asked);
    int64_t department_most = enough(&answer->department_with, asked);
    struct what_if_change change = {.kind = FIX_MORE_QUOTA,
                                    .node_pool = answer->queue_node_pool,
                                    .project = answer->project,
                                    .department = answer->department};
    if (asked == 0)
        return 0;
    set_quota(inquiry, &change, QUEUE_KIND_PROJECT,
              at_least(project_most, answer->project_with.deserved.of[RESOURCE_GPU]), project_most);
    if (try_change(inquiry, change, out_best, err) < 0)
        return -1;
    if (!out_best->starts && inquiry->snapshot->settings.full_hierarchy_fairness) {
        set_quota(inquiry, &change, QUEUE_KIND_DEPARTMENT,
                  at_least(department_most, answer->department_with.deserved.of[RESOURCE_GPU]), department_most);
        if (try_change(inquiry, change, out_best, err) < 0)
            return -1;
    }
    if (!out_best->starts)
        return 0;
    if (shrink_quota(inquiry, QUEUE_KIND_PROJECT, project_most, out_best, err) < 0)
        return -1;
    if (out_best->fix.change.changes_department &&
        shrink_quota(inquiry, QUEUE_KIND_DEPARTMENT, department_most, out_best, err) < 0)
        return -1;
    drop_what_stays(answer, &out_best->fix.change);
    word_quotas(inquiry, &out_best->fix);
    return 0;
}

static int compare_tried(const void *a, const void *b)
{
    const struct tried *one = a, *other = b;
    if (one->starts != other->starts)
        return other->starts - one->starts;
    if (one->loss != other->loss)
        return one->loss - other->loss;
    return (int)one->fix.change.kind - (int)other->fix.change.kind;
}

int what_if_find_fixes(struct what_if_inquiry *inquiry, struct what_if_answer *answer, struct error *err)
{
    // In the order of what is given up: from nothing but the place to what others have.
    static int (*const TRIES[FIX_KIND_COUNT])(struct what_if_inquiry *, struct tried *, struct error *) = {
        [FIX_OTHER_NODE_POOL] = try_node_pools, [FIX_OTHER_PREEMPTIBILITY] = try_preemptibility,
        [FIX_FEWER_GPUS] = try_fewer_gpus,      [FIX_FEWER_PODS] = try_fewer_pods,
        [FIX_OTHER_PRIORITY] = try_priorities,  [FIX_MORE_QUOTA] = try_quota,
    };
    struct tried tried[FIX_KIND_COUNT] = {0};
    for (size_t i = 0; i < FIX_KIND_COUNT; i++) {
        if (TRIES[i](inquiry, &tried[i], err) < 0)
            return -1;
    }
    qsort(tried, FIX_KIND_COUNT, sizeof(*tried), compare_tried);
    struct what_if_fix *fixes = arena_array(inquiry->arena, WHAT_IF_FIXES_MAXIMUM, sizeof(*fixes));
    for (size_t i = 0; i < WHAT_IF_FIXES_MAXIMUM && tried[i].starts; i++)
        fixes[answer->fix_count++] = tried[i].fix;
    answer->fixes = fixes;
    return 0;
}
