#include "simulation/questions.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "form/reader.h"
#include "form/snapshot_reader.h"
#include "form/why_writer.h"

#include <jansson.h>
#include <stdint.h>
#include <string.h>

bool questions_are_asked(const struct question_options *options)
{
    return options->what_if || options->fair_share || options->queue;
}

static int find_pool(const struct snapshot *snapshot, const char *option, const char *name, uint32_t *out_pool,
                     struct error *err)
{
    *out_pool = names_find(snapshot->node_pools, snapshot->node_pool_count, sizeof(*snapshot->node_pools), name);
    return *out_pool == SNAPSHOT_NONE ? error_set(err, ERROR_INVALID, "%s: no node pool \"%.100s\"", option, name) : 0;
}

static int find_resource(const char *name, enum resource *out_resource, struct error *err)
{
    static const char *const WORDS[RESOURCE_COUNT] = {"gpu", "cpu", "memory"};
    *out_resource = RESOURCE_GPU;
    for (size_t i = 0; name && i < RESOURCE_COUNT; i++) {
        *out_resource = (enum resource)i;
        if (strcmp(WORDS[i], name) == 0)
            return 0;
    }
    return name ? error_set(err, ERROR_INVALID, "--resource: gpu, cpu or memory, got \"%.40s\"", name) : 0;
}

static uint32_t find_workload(const struct snapshot *snapshot, const char *name)
{
    return names_find(snapshot->workloads, snapshot->workload_count, sizeof(*snapshot->workloads), name);
}

// The document with the workload of the file behind the others: what is wrong with it is found as in any document.
static int read_with(const json_t *document, const char *path, struct arena *arena, struct snapshot **out_snapshot,
                     uint32_t *out_workload, struct error *err)
{
    json_t *workload = NULL;
    if (snapshot_load_json(path, &workload, err) < 0)
        return -1;
    json_t *both = json_copy((json_t *)document);
    json_t *list = json_object_get(document, "workloads");
    json_t *longer = list ? json_copy(list) : json_array();
    json_array_append_new(longer, workload);
    json_object_set_new(both, "workloads", longer);
    int rc = snapshot_read_json(both, arena, out_snapshot, err);
    if (rc == 0)
        *out_workload = find_workload(*out_snapshot, json_string_value(json_object_get(workload, "name")));
    else
        error_prefix(err, "%.100s: ", path);
    json_decref(both);
    return rc;
}

static int answer_what_if(struct json_writer *json, const json_t *document, const struct snapshot *snapshot,
                          const char *what, struct arena *arena, struct error *err)
{
    struct what_if_question question = {.existing = find_workload(snapshot, what), .wants_fixes = true};
    struct snapshot *asked = (struct snapshot *)snapshot;
    struct what_if_answer *answer;
    if (question.existing == SNAPSHOT_NONE && read_with(document, what, arena, &asked, &question.existing, err) < 0)
        return -1;
    if (scheduler_what_if(asked, &question, arena, &answer, err) < 0)
        return -1;
    struct why_names names = {.snapshot = asked};
    json_key(json, "whatIf");
    json_begin_object(json);
    json_text(json, "workload", asked->workloads[question.existing].name);
    why_write_what_if(json, &names, answer, &asked->workloads[question.existing]);
    json_end_object(json);
    return 0;
}

static int answer_fair_share(struct json_writer *json, const struct snapshot *snapshot,
                             const struct question_options *options, struct arena *arena, struct error *err)
{
    uint32_t pool;
    enum resource resource;
    struct share_tree *tree;
    if (find_pool(snapshot, "--fairshare", options->fair_share, &pool, err) < 0 ||
        find_resource(options->resource, &resource, err) < 0 ||
        scheduler_explain_fairshare(snapshot, pool, resource, arena, &tree, err) < 0)
        return -1;
    struct why_names names = {.snapshot = snapshot};
    json_key(json, "fairShare");
    why_write_share_tree(json, &names, tree);
    return 0;
}

static int answer_queue(struct json_writer *json, const struct snapshot *snapshot, const char *pool_name,
                        struct arena *arena, struct error *err)
{
    uint32_t pool;
    struct queue_listing *listing;
    if (find_pool(snapshot, "--queue", pool_name, &pool, err) < 0 ||
        scheduler_queue_order(snapshot, pool, arena, &listing, err) < 0)
        return -1;
    struct why_names names = {.snapshot = snapshot};
    json_key(json, "queue");
    why_write_queue_order(json, &names, listing, 0, listing->count);
    return 0;
}

int questions_answer(const char *path, const struct question_options *options, bool pretty, struct buffer *out,
                     struct error *err)
{
    int rc = -1;
    json_t *document = NULL;
    struct snapshot *snapshot;
    struct arena arena;
    struct json_writer json;
    arena_init(&arena);
    if (snapshot_load_json(path, &document, err) < 0)
        goto done;
    if (snapshot_read_json(document, &arena, &snapshot, err) < 0) {
        error_prefix(err, "%.100s: ", strcmp(path, "-") == 0 ? "standard input" : path);
        goto done;
    }
    json_writer_init(&json, out, pretty);
    json_begin_object(&json);
    if (options->what_if && answer_what_if(&json, document, snapshot, options->what_if, &arena, err) < 0)
        goto done;
    if (options->fair_share && answer_fair_share(&json, snapshot, options, &arena, err) < 0)
        goto done;
    if (options->queue && answer_queue(&json, snapshot, options->queue, &arena, err) < 0)
        goto done;
    json_end_object(&json);
    buffer_char(out, '\n');
    rc = 0;
done:
    json_decref(document);
    arena_done(&arena);
    return rc;
}
