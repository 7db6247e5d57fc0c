#include "reconciler/reconciler.h"

#include "base/condition.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "db/db.h"
#include "journal/journal.h"
#include "journal/refused.h"
#include "reconciler/check/plan_check.h"
#include "reconciler/outcome/carry_out.h"
#include "reconciler/outcome/commit.h"
#include "reconciler/serving/page_reader.h"
#include "reconciler/state.h"
#include "reconciler/turn/clock_back.h"
#include "reconciler/turn/facts.h"
#include "reconciler/turn/lifecycle.h"
#include "reconciler/turn/machines.h"
#include "scheduler/scheduler.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXPIRY_INTERVAL_MS = 1000,
    PAGE_INTERVAL_MS = 5000,
    REFUSED_AGAIN_MS = 10 * 1000 // a refused plan is made again then at the latest
};

int64_t reconciler_now(const struct reconciler *reconciler)
{
    return reconciler->options.now_ms ? reconciler->options.now_ms(reconciler->options.now_context)
                                      : timestamp_now_ms();
}

static void take_facts(struct reconciler *reconciler)
{
    struct backend_fact *facts;
    atomic_store(&reconciler->facts_waiting, false);
    size_t count = reconciler->backend->ops->take_facts(reconciler->backend->self, &reconciler->turn_arena, &facts);
    if (reconciler->fact_count + count > reconciler->fact_capacity) {
        reconciler->fact_capacity = (reconciler->fact_count + count) * 2;
        reconciler->facts = memory_realloc(reconciler->facts, reconciler->fact_capacity * sizeof(*reconciler->facts));
    }
    if (count)
        memcpy(reconciler->facts + reconciler->fact_count, facts, count * sizeof(*facts));
    reconciler->fact_count += count;
    clearing_begin(reconciler, facts, count);
}

static struct backend_node *list_nodes(const struct world *world, struct arena *arena)
{
    struct backend_node *nodes = arena_array(arena, world->rows.node_count, sizeof(*nodes));
    for (size_t i = 0; i < world->rows.node_count; i++)
        nodes[i] = (struct backend_node){
            .name = world->nodes[i].name, .ready = world->nodes[i].ready, .reason = world->rows.nodes[i].status_reason};
    return nodes;
}

// Hands the backend what rows say it should have.
static int adopt(struct reconciler *reconciler, struct db_conn *conn, struct error *err)
{
    struct cache *cache = &reconciler->cache;
    struct arena *arena = &reconciler->turn_arena;
    struct backend_pod *pods = arena_array(arena, cache->pods.count, sizeof(*pods));
    size_t count = 0, position = 0;
    for (const struct cache_pod *pod; (pod = id_map_next(&cache->pods, &position));) {
        if (!pod_status_holds_place(pod->status) || world_node(cache->world, pod->node_id) == SNAPSHOT_NONE)
            continue;
        if (commit_describe_pod(conn, cache, pod, arena, &pods[count], err) < 0)
            return -1;
        count++;
    }
    struct backend_rows rows = {.pods = pods,
                                .pod_count = count,
                                .nodes = list_nodes(cache->world, arena),
                                .node_count = cache->world->rows.node_count,
                                .is_over = adoption_is_over,
                                .context = conn};
    if (reconciler->backend->ops->adopt(reconciler->backend->self, &rows, err) < 0)
        return -1;
    reconciler->is_clearing = reconciler->backend->ops->clear_unknown != NULL;
    if (count)
        log_write(LOG_INFO, "reconciler", "took up what was running pods=%zu", count);
    reconciler->has_adopted = true;
    reconciler->has_strays_to_match = devices_count_strays(reconciler) > 0;
    return 0;
}

// Rows that changed, into the cache.
static int refresh(struct reconciler *reconciler, bool *out_changed, struct error *err)
{
    struct cache *cache = &reconciler->cache;
    bool rows = atomic_exchange(&reconciler->rows_changed, false);
    bool world = atomic_exchange(&reconciler->world_changed, false);
    if (cache->seen_revision >= 0 && !rows && !world && reconciler->has_adopted && !reconciler->is_clearing)
        return 0;
    int64_t last_revision = db_last_revision(reconciler->db);
    struct db_conn *conn = db_acquire_for_reconciler(reconciler->db);
    bool changed = false;
    int rc = cache_refresh(cache, conn, last_revision, world, rows, &reconciler->turn_arena, &changed, err);
    *out_changed |= changed;
    if (rc == 0 && reconciler->is_clearing)
        clearing_go_on(reconciler, conn);
    if (rc == 0 && !reconciler->has_adopted)
        rc = adopt(reconciler, conn, err);
    else if (rc == 0 && world && reconciler->backend->ops->nodes_changed)
        reconciler->backend->ops->nodes_changed(reconciler->backend->self,
                                                list_nodes(cache->world, &reconciler->turn_arena),
                                                cache->world->rows.node_count);
    db_give_back(reconciler->db, conn);
    if (reconciler->is_clearing)
        reconciler_wake(reconciler);
    atomic_store(&reconciler->counters.workload_count, (int64_t)cache->workload_count);
    atomic_store(&reconciler->counters.pod_count, (int64_t)cache->pods.count);
    return rc;
}

static void count_plan(struct counters *counters, const struct plan *plan)
{
    atomic_fetch_add(&counters->cycles, 1);
    for (size_t i = 0; i < plan->decision_count; i++) {
        const struct plan_decision *decision = &plan->decisions[i];
        atomic_fetch_add(&counters->decisions[decision->verb], 1);
        if (decision->verb == PLAN_EVICT)
            atomic_fetch_add(&counters->evictions[decision->action], 1);
    }
    for (size_t i = 0; i < ACTION_COUNT; i++) {
        const struct plan_action_counts *counts = &plan->actions[i];
        atomic_fetch_add(&counters->workloads_tried[i], (int64_t)counts->workloads_tried);
        atomic_fetch_add(&counters->workloads_placed[i], (int64_t)counts->workloads_placed);
        atomic_fetch_add(&counters->scenarios_simulated[i], (int64_t)counts->scenarios_simulated);
        atomic_fetch_add(&counters->scenarios_filtered[i], (int64_t)counts->scenarios_filtered);
    }
    for (size_t i = 0; i < plan->search_cut_count; i++)
        atomic_fetch_add(&counters->searches_cut[plan->search_cuts[i].action], 1);
    atomic_store(&counters->search_turns, (int64_t)plan->search_turn_count);
}

// Said and written down when it begins, and when the cause becomes another.
static void refuse_plan(struct reconciler *reconciler, struct turn *turn, const struct snapshot *snapshot,
                        const struct plan *plan, const struct error *cause)
{
    char text[LOG_TEXT_SIZE];
    struct error err = {0};
    atomic_fetch_add(&reconciler->counters.refused_plans, 1);
    turn_note_plan_due(turn, turn->now_ms + REFUSED_AGAIN_MS);
    pthread_mutex_lock(&reconciler->lock);
    bool is_known = reconciler->plan_is_refused && strcmp(reconciler->refused_cause, cause->message) == 0;
    if (!reconciler->plan_is_refused)
        reconciler->refused_ms = turn->now_ms;
    reconciler->plan_is_refused = true;
    snprintf(reconciler->refused_cause, sizeof(reconciler->refused_cause), "%s", cause->message);
    pthread_mutex_unlock(&reconciler->lock);
    if (is_known)
        return;
    log_write(LOG_ERROR, "reconciler", "no decision was carried out: the plan does not hold cause=%s",
              log_text(cause->message, text));
    const char *folder = reconciler->options.refused_folder;
    if (folder && refused_keep(folder, snapshot, plan, cause->message, &err) < 0)
        log_write(LOG_WARN, "reconciler", "the refused plan could not be kept cause=%s", log_text(err.message, text));
}

static void accept_plan(struct reconciler *reconciler)
{
    pthread_mutex_lock(&reconciler->lock);
    bool was_refused = reconciler->plan_is_refused;
    reconciler->plan_is_refused = false;
    reconciler->refused_cause[0] = '\0';
    reconciler->refused_ms = 0;
    pthread_mutex_unlock(&reconciler->lock);
    if (was_refused)
        log_write(LOG_INFO, "reconciler", "plans hold again");
}

static int make_plan(const struct reconciler *reconciler, const struct snapshot *snapshot, struct arena *arena,
                     struct plan **out_plan, struct error *err)
{
    return reconciler->options.plan ? reconciler->options.plan(snapshot, arena, out_plan, err)
                                    : scheduler_plan(snapshot, arena, out_plan, err);
}

static void release_kept_view(void *view)
{
    view_release(view);
}

static void show_cycle(struct reconciler *reconciler, struct view *view, int64_t plan_us)
{
    struct journal_cycle kept = {
        .cycle = view->shown.cycle,
        .plan_us = plan_us,
        .snapshot = view->shown.snapshot,
        .plan = view->shown.plan,
        .world = view->world->number,
        .owner = view,
        .release = release_kept_view,
    };
    if (reconciler->options.journal)
        atomic_fetch_add(&view->references, 1);
    view_publish(&reconciler->views, view);
    if (reconciler->options.journal)
        journal_add(reconciler->options.journal, &kept);
}

static void plan_cycle(struct reconciler *reconciler, struct turn *turn, bool is_changed,
                       struct figure_changes *changes)
{
    struct cache *cache = &reconciler->cache;
    struct view *view = view_create(cache->world);
    struct live_snapshot *live = arena_alloc(&view->arena, sizeof(*live));
    struct plan *plan = NULL;
    struct error cause = {0};
    int64_t started_us = timestamp_monotonic_us();
    cache->needs_plan = false;
    snapshot_build(cache, &reconciler->budgets, turn->now_ms, &view->arena, live);
    if (turn->options->staleness_grace_ms)
        live->snapshot.settings.staleness_grace_ms = turn->options->staleness_grace_ms;
    searches_put(&reconciler->searches, turn->options->search_budget_ms, is_changed, &view->arena, &live->snapshot);
    past_usage_apply(&reconciler->usage, cache->world, &live->snapshot, &view->arena);
    turn_note_plan_due(turn, live->next_due_ms);
    int rc = make_plan(reconciler, &live->snapshot, &view->arena, &plan, &cause);
    int64_t plan_us = timestamp_monotonic_us() - started_us;
    atomic_store(&reconciler->counters.last_plan_us, plan_us);
    atomic_fetch_add(&reconciler->counters.plan_us_total, plan_us);
    if (rc < 0 || plan_check(&live->snapshot, plan, turn->arena, &cause) < 0) {
        refuse_plan(reconciler, turn, &live->snapshot, rc < 0 ? NULL : plan, &cause);
        view_release(view);
        return;
    }
    accept_plan(reconciler);
    turn_note_plan_due(turn, plan->good_until_ms);
    count_plan(&reconciler->counters, plan);
    carry_out(turn, live, plan);
    if (searches_take(&reconciler->searches, plan,
                      turn->plan_due_ms)) // soon, and others get the processor as long as this one had it
        turn_note_plan_due(turn, turn->now_ms + plan_us / 500 + 1);
    explain_all(turn, live, plan);
    figures_of_queues(&reconciler->figures, turn, plan, changes);
    if (turn->order_count > 0)
        log_write(LOG_INFO, "reconciler",
                  "cycle done cycle=%" PRId64 " plan_us=%" PRId64 " decisions=%zu workloads=%zu", reconciler->cycle + 1,
                  plan_us, plan->decision_count, live->snapshot.workload_count);
    int64_t *ids = arena_array(&view->arena, live->snapshot.workload_count, sizeof(*ids));
    for (size_t i = 0; i < live->snapshot.workload_count; i++)
        ids[i] = live->workloads[i]->id;
    view->shown = (struct reconciler_view){++reconciler->cycle, &live->snapshot, plan, ids};
    show_cycle(reconciler, view, plan_us);
    atomic_store(&reconciler->counters.decided_ms, reconciler_now(reconciler));
}

// Whether completed workloads are to be removed; asked once a second.
static int check_expiry(struct reconciler *reconciler, int64_t now_ms, bool *out_has, struct error *err)
{
    *out_has = false;
    if (now_ms - reconciler->expiry_checked_ms < EXPIRY_INTERVAL_MS && now_ms >= reconciler->expiry_checked_ms)
        return 0;
    reconciler->expiry_checked_ms = now_ms;
    struct db_conn *conn = db_acquire_for_reconciler(reconciler->db);
    int rc = db_has_expired_workloads(conn, now_ms, out_has, err);
    db_give_back(reconciler->db, conn);
    return rc;
}

static int write_turn(struct reconciler *reconciler, struct turn *turn, const struct figure_changes *changes,
                      bool has_expired, struct error *err)
{
    struct commit commit = {.turn = turn, .figures = changes, .expire_before_ms = has_expired ? turn->now_ms : 0};
    if (db_write_long(reconciler->db, commit_write, &commit, err) < 0)
        return -1;
    reconciler->fact_count = 0;
    atomic_store(&reconciler->rows_changed, true); // ours come back by their revision, and others' with them
    if (turn->node_state_count || turn->machine_count)
        atomic_store(&reconciler->world_changed, true);
    if (commit.order_count)
        reconciler->backend->ops->apply(reconciler->backend->self, commit.orders, commit.order_count);
    turn_clear_marks(turn);
    cache_drop_settled(&reconciler->cache);
    return 0;
}

// Of a pod that was adopted after rows were read, or of one that no row knows.
static bool has_fact_of_unknown(const struct reconciler *reconciler)
{
    for (size_t i = 0; i < reconciler->fact_count; i++)
        if (reconciler->facts[i].pod_uuid[0] && !cache_find_pod(&reconciler->cache, reconciler->facts[i].pod_uuid))
            return true;
    return false;
}

static int work(struct reconciler *reconciler, bool has_expired, bool *out_busy, struct error *err)
{
    bool changed = false;
    bool world_changed = atomic_load(&reconciler->world_changed) || reconciler->cache.seen_revision < 0;
    if (reconciler->has_strays_to_match && reconciler->fact_count == 0) // what ended while no server ran is written
        adoption_take_waiting(reconciler);
    if (refresh(reconciler, &changed, err) < 0)
        return -1;
    take_facts(reconciler);
    if (has_fact_of_unknown(reconciler) && refresh(reconciler, &changed, err) < 0)
        return -1;
    struct turn turn = {
        .cache = &reconciler->cache,
        .backend = reconciler->backend,
        .pages = reconciler->pages,
        .options = &reconciler->options,
        .arena = &reconciler->turn_arena,
        .now_ms = reconciler_now(reconciler),
        .next_due_ms = INT64_MAX,
        .plan_due_ms = INT64_MAX,
    };
    struct figure_changes changes = {0};
    // Also by whoever set the clock while no server ran.
    bool is_set_back = turn.now_ms < reconciler->latest_ms || reconciler->latest_ms == 0;
    bool is_due = turn.now_ms >= reconciler->next_due_ms || is_set_back;
    is_due |= atomic_exchange(&reconciler->pages_read, false);
    reconciler->latest_ms = turn.now_ms;
    if (!changed && !is_due && !has_expired && reconciler->fact_count == 0 && !reconciler->cache.needs_plan)
        return 0;
    if (is_set_back)
        clock_set_back(&turn);
    facts_take(&turn, reconciler->facts, reconciler->fact_count);
    machines_take(&turn, reconciler->facts, reconciler->fact_count);
    if (world_changed)
        facts_lose_pods_without_node(&turn);
    lifecycle_attend_all(&turn);
    machines_settle(&turn);
    // Rows of devices, or of what runs, are about to change: the next turn plans, by the new ones.
    bool uses_changed, plans_later = turn_changes_devices(&turn) || reconciler->has_strays_to_match;
    reconciler->cache.needs_plan |= plans_later;
    if (reconciler->has_strays_to_match)
        turn_note_due(&turn, turn.now_ms);
    if (past_usage_refresh(&reconciler->usage, reconciler->cache.world, reconciler->db, turn.now_ms, &uses_changed,
                           err) < 0)
        return -1;
    struct budget_notices notices = {0};
    if (budgets_refresh(&reconciler->budgets, turn.cache, reconciler->db, turn.now_ms, turn.arena, &uses_changed,
                        &notices, err) < 0)
        return -1;
    turn.notices = notices.items;
    turn.notice_count = notices.count;
    turn_note_due(&turn, past_usage_due_ms(&reconciler->usage));
    bool is_changed = reconciler->cache.needs_plan || uses_changed || turn.workload_count > 0 ||
                      turn.now_ms >= reconciler->searches.world_due_ms; // not only searches that go on
    if (!plans_later && (is_changed || turn.now_ms >= reconciler->plan_due_ms || reconciler->options.plans_always)) {
        atomic_store(&reconciler->counters.planning_ms, turn.now_ms);
        plan_cycle(reconciler, &turn, is_changed, &changes);
        atomic_store(&reconciler->counters.planning_ms, 0);
    } else {
        turn.plan_due_ms = reconciler->plan_due_ms;
    }
    turn_note_due(&turn, turn.plan_due_ms);
    lifecycle_set_phases(&turn);
    if (turn_moves_gpus(&turn))
        budgets_hold(&reconciler->budgets, turn.cache, turn.now_ms);
    turn_note_due(&turn, budgets_due_ms(&reconciler->budgets));
    figures_of_samples(&reconciler->figures, &reconciler->usage, &turn, &changes);
    bool writes = turn_has_changes(&turn) || changes.queue_count || changes.sample_count || changes.is_overtime_due ||
                  has_expired;
    if (writes && write_turn(reconciler, &turn, &changes, has_expired, err) < 0)
        return -1;
    if (!writes)
        reconciler->fact_count = 0;
    reconciler->next_due_ms = turn.next_due_ms;
    reconciler->plan_due_ms = turn.plan_due_ms;
    *out_busy = writes;
    return 0;
}

int reconciler_turn(struct reconciler *reconciler, bool *out_busy, struct error *err)
{
    bool has_expired;
    int64_t started_us = timestamp_monotonic_us();
    *out_busy = false;
    bool is_again = false;
    int rc = check_expiry(reconciler, reconciler_now(reconciler), &has_expired, err);
    if (rc == 0)
        rc = work(reconciler, has_expired, out_busy, err);
    if (rc == 0) {
        reconciler->retention.cluster_uuid = reconciler->cache.world->rows.cluster_uuid;
        rc = retention_step(&reconciler->retention, &reconciler->options.retention, reconciler->db,
                            reconciler_now(reconciler), &is_again, err);
    }
    arena_clear(&reconciler->turn_arena);
    atomic_store(&reconciler->is_failing, rc < 0);
    if (rc < 0) {
        atomic_fetch_add(&reconciler->counters.failures, 1);
        cache_clear(&reconciler->cache);
        budgets_forget(&reconciler->budgets);
        reconciler->latest_ms = 0; // that the clock was set back is not in rows yet
        figures_clear(&reconciler->figures);
        return -1;
    }
    if (*out_busy) {
        atomic_fetch_add(&reconciler->counters.turns, 1);
        atomic_store(&reconciler->counters.last_cycle_us, timestamp_monotonic_us() - started_us);
    }
    *out_busy |= is_again;
    atomic_store(&reconciler->is_ready, true);
    return 0;
}

static void note_changes(const struct db_change *changes, size_t count, void *context)
{
    struct reconciler *reconciler = context;
    bool rows = false, world = false;
    for (size_t i = 0; i < count; i++) {
        enum change_kind kind = changes[i].kind;
        rows |= kind == CHANGE_WORKLOAD || kind == CHANGE_POD;
        world |= kind == CHANGE_CLUSTER || kind == CHANGE_NODE_POOL || kind == CHANGE_NODE ||
                 kind == CHANGE_DEPARTMENT || kind == CHANGE_PROJECT || kind == CHANGE_SETTING;
    }
    if (rows)
        atomic_store(&reconciler->rows_changed, true);
    if (world)
        atomic_store(&reconciler->world_changed, true);
    if (rows || world)
        reconciler_wake(reconciler);
}

static void note_pages(void *context)
{
    struct reconciler *reconciler = context;
    atomic_store(&reconciler->pages_read, true);
    reconciler_wake(reconciler);
}

int reconciler_create(struct db *db, struct backend *backend, const struct reconciler_options *options,
                      struct reconciler **out_reconciler, struct error *err)
{
    if (!backend->ops)
        return error_set(err, ERROR_INTERNAL, "there is no backend");
    struct reconciler *reconciler = memory_array(1, sizeof(*reconciler));
    reconciler->db = db;
    reconciler->backend = backend;
    if (options)
        reconciler->options = *options;
    if (reconciler->options.journal)
        reconciler->cycle = journal_last_cycle(reconciler->options.journal);
    view_slot_init(&reconciler->views);
    places_init(&reconciler->questions, PLACE_QUESTIONS, 0, reconciler->options.places);
    cache_init(&reconciler->cache);
    figures_init(&reconciler->figures);
    past_usage_init(&reconciler->usage);
    budgets_init(&reconciler->budgets);
    searches_init(&reconciler->searches);
    arena_init(&reconciler->turn_arena);
    pthread_mutex_init(&reconciler->lock, NULL);
    condition_init(&reconciler->changed);
    int64_t interval_ms =
        reconciler->options.page_interval_ms ? reconciler->options.page_interval_ms : PAGE_INTERVAL_MS;
    if (backend->ops->find_address)
        reconciler->pages = page_reader_create(interval_ms, note_pages, reconciler);
    db_add_listener(db, note_changes, reconciler);
    *out_reconciler = reconciler;
    return 0;
}

void reconciler_destroy(struct reconciler *reconciler)
{
    if (!reconciler)
        return;
    reconciler_stop(reconciler);
    page_reader_destroy(reconciler->pages);
    reconciler->backend->ops->stop(reconciler->backend->self); // from here on nobody is left to be woken
    cache_done(&reconciler->cache);
    figures_done(&reconciler->figures);
    past_usage_done(&reconciler->usage);
    budgets_done(&reconciler->budgets);
    searches_done(&reconciler->searches);
    arena_done(&reconciler->turn_arena);
    view_slot_done(&reconciler->views);
    places_done(&reconciler->questions);
    free(reconciler->facts);
    pthread_mutex_destroy(&reconciler->lock);
    pthread_cond_destroy(&reconciler->changed);
    free(reconciler);
}

int64_t reconciler_retry_delay_ms(const struct reconciler *reconciler, int64_t failures)
{
    return lifecycle_retry_delay(&reconciler->options, failures);
}

const struct reconciler_view *reconciler_acquire_view(struct reconciler *reconciler)
{
    struct view *view = view_acquire(&reconciler->views);
    return view ? &view->shown : NULL;
}

void reconciler_release_view(struct reconciler *reconciler, const struct reconciler_view *view)
{
    (void)reconciler;
    view_release((struct view *)view); // its first member
}
