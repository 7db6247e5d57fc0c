#include "tests/support/cluster_life.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "form/plan_writer.h"
#include "form/snapshot_reader.h"
#include "scheduler/simulation.h"

#include <stdio.h>
#include <string.h>

static void count_decisions(const struct plan *plan, int cycle, struct life *life)
{
    for (size_t i = 0; i < plan->decision_count; i++) {
        bool evicts = plan->decisions[i].verb == PLAN_EVICT;
        life->rests = life->rests && !(evicts && cycle > RESTLESS_CYCLES);
        life->evictions += evicts;
        life->decisions++;
    }
}

static void print_plan(const struct snapshot *snapshot, const struct plan *plan, int cycle)
{
    for (size_t i = 0; i < plan->decision_count; i++) {
        const struct plan_decision *decision = &plan->decisions[i];
        printf("cycle %d: %s %s %s on %s: %s\n", cycle, scheduler_action_name(decision->action),
               plan_verb_name(decision->verb), snapshot->pods[decision->pod].name, snapshot->nodes[decision->node].name,
               decision->why);
    }
}

static bool is_same_plan(const struct plan *a, const struct plan *b)
{
    if (a->decision_count != b->decision_count)
        return false;
    for (size_t i = 0; i < a->decision_count; i++) {
        const struct plan_decision *left = &a->decisions[i], *right = &b->decisions[i];
        if (left->pod != right->pod || left->verb != right->verb || left->node != right->node ||
            left->action != right->action || left->beneficiary != right->beneficiary ||
            strcmp(left->why, right->why) != 0)
            return false;
    }
    return true;
}

static bool break_rule(struct breach *breach, const char *rule, const char *subject)
{
    breach->rule = rule;
    snprintf(breach->subject, sizeof(breach->subject), "%s", subject);
    return false;
}

static bool live_cycle(struct simulation *simulation, bool prints, struct life *life, struct breach *breach)
{
    struct plan *before, *plan, *again;
    struct error err = {0};
    const struct snapshot *snapshot = &simulation->snapshot;
    if (simulation_look(simulation, &before, &err) < 0 || simulation_plan(simulation, &again, &err) < 0 ||
        simulation_plan(simulation, &plan, &err) < 0)
        return break_rule(breach, "what the reader lets pass is planned", err.message);
    if (prints)
        print_plan(snapshot, plan, breach->cycle);
    count_decisions(plan, breach->cycle, life);
    if (!invariants_hold(snapshot, before, plan, breach))
        return false;
    if (!is_same_plan(plan, again))
        return break_rule(breach, "same input, same plan", "a decision");
    simulation_advance(simulation, plan);
    life->running_pods = 0;
    for (size_t i = 0; i < snapshot->pod_count; i++)
        life->running_pods += snapshot->pods[i].status == SNAPSHOT_POD_RUNNING;
    return true;
}

bool cluster_live(const struct snapshot *snapshot, int cycles, bool prints, struct life *out_life,
                  struct breach *out_breach)
{
    struct simulation simulation;
    *out_life = (struct life){.rests = true};
    *out_breach = (struct breach){0};
    simulation_init(&simulation, snapshot);
    bool holds = true;
    for (int cycle = 1; cycle <= cycles && holds; cycle++) {
        out_breach->cycle = cycle;
        holds = live_cycle(&simulation, prints, out_life, out_breach);
    }
    simulation_done(&simulation);
    return holds;
}

bool cluster_live_document(const json_t *document, int cycles, bool prints, struct life *out_life,
                           struct breach *out_breach)
{
    struct arena arena;
    struct error err = {0};
    struct snapshot *snapshot;
    bool holds = false;
    arena_init(&arena);
    *out_life = (struct life){0};
    *out_breach = (struct breach){0};
    if (snapshot_read_json(document, &arena, &snapshot, &err) == 0)
        holds = cluster_live(snapshot, cycles, prints, out_life, out_breach);
    else
        snprintf(out_breach->subject, sizeof(out_breach->subject), "%s", err.message);
    arena_done(&arena);
    return holds;
}

char *cluster_text(const json_t *document, int cycles)
{
    struct arena arena;
    struct buffer out;
    struct json_writer json;
    struct simulation simulation;
    struct snapshot *snapshot;
    struct plan *plan;
    struct error err = {0};
    arena_init(&arena);
    if (snapshot_read_json(document, &arena, &snapshot, &err) < 0) {
        arena_done(&arena);
        return NULL;
    }
    buffer_init(&out, 0);
    simulation_init(&simulation, snapshot);
    for (int cycle = 1; cycle <= cycles && simulation_plan(&simulation, &plan, &err) == 0; cycle++) {
        json_writer_init(&json, &out, false);
        plan_write_cycle(&json, &simulation.snapshot, plan, cycle);
        simulation_advance(&simulation, plan);
    }
    simulation_done(&simulation);
    arena_done(&arena);
    return buffer_take(&out);
}
