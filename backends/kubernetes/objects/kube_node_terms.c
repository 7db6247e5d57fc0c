#include "backends/kubernetes/objects/kube_node_terms.h"

#include <stdlib.h>
#include <string.h>

static bool is_among(const json_t *values, const char *label)
{
    const json_t *value;
    size_t i;
    json_array_foreach(values, i, value) {
        const char *text = json_string_value(value);
        if (label && text && strcmp(label, text) == 0)
            return true;
    }
    return false;
}

// Of numbers: both are whole, or it does not hold.
static bool is_beyond(const json_t *values, const char *label, int sign)
{
    const char *text = json_string_value(json_array_get(values, 0));
    char *end_of_label, *end_of_text;
    if (!label || !text || !*label || !*text)
        return false;
    long long a = strtoll(label, &end_of_label, 10), b = strtoll(text, &end_of_text, 10);
    return !*end_of_label && !*end_of_text && (sign > 0 ? a > b : a < b);
}

static bool holds(const json_t *requirement, const struct kube_meta *node)
{
    const char *operator= kube_text_at(requirement, "operator");
    const char *label = kube_meta_label(node, kube_text_at(requirement, "key"));
    const json_t *values = json_object_get(requirement, "values");
    if (strcmp(operator, "In") == 0)
        return is_among(values, label);
    if (strcmp(operator, "NotIn") == 0)
        return !is_among(values, label);
    if (strcmp(operator, "Exists") == 0)
        return label;
    if (strcmp(operator, "DoesNotExist") == 0)
        return !label;
    if (strcmp(operator, "Gt") == 0)
        return is_beyond(values, label, 1);
    return strcmp(operator, "Lt") == 0 && is_beyond(values, label, -1);
}

bool kube_node_terms_hold(const json_t *terms, const struct kube_meta *node)
{
    const json_t *term, *requirement;
    size_t i, k;
    json_array_foreach(terms, i, term) {
        const json_t *list = json_object_get(term, "matchExpressions");
        bool all = json_array_size(list) > 0 && json_array_size(json_object_get(term, "matchFields")) == 0;
        json_array_foreach(list, k, requirement)
            all = all && holds(requirement, node);
        if (all)
            return true;
    }
    return json_array_size(terms) == 0;
}
