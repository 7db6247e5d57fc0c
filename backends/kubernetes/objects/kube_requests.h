// What a pod takes from its node, by the rules of kube-scheduler: containers and sidecars together, or the greediest
// moment of its start; amounts of the pod as a whole; overhead; and while it is resized the greater of both sizes.
#pragma once
#include <jansson.h>
#include <stdbool.h>

struct arena;
struct kube_amounts;

// pod is a whole Pod object. out->pods is 1. Names are the arena's.
void kube_requests_read(const json_t *pod, struct arena *arena, struct kube_amounts *out);

// What is kept of a pod of somebody else: one block of memory, free() it.
struct kube_holding {
    const char *node_name; // "": none yet
    const struct kube_amounts *amounts;
    bool is_over; // Succeeded or Failed: holds nothing
};

struct kube_holding *kube_holding_create(const json_t *pod);
