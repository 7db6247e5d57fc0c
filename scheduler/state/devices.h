// Which physical devices a placed pod gets: the lowest free indices of its node. A shared device keeps the index it was
// opened on. Accounting has made sure that there are enough; this only names them. Built when the first decision is
// taken.
#pragma once
#include "scheduler/state/cycle.h"

struct device_table;

// Names the devices of a pod that was just bound or promised its place, and marks them.
struct plan_devices devices_assign(struct cycle *cycle, const struct pod *pod);
// The devices that the pod stood on or was promised before it was evicted or its promise withdrawn: releasing from now
// on, or free. state is the one it had.
struct plan_devices devices_give_up(struct cycle *cycle, const struct pod *pod, const struct pod_state *state);
// The devices of a pod as the cycle leaves it.
struct plan_devices devices_of(struct cycle *cycle, const struct pod *pod);
