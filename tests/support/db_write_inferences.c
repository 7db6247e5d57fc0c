// Changes of an inference among the writes.
#include "db/inferences.h"
#include "db/reconcile_write.h"
#include "model/submission.h"
#include "tests/support/db_writes.h"

enum {
    NOW_MS = 1700000000
};

int db_write_specification(struct db_conn *conn, void *context, struct error *err)
{
    struct db_writes *writes = context;
    struct submission submission = {.spec = &writes->spec, .spec_json = "{}", .listing_json = "\"requestedPods\":{}"};
    struct workload_state found;
    if (db_find_workload(conn, writes->workload_uuid, NULL, &writes->arena, &found, err) < 0)
        return -1;
    struct inference_change change = {.workload = &found,
                                      .submission = &submission,
                                      .old_spec_json = "{}",
                                      .what = "image",
                                      .caller_name = "ada@example.com",
                                      .now_ms = NOW_MS};
    return db_change_inference(conn, &change, err);
}

int db_write_scale(struct db_conn *conn, void *context, struct error *err)
{
    return db_scale_workload(conn, ((struct db_writes *)context)->workload_id, 1, err);
}
