// The claims of a pod that exists and has no node yet: each must have a volume that the pod's node reaches. For this
// folder's files; all with the lock held.
//
// Does what kube-scheduler's plugin VolumeBinding does for its own pods: a claim whose storage class waits for its
// first consumer is given the node (annotation volume.kubernetes.io/selected-node), and the pod is bound when every
// claim is. One request at a time for each pod; a pod without claims costs none.
#pragma once
#include "backends/kubernetes/pod_steps.h"

// It exists. Without claims it is created as pod_steps_note_created says; else that comes when they are bound.
void pod_volumes_begin(struct kubernetes *kubernetes, struct ordered_pod *pod);
// Sends what is asked next.
void pod_volumes_go_on(struct kubernetes *kubernetes, struct ordered_pod *pod);
// What came of it.
void pod_volumes_take(struct kubernetes *kubernetes, struct ordered_pod *pod, const struct kube_answer *answer);
// Forgets what begin made of it.
void pod_volumes_done(struct ordered_pod *pod);
