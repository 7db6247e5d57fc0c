#include "reconciler/turn/replicas.h"

#include "db/events.h"
#include "model/serving.h"
#include "reconciler/serving/autoscale.h"
#include "reconciler/serving/page_reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    ROOM_PATIENCE_MS = 30 * 1000, // a new replica waits this long for room, then an old one gives way
    ADDRESS_SIZE = 64
};

bool replicas_are_of(const struct cache_workload *workload)
{
    return workload->serving_json != NULL;
}

static bool is_old(const struct cache_pod *pod)
{
    return pod->generation < pod->workload->generation;
}

static bool is_live(const struct cache_pod *pod)
{
    return !pod->deleted_ms && pod->status != POD_STATUS_RELEASING && !pod_status_is_over(pod->status);
}

static bool is_waiting(const struct cache_pod *pod)
{
    return pod->status == POD_STATUS_PENDING || pod->status == POD_STATUS_PIPELINED;
}

// Over, and to be tried again when its time has come.
static bool is_to_return(const struct cache_pod *pod)
{
    return !pod->deleted_ms && (pod->status == POD_STATUS_FAILED || pod->status == POD_STATUS_SUCCEEDED);
}

int64_t replicas_of_before(const struct cache_workload *workload)
{
    int64_t count = 0;
    for (size_t i = 0; i < workload->pod_count; i++)
        count += is_old(workload->pods[i]) && pod_status_holds_place(workload->pods[i]->status);
    return count;
}

// An end that nobody tries again: its row says so, and the cache drops it.
static void retire(struct turn *turn, struct cache_pod *pod)
{
    turn_touch_pod(turn, pod);
    pod->deleted_ms = turn->now_ms;
}

struct tally {
    int64_t of_new; // live, or to return
    int64_t new_running;
    int64_t new_starting; // neither running nor waiting for room too long
    int64_t old_live;
    bool lacks_room; // a new one has waited long enough
};

static struct tally count_up(struct turn *turn, const struct cache_workload *workload)
{
    struct tally tally = {0};
    for (size_t i = 0; i < workload->pod_count; i++) {
        const struct cache_pod *pod = workload->pods[i];
        if (is_old(pod)) {
            tally.old_live += is_live(pod);
            continue;
        }
        tally.of_new += is_live(pod) || is_to_return(pod);
        if (!is_live(pod))
            continue;
        tally.new_running += pod->status == POD_STATUS_RUNNING;
        tally.new_starting += pod->status != POD_STATUS_RUNNING;
        if (!is_waiting(pod))
            continue;
        if (turn->now_ms - pod->created_ms >= ROOM_PATIENCE_MS)
            tally.lacks_room = true;
        else
            turn_note_due(turn, pod->created_ms + ROOM_PATIENCE_MS);
    }
    for (size_t i = 0; i < turn->creation_count; i++)
        if (turn->creations[i].workload == workload) {
            tally.of_new++;
            tally.new_starting++;
        }
    return tally;
}

// Which goes first: what waits for nothing but a retry, what has no place, what is youngest.
static int rank_of(const struct cache_pod *pod)
{
    return is_to_return(pod) ? 0 : is_waiting(pod) ? 1 : pod->status != POD_STATUS_RUNNING ? 2 : 3;
}

static struct cache_pod *find_to_go(const struct cache_workload *workload, bool of_old)
{
    struct cache_pod *found = NULL;
    for (size_t i = 0; i < workload->pod_count; i++) {
        struct cache_pod *pod = workload->pods[i];
        if (is_old(pod) != of_old || !(is_live(pod) || (is_to_return(pod) && !of_old)))
            continue;
        if (!found || rank_of(pod) < rank_of(found) ||
            (rank_of(pod) == rank_of(found) && pod->pod_index > found->pod_index))
            found = pod;
    }
    return found;
}

static void let_go(struct turn *turn, const struct cache_workload *workload, bool of_old, int64_t count,
                   const char *reason)
{
    for (; count > 0; count--) {
        struct cache_pod *pod = find_to_go(workload, of_old);
        if (!pod)
            return;
        if (is_to_return(pod))
            retire(turn, pod);
        else
            turn_release_pod(turn, pod, reason);
    }
}

static void drop_old(struct turn *turn, const struct cache_workload *workload)
{
    for (size_t i = 0; i < workload->pod_count; i++) {
        struct cache_pod *pod = workload->pods[i];
        if (!is_old(pod))
            continue;
        if (is_to_return(pod))
            retire(turn, pod);
        else if (is_waiting(pod))
            turn_release_pod(turn, pod, "Updated");
    }
}

static void create(struct turn *turn, struct cache_workload *workload, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        turn_touch_workload(turn, workload);
        turn_create_pod(turn, workload, false, -1, 0);
    }
}

// One step at a time: a new one at most is on its way while old ones serve.
static void roll(struct turn *turn, struct cache_workload *workload, const struct tally *tally)
{
    int64_t spare = tally->new_running + tally->old_live - workload->pods_wanted;
    if (spare > 0)
        let_go(turn, workload, true, spare < tally->old_live ? spare : tally->old_live, "Updated");
    else if (tally->lacks_room && spare == 0)
        let_go(turn, workload, true, 1, "Updated");
    if (tally->new_starting == 0 && tally->of_new < workload->pods_wanted)
        create(turn, workload, 1);
}

static void fit(struct turn *turn, struct cache_workload *workload)
{
    drop_old(turn, workload);
    struct tally tally = count_up(turn, workload);
    if (tally.of_new > workload->pods_wanted)
        let_go(turn, workload, false, tally.of_new - workload->pods_wanted, "ScaledDown");
    if (tally.old_live > 0)
        roll(turn, workload, &tally);
    else if (tally.of_new < workload->pods_wanted)
        create(turn, workload, workload->pods_wanted - tally.of_new);
}

// What a replica's page says in the metric that replicas are counted by.
static bool read_load(const struct page_reading *reading, const char *metric, double *out)
{
    const struct {
        const char *metric;
        bool is_known;
        double value;
    } WORDS[] = {
        {"concurrency", reading->has_concurrency, reading->concurrency},
        {"throughput", reading->has_throughput, reading->throughput},
        {"latency", reading->has_latency, reading->latency_ms},
    };
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        if (strcmp(metric, WORDS[i].metric) == 0) {
            *out = WORDS[i].value;
            return WORDS[i].is_known;
        }
    *out = reading->own;
    return reading->has_own;
}

static void add_target(struct turn *turn, const struct cache_pod *pod, const struct serving *serving)
{
    char address[ADDRESS_SIZE];
    if (!turn->backend || !turn->backend->ops->find_address ||
        !turn->backend->ops->find_address(turn->backend->self, pod->uuid,
                                          serving->page_port && serving->page_port != serving->port, address,
                                          sizeof(address)))
        return;
    turn->targets =
        arena_grow(turn->arena, turn->targets, &turn->target_capacity, turn->target_count + 1, sizeof(*turn->targets));
    struct page_target *target = &turn->targets[turn->target_count++];
    *target = (struct page_target){0};
    snprintf(target->pod_uuid, sizeof(target->pod_uuid), "%s", pod->uuid);
    snprintf(target->url, sizeof(target->url), "http://%s%s", address, serving->page_path);
    snprintf(target->metric, sizeof(target->metric), "%s", serving->metric ? serving->metric : "");
}

static struct autoscale_reading measure(struct turn *turn, struct cache_workload *workload,
                                        const struct serving *serving)
{
    struct autoscale_reading out = {.now_ms = turn->now_ms};
    if (!turn->pages)
        return out;
    out.interval_ms = page_reader_interval(turn->pages);
    struct page_reading reading;
    int64_t round = 0;
    for (size_t i = 0; i < workload->pod_count; i++) {
        struct cache_pod *pod = workload->pods[i];
        double load;
        if (pod->status != POD_STATUS_RUNNING)
            continue;
        add_target(turn, pod, serving);
        if (!page_reader_get(turn->pages, pod->uuid, &reading) || reading.round == workload->read_round)
            continue;
        round = reading.round;
        pod->throughput = reading.has_throughput ? reading.throughput : -1;
        pod->latency_ms = reading.has_latency ? reading.latency_ms : -1;
        if (!serving->metric || !read_load(&reading, serving->metric, &load))
            continue;
        out.has_load = true;
        out.load += load;
    }
    if (round)
        workload->read_round = round;
    struct backend_service_state state;
    if (turn->backend && turn->backend->ops->read_service &&
        turn->backend->ops->read_service(turn->backend->self, workload->uuid, &state)) {
        out.has_caller = state.waiting > 0;
        int64_t least_ms = AUTOSCALE_WINDOW * out.interval_ms; // what a start and a first answer take
        out.is_idle = serving->min_replicas == 0 && state.open == 0 && state.waiting == 0 &&
                      state.quiet_ms >= (serving->retention_ms > least_ms ? serving->retention_ms : least_ms) &&
                      workload->phase == PHASE_RUNNING && turn->now_ms - workload->phase_updated_ms >= least_ms;
    }
    return out;
}

static void tell_scaling(struct turn *turn, const struct cache_workload *workload, const struct serving *serving,
                         int64_t before, const struct autoscale_answer *answer)
{
    const char *why = "";
    switch (answer->cause) {
    case AUTOSCALE_MORE:
    case AUTOSCALE_LESS:
        why = arena_printf(turn->arena, "%s is %.4g in all, and %.4g is aimed at for one", serving->metric,
                           answer->load, serving->target);
        break;
    case AUTOSCALE_TO_ZERO:
        why = "nobody calls";
        break;
    case AUTOSCALE_FROM_ZERO:
        why = "somebody calls";
        break;
    case AUTOSCALE_BOUNDS:
    case AUTOSCALE_NONE:
        why = arena_printf(turn->arena, "the bounds are %" PRId64 " to %" PRId64, serving->min_replicas,
                           serving->max_replicas);
        break;
    }
    turn_add_workload_event(turn, workload, EVENT_NORMAL, "Scaled", "control-plane",
                            arena_printf(turn->arena, "%s: %" PRId64 " replicas after %" PRId64 ": %s", workload->name,
                                         answer->replicas, before, why));
}

// Where the metric is awaited and no replica shows it, that is said once.
static void tell_missing(struct turn *turn, struct cache_workload *workload, const struct serving *serving,
                         const struct autoscale_reading *reading)
{
    bool expects = serving->metric && serving_scales(serving) && workload->phase == PHASE_RUNNING &&
                   turn->now_ms - workload->phase_updated_ms >= AUTOSCALE_WINDOW * reading->interval_ms;
    if (reading->has_load)
        workload->misses_metric = false;
    if (!expects || reading->has_load || workload->misses_metric || workload->pods_wanted == 0)
        return;
    workload->misses_metric = true;
    turn_add_workload_event(turn, workload, EVENT_WARNING, "MetricMissing", "control-plane",
                            arena_printf(turn->arena,
                                         "%s: no replica shows %s on its metrics page: the number stays at %" PRId64,
                                         workload->name, serving->metric, workload->pods_wanted));
}

static void scale(struct turn *turn, struct cache_workload *workload, const struct serving *serving)
{
    int64_t before = workload->pods_wanted, round = workload->read_round;
    struct autoscale_reading reading = measure(turn, workload, serving);
    if (!workload->autoscale)
        workload->autoscale = memory_array(1, sizeof(*workload->autoscale));
    bool is_new = workload->read_round != round || workload->read_round == 0;
    bool moves = before < serving->min_replicas || before > serving->max_replicas || before == 0 || reading.is_idle;
    if (turn->pages && (serving->min_replicas == 0 || serving_scales(serving)))
        turn_note_due(turn, turn->now_ms + reading.interval_ms);
    if (!is_new && !moves)
        return;
    struct autoscale_answer answer = autoscale_decide(serving, workload->autoscale, before, &reading);
    tell_missing(turn, workload, serving, &reading);
    if (answer.replicas == before)
        return;
    turn_scale(turn, workload, answer.replicas);
    tell_scaling(turn, workload, serving, before, &answer);
}

static void add_service(struct turn *turn, const struct cache_workload *workload, const struct serving *serving)
{
    if (!serving->address)
        return;
    const char **uuids = arena_array(turn->arena, workload->pod_count, sizeof(*uuids));
    size_t count = 0;
    for (size_t i = 0; i < workload->pod_count; i++)
        if (workload->pods[i]->status == POD_STATUS_RUNNING)
            uuids[count++] = workload->pods[i]->uuid;
    turn->services = arena_grow(turn->arena, turn->services, &turn->service_capacity, turn->service_count + 1,
                                sizeof(*turn->services));
    turn->services[turn->service_count++] =
        (struct backend_service){workload->uuid, serving->address, uuids, count, serving->wait_ms};
}

void replicas_attend(struct turn *turn, struct cache_workload *workload)
{
    struct serving serving;
    if (!serving_parse(workload->serving_json, turn->arena, &serving))
        return;
    scale(turn, workload, &serving);
    fit(turn, workload);
    if ((workload->phase == PHASE_UPDATING && replicas_of_before(workload) == 0) ||
        (workload->pods_wanted == 0 && workload->phase != PHASE_RUNNING))
        turn_touch_workload(turn, workload);
    add_service(turn, workload, &serving);
}

void replicas_hand_over(struct turn *turn)
{
    if (turn->pages)
        page_reader_set(turn->pages, turn->targets, turn->target_count);
    if (turn->backend && turn->backend->ops->serve)
        turn->backend->ops->serve(turn->backend->self, turn->services, turn->service_count);
}
