// Items of a list in a policy or a specification: which of them are the same, and what an item is called.
#pragma once
#include <jansson.h>
#include <stdbool.h>

// Two items are the same where the first of name, resource, id, claimName, container, url, key, configMap, secret,
// mountPath, server, repository, bucket, path that both have is equal.
bool policy_item_is_same(const json_t *a, const json_t *b);
// What the item is called: the first of those members that it has, or NULL.
const json_t *policy_item_key(const json_t *item);
bool policy_item_has_key(const json_t *item, const char *key);
// The item of a list that is the same, or NULL.
json_t *policy_items_find(const json_t *list, const json_t *item);
// exclude: true
bool policy_item_is_excluded(const json_t *item);
