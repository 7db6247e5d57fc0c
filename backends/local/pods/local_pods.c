#include "backends/local/pods/local_pods.h"

#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SLOTS_AT_FIRST = 256
};

void local_pods_init(struct local_pods *pods)
{
    *pods =
        (struct local_pods){.slots = memory_array(SLOTS_AT_FIRST, sizeof(*pods->slots)), .slot_count = SLOTS_AT_FIRST};
}

static size_t slot_of(const struct local_pods *pods, const char *uuid)
{
    return (size_t)hash_text(HASH_START, uuid) & (pods->slot_count - 1);
}

struct local_pod *local_pods_find(const struct local_pods *pods, const char *uuid)
{
    struct local_pod *pod = pods->slots[slot_of(pods, uuid)];
    while (pod && strcmp(pod->uuid, uuid) != 0)
        pod = pod->next_in_slot;
    return pod;
}

static void grow(struct local_pods *pods)
{
    struct local_pods larger = {.slots = memory_array(pods->slot_count * 2, sizeof(*pods->slots)),
                                .slot_count = pods->slot_count * 2};
    for (size_t i = 0; i < pods->slot_count; i++) {
        for (struct local_pod *pod = pods->slots[i], *next; pod; pod = next) {
            size_t slot = slot_of(&larger, pod->uuid);
            next = pod->next_in_slot;
            pod->next_in_slot = larger.slots[slot];
            larger.slots[slot] = pod;
        }
    }
    free(pods->slots);
    pods->slots = larger.slots;
    pods->slot_count = larger.slot_count;
}

struct local_pod *local_pods_add(struct local_pods *pods, const char *uuid)
{
    if (pods->count >= pods->slot_count)
        grow(pods);
    struct local_pod *pod = memory_array(1, sizeof(*pod));
    snprintf(pod->uuid, sizeof(pod->uuid), "%s", uuid);
    pod->pidfd = -1;
    pod->user = -1;
    pod->utilization = -1;
    pod->load.cpu_milli = pod->load.memory_bytes = -1;
    for (size_t i = 0; i < BACKEND_DEVICES_MAX; i++)
        pod->gpu_memory_mib[i] = -1;
    arena_init(&pod->arena);
    size_t slot = slot_of(pods, pod->uuid);
    pod->next_in_slot = pods->slots[slot];
    pods->slots[slot] = pod;
    pods->count++;
    return pod;
}

static void unqueue(struct local_pods *pods, const struct local_pod *pod)
{
    struct local_pod *before = NULL;
    for (struct local_pod *at = pods->first_queued; at; before = at, at = at->next_queued) {
        if (at != pod)
            continue;
        if (before)
            before->next_queued = at->next_queued;
        else
            pods->first_queued = at->next_queued;
        if (pods->last_queued == at)
            pods->last_queued = before;
        return;
    }
}

void local_pods_remove(struct local_pods *pods, struct local_pod *pod)
{
    struct local_pod **at = &pods->slots[slot_of(pods, pod->uuid)];
    while (*at != pod)
        at = &(*at)->next_in_slot;
    *at = pod->next_in_slot;
    if (pod->phase == LOCAL_QUEUED)
        unqueue(pods, pod);
    pods->count--;
    if (pod->pidfd >= 0)
        close(pod->pidfd);
    pod->pidfd = -1;
    arena_done(&pod->arena);
    pod->next_removed = pods->removed;
    pods->removed = pod;
}

void local_pods_free_removed(struct local_pods *pods)
{
    for (struct local_pod *pod; (pod = pods->removed);) {
        pods->removed = pod->next_removed;
        free(pod);
    }
}

void local_pods_done(struct local_pods *pods)
{
    for (struct local_pod *pod; (pod = local_pods_next(pods, NULL));)
        local_pods_remove(pods, pod);
    local_pods_free_removed(pods);
    free(pods->slots);
}

void local_pods_queue(struct local_pods *pods, struct local_pod *pod)
{
    pod->phase = LOCAL_QUEUED;
    pod->next_queued = NULL;
    if (pods->last_queued)
        pods->last_queued->next_queued = pod;
    else
        pods->first_queued = pod;
    pods->last_queued = pod;
}

struct local_pod *local_pods_take_queued(struct local_pods *pods)
{
    struct local_pod *pod = pods->first_queued;
    if (!pod)
        return NULL;
    pods->first_queued = pod->next_queued;
    if (!pods->first_queued)
        pods->last_queued = NULL;
    pod->phase = LOCAL_STARTING;
    return pod;
}

struct local_pod *local_pods_next(const struct local_pods *pods, const struct local_pod *pod)
{
    if (pod && pod->next_in_slot)
        return pod->next_in_slot;
    for (size_t i = pod ? slot_of(pods, pod->uuid) + 1 : 0; i < pods->slot_count; i++)
        if (pods->slots[i])
            return pods->slots[i];
    return NULL;
}

void local_pod_follow_launch(struct local_pod *pod)
{
    pod->ports = pod->launch.ports;
    pod->user = pod->launch.user.changes ? (int64_t)pod->launch.user.id : -1;
    pod->mig_instances = pod->launch.mig_instances;
    pod->memory_bytes = pod->launch.bounds.memory_bytes;
    pod->is_memory_default = pod->launch.bounds.is_memory_default;
    pod->reaches_workload = pod->launch.reaches_workload;
}
