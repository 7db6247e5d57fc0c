#include "tests/support/shrink.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum {
    MOST_TRIES = 20000
};

struct shrinker {
    json_t *document; // changed in place; what does no good is put back
    shrink_fails fails;
    void *context;
    unsigned tries;
};

static bool still_fails(struct shrinker *shrinker)
{
    return ++shrinker->tries < MOST_TRIES && shrinker->fails(shrinker->document, shrinker->context);
}

static bool shrink_items(struct shrinker *shrinker, json_t *list)
{
    bool any = false;
    for (size_t chunk = json_array_size(list); chunk > 0; chunk /= 2) {
        for (size_t first = 0; first + chunk <= json_array_size(list);) {
            json_t *all = json_copy(list);
            for (size_t i = 0; i < chunk; i++)
                json_array_remove(list, first);
            if (still_fails(shrinker)) {
                any = true;
            } else {
                json_array_clear(list);
                json_array_extend(list, all);
                first += chunk;
            }
            json_decref(all);
        }
    }
    return any;
}

static bool shrink_keys(struct shrinker *shrinker, json_t *object)
{
    bool any = false;
    json_t *all = json_copy(object);
    const char *key;
    json_t *value;
    json_object_foreach(all, key, value) {
        json_object_del(object, key);
        if (still_fails(shrinker))
            any = true;
        else
            json_object_set(object, key, value);
    }
    json_decref(all);
    return any;
}

static bool shrink_number(struct shrinker *shrinker, json_t *number)
{
    const json_int_t value = json_integer_value(number);
    const json_int_t smaller[] = {0, 1, value / 2, value - 1};
    for (size_t i = 0; i < sizeof(smaller) / sizeof(*smaller); i++) {
        if (smaller[i] >= value || smaller[i] < 0)
            continue;
        json_integer_set(number, smaller[i]);
        if (still_fails(shrinker))
            return true;
        json_integer_set(number, value);
    }
    return false;
}

static bool shrink_under(struct shrinker *shrinker, json_t *value)
{
    bool any = false;
    const char *key;
    json_t *inner;
    if (json_is_array(value)) {
        any = shrink_items(shrinker, value);
        for (size_t i = 0; i < json_array_size(value); i++)
            any = shrink_under(shrinker, json_array_get(value, i)) || any;
    } else if (json_is_object(value)) {
        any = shrink_keys(shrinker, value);
        json_object_foreach(value, key, inner)
            any = shrink_under(shrinker, inner) || any;
    } else if (json_is_integer(value)) {
        any = shrink_number(shrinker, value);
    }
    return any;
}

json_t *shrink(const json_t *document, shrink_fails fails, void *context)
{
    struct shrinker shrinker = {json_deep_copy(document), fails, context, 0};
    while (shrinker.tries < MOST_TRIES && shrink_under(&shrinker, shrinker.document))
        ;
    return shrinker.document;
}

void shrink_keep(const char *folder, const char *name, const char *why, const json_t *document)
{
    char path[1024];
    mkdir("artifacts", 0777);
    mkdir(folder, 0777);
    snprintf(path, sizeof(path), "%s/%s.json", folder, name);
    json_t *kept = json_object();
    json_object_set_new(kept, "why", json_string(why));
    json_object_set_new(kept, "snapshot", json_deep_copy(document));
    if (json_dump_file(kept, path, JSON_INDENT(1)) == 0)
        printf("kept as %s\n", path);
    else
        fprintf(stderr, "%s: cannot be written\n", path);
    json_decref(kept);
}
