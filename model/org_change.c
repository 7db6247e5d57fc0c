#include "model/org_change.h"

#include "base/arena.h"
#include "base/duration.h"
#include "base/quantity.h"
#include "model/node_pool.h"
#include "model/org_unit.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

enum {
    TOLD_MAX = 8 // the rest is counted
};

struct changes {
    struct arena *arena;
    const char *text;
    int count;
};

static void add(struct changes *changes, const char *change)
{
    if (changes->count++ < TOLD_MAX)
        changes->text = arena_printf(changes->arena, "%s%s%s", changes->text, changes->text[0] ? "; " : "", change);
}

static void add_from_to(struct changes *changes, const char *what, const char *from, const char *to)
{
    if (strcmp(from, to) != 0)
        add(changes, arena_printf(changes->arena, "%s from %s to %s", what, from, to));
}

static const char *result(const struct changes *changes)
{
    if (changes->count > TOLD_MAX)
        return arena_printf(changes->arena, "%s; and %d more", changes->text, changes->count - TOLD_MAX);
    return changes->count ? changes->text : NULL;
}

static bool is_same(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

struct unit_of_amount {
    const char *one, *many;
    double size; // of the amount stored
};

static const struct unit_of_amount GPUS = {"GPU", "GPUs", 1000}, CORES = {"core", "cores", 1000};

static const char *number_text(const struct changes *changes, double number)
{
    return arena_printf(changes->arena, "%.10g", number);
}

// The unit stands once where both are numbers.
static void add_amounts(struct changes *changes, const char *what, int64_t from, int64_t to, const char *unlimited,
                        const struct unit_of_amount *unit)
{
    const int64_t amounts[] = {from, to};
    const char *texts[2];
    if (from == to)
        return;
    for (int i = 0; i < 2; i++) {
        double number = (double)amounts[i] / unit->size;
        bool has_unit = i == 1 || to == QUANTITY_UNLIMITED;
        texts[i] = amounts[i] == QUANTITY_UNLIMITED ? unlimited
                   : has_unit ? arena_printf(changes->arena, "%.10g %s", number, number == 1 ? unit->one : unit->many)
                              : number_text(changes, number);
    }
    add_from_to(changes, what, texts[0], texts[1]);
}

static void add_resource(struct changes *changes, const char *name, const char *where,
                         const struct queue_resource *before, const struct queue_resource *after,
                         const struct unit_of_amount *unit)
{
    struct arena *arena = changes->arena;
    add_amounts(changes, arena_printf(arena, "%s quota%s", name, where), before->deserved, after->deserved, "unlimited",
                unit);
    add_amounts(changes, arena_printf(arena, "%s limit%s", name, where), before->limit, after->limit, "none", unit);
    if (fabs(before->over_quota_weight - after->over_quota_weight) > 1e-9)
        add_from_to(changes, arena_printf(arena, "%s over-quota weight%s", name, where),
                    number_text(changes, before->over_quota_weight), number_text(changes, after->over_quota_weight));
}

// "MediumLow" -> "medium low"
static const char *rank_words(const struct changes *changes, const char *name)
{
    size_t length = strlen(name);
    char *words = arena_alloc(changes->arena, 2 * length + 1), *out = words;
    for (size_t i = 0; i < length; i++) {
        if (i && isupper((unsigned char)name[i]))
            *out++ = ' ';
        *out++ = (char)tolower((unsigned char)name[i]);
    }
    *out = '\0';
    return words;
}

static struct unit_of_amount memory_unit(const char *units)
{
    if (strcmp(units, "GB") == 0)
        return (struct unit_of_amount){"GB", "GB", 1e9};
    return strcmp(units, "Mib") == 0 ? (struct unit_of_amount){"MiB", "MiB", 1 << 20}
                                     : (struct unit_of_amount){"MB", "MB", 1e6};
}

static void add_queue(struct changes *changes, const struct queue *before, const struct queue *after, bool is_only)
{
    const char *where = is_only ? "" : arena_printf(changes->arena, " in node pool %s", after->node_pool_name);
    struct unit_of_amount memory = memory_unit(after->memory_units);
    add_resource(changes, "GPU", where, &before->gpu, &after->gpu, &GPUS);
    add_resource(changes, "CPU", where, &before->cpu, &after->cpu, &CORES);
    add_resource(changes, "memory", where, &before->memory, &after->memory, &memory);
    add_from_to(changes, arena_printf(changes->arena, "rank%s", where), rank_words(changes, before->rank_name),
                rank_words(changes, after->rank_name));
}

static const char *duration_text(const struct changes *changes, const json_t *seconds)
{
    char words[DURATION_WORDS_SIZE];
    if (!json_is_integer(seconds))
        return "none";
    return arena_strdup(changes->arena, duration_words(json_integer_value(seconds) * 1000, words));
}

static const char *bound_text(const struct changes *changes, const json_t *bound)
{
    return json_is_number(bound) ? number_text(changes, json_number_value(bound)) : "none";
}

static const char *word_text(const struct changes *changes, const json_t *word)
{
    (void)changes;
    return json_is_string(word) ? json_string_value(word) : "not said";
}

static const char *switch_text(const struct changes *changes, const json_t *is_on)
{
    (void)changes;
    return json_is_true(is_on) ? "on" : "off";
}

static void add_rules(struct changes *changes, const char *before_json, const char *after_json)
{
    static const struct {
        const char *key, *words;
        const char *(*text)(const struct changes *changes, const json_t *value);
    } RULES[] = {
        {"preemptMinRuntimeSeconds", "minimum run time within a project", duration_text},
        {"reclaimMinRuntimeSeconds", "minimum run time against other projects", duration_text},
        {"trainingJobTimeLimitSeconds", "time limit of trainings", duration_text},
        {"interactiveJobTimeLimitSeconds", "time limit of workspaces", duration_text},
        {"trainingJobMaxIdleDurationSeconds", "idle limit of trainings", duration_text},
        {"interactiveJobPreemptIdleDurationSeconds", "idle limit of preemptible workspaces", duration_text},
        {"interactiveJobMaxIdleDurationSeconds", "idle limit of non-preemptible workspaces", duration_text},
        {"fairAmongPeople", "fair among people", switch_text},
        {"fairHalfLifeSeconds", "half-life of what people have used", duration_text},
        {"maxGpusPerPerson", "GPUs of each person", bound_text},
        {"maxWaitingGpusPerPerson", "waiting GPUs of each person", bound_text},
        {"maxWorkloadsPerPerson", "running workloads of each person", bound_text},
        {"gpuHourBudget", "budget of GPU hours", bound_text},
        {"gpuHourBudgetPerPerson", "budget of GPU hours of each person", bound_text},
        {"budgetPeriod", "period of budgets", word_text},
        {"budgetEnforcement", "what a budget that is used up does", word_text},
    };
    json_t *before = json_loads(before_json ? before_json : "{}", 0, NULL),
           *after = json_loads(after_json ? after_json : "{}", 0, NULL);
    for (size_t i = 0; i < sizeof(RULES) / sizeof(RULES[0]); i++)
        add_from_to(changes, RULES[i].words, RULES[i].text(changes, json_object_get(before, RULES[i].key)),
                    RULES[i].text(changes, json_object_get(after, RULES[i].key)));
    json_decref(before);
    json_decref(after);
}

// ["a","b"] -> "a, b"
static const char *names_text(const struct changes *changes, const char *list_json)
{
    json_t *list = list_json ? json_loads(list_json, 0, NULL) : NULL;
    const json_t *name;
    size_t i;
    const char *text = "";
    json_array_foreach(list, i, name)
        text = arena_printf(changes->arena, "%s%s%s", text, i ? ", " : "", json_string_value(name));
    json_decref(list);
    return text[0] ? text : "none";
}

const char *org_unit_change_text(const struct org_unit *before, const struct org_unit *after, struct arena *arena)
{
    struct changes changes = {.arena = arena, .text = ""};
    for (size_t i = 0; i < after->queue_count; i++)
        for (size_t k = 0; k < before->queue_count; k++)
            if (before->queues[k].node_pool_id == after->queues[i].node_pool_id)
                add_queue(&changes, &before->queues[k], &after->queues[i], after->queue_count == 1);
    add_rules(&changes, before->scheduling_rules_json, after->scheduling_rules_json);
    add_from_to(&changes, "default node pools", names_text(&changes, before->default_node_pools_json),
                names_text(&changes, after->default_node_pools_json));
    if (!is_same(before->node_types_json, after->node_types_json))
        add(&changes, "node types");
    if (before->enforce_scheduler != after->enforce_scheduler)
        add(&changes, after->enforce_scheduler ? "its namespace takes this scheduler alone"
                                               : "its namespace takes other schedulers too");
    if (!is_same(before->description, after->description))
        add(&changes, "description");
    return result(&changes);
}

static const char *label_text(const struct changes *changes, const struct node_pool *pool)
{
    return pool->label_key ? arena_printf(changes->arena, "%s=%s", pool->label_key, pool->label_value) : "none";
}

static const char *runtime_text(const struct changes *changes, int64_t ms)
{
    char words[DURATION_WORDS_SIZE];
    return ms ? arena_strdup(changes->arena, duration_words(ms, words)) : "none";
}

const char *node_pool_change_text(const struct node_pool *before, const struct node_pool *after, struct arena *arena)
{
    struct changes changes = {.arena = arena, .text = ""};
    add_from_to(&changes, "label", label_text(&changes, before), label_text(&changes, after));
    add_from_to(&changes, "GPU placement", before->gpu_placement, after->gpu_placement);
    add_from_to(&changes, "CPU placement", before->cpu_placement, after->cpu_placement);
    add_from_to(&changes, "minimum run time", runtime_text(&changes, before->min_guaranteed_runtime_ms),
                runtime_text(&changes, after->min_guaranteed_runtime_ms));
    if (!is_same(before->time_based_fairshare_json, after->time_based_fairshare_json))
        add(&changes, "time-based fair share");
    if (fabs(before->over_provisioning_ratio - after->over_provisioning_ratio) > 1e-9)
        add_from_to(&changes, "over-provisioning ratio", number_text(&changes, before->over_provisioning_ratio),
                    number_text(&changes, after->over_provisioning_ratio));
    if (!is_same(before->network_topology_id, after->network_topology_id))
        add(&changes, "network topology");
    // They hold some of the above as it was sent.
    if (changes.count == 0 && !is_same(before->settings_json, after->settings_json))
        add(&changes, "other settings");
    return result(&changes);
}
