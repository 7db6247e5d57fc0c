// What waits to be sent, and how it gets there: events and phases become lines of deliveries behind a cursor, each
// delivery is claimed, sent and ended.
//
// The cursor moves in the transaction that adds the lines: a crash neither loses nor doubles one. A delivery is claimed
// on disk before it is sent, so that one that was sent and not ended is sent again, with the same uuid.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct db;
struct db_conn;
struct error;

enum {
    NOTIFICATION_SOURCES_MAX = 500, // a step
    DELIVERY_LINES_MAX = 200        // of a digest
};

struct notification_cursor {
    int64_t event_id, phase_id;
    int64_t digest_ms; // when the next digest of use over quota is due
};
int db_find_notification_cursor(struct db_conn *conn, struct notification_cursor *out_cursor, struct error *err);

// Something that happened to a workload.
struct notification_source {
    bool is_phase;
    int64_t id, time_ms;
    const char *kind;    // the phase, or the event's reason
    const char *message; // with marks (model/told.h)
    const char *workload_uuid, *workload_name, *project_name, *created_by;
    int64_t cluster_id, department_id, project_id;
};
// Which: JSON lists of phases and reasons, and nothing older than since_ms.
struct notification_wish {
    const char *phases_json, *reasons_json;
    int64_t since_ms;
};
// What lies behind the cursor, in the order it happened; the cursor is then behind all that was read. Of events that
// say the same of several pods of a workload there is one. full: there may be more.
int db_list_notification_sources(struct db_conn *conn, const struct notification_wish *wish, struct arena *arena,
                                 struct notification_cursor *cursor, struct notification_source **out_sources,
                                 size_t *out_count, bool *out_is_full, struct error *err);

// A project that holds more GPUs of a node pool than its quota there.
struct over_quota {
    int64_t cluster_id, department_id, project_id;
    const char *project_name, *node_pool_name;
    int64_t allocated_milli, deserved_milli;
};
int db_list_over_quota(struct db_conn *conn, struct arena *arena, struct over_quota **out_projects, size_t *out_count,
                       struct error *err);

struct notification_line {
    int64_t user_id;
    const char *source; // the same for all who are told
    const char *category, *type;
    int64_t time_ms;
    const char *sentence;
    const char *workload_uuid, *workload_name; // NULL and "": of a project
    const char *project_name;
    int64_t cluster_id, department_id, project_id;
};
// One line for one recipient: the line's user, or those whom the channel names. Posts of one source and recipient that
// follow each other share a delivery.
struct notification_post {
    const char *channel;
    bool is_shared;
    struct notification_line line;
};
struct notification_batch {
    const struct notification_post *posts;
    size_t count;
    struct notification_cursor cursor;
    int64_t now_ms;
    int64_t per_hour; // deliveries to a recipient; what is more waits in a digest
};
// Posts by a channel that has gone meanwhile are left out.
int db_add_notifications(struct db *db, const struct notification_batch *batch, struct error *err);
// Inside a write function.
int db_add_notifications_in(struct db_conn *conn, const struct notification_batch *batch, struct error *err);

struct delivery {
    int64_t id;
    const char *uuid;
    const char *channel;
    int64_t user_id;        // 0: those whom the channel names
    const char *user_email; // NULL with 0
    bool is_digest;
    int64_t omitted_count;
    const char *state; // Waiting, Sent, Failed, Dropped
    int64_t attempts, created_ms, next_ms, ended_ms;
    const char *error;
};
// The one that is due by a channel. 1: found; 0: none, and *out_next_ms is when one will be (0: none waits).
int db_find_due_delivery(struct db_conn *conn, const char *channel, int64_t now_ms, struct arena *arena,
                         struct delivery *out_delivery, int64_t *out_next_ms, struct error *err);
int db_list_delivery_lines(struct db_conn *conn, int64_t delivery_id, struct arena *arena,
                           struct notification_line **out_lines, size_t *out_count, struct error *err);
// The latest, those of one state only where state is not NULL.
int db_list_deliveries(struct db_conn *conn, const char *state, int64_t limit, struct arena *arena,
                       struct delivery **out_deliveries, size_t *out_count, struct error *err);

// Counts the try and puts the delivery off until then, so that it is tried again should the process end. 1: claimed; 0:
// it is gone or ended.
int db_claim_delivery(struct db *db, int64_t id, int64_t until_ms, bool *out_is_claimed, struct error *err);
// What a try came to.
struct delivery_outcome {
    int64_t id;
    const char *channel;
    const char *state; // Waiting: again at next_ms
    const char *error; // "" where it went well
    int64_t next_ms;
    bool blames_channel; // nothing else is tried by it before pause_until_ms
    int64_t pause_until_ms;
    int64_t give_up_before_ms; // what was made before then and still waits by a channel that fails, fails too
    int64_t now_ms;
};
int db_end_delivery(struct db *db, const struct delivery_outcome *outcome, struct error *err);
// After a start: what was claimed is due again, and nothing is paused.
int db_release_deliveries(struct db *db, struct error *err);
// Gives up what has waited since before give_up_before_ms, and forgets what ended before forget_before_ms.
int db_tidy_deliveries(struct db *db, int64_t give_up_before_ms, int64_t forget_before_ms, int64_t now_ms,
                       struct error *err);
