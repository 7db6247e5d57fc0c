#include "tests/fakekube/patches.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void patch_merge(json_t *target, const json_t *patch)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)patch, key, value) {
        if (json_is_null(value)) {
            json_object_del(target, key);
        } else if (json_is_object(value)) {
            json_t *inner = json_object_get(target, key);
            if (!json_is_object(inner)) {
                inner = json_object();
                json_object_set_new(target, key, inner);
            }
            patch_merge(inner, value);
        } else {
            json_object_set_new(target, key, json_deep_copy(value));
        }
    }
}

static const struct {
    const char *list, *key;
} MERGE_KEYS[] = {
    {"conditions", "type"},       {"containers", "name"},        {"initContainers", "name"}, {"env", "name"},
    {"volumes", "name"},          {"volumeMounts", "mountPath"}, {"ports", "containerPort"}, {"ownerReferences", "uid"},
    {"imagePullSecrets", "name"}, {"addresses", "type"},         {"hostAliases", "ip"},
};

static const char *merge_key(const char *list)
{
    for (size_t i = 0; i < sizeof(MERGE_KEYS) / sizeof(*MERGE_KEYS); i++)
        if (strcmp(MERGE_KEYS[i].list, list) == 0)
            return MERGE_KEYS[i].key;
    return NULL;
}

static size_t find_item(const json_t *list, const char *key, const json_t *wanted)
{
    size_t index = 0;
    json_t *item;
    json_array_foreach((json_t *)list, index, item)
        if (json_equal(json_object_get(item, key), wanted))
            return index;
    return index;
}

static void merge_list(json_t *target, const json_t *patch, const char *key)
{
    size_t index;
    json_t *item;
    json_array_foreach((json_t *)patch, index, item) {
        const char *order = json_string_value(json_object_get(item, "$patch"));
        size_t place = find_item(target, key, json_object_get(item, key));
        bool is_there = place < json_array_size(target);
        if (order && strcmp(order, "delete") == 0) {
            if (is_there)
                json_array_remove(target, place);
        } else if (order && strcmp(order, "replace") == 0) {
            json_array_clear(target);
        } else if (is_there) {
            patch_strategic(json_array_get(target, place), item);
        } else {
            json_array_append_new(target, json_deep_copy(item));
        }
    }
}

static void merge_words(json_t *target, const json_t *patch)
{
    size_t index, place;
    json_t *item, *there;
    json_array_foreach((json_t *)patch, index, item) {
        bool is_there = false;
        json_array_foreach(target, place, there)
            is_there = is_there || json_equal(item, there);
        if (!is_there)
            json_array_append(target, item);
    }
}

static void delete_words(json_t *target, const char *list, const json_t *words)
{
    json_t *there = json_object_get(target, list);
    size_t index;
    json_t *word;
    json_array_foreach((json_t *)words, index, word)
        for (size_t place = json_array_size(there); place > 0; place--)
            if (json_equal(json_array_get(there, place - 1), word))
                json_array_remove(there, place - 1);
}

static void merge_member(json_t *target, const char *key, json_t *value)
{
    static const char DELETE_WORDS[] = "$deleteFromPrimitiveList/";
    json_t *there = json_object_get(target, key);
    if (strncmp(key, DELETE_WORDS, strlen(DELETE_WORDS)) == 0) {
        delete_words(target, key + strlen(DELETE_WORDS), value);
    } else if (key[0] == '$') {
        return;
    } else if (json_is_null(value)) {
        json_object_del(target, key);
    } else if (json_is_object(value)) {
        const char *order = json_string_value(json_object_get(value, "$patch"));
        if (!json_is_object(there) || (order && strcmp(order, "replace") == 0)) {
            there = json_object();
            json_object_set_new(target, key, there);
        }
        patch_strategic(there, value);
    } else if (json_is_array(value) && (merge_key(key) || strcmp(key, "finalizers") == 0)) {
        if (!json_is_array(there)) {
            there = json_array();
            json_object_set_new(target, key, there);
        }
        if (merge_key(key))
            merge_list(there, value, merge_key(key));
        else
            merge_words(there, value);
    } else {
        json_object_set_new(target, key, json_deep_copy(value));
    }
}

void patch_strategic(json_t *target, const json_t *patch)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)patch, key, value)
        merge_member(target, key, value);
}

// The next part of a JSON pointer, decoded; NULL at the end.
static char *pointer_part(const char **at)
{
    if (**at != '/')
        return NULL;
    (*at)++;
    size_t length = strcspn(*at, "/"), count = 0;
    char *part = malloc(length + 1);
    for (size_t i = 0; part && i < length; i++) {
        bool is_escape = (*at)[i] == '~' && i + 1 < length;
        part[count++] = !is_escape ? (*at)[i] : (*at)[i + 1] == '1' ? '/' : '~';
        i += is_escape;
    }
    if (part)
        part[count] = '\0';
    *at += length;
    return part;
}

static json_t *child(const json_t *parent, const char *part)
{
    return json_is_array(parent) ? json_array_get(parent, strtoul(part, NULL, 10)) : json_object_get(parent, part);
}

// The parent of what the pointer names, and its last part (free it). NULL: the way there is missing.
static json_t *walk(json_t *value, const char *pointer, char **out_last)
{
    char *part = pointer_part(&pointer);
    while (part && value && *pointer) {
        value = child(value, part);
        free(part);
        part = pointer_part(&pointer);
    }
    *out_last = part;
    return part ? value : NULL;
}

static int set_at(json_t *parent, const char *part, const json_t *value, bool is_new)
{
    if (json_is_object(parent))
        return json_object_set_new(parent, part, json_deep_copy(value));
    if (!json_is_array(parent))
        return -1;
    if (strcmp(part, "-") == 0)
        return json_array_append_new(parent, json_deep_copy(value));
    size_t place = strtoul(part, NULL, 10);
    return is_new ? json_array_insert_new(parent, place, json_deep_copy(value))
                  : json_array_set_new(parent, place, json_deep_copy(value));
}

static int remove_at(json_t *parent, const char *part)
{
    return json_is_array(parent) ? json_array_remove(parent, strtoul(part, NULL, 10)) : json_object_del(parent, part);
}

static int apply_operation(json_t *target, const json_t *operation)
{
    const char *op = json_string_value(json_object_get(operation, "op"));
    const char *path = json_string_value(json_object_get(operation, "path"));
    const json_t *value = json_object_get(operation, "value");
    char *last = NULL;
    json_t *parent = op && path ? walk(target, path, &last) : NULL;
    int rc = -1;
    if (parent && strcmp(op, "add") == 0 && value)
        rc = set_at(parent, last, value, true);
    else if (parent && strcmp(op, "replace") == 0 && value && child(parent, last))
        rc = set_at(parent, last, value, false);
    else if (parent && strcmp(op, "remove") == 0)
        rc = remove_at(parent, last);
    else if (parent && strcmp(op, "test") == 0)
        rc = json_equal(child(parent, last), value) ? 0 : -1;
    free(last);
    return rc;
}

int patch_json(json_t *target, const json_t *patch, char out_wrong[200])
{
    size_t index;
    json_t *operation;
    json_array_foreach((json_t *)patch, index, operation) {
        if (apply_operation(target, operation) < 0) {
            snprintf(out_wrong, 200, "the operation %zu of the patch cannot be done", index);
            return -1;
        }
    }
    return 0;
}
