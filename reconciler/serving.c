// Inferences as the submission sees them: what is served here.
#include "model/serving.h"
#include "base/arena.h"
#include "base/error.h"
#include "reconciler/reconciler.h"
#include "reconciler/state.h"

enum {
    ADDRESS_SIZE = 128
};

bool reconciler_may_rest(const struct reconciler *reconciler)
{
    return reconciler->backend->ops->serve != NULL;
}

const char *reconciler_backend_name(const struct reconciler *reconciler)
{
    return reconciler->backend->ops->name;
}

bool reconciler_has_services(const struct reconciler *reconciler)
{
    return reconciler->backend->ops->has_services;
}

int reconciler_choose_address(const struct reconciler *reconciler, const char *workload_uuid, struct arena *arena,
                              const char **out_address, struct error *err)
{
    const struct backend *backend = reconciler->backend;
    char address[ADDRESS_SIZE];
    *out_address = NULL;
    if (!backend->ops->choose_address)
        return 0;
    if (backend->ops->choose_address(backend->self, workload_uuid, address, sizeof(address), err) < 0)
        return -1;
    *out_address = arena_strdup(arena, address);
    return 0;
}
