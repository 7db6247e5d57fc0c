// Calls for pods: which is next, and what comes of each. For this folder's files; all with the lock held.
#pragma once
#include "backends/kubernetes/client/kube_client.h"
#include "backends/kubernetes/kubernetes_state.h"

enum pod_call {
    CALL_PREPARE,
    CALL_CHANGE, // what is prepared is there already
    CALL_NAMESPACE,
    CALL_CREATE,
    CALL_VOLUME, // pod_volumes.c
    CALL_LOOK,
    CALL_BIND,
    CALL_DELETE,
    CALL_LABEL
};

// A call that is on its way.
struct flight {
    struct kubernetes *kubernetes;
    enum pod_call kind;
    int64_t call;
    char uuid[UUID_SIZE];
};

// pod_steps.c. The call is the pod's only one until its answer is there.
void pod_steps_submit(struct kubernetes *kubernetes, struct ordered_pod *pod, enum pod_call kind,
                      struct kube_call *call);
void pod_steps_make_namespace(struct kubernetes *kubernetes, struct ordered_pod *pod);
// Its object has our label again.
void pod_steps_label(struct kubernetes *kubernetes, struct ordered_pod *pod);
void pod_steps_note_created(struct kubernetes *kubernetes, struct ordered_pod *pod);

// pod_answers.c. A kube_done_fn; context is a struct flight, and freed.
void pod_answers_take(void *context, struct kube_answer *answer);

// pod_volumes.c: the claims of a pod that exists and has no node yet. Each must have a volume that the node reaches.
// Does what kube-scheduler's plugin VolumeBinding does for its own pods: a claim whose storage class waits for its
// first consumer is given the node (annotation volume.kubernetes.io/selected-node), and the pod is bound when every
// claim is. One request at a time for each pod; a pod without claims costs none.

// It exists. Without claims it is created as pod_steps_note_created says; else that comes when they are bound.
void pod_volumes_begin(struct kubernetes *kubernetes, struct ordered_pod *pod);
// Sends what is asked next.
void pod_volumes_go_on(struct kubernetes *kubernetes, struct ordered_pod *pod);
// What came of it.
void pod_volumes_take(struct kubernetes *kubernetes, struct ordered_pod *pod, const struct kube_answer *answer);
// Forgets what begin made of it.
void pod_volumes_done(struct ordered_pod *pod);
