// Shared devices of a node: which one a request for a part of a device joins, and when it opens a new one.
// docs/scheduler.md, 5.6.
#pragma once
#include "scheduler/state/cycle.h"
struct arena;

// Memory of one device that the request takes on this node.
int64_t request_memory_mib(const struct request *request, const struct node *node);
// Whether the request finds room on that device.
bool shared_device_fits(const struct node *node, const struct shared_device *device, int64_t memory_mib);
// How many devices fit, at most the request's number; now: without waiting for what is being released.
uint32_t shared_device_count_fits(const struct node *node, const struct request *request, bool now);
// Whether devices and pod slots suffice without waiting, where node_fit_pod says that they do with it.
bool shared_device_has_now(const struct node *node, const struct request *request);

struct device_choice {
    struct place place;
    bool waits; // some device has no idle memory, stands only as a promise, or is still to be released
};

// Joins the devices in the list, which has room for all of the request's, and opens new ones for the rest, under the
// smallest numbers that name none on the node. The list belongs to the place afterwards.
struct device_choice shared_device_join(struct node *node, const struct request *request, uint32_t *devices,
                                        uint32_t joined, struct arena *arena);
// Chooses the request's devices on a node where node_fit_pod says that it fits, fullest first with bin-pack, whole ones
// first with spread; new ones are added to the node under the smallest number that names none there. now: of those that
// need no waiting, where shared_device_has_now says that they suffice.
struct device_choice shared_device_choose(struct node *node, const struct request *request,
                                          enum placement_strategy strategy, bool now, struct arena *arena);
// The devices of the groups that the pod's spec names, a new one for a group that is not there. False where they have
// no room for it.
bool shared_device_choose_named(struct node *node, const struct pod *pod, struct arena *arena,
                                struct device_choice *out_choice);
// The device of that name, added where there is none yet. name lives as long as the cycle.
uint32_t shared_device_find(struct node *node, const char *name, struct arena *arena);
// A device under the smallest free number.
uint32_t shared_device_open(struct node *node, struct arena *arena);

static inline bool shared_device_is_used(const struct shared_device *device)
{
    return device->standing + device->releasing + device->promised > 0;
}
