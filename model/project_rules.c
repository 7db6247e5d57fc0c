#include "model/project_rules.h"

#include "base/error.h"
#include "base/json_reader.h"

#include <string.h>

// Our own column: what cannot be read counts as absent.
static json_t *parse(const char *text)
{
    json_t *value = NULL;
    if (text)
        (void)json_reader_parse(text, strlen(text), &value, NULL);
    return value;
}

static int64_t tighter(int64_t limit_ms, const json_t *rules, const char *key)
{
    int64_t seconds = json_integer_value(json_object_get(rules, key));
    if (seconds <= 0 || seconds > INT64_MAX / 1000)
        return limit_ms;
    return limit_ms == 0 || seconds * 1000 < limit_ms ? seconds * 1000 : limit_ms;
}

static void tighten(struct workload_limits *limits, const char *rules_json, const struct workload_spec *spec)
{
    json_t *rules = parse(rules_json);
    if (spec->type == WORKLOAD_TYPE_WORKSPACE) {
        limits->time_limit_ms = tighter(limits->time_limit_ms, rules, "interactiveJobTimeLimitSeconds");
        limits->idle_limit_ms = tighter(limits->idle_limit_ms, rules,
                                        spec->is_preemptible ? "interactiveJobPreemptIdleDurationSeconds"
                                                             : "interactiveJobMaxIdleDurationSeconds");
    } else {
        limits->time_limit_ms = tighter(limits->time_limit_ms, rules, "trainingJobTimeLimitSeconds");
        limits->idle_limit_ms = tighter(limits->idle_limit_ms, rules, "trainingJobMaxIdleDurationSeconds");
    }
    json_decref(rules);
}

void project_rules_limits(const struct project_rules *rules, const struct workload_spec *spec,
                          struct workload_limits *out_limits)
{
    *out_limits = (struct workload_limits){0};
    tighten(out_limits, rules->project_rules_json, spec);
    tighten(out_limits, rules->department_rules_json, spec);
}

static bool is_listed(const json_t *list, const json_t *names, const char *node_type)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *id = json_string_value(json_array_get(list, i));
        const char *name = id ? json_string_value(json_object_get(names, id)) : NULL;
        if (node_type && id && (strcmp(id, node_type) == 0 || (name && strcmp(name, node_type) == 0)))
            return true;
    }
    return json_array_size(list) == 0;
}

int project_rules_check_node_type(const struct project_rules *rules, const struct workload_spec *spec,
                                  struct error *err)
{
    json_t *node_types = parse(rules->node_types_json);
    const char *key = spec->type == WORKLOAD_TYPE_WORKSPACE ? "workspace" : "training";
    const json_t *list = json_object_get(node_types, key);
    int rc = 0;
    if (!is_listed(list, json_object_get(node_types, "names"), spec->node_type)) {
        if (spec->node_type)
            rc = error_set(err, ERROR_INVALID, "spec.nodeType: the project allows no %.60s for this kind",
                           spec->node_type);
        else
            rc = error_set(err, ERROR_INVALID, "spec.nodeType: required, the project has a list of node types");
    }
    json_decref(node_types);
    return rc;
}
