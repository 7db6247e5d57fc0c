#include "backends/kubernetes/pod_state.h"

#include <stdlib.h>

#define ONE(state) (1u << (state))

enum {
    ANY_REFUSAL = ONE(REFUSAL_NONE) | ONE(REFUSAL_FOR_NOW) | ONE(REFUSAL_FOR_GOOD),
    EXISTS = ONE(OBJECT_THERE) | ONE(OBJECT_GOING)
};

// A pod that is refused may have lost its object at every step: its end is told later.
static const struct {
    unsigned objects, refusals;
} LEGAL[] = {
    [POD_ADOPTED] = {ONE(OBJECT_NONE), ONE(REFUSAL_NONE)},
    [POD_LACKING] = {ONE(OBJECT_NONE) | EXISTS, ANY_REFUSAL},
    [POD_PREPARES] = {ONE(OBJECT_NONE) | ONE(OBJECT_UNSURE) | EXISTS, ANY_REFUSAL},
    [POD_CLAIMS] = {EXISTS, ANY_REFUSAL},
    [POD_CREATED] = {EXISTS, ANY_REFUSAL},
    [POD_BINDS] = {EXISTS, ANY_REFUSAL | ONE(REFUSAL_OF_BINDING)},
    [POD_BOUND] = {EXISTS, ANY_REFUSAL},
    [POD_ENDED] = {EXISTS, ONE(REFUSAL_NONE) | ONE(REFUSAL_OF_BINDING)},
};

void pod_object_found(struct ordered_pod *pod, const char *uid)
{
    free(pod->uid);
    pod->uid = memory_strdup(uid);
    pod->object = OBJECT_THERE;
}

void pod_object_doubt(struct ordered_pod *pod, bool may_exist)
{
    if (pod->object < OBJECT_THERE)
        pod->object = may_exist ? OBJECT_UNSURE : OBJECT_NONE;
}

void pod_object_goes(struct ordered_pod *pod)
{
    if (pod->object == OBJECT_THERE)
        pod->object = OBJECT_GOING;
}

void pod_object_gone(struct ordered_pod *pod)
{
    free(pod->uid);
    pod->uid = NULL;
    pod->object = OBJECT_NONE;
}

bool ordered_pod_is_legal(const struct ordered_pod *pod)
{
    bool is_known = pod->object >= OBJECT_THERE, has_lost_it = pod_is_refused(pod) && pod->object == OBJECT_NONE;
    return is_known == (pod->uid != NULL) && LEGAL[pod->step].refusals & ONE(pod->refusal) &&
           (has_lost_it || LEGAL[pod->step].objects & ONE(pod->object));
}
