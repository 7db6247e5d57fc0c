#include "base/buffer.h"
#include "base/error.h"
#include "db/db.h"
#include "db/settings.h"
#include "reconciler/state.h"

int reconciler_get_speed(struct reconciler *reconciler, double *out_speed, struct error *err)
{
    const struct backend_clock_ops *clock = reconciler->backend->ops->clock;
    if (!clock)
        return error_set(err, ERROR_NOT_FOUND, "only the simulated backend has a clock of its own");
    *out_speed = clock->speed(reconciler->backend->self);
    return 0;
}

static int write_state(struct db_conn *conn, void *context, struct error *err)
{
    const struct buffer *state = context;
    db_revision(conn);
    db_touch(conn, CHANGE_SIMULATION, "clock");
    return db_set_meta_in(conn, RECONCILER_CLOCK_META, state->data, err);
}

int reconciler_set_speed(struct reconciler *reconciler, double speed, struct error *err)
{
    const struct backend_clock_ops *clock = reconciler->backend->ops->clock;
    if (!clock)
        return error_set(err, ERROR_NOT_FOUND, "only the simulated backend has a clock of its own");
    struct buffer state;
    buffer_init(&state, 0);
    clock->set_speed(reconciler->backend->self, speed, &state);
    int rc = db_write(reconciler->db, write_state, &state, err);
    buffer_done(&state);
    return rc;
}
