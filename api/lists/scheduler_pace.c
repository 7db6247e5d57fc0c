#include "api/lists/scheduler_pace.h"

#include "base/json_writer.h"
#include "reconciler/reconciler.h"

void scheduler_pace_write(struct json_writer *json, const struct reconciler *reconciler)
{
    struct reconciler_pace pace;
    reconciler_read_pace(reconciler, &pace);
    json_key(json, "scheduler");
    json_begin_object(json);
    json_time(json, "decidedAt", pace.decided_ms);
    json_time(json, "planningSince", pace.planning_ms);
    json_end_object(json);
}
