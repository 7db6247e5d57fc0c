// From a number to an object: open addressing, in heap memory.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct id_map_slot {
    int64_t id;
    void *object; // NULL: free, or removed
    int used;     // was in use: a search goes on
};

struct id_map {
    struct id_map_slot *slots;
    size_t capacity; // a power of two, or 0
    size_t count;    // of objects
    size_t used;     // and of slots that were in use
};

void id_map_done(struct id_map *map);
void *id_map_find(const struct id_map *map, int64_t id);       // NULL: not there
void id_map_put(struct id_map *map, int64_t id, void *object); // replaces
void id_map_remove(struct id_map *map, int64_t id);
// Each object in no order: start with *position 0; NULL at the end.
void *id_map_next(const struct id_map *map, size_t *position);
// A uuid's leading digits as a number; whoever finds an object by it compares the whole.
int64_t id_map_uuid_key(const char *uuid);
