#include "reconciler/world/gates.h"

#include "base/compare.h"
#include "base/quantity.h"
#include "base/timestamp.h"
#include "scheduler/pod_status.h"

#include <stdlib.h>
#include <string.h>

static void gate(struct snapshot_workload *workload, struct snapshot_pod *pods, const char *sentence)
{
    workload->gate = sentence;
    for (uint32_t i = 0; i < workload->pod_count; i++)
        if (pods[workload->first_pod + i].status == SNAPSHOT_POD_PENDING)
            pods[workload->first_pod + i].status = SNAPSHOT_POD_GATED;
}

void gate_without_pools(const struct cache_workload *workload, struct snapshot_workload *out, struct snapshot_pod *pods,
                        struct arena *arena)
{
    const char **names, *text = "";
    size_t count = world_json_texts(workload->node_pools_json, arena, &names);
    for (size_t i = 0; i < count; i++)
        text = arena_printf(arena, "%s%s%s", text, i > 0 ? ", " : "", names[i]);
    gate(out, pods,
         arena_printf(arena, "Waits for node pool%s %s, which %s gone; submit it to another one", count == 1 ? "" : "s",
                      text, count == 1 ? "is" : "are"));
}

void gate_until_start(const struct cache_workload *workload, int64_t now_ms, struct snapshot_workload *out,
                      struct snapshot_pod *pods, struct arena *arena, int64_t *due_ms)
{
    char text[TIMESTAMP_SIZE];
    if (workload->start_at_ms <= now_ms || workload->deleted_ms)
        return;
    timestamp_format(workload->start_at_ms, text);
    gate(out, pods, arena_printf(arena, "Starts no sooner than %s, as its submitter asked", text));
    out->gate_until_ms = workload->start_at_ms;
    if (workload->start_at_ms < *due_ms)
        *due_ms = workload->start_at_ms;
}

static const struct {
    const char *wanted, *verb, *past;
} ENDS[] = {{"ok", "complete", "completed"}, {"any", "end", "ended"}, {"failed", "fail", "failed"}};

bool gate_until_others_end(const struct cache_workload *workload, struct snapshot_workload *out,
                           struct snapshot_pod *pods, struct arena *arena)
{
    static const char NEVER[] = "never ", WAITS[] = "waits ";
    const char *text = workload->waits_for;
    if (!text || workload->deleted_ms)
        return false;
    out->gate_is_final = strncmp(text, NEVER, strlen(NEVER)) == 0;
    text += strlen(out->gate_is_final ? NEVER : WAITS);
    for (size_t i = 0; i < sizeof(ENDS) / sizeof(ENDS[0]); i++) {
        size_t length = strlen(ENDS[i].wanted);
        if (strncmp(text, ENDS[i].wanted, length) != 0)
            continue;
        const char *name = text + length + 1;
        gate(out, pods,
             out->gate_is_final
                 ? arena_printf(arena, "Was to start after %s %s, which did not come: submit it again without that",
                                name, ENDS[i].past)
                 : arena_printf(arena, "Waits for %s to %s", name, ENDS[i].verb));
    }
    return true;
}

static bool is_of_one_person(const struct snapshot_workload *a, const struct snapshot_workload *b)
{
    return a->project == b->project && strcmp(a->person, b->person) == 0;
}

// Person by person; of one person in the order in which they would be served. Addresses are in the order of names.
static int compare_waiting(const void *a, const void *b)
{
    const struct snapshot_workload *left = *(struct snapshot_workload *const *)a;
    const struct snapshot_workload *right = *(struct snapshot_workload *const *)b;
    int order = compare_numbers(left->project, right->project);
    order = order ? order : strcmp(left->person, right->person);
    order = order ? order : compare_numbers(right->priority, left->priority);
    order = order ? order : compare_numbers(left->created_ms, right->created_ms);
    return order ? order : (left > right) - (left < right);
}

static bool holds_something(const struct snapshot_workload *workload, const struct snapshot_pod *pods)
{
    for (uint32_t i = 0; i < workload->pod_count; i++)
        if (pod_status_is_held(pods[workload->first_pod + i].status))
            return true;
    return false;
}

// Device memory counts as a part of the largest device there is.
static int64_t largest_device_mib(const struct world *world)
{
    int64_t largest = 1;
    for (size_t i = 0; i < world->rows.node_count; i++)
        if (world->nodes[i].gpu_memory_mib > largest)
            largest = world->nodes[i].gpu_memory_mib;
    return largest;
}

static int64_t asked_gpu_milli(const struct world *world, const struct snapshot_workload *workload,
                               const struct snapshot_pod *pods, int64_t device_mib)
{
    int64_t asked = 0;
    for (uint32_t i = 0; i < workload->pod_count; i++) {
        const struct snapshot_pod *pod = &pods[workload->first_pod + i];
        if (pod->status != SNAPSHOT_POD_PENDING)
            continue;
        int64_t each = GPU_MILLI_PER_DEVICE;
        if (pod->gpu_portion_milli > 0)
            each = pod->gpu_portion_milli;
        else if (pod->gpu_memory_mib > 0 && pod->gpu_memory_mib < device_mib)
            each = pod->gpu_memory_mib * GPU_MILLI_PER_DEVICE / device_mib;
        asked += each * pod->gpu_devices;
        for (size_t e = 0; e < pod->extended_count; e++)
            asked += world->extended[pod->extended[e].resource].gpu_milli * pod->extended[e].count;
    }
    return asked;
}

static const char *say_beyond(int64_t waiting_milli, int64_t most_milli, const char *project, struct arena *arena)
{
    char waiting[QUANTITY_TEXT_SIZE], most[QUANTITY_TEXT_SIZE];
    quantity_format_milli(waiting_milli, waiting);
    quantity_format_milli(most_milli, most);
    return arena_printf(
        arena,
        "Its submitter has work for %s GPUs waiting before it, and each person of project %s may have work for "
        "%s waiting; it joins the queue when that has started",
        waiting, project, most);
}

void gate_beyond_waiting(const struct world *world, struct snapshot_workload *workloads, size_t count,
                         struct snapshot_pod *pods, struct arena *arena)
{
    struct snapshot_workload **waiting = NULL;
    size_t waiting_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct snapshot_workload *workload = &workloads[i];
        if (!workload->person || world->rows.projects[workload->project].person_waiting_gpu_milli < 0 ||
            workload->deleting || workload->gate || holds_something(workload, pods))
            continue;
        if (!waiting)
            waiting = arena_array(arena, count - i, sizeof(struct snapshot_workload *));
        waiting[waiting_count++] = workload;
    }
    if (waiting_count == 0)
        return;
    qsort(waiting, waiting_count, sizeof(struct snapshot_workload *), compare_waiting);
    int64_t device_mib = largest_device_mib(world), before = 0;
    for (size_t i = 0; i < waiting_count; i++) {
        if (i > 0 && !is_of_one_person(waiting[i - 1], waiting[i]))
            before = 0;
        int64_t asked = asked_gpu_milli(world, waiting[i], pods, device_mib);
        const struct project_row *project = &world->rows.projects[waiting[i]->project];
        // The first may ask for more than that, or it would never start.
        if (asked > 0 && before > 0 && before + asked > project->person_waiting_gpu_milli)
            gate(waiting[i], pods, say_beyond(before, project->person_waiting_gpu_milli, project->name, arena));
        else
            before += asked;
    }
}
