// What device_filter.h does, by cgroup v1's device controller: a list of exceptions in the cgroup's folder (kernel
// documentation: admin-guide/cgroup-v1/devices). For machines without cgroup v2, or whose kernel takes no filter.
#pragma once
#include "backends/local/cgroups/device_filter.h"

// Whether a cgroup below the folder lets everything through but exceptions. -1: it does not, since the cgroup above it
// has a list of what is allowed, as a container's has.
int device_list_check(const char *folder, struct error *err);
// Holds the cgroup to the rules from now on. MIG's nodes that are shut are those of the file (nvidia_nodes.h).
int device_list_write(const char *cgroup, const struct device_rules *rules, const char *caps_path, struct error *err);
