// Inferences as the submission sees them: what can be served here.
#include "model/serving.h"
#include "base/error.h"
#include "reconciler/reconciler.h"
#include "reconciler/state.h"

int reconciler_check_serving(const struct reconciler *reconciler, const struct serving *serving, struct error *err)
{
    if (serving->min_replicas > 0)
        return 0;
    return error_set(err, ERROR_INVALID,
                     "spec.autoscaling.minReplicas: at least 1 here: the %s backend cannot hold the address while no "
                     "replica runs; got 0",
                     reconciler->backend->ops->name);
}
