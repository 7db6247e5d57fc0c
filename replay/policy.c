#include "replay/policy.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/yaml_reader.h"
#include "form/snapshot_reader.h"
#include "replay/nodes.h"
#include "replay/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_MAXIMUM = 40,
    SECONDS_MAXIMUM = 1000000000
};

struct policy policy_default(void)
{
    return (struct policy){.name = "default", .quota = QUOTA_DEMAND};
}

// The lines that the YAML reader adds are no keys of a snapshot.
static void drop_lines(json_t *value)
{
    size_t i;
    const char *key;
    json_t *item;
    json_object_del(value, YAML_LINE_KEY);
    json_object_foreach(value, key, item)
        drop_lines(item);
    json_array_foreach(value, i, item)
        drop_lines(item);
}

static int read_word(const json_t *document, const char *key, const char *const *words, size_t count, size_t *out_word,
                     struct error *err)
{
    const json_t *value = json_object_get(document, key);
    if (!value)
        return 0;
    const char *text = json_string_value(value);
    for (size_t i = 0; i < count; i++) {
        if (text && strcmp(text, words[i]) == 0) {
            *out_word = i;
            return 1;
        }
    }
    char list[128] = "";
    for (size_t i = 0; i < count; i++)
        snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
                 i == 0          ? ""
                 : i + 1 < count ? ", "
                                 : " or ",
                 words[i]);
    return error_set(err, ERROR_INVALID, "%s: %s, got %.40s", key, list, text ? text : "something else");
}

static int read_seconds(const json_t *document, const char *key, int64_t *out_ms, struct error *err)
{
    const json_t *value = json_object_get(document, key);
    if (!value)
        return 0;
    double seconds = json_number_value(value);
    if (!json_is_number(value) || seconds < 0 || seconds > SECONDS_MAXIMUM)
        return error_set(err, ERROR_INVALID, "%s: a number of seconds from 0 to %d", key, SECONDS_MAXIMUM);
    *out_ms = (int64_t)(seconds * 1000 + 0.5);
    return 0;
}

static int check_keys(const json_t *document, struct error *err)
{
    static const char *const KEYS[] = {"name",
                                       "actions",
                                       "settings",
                                       "nodePool",
                                       "projects",
                                       "quota",
                                       "priority",
                                       "progress",
                                       "runTimes",
                                       "periodSeconds",
                                       "usageHalfLifeSeconds"};
    const char *key;
    json_t *value;
    if (!json_is_object(document))
        return error_set(err, ERROR_INVALID, "an object with the keys of a policy");
    json_object_foreach((json_t *)document, key, value) {
        bool known = false;
        for (size_t i = 0; i < sizeof(KEYS) / sizeof(KEYS[0]); i++)
            known = known || strcmp(KEYS[i], key) == 0;
        if (!known)
            return error_set(err, ERROR_INVALID, "%.60s: unknown key", key);
    }
    return 0;
}

static int read_name(const json_t *document, struct arena *arena, struct policy *policy, struct error *err)
{
    const json_t *value = json_object_get(document, "name");
    const char *name = json_string_value(value);
    if (!value)
        return 0;
    if (!name || *name == '\0' || strlen(name) > NAME_MAXIMUM)
        return error_set(err, ERROR_INVALID, "name: a text of 1 to %d bytes", NAME_MAXIMUM);
    for (const char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return error_set(err, ERROR_INVALID, "name: a control character");
    policy->name = arena_strdup(arena, name);
    return 0;
}

static int read_document(json_t *document, struct arena *arena, struct policy *policy, struct error *err)
{
    size_t projects = 0, priority = 0, progress = 0, run_times = 0, quota = policy->quota;
    if (check_keys(document, err) < 0 || read_name(document, arena, policy, err) < 0)
        return -1;
    int found = read_word(document, "quota", QUOTA_SOURCE_WORDS, QUOTA_SOURCE_COUNT, &quota, err);
    if (found < 0 || read_word(document, "projects", (const char *const[]){"trace", "one"}, 2, &projects, err) < 0 ||
        read_word(document, "priority", (const char *const[]){"trace", "same"}, 2, &priority, err) < 0 ||
        read_word(document, "progress", (const char *const[]){"lost", "kept"}, 2, &progress, err) < 0 ||
        read_word(document, "runTimes", (const char *const[]){"unknown", "known"}, 2, &run_times, err) < 0 ||
        read_seconds(document, "periodSeconds", &policy->period_ms, err) < 0 ||
        read_seconds(document, "usageHalfLifeSeconds", &policy->usage_half_life_ms, err) < 0)
        return -1;
    policy->has_usage = json_object_get(document, "usageHalfLifeSeconds") != NULL;
    policy->quota = (enum quota_source)quota;
    policy->has_quota = found > 0;
    policy->is_one_project = projects == 1;
    policy->has_one_priority = priority == 1;
    policy->keeps_progress = progress == 1;
    policy->knows_run_times = run_times == 1;
    return 0;
}

// The file's name without folder and ending.
static const char *stem(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    size_t length = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    return arena_strndup(arena, name, length < NAME_MAXIMUM ? length : NAME_MAXIMUM);
}

static int take_document(const char *name, json_t *document, struct arena *arena, struct policy *out_policy,
                         struct error *err)
{
    struct policy policy = policy_default();
    policy.name = stem(name, arena);
    drop_lines(document);
    if (read_document(document, arena, &policy, err) < 0) {
        json_decref(document);
        return error_prefix(err, "%.120s: ", name);
    }
    policy.document = document;
    *out_policy = policy;
    return 0;
}

int policy_read_file(const char *path, struct arena *arena, struct policy *out_policy, struct error *err)
{
    json_t *document;
    if (yaml_read_file(path, &document, err) < 0)
        return -1;
    return take_document(path, document, arena, out_policy, err);
}

int policy_read_text(const char *name, const char *text, size_t length, struct arena *arena, struct policy *out_policy,
                     struct error *err)
{
    json_t *document;
    if (yaml_read(text, length, name, &document, err) < 0)
        return -1;
    return take_document(name, document, arena, out_policy, err);
}

void policy_done(struct policy *policy)
{
    json_decref((json_t *)policy->document);
    policy->document = NULL;
}

// The reader speaks of the list it was given; a policy has the one node pool as `nodePool`.
static void name_node_pool(struct error *err)
{
    static const char LIST[] = "nodePools[0]", ONE[] = "nodePool";
    if (strncmp(err->message, LIST, sizeof(LIST) - 1) != 0)
        return;
    char *rest = err->message + sizeof(LIST) - 1;
    memmove(err->message + sizeof(ONE) - 1, rest, strlen(rest) + 1);
    memcpy(err->message, ONE, sizeof(ONE) - 1);
}

static int read_snapshot(const struct policy *policy, json_t *document, struct arena *arena,
                         struct snapshot **out_snapshot, struct error *err)
{
    static const char *const SHARED[] = {"actions", "settings"};
    for (size_t i = 0; i < sizeof(SHARED) / sizeof(SHARED[0]); i++) {
        json_t *value = json_object_get(policy->document, SHARED[i]);
        if (value)
            json_object_set(document, SHARED[i], value);
    }
    json_t *pool = json_object_get(policy->document, "nodePool");
    if (pool && !json_is_object(pool))
        return error_set(err, ERROR_INVALID, "nodePool: an object");
    pool = pool ? json_copy(pool) : json_object();
    json_object_set_new(document, "nodePools", json_pack("[o]", pool));
    if (json_object_get(pool, "name"))
        return error_set(err, ERROR_INVALID, "nodePool.name: unknown key");
    json_object_set_new(pool, "name", json_string(NODES_POOL));
    if (snapshot_read_json(document, arena, out_snapshot, err) == 0)
        return 0;
    name_node_pool(err);
    return -1;
}

int policy_make_snapshot(const struct policy *policy, const struct nodes *nodes, const struct trace *trace,
                         const struct quota_file *quotas, struct arena *arena, struct snapshot *out_snapshot,
                         struct error *err)
{
    struct snapshot *snapshot;
    enum quota_source quota = !policy->has_quota && quotas->document ? QUOTA_FILE : policy->quota;
    if (quota == QUOTA_FILE && !quotas->document)
        return error_set(err, ERROR_INVALID, "%.60s: quota: there is no --quota file", policy->name);
    json_t *document = json_pack("{s:i, s:s}", "version", 1, "now", "1970-01-01T00:00:00Z");
    int rc = quota_add_queues(trace, quota, policy->is_one_project, quotas, nodes->gpu_milli, arena, document, err);
    if (rc == 0) {
        drop_lines(document);
        rc = read_snapshot(policy, document, arena, &snapshot, err);
        if (rc < 0)
            error_prefix(err, "%.60s: ", policy->name);
    }
    json_decref(document);
    if (rc < 0)
        return -1;
    snapshot->nodes = nodes->nodes;
    snapshot->node_count = nodes->count;
    *out_snapshot = *snapshot;
    return 0;
}
