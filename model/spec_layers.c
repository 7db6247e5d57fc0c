#include "model/spec_layers.h"

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// Lists whose items have a key.
static const struct {
    const char *path, *key;
} LISTS[] = {
    {"annotations", "name"},
    {"compute.extendedResources", "resource"},
    {"environmentVariables", "name"},
    {"exposedUrls", "container"},
    {"imagePullSecrets", "name"},
    {"labels", "name"},
    {"ports", "container"},
    {"relatedUrls", "url"},
    {"storage.configMapVolume", "mountPath"},
    {"storage.dataVolume", "mountPath"},
    {"storage.emptyDirVolume", "path"},
    {"storage.git", "path"},
    {"storage.hostPath", "mountPath"},
    {"storage.nfs", "mountPath"},
    {"storage.pvc", "path"},
    {"storage.s3", "path"},
    {"storage.secretVolume", "mountPath"},
    {"tolerations", "name"},
};

// Objects that mean something as a whole only.
static const char *const WHOLES[] = {"nodeAffinityRequired", "podAffinity", "probes"};

// What a request for parts of devices is made of.
static const char *const PARTS[] = {"gpuPortionRequest", "gpuPortionLimit", "gpuMemoryRequest", "gpuMemoryLimit"};

struct laying {
    json_t *sources;
    const struct spec_layer *layer;
    struct arena *arena;
};

static const char *list_key(const char *path)
{
    for (size_t i = 0; i < sizeof(LISTS) / sizeof(LISTS[0]); i++)
        if (strcmp(LISTS[i].path, path) == 0)
            return LISTS[i].key;
    return NULL;
}

static bool is_whole(const char *path)
{
    for (size_t i = 0; i < sizeof(WHOLES) / sizeof(WHOLES[0]); i++)
        if (strcmp(WHOLES[i], path) == 0)
            return true;
    return false;
}

static void note(const struct laying *laying, const char *path)
{
    if (!laying->sources)
        return;
    json_t *source = json_object();
    json_object_set_new(source, "from", json_string(laying->layer->from));
    if (laying->layer->id)
        json_object_set_new(source, "id", json_string(laying->layer->id));
    if (laying->layer->name)
        json_object_set_new(source, "name", json_string(laying->layer->name));
    json_object_set_new(laying->sources, path, source);
}

// The item's key as text; NULL where it has none.
static const char *key_of(const json_t *item, const char *key, struct arena *arena)
{
    const json_t *value = json_object_get(item, key);
    if (json_is_integer(value))
        return arena_printf(arena, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    return json_string_value(value);
}

// Where each key stands in the list: the first of those that are there twice.
static json_t *index_list(const json_t *list, const char *key, struct arena *arena)
{
    json_t *places = json_object(), *item;
    size_t i;
    json_array_foreach((json_t *)(uintptr_t)list, i, item) {
        const char *name = key_of(item, key, arena);
        if (name && !json_object_get(places, name))
            json_object_set_new(places, name, json_integer((json_int_t)i));
    }
    return places;
}

static void lay_list(const struct laying *laying, json_t *target, const json_t *over, const char *key, const char *path)
{
    json_t *places = index_list(target, key, laying->arena), *item;
    size_t i;
    json_array_foreach((json_t *)(uintptr_t)over, i, item) {
        const char *name = key_of(item, key, laying->arena);
        const json_t *place = name ? json_object_get(places, name) : NULL;
        if (json_is_null(item))
            continue;
        if (place)
            json_array_set_new(target, (size_t)json_integer_value(place), json_deep_copy(item));
        else
            json_array_append_new(target, json_deep_copy(item));
        if (place)
            json_object_del(places, name); // one that comes again is for the checks to refuse
        note(laying, arena_printf(laying->arena, "%s[%s]", path, name ? name : ""));
    }
    json_decref(places);
}

static void drop_parts(const struct laying *laying, json_t *compute)
{
    for (size_t i = 0; i < sizeof(PARTS) / sizeof(PARTS[0]); i++) {
        json_object_del(compute, PARTS[i]);
        if (laying->sources)
            json_object_del(laying->sources, arena_printf(laying->arena, "compute.%s", PARTS[i]));
    }
}

// The member as an object or array, empty where it was something else.
static json_t *member(json_t *target, const char *key, bool is_list)
{
    json_t *value = json_object_get(target, key);
    if (is_list ? json_is_array(value) : json_is_object(value))
        return value;
    json_object_set_new(target, key, is_list ? json_array() : json_object());
    return json_object_get(target, key);
}

// As deep as the JSON, which the reader bounds.
static void lay_object(const struct laying *laying, json_t *target, const json_t *over, const char *parent)
{
    const char *key;
    json_t *value;
    if (strcmp(parent, "compute") == 0 && json_is_string(json_object_get(over, "gpuRequestType")))
        drop_parts(laying, target);
    json_object_foreach((json_t *)(uintptr_t)over, key, value) {
        if (json_is_null(value))
            continue;
        const char *path = *parent ? arena_printf(laying->arena, "%s.%s", parent, key) : key;
        const char *item_key = list_key(path);
        if (item_key && json_is_array(value)) {
            lay_list(laying, member(target, key, true), value, item_key, path);
        } else if (json_is_object(value) && !is_whole(path)) {
            lay_object(laying, member(target, key, false), value, path);
        } else {
            json_object_set_new(target, key, json_deep_copy(value));
            note(laying, path);
        }
    }
}

void spec_layers_lay(json_t *target, json_t *sources, const struct spec_layer *layer, struct arena *arena)
{
    struct laying laying = {sources, layer, arena};
    if (json_is_object(layer->spec))
        lay_object(&laying, target, layer->spec, "");
}
