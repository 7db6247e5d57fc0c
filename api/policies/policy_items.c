#include "api/policies/policy_items.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const KEYS[] = {"name",      "resource", "id",        "claimName", "container",  "url",    "key",
                                   "configMap", "secret",   "mountPath", "server",    "repository", "bucket", "path"};

enum {
    KEY_COUNT = sizeof(KEYS) / sizeof(KEYS[0])
};

static const json_t *member(const json_t *item, const char *name)
{
    const json_t *value = json_object_get(item, name);
    return json_is_null(value) ? NULL : value;
}

bool policy_item_is_same(const json_t *a, const json_t *b)
{
    for (size_t i = 0; i < KEY_COUNT; i++) {
        const json_t *of_a = member(a, KEYS[i]), *of_b = member(b, KEYS[i]);
        if (of_a && of_b)
            return json_equal(of_a, of_b);
    }
    return false;
}

const json_t *policy_item_key(const json_t *item)
{
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (member(item, KEYS[i]))
            return member(item, KEYS[i]);
    return NULL;
}

bool policy_item_has_key(const json_t *item, const char *key)
{
    const json_t *own = policy_item_key(item);
    char number[24];
    if (json_is_string(own))
        return strcmp(json_string_value(own), key) == 0;
    if (!json_is_integer(own))
        return false;
    snprintf(number, sizeof(number), "%" PRId64, (int64_t)json_integer_value(own));
    return strcmp(number, key) == 0;
}

json_t *policy_items_find(const json_t *list, const json_t *item)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (policy_item_is_same(json_array_get(list, i), item))
            return json_array_get(list, i);
    return NULL;
}

bool policy_item_is_excluded(const json_t *item)
{
    return json_is_true(json_object_get(item, "exclude"));
}
