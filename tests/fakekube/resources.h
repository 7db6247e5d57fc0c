// What kinds of objects there are: one row each, the order is the number of its shelf in the store.
#pragma once
#include <jansson.h>
#include <stdbool.h>

struct resource {
    const char *group; // "" is the core group
    const char *version;
    const char *plural;
    const char *kind;
    bool is_namespaced;
    bool has_status;            // PUT and PATCH keep status, /status keeps spec
    bool is_made_by_put;        // PUT of what is not there creates it
    bool needs_version;         // PUT without resourceVersion is refused
    bool is_returned_by_delete; // DELETE answers the object, not a Status
};

enum {
    RESOURCE_COUNT = 25,
    RESOURCE_PODS = 0,
    RESOURCE_NODES = 1,
    RESOURCE_NAMESPACES = 2,
    RESOURCE_EVENTS = 3,
    RESOURCE_PDBS = 4,
    RESOURCE_PRIORITY_CLASSES = 5,
    RESOURCE_LEASES = 6
};
extern const struct resource RESOURCES[RESOURCE_COUNT];

// The number of the row, or -1. Events of both groups share a shelf, as on the real server.
int resource_find(const char *group, const char *version, const char *plural);
// "v1" or "group/version"; out has room for 80 bytes.
const char *resource_api_version(const struct resource *resource, char out[80]);
// The fields a field selector may name, flat: {"spec.nodeName": "n1"}. A new reference.
json_t *resource_fields(int resource, const json_t *value);
bool resource_has_field(int resource, const char *path);
// The text at a dotted path, or NULL.
const char *json_text_at(const json_t *value, const char *path);
json_t *json_at(const json_t *value, const char *path);
// The object at key, made if it is missing.
json_t *json_object_made(json_t *value, const char *key);
