// What is known of a pod, and which of it goes together. All with the lock held.
#pragma once
#include "backends/kubernetes/kubernetes_state.h"

// The cluster does not take it: it is not made, or goes.
static inline bool pod_is_refused(const struct ordered_pod *pod)
{
    return pod->refusal >= REFUSAL_FOR_NOW;
}

// Its object is there. uid is copied, and takes the place of the one before.
void pod_object_found(struct ordered_pod *pod, const char *uid);
// Whether it may be there, while nothing has shown it.
void pod_object_doubt(struct ordered_pod *pod, bool may_exist);
// The server took its deletion. No effect where it is gone meanwhile.
void pod_object_goes(struct ordered_pod *pod);
// There is none of it any more.
void pod_object_gone(struct ordered_pod *pod);

// Whether step, object and refusal go together: of the combinations most never come to be.
bool ordered_pod_is_legal(const struct ordered_pod *pod);
