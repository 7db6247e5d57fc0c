#include "reconciler/world/id_map.h"

#include "base/arena.h"

#include <stdlib.h>

void id_map_done(struct id_map *map)
{
    free(map->slots);
    *map = (struct id_map){0};
}

static size_t slot_of(const struct id_map *map, int64_t id)
{
    size_t mask = map->capacity - 1;
    size_t slot = ((uint64_t)id * 0x9E3779B97F4A7C15ULL >> 32) & mask;
    while (map->slots[slot].used && map->slots[slot].id != id)
        slot = (slot + 1) & mask;
    return slot;
}

static void rehash(struct id_map *map)
{
    struct id_map old = *map;
    map->capacity = 64;
    while (map->capacity < old.count * 4)
        map->capacity *= 2;
    map->slots = memory_array(map->capacity, sizeof(*map->slots));
    map->count = map->used = 0;
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].object)
            id_map_put(map, old.slots[i].id, old.slots[i].object);
    free(old.slots);
}

void *id_map_find(const struct id_map *map, int64_t id)
{
    return map->capacity ? map->slots[slot_of(map, id)].object : NULL;
}

void id_map_put(struct id_map *map, int64_t id, void *object)
{
    if ((map->used + 1) * 2 > map->capacity)
        rehash(map);
    struct id_map_slot *slot = &map->slots[slot_of(map, id)];
    map->used += !slot->used;
    map->count += !slot->object;
    *slot = (struct id_map_slot){id, object, 1};
}

void id_map_remove(struct id_map *map, int64_t id)
{
    if (!map->capacity)
        return;
    struct id_map_slot *slot = &map->slots[slot_of(map, id)];
    if (!slot->object)
        return;
    slot->object = NULL;
    map->count--;
}

void *id_map_next(const struct id_map *map, size_t *position)
{
    while (*position < map->capacity) {
        void *object = map->slots[(*position)++].object;
        if (object)
            return object;
    }
    return NULL;
}

int64_t id_map_uuid_key(const char *uuid)
{
    uint64_t key = 0;
    int digits = 0;
    for (const char *c = uuid; *c && digits < 15; c++) {
        if (*c == '-')
            continue;
        key = key << 4 | (uint64_t)(*c <= '9' ? *c - '0' : (*c | 32) - 'a' + 10);
        digits++;
    }
    return (int64_t)key;
}
