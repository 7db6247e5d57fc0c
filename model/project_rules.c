#include "model/project_rules.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json_reader.h"
#include "model/placement_spec.h"

#include <string.h>

// Our own column: what cannot be read counts as absent.
static json_t *parse(const char *text)
{
    json_t *value = NULL;
    if (text)
        (void)json_reader_parse(text, strlen(text), &value, NULL);
    return value;
}

// A hundred years: what is longer is no limit, and no sum of times runs over.
static const int64_t LIMIT_SECONDS_MAX = 3153600000;

static void tighten(int64_t *limit_ms, const char **limit_scope, const json_t *rules, const char *key,
                    const char *scope)
{
    int64_t seconds = json_integer_value(json_object_get(rules, key));
    if (seconds <= 0 || seconds > LIMIT_SECONDS_MAX || (*limit_ms != 0 && seconds * 1000 >= *limit_ms))
        return;
    *limit_ms = seconds * 1000;
    *limit_scope = scope;
}

struct limit_keys {
    const char *time;
    const char *idle;
};

static struct limit_keys keys_of(const struct workload_spec *spec)
{
    switch (spec->type) {
    case WORKLOAD_TYPE_TRAINING:
    case WORKLOAD_TYPE_DISTRIBUTED:
        return (struct limit_keys){"trainingJobTimeLimitSeconds", "trainingJobMaxIdleDurationSeconds"};
    case WORKLOAD_TYPE_WORKSPACE:
        return (struct limit_keys){"interactiveJobTimeLimitSeconds", spec->is_preemptible
                                                                         ? "interactiveJobPreemptIdleDurationSeconds"
                                                                         : "interactiveJobMaxIdleDurationSeconds"};
    default:
        return (struct limit_keys){0};
    }
}

void project_rules_limits(const struct project_rules *rules, const struct workload_spec *spec, struct arena *arena,
                          struct workload_limits *out_limits)
{
    const struct {
        const char *kind, *name, *json;
    } owners[] = {{"project", rules->project_name, rules->project_rules_json},
                  {"department", rules->department_name, rules->department_rules_json}};
    struct limit_keys keys = keys_of(spec);
    *out_limits = (struct workload_limits){0};
    for (size_t i = 0; keys.time && i < sizeof(owners) / sizeof(*owners); i++) {
        json_t *said = parse(owners[i].json);
        const char *scope = arena_printf(arena, "%s %s", owners[i].kind, owners[i].name);
        tighten(&out_limits->time_limit_ms, &out_limits->time_limit_scope, said, keys.time, scope);
        tighten(&out_limits->idle_limit_ms, &out_limits->idle_limit_scope, said, keys.idle, scope);
        json_decref(said);
    }
}

// The list for the workload's kind, with the names of its entries: the project's, else the department's.
struct node_types {
    json_t *owner;
    const json_t *list;
};

static struct node_types find_node_types(const struct project_rules *rules, enum workload_type type)
{
    const char *texts[] = {rules->node_types_json, rules->department_node_types_json};
    const char *key = type == WORKLOAD_TYPE_WORKSPACE ? "workspace" : "training";
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts) && type != WORKLOAD_TYPE_INFERENCE; i++) {
        json_t *owner = parse(texts[i]);
        const json_t *list = json_object_get(owner, key);
        if (json_array_size(list) > 0)
            return (struct node_types){owner, list};
        json_decref(owner);
    }
    return (struct node_types){0};
}

// What nodes of the i-th type are labelled with: its name, else the id itself.
static json_t *label_of(const struct node_types *types, size_t i)
{
    json_t *id = json_array_get(types->list, i);
    json_t *name = json_object_get(json_object_get(types->owner, "names"), json_string_value(id));
    return json_is_string(name) ? name : id;
}

static json_t *find_label(const struct node_types *types, const char *asked)
{
    for (size_t i = 0; i < json_array_size(types->list); i++) {
        const char *id = json_string_value(json_array_get(types->list, i));
        json_t *label = label_of(types, i);
        if ((id && strcmp(id, asked) == 0) || strcmp(json_string_value(label), asked) == 0)
            return label;
    }
    return NULL;
}

static int apply_to_pod(const struct node_types *types, struct pod_request *request, const char *spec_name,
                        struct arena *arena, struct error *err)
{
    json_t *constraints = request->constraints_json ? parse(request->constraints_json) : json_object();
    json_t *asked = json_object_get(json_object_get(constraints, "nodeSelector"), NODE_TYPE_LABEL);
    int rc = 0;
    if (asked) {
        const char *name = json_string_value(json_array_get(asked, 0));
        json_t *label = find_label(types, name);
        if (label)
            json_array_set(asked, 0, label);
        else
            rc = error_set(err, ERROR_INVALID, "%s.nodeType: the project allows no %.60s for this kind", spec_name,
                           name);
    } else {
        json_t *labels = json_array();
        for (size_t i = 0; i < json_array_size(types->list); i++)
            json_array_append(labels, label_of(types, i));
        json_object_set_new(constraints, "nodeTypes", labels);
    }
    if (rc == 0)
        request->constraints_json = placement_spec_text(constraints, arena);
    json_decref(constraints);
    return rc;
}

int project_rules_apply_node_types(const struct project_rules *rules, struct workload_spec *spec, struct arena *arena,
                                   struct error *err)
{
    struct node_types types = find_node_types(rules, spec->type);
    int rc = 0;
    if (types.list)
        rc = apply_to_pod(&types, &spec->worker, "spec", arena, err);
    if (types.list && rc == 0 && spec->has_master)
        rc = apply_to_pod(&types, &spec->master, "masterSpec", arena, err);
    json_decref(types.owner);
    return rc;
}
