#include "api/connections.h"
#include "base/arena.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct holder {
    uint32_t address;
    uint32_t count; // 0: the place is free
};

struct connections {
    pthread_mutex_t mutex;
    size_t total;
    size_t max_per_address;
    size_t capacity;
    struct holder holders[];
};

struct connections *connections_create(size_t capacity, size_t max_per_address)
{
    struct connections *connections = memory_alloc(sizeof(*connections) + capacity * sizeof(struct holder));
    *connections = (struct connections){.max_per_address = max_per_address, .capacity = capacity};
    memset(connections->holders, 0, capacity * sizeof(struct holder));
    pthread_mutex_init(&connections->mutex, NULL);
    return connections;
}

void connections_destroy(struct connections *connections)
{
    if (!connections)
        return;
    pthread_mutex_destroy(&connections->mutex);
    free(connections);
}

// The holder of an address; else a free place; else NULL (more addresses than workers cannot be).
static struct holder *find_holder(struct connections *connections, uint32_t address)
{
    struct holder *free_place = NULL;
    for (size_t i = 0; i < connections->capacity; i++) {
        struct holder *holder = &connections->holders[i];
        if (holder->count > 0 && holder->address == address)
            return holder;
        if (holder->count == 0 && !free_place)
            free_place = holder;
    }
    return free_place;
}

bool connections_add(struct connections *connections, uint32_t address, bool is_proxy)
{
    bool has_room = true;
    pthread_mutex_lock(&connections->mutex);
    struct holder *holder = find_holder(connections, address);
    if (holder) {
        holder->address = address;
        holder->count++;
        has_room = is_proxy || holder->count <= connections->max_per_address;
    }
    connections->total++;
    pthread_mutex_unlock(&connections->mutex);
    return has_room;
}

void connections_remove(struct connections *connections, uint32_t address)
{
    pthread_mutex_lock(&connections->mutex);
    struct holder *holder = find_holder(connections, address);
    if (holder && holder->count > 0)
        holder->count--;
    connections->total--;
    pthread_mutex_unlock(&connections->mutex);
}

size_t connections_count(struct connections *connections)
{
    pthread_mutex_lock(&connections->mutex);
    size_t total = connections->total;
    pthread_mutex_unlock(&connections->mutex);
    return total;
}
