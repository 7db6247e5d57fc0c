#include "tests/fakekube/shapes.h"
#include <stdbool.h>
#include <string.h>

enum type {
    TYPE_TEXT,
    TYPE_OBJECT,
    TYPE_ARRAY,
    TYPE_INTEGER,
    TYPE_QUANTITY
};

// "[]" is every item of an array, "{}" every member of an object.
static const struct {
    const char *path;
    enum type type;
} SHAPES[] = {
    {"kind", TYPE_TEXT},
    {"apiVersion", TYPE_TEXT},
    {"metadata", TYPE_OBJECT},
    {"metadata.name", TYPE_TEXT},
    {"metadata.generateName", TYPE_TEXT},
    {"metadata.namespace", TYPE_TEXT},
    {"metadata.uid", TYPE_TEXT},
    {"metadata.resourceVersion", TYPE_TEXT},
    {"metadata.creationTimestamp", TYPE_TEXT},
    {"metadata.deletionTimestamp", TYPE_TEXT},
    {"metadata.deletionGracePeriodSeconds", TYPE_INTEGER},
    {"metadata.labels", TYPE_OBJECT},
    {"metadata.labels.{}", TYPE_TEXT},
    {"metadata.annotations", TYPE_OBJECT},
    {"metadata.annotations.{}", TYPE_TEXT},
    {"metadata.finalizers", TYPE_ARRAY},
    {"metadata.finalizers.[]", TYPE_TEXT},
    {"metadata.ownerReferences", TYPE_ARRAY},
    {"metadata.ownerReferences.[]", TYPE_OBJECT},
    {"spec", TYPE_OBJECT},
    {"spec.nodeName", TYPE_TEXT},
    {"spec.schedulerName", TYPE_TEXT},
    {"spec.restartPolicy", TYPE_TEXT},
    {"spec.priorityClassName", TYPE_TEXT},
    {"spec.runtimeClassName", TYPE_TEXT},
    {"spec.terminationGracePeriodSeconds", TYPE_INTEGER},
    {"spec.leaseDurationSeconds", TYPE_INTEGER},
    {"spec.renewTime", TYPE_TEXT},
    {"spec.finalizers", TYPE_ARRAY},
    {"spec.finalizers.[]", TYPE_TEXT},
    {"spec.taints", TYPE_ARRAY},
    {"spec.taints.[]", TYPE_OBJECT},
    {"spec.tolerations", TYPE_ARRAY},
    {"spec.tolerations.[]", TYPE_OBJECT},
    {"spec.tolerations.[].key", TYPE_TEXT},
    {"spec.schedulingGates", TYPE_ARRAY},
    {"spec.schedulingGates.[]", TYPE_OBJECT},
    {"spec.selector", TYPE_OBJECT},
    {"spec.selector.matchLabels", TYPE_OBJECT},
    {"spec.containers", TYPE_ARRAY},
    {"spec.containers.[]", TYPE_OBJECT},
    {"spec.containers.[].name", TYPE_TEXT},
    {"spec.containers.[].image", TYPE_TEXT},
    {"spec.containers.[].resources", TYPE_OBJECT},
    {"spec.containers.[].resources.limits", TYPE_OBJECT},
    {"spec.containers.[].resources.limits.{}", TYPE_QUANTITY},
    {"spec.containers.[].resources.requests", TYPE_OBJECT},
    {"spec.containers.[].resources.requests.{}", TYPE_QUANTITY},
    {"spec.initContainers", TYPE_ARRAY},
    {"spec.initContainers.[]", TYPE_OBJECT},
    {"spec.initContainers.[].restartPolicy", TYPE_TEXT},
    {"spec.initContainers.[].resources", TYPE_OBJECT},
    {"status", TYPE_OBJECT},
    {"status.phase", TYPE_TEXT},
    {"status.disruptionsAllowed", TYPE_INTEGER},
    {"status.disruptedPods", TYPE_OBJECT},
    {"status.capacity", TYPE_OBJECT},
    {"status.capacity.{}", TYPE_QUANTITY},
    {"status.allocatable", TYPE_OBJECT},
    {"status.allocatable.{}", TYPE_QUANTITY},
    {"status.conditions", TYPE_ARRAY},
    {"status.conditions.[]", TYPE_OBJECT},
    {"status.conditions.[].type", TYPE_TEXT},
    {"involvedObject", TYPE_OBJECT},
    {"involvedObject.namespace", TYPE_TEXT},
    {"eventTime", TYPE_TEXT},
    {"message", TYPE_TEXT},
    {"target", TYPE_OBJECT},
    {"target.kind", TYPE_TEXT},
    {"target.name", TYPE_TEXT},
    {"deleteOptions", TYPE_OBJECT},
    {"preconditions", TYPE_OBJECT},
};

static bool is_of(const json_t *value, enum type type)
{
    switch (type) {
    case TYPE_TEXT:
        return json_is_string(value);
    case TYPE_OBJECT:
        return json_is_object(value);
    case TYPE_ARRAY:
        return json_is_array(value);
    case TYPE_INTEGER:
        return json_is_integer(value);
    case TYPE_QUANTITY:
        return json_is_string(value) || json_is_number(value);
    }
    return false;
}

static bool fits(const json_t *value, const char *path, enum type type)
{
    if (!value)
        return true;
    if (!*path)
        return is_of(value, type);
    size_t length = strcspn(path, "."), index;
    const char *rest = path + length + (path[length] == '.'), *key;
    char name[64];
    json_t *inner;
    if (strncmp(path, "[]", length) == 0) {
        json_array_foreach(value, index, inner)
            if (!fits(inner, rest, type))
                return false;
        return true;
    }
    if (strncmp(path, "{}", length) == 0) {
        json_object_foreach((json_t *)value, key, inner)
            if (!fits(inner, rest, type))
                return false;
        return true;
    }
    memcpy(name, path, length);
    name[length] = '\0';
    return fits(json_object_get(value, name), rest, type);
}

static void drop_nulls(json_t *value)
{
    const char *key;
    void *next;
    size_t index;
    json_t *inner;
    json_object_foreach_safe(value, next, key, inner)
    {
        if (json_is_null(inner))
            json_object_del(value, key);
        else
            drop_nulls(inner);
    }
    json_array_foreach(value, index, inner)
        drop_nulls(inner);
}

const char *shape_find_wrong(json_t *object)
{
    drop_nulls(object);
    for (size_t i = 0; i < sizeof(SHAPES) / sizeof(*SHAPES); i++)
        if (!fits(object, SHAPES[i].path, SHAPES[i].type))
            return SHAPES[i].path;
    return NULL;
}
