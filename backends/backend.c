#include "backends/backend.h"

void backend_stop(struct backend *backend)
{
    if (backend->ops)
        backend->ops->stop(backend->self);
}

void backend_destroy(struct backend *backend)
{
    if (!backend || !backend->ops)
        return;
    backend->ops->stop(backend->self);
    backend->ops->destroy(backend->self);
    *backend = (struct backend){0};
}
