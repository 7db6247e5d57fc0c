#include "model/workload_spec.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "model/distributed_spec.h"
#include "model/inference_spec.h"
#include "model/pod_spec.h"
#include "model/priority.h"

#include <string.h>

enum {
    DEFAULT_BACKOFF_LIMIT = 6,
    DEFAULT_GRACE_SECONDS = 30,
    DEFAULT_AUTO_DELETE_SECONDS = 30 * 24 * 3600,
};
static const int64_t AUTO_DELETE_SECONDS_MAX = 10000000000;

static const char *const CATEGORIES[] = {"Build", "Train", "Deploy", NULL};
static const char *const PREEMPTIBILITIES[] = {"preemptible", "non-preemptible", NULL};
static const char *const ENDS[] = {"ok", "any", "failed", NULL};

static const struct {
    const char *category;
    const char *priority_class;
} TYPE_DEFAULTS[WORKLOAD_TYPE_COUNT] = {
    [WORKLOAD_TYPE_TRAINING] = {"Train", "low"},
    [WORKLOAD_TYPE_WORKSPACE] = {"Build", "high"},
    [WORKLOAD_TYPE_DISTRIBUTED] = {"Train", "low"},
    [WORKLOAD_TYPE_INFERENCE] = {"Deploy", "very-high"},
};

static int read_priority(const struct fields *spec, struct workload_spec *out)
{
    const char *name = TYPE_DEFAULTS[out->type].priority_class, *preemptibility = NULL;
    out->category = TYPE_DEFAULTS[out->type].category;
    if (fields_word(spec, "category", CATEGORIES, &out->category) < 0 ||
        fields_text(spec, "priorityClass", &name) < 0 ||
        fields_word(spec, "preemptibility", PREEMPTIBILITIES, &preemptibility) < 0)
        return -1;
    const struct priority_class *class = priority_find(name);
    if (!class)
        return fields_fail(spec, "priorityClass",
                           "one of very-low, low, medium-low, medium, medium-high, high, very-high, got %.60s", name);
    out->priority_class = class->name;
    out->priority = class->value;
    out->is_preemptible =
        preemptibility ? strcmp(preemptibility, "preemptible") == 0 : class->value < PRIORITY_NON_PREEMPTIBLE_FROM;
    fields_set_default(spec, "category", json_string(out->category));
    fields_set_default(spec, "priorityClass", json_string(class->name));
    fields_set_default(spec, "preemptibility", json_string(PREEMPTIBILITIES[out->is_preemptible ? 0 : 1]));
    return 0;
}

// A date alone is no time: whose midnight would it be?
static int read_start(const struct fields *spec, struct workload_spec *out)
{
    const char *text = NULL;
    struct error cause = {0};
    if (fields_text(spec, "startAt", &text) < 0)
        return -1;
    if (text && (!strpbrk(text, "Tt") || timestamp_parse(text, &out->start_at_ms, &cause) < 0))
        return fields_fail(spec, "startAt", "a time such as 2026-01-31T22:00:00Z, got %.60s", text);
    return 0;
}

static int read_after(const struct fields *spec, struct workload_spec *out)
{
    if (fields_count(spec, "after", WORKLOAD_AFTER_MAX, &out->after_count) < 0)
        return -1;
    struct workload_after *after = arena_array(spec->arena, out->after_count, sizeof(*after));
    for (size_t i = 0; i < out->after_count; i++) {
        struct fields item;
        after[i].wanted = ENDS[0];
        if (fields_item(spec, "after", i, &item) < 0 || fields_text(&item, "name", &after[i].name) < 0 ||
            fields_word(&item, "when", ENDS, &after[i].wanted) < 0)
            return -1;
        if (!after[i].name)
            return fields_fail(&item, "name", "required: a workload of the project");
        for (size_t k = 0; k < i; k++)
            if (strcmp(after[i].name, after[k].name) == 0)
                return fields_fail(&item, "name", "duplicate: %.60s", after[i].name);
    }
    out->after = after;
    return 0;
}

static int read_life(const struct fields *spec, struct workload_spec *out)
{
    int64_t grace = DEFAULT_GRACE_SECONDS, auto_delete = DEFAULT_AUTO_DELETE_SECONDS;
    out->backoff_limit = DEFAULT_BACKOFF_LIMIT;
    if (fields_integer(spec, "backoffLimit", 0, INT32_MAX, &out->backoff_limit) < 0 ||
        fields_integer(spec, "terminationGracePeriodSeconds", 0, WORKLOAD_GRACE_SECONDS_MAX, &grace) < 0 ||
        fields_integer(spec, "autoDeletionTimeAfterCompletionSeconds", 0, AUTO_DELETE_SECONDS_MAX, &auto_delete) < 0 ||
        fields_bool(spec, "terminateAfterPreemption", &out->is_terminated_after_preemption) < 0)
        return -1;
    out->grace_period_ms = grace * 1000;
    out->auto_delete_ms = auto_delete * 1000;
    if (out->type == WORKLOAD_TYPE_INFERENCE) // it has none of these: it ends when it is told to
        return 0;
    if (read_start(spec, out) < 0 || read_after(spec, out) < 0)
        return -1;
    fields_set_default(spec, "backoffLimit", json_integer(out->backoff_limit));
    fields_set_default(spec, "terminationGracePeriodSeconds", json_integer(grace));
    fields_set_default(spec, "autoDeletionTimeAfterCompletionSeconds", json_integer(auto_delete));
    fields_set_default(spec, "terminateAfterPreemption", json_boolean(out->is_terminated_after_preemption));
    return 0;
}

static int read_node_pools(const struct fields *spec, struct workload_spec *out)
{
    if (fields_count(spec, "nodePools", WORKLOAD_NODE_POOLS_MAX, &out->node_pool_count) < 0)
        return -1;
    const char **names = arena_array(spec->arena, out->node_pool_count, sizeof(*names));
    for (size_t i = 0; i < out->node_pool_count; i++) {
        if (fields_item_text(spec, "nodePools", i, &names[i]) < 0)
            return -1;
        for (size_t j = 0; j < i; j++)
            if (strcmp(names[i], names[j]) == 0)
                return fields_fail(spec, "nodePools", "duplicate: %.60s", names[i]);
    }
    out->node_pools = names;
    return 0;
}

// A training may want its pod several times over: one after the other, or at once.
static int read_runs(const struct fields *spec, struct workload_spec *out)
{
    int64_t tries_of_each = 0; // 0 alone is known; the fact fails_by_index says so
    out->parallelism = out->completions = 1;
    if (fields_integer(spec, "backoffLimitPerIndex", 0, 0, &tries_of_each) < 0 ||
        fields_integer(spec, "parallelism", 1, WORKLOAD_PODS_MAX, &out->parallelism) < 0 ||
        fields_integer(spec, "completions", 1, INT32_MAX, &out->completions) < 0)
        return -1;
    out->worker_count = out->parallelism;
    if (fields_get(spec, "completions") && out->completions < out->parallelism)
        out->worker_count = out->completions;
    fields_set_default(spec, "parallelism", json_integer(out->parallelism));
    // Written down only where it means the same again: pods at once without completions are all wanted, yet one that
    // ends well is enough.
    if (out->worker_count == out->parallelism && out->parallelism <= out->completions)
        fields_set_default(spec, "completions", json_integer(out->completions));
    return 0;
}

static void sum_up(struct workload_spec *out, const struct pod_totals *worker, const struct pod_totals *master)
{
    __int128 memory = (__int128)out->worker.memory_bytes * out->worker_count;
    out->gpu_milli = worker->gpu_milli * out->worker_count;
    out->cpu_milli = out->worker.cpu_milli * out->worker_count;
    if (out->has_master) {
        out->gpu_milli += master->gpu_milli;
        out->cpu_milli += out->master.cpu_milli;
        memory += out->master.memory_bytes;
    }
    out->memory_bytes = memory < INT64_MAX ? (int64_t)memory : INT64_MAX;
    out->gpu_request_type = worker->gpu_request_type;
    out->pods_wanted = out->worker_count + out->has_master;
}

int workload_spec_read(json_t *body, enum workload_type type, struct arena *arena, struct workload_spec *out,
                       struct error *err)
{
    *out = (struct workload_spec){.type = type, .framework = "", .worker.role = POD_ROLE_TEXT_WORKER};
    out->worker_count = out->parallelism = out->completions = 1;
    struct fields top = {body, "", arena, err}, spec;
    struct pod_totals worker = {0}, master = {0};
    if (fields_object(&top, "spec", &spec) < 0)
        return -1;
    if (!spec.object)
        return fields_fail(&top, "spec", "required: at least an image");
    fields_drop_nulls(&spec);
    if (read_priority(&spec, out) < 0 || pod_spec_read(&spec, &out->worker, &worker) < 0 || read_life(&spec, out) < 0 ||
        read_node_pools(&spec, out) < 0)
        return -1;
    if (type == WORKLOAD_TYPE_TRAINING && read_runs(&spec, out) < 0)
        return -1;
    if (type == WORKLOAD_TYPE_INFERENCE && inference_spec_read(&spec, out) < 0)
        return -1;
    if (type == WORKLOAD_TYPE_DISTRIBUTED && distributed_spec_read(&top, &spec, out, &worker, &master) < 0)
        return -1;
    sum_up(out, &worker, &master);
    if (type != WORKLOAD_TYPE_DISTRIBUTED)
        out->min_pods = 1; // each pod is placed for itself
    return 0;
}

const char *workload_spec_text(const json_t *spec, struct arena *arena)
{
    if (!spec)
        return NULL;
    size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(15);
    size_t capacity = 1024;
    char *text = arena_alloc(arena, capacity + 1);
    size_t size = json_dumpb(spec, text, capacity, flags);
    if (size > capacity) {
        text = arena_alloc(arena, size + 1);
        json_dumpb(spec, text, size, flags);
    }
    text[size] = '\0';
    return text;
}
