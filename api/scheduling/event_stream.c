// GET /events/stream: server-sent events that say what changed. Changes of some 50 ms go out together, each thing once
// with its latest revision. A revision's changes belong together, so only the last of them carries the id from which a
// client goes on. Who may not see everything costs one lookup for each change of a workload or pod.
#include "api/access/authenticate.h"
#include "api/access/authorization.h"
#include "api/access/response_stream.h"
#include "api/http/change_feed.h"
#include "api/http/request.h"
#include "api/operations.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/places.h"
#include "base/timestamp.h"
#include "db/access_rules.h"
#include "db/accounts/service_accounts.h"
#include "db/accounts/users.h"
#include "db/catalog/assets.h"
#include "db/db.h"
#include "db/scopes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    BATCH_SIZE = 512,
    COALESCE_MS = 50,
    LOOK_MS = 500,
    HEARTBEAT_MS = 15000,
    STREAM_LIFE_MS = PLACE_SECONDS_STREAMS * 1000,
    RETRY_MS = 2000,
};

struct stream {
    struct request *req;
    struct response *res;
    struct change_feed *feed;
    struct buffer out;
    struct db_change *changes; // BATCH_SIZE
    struct arena scratch;      // of one look at a change
    bool sees_all_workloads;
    int64_t after;
    int64_t written_us;
};

static const char SQL_PLACE_OF_WORKLOAD[] =
    "SELECT cluster_id, department_id, project_id FROM workloads WHERE uuid = ?";
static const char SQL_PLACE_OF_POD[] = "SELECT w.cluster_id, w.department_id, w.project_id FROM pods p"
                                       " JOIN workloads w ON w.id = p.workload_id WHERE p.uuid = ?";
static const char SQL_NODE[] = "SELECT 1 FROM nodes WHERE uuid = ?";

// What is the tenant's, or seen from below.
static bool may_see_above(const struct stream *stream, enum resource_type type)
{
    static const struct scope_path TENANT = {0};
    return access_is_allowed(stream->req->caller, &TENANT, type, ACTION_READ);
}

static bool may_see_row(struct stream *stream, struct db_conn *conn, const char *sql, const char *id)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, sql, &stmt, NULL) < 0)
        return false;
    db_bind_text(stmt, 1, id);
    struct scope_path path = {0};
    bool found = db_step(conn, stmt, NULL) == 1;
    if (found)
        path = (struct scope_path){db_column_int(stmt, 0), db_column_int(stmt, 1), db_column_int(stmt, 2)};
    db_release(conn, stmt);
    return found && access_is_allowed(stream->req->caller, &path, RESOURCE_TYPE_WORKLOADS, ACTION_READ);
}

static bool is_node(struct db_conn *conn, const char *id)
{
    sqlite3_stmt *stmt;
    if (db_prepare(conn, SQL_NODE, &stmt, NULL) < 0)
        return false;
    db_bind_text(stmt, 1, id);
    bool is_there = db_step(conn, stmt, NULL) == 1;
    db_release(conn, stmt);
    return is_there;
}

static bool may_see_unit(struct stream *stream, struct db_conn *conn, const char *id)
{
    struct scope_path path;
    int64_t number = strtoll(id, NULL, 10);
    if (db_find_project_path(conn, number, &path, NULL) == 1)
        return access_is_allowed(stream->req->caller, &path, RESOURCE_TYPE_PROJECT, ACTION_READ);
    return db_find_department_path(conn, number, &path, NULL) == 1 &&
           access_is_allowed(stream->req->caller, &path, RESOURCE_TYPE_DEPARTMENT, ACTION_READ);
}

// Of what has no workload: "node-pool-" and a number, a project's or a department's number, or a node's uuid; "" where
// a backend knew no more than the node's name.
static bool may_see_event(struct stream *stream, struct db_conn *conn, const char *id)
{
    if (!strncmp(id, "node-pool-", 10))
        return may_see_above(stream, RESOURCE_TYPE_NODEPOOLS);
    if (strspn(id, "0123456789") == strlen(id) && *id)
        return may_see_unit(stream, conn, id);
    return may_see_row(stream, conn, SQL_PLACE_OF_WORKLOAD, id) ||
           ((!*id || is_node(conn, id)) && may_see_above(stream, RESOURCE_TYPE_NODES));
}

// One that was deleted has no place any more: that it went is told to those who see assets everywhere.
static bool may_see_asset(struct stream *stream, struct db_conn *conn, const char *id)
{
    static const struct {
        const char *kind;
        enum resource_type type;
    } KINDS[] = {{ASSET_KIND_COMPUTE, RESOURCE_TYPE_COMPUTE_RESOURCES},
                 {ASSET_KIND_ENVIRONMENT, RESOURCE_TYPE_ENVIRONMENTS}};
    struct permission_set held;
    access_permissions(stream->req->caller, &held);
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
        struct asset asset;
        if (db_find_asset(conn, KINDS[i].kind, id, &stream->scratch, &asset, NULL) != 1)
            continue;
        return asset.scope <= SCOPE_TENANT
                   ? held.actions[KINDS[i].type] & ACTION_READ
                   : access_is_allowed(stream->req->caller, &asset.path, KINDS[i].type, ACTION_READ);
    }
    return may_see_above(stream, RESOURCE_TYPE_COMPUTE_RESOURCES);
}

// Its own, and those of others for who may read such accounts. One that is gone may have been of either kind.
static bool may_see_account(struct stream *stream, struct db_conn *conn, const char *id)
{
    struct user user;
    struct service_account account;
    bool sees_users = may_see_above(stream, RESOURCE_TYPE_USERS),
         sees_accounts = may_see_above(stream, RESOURCE_TYPE_SERVICE_ACCOUNT);
    if (strcmp(id, stream->req->caller->subject_uuid) == 0)
        return true;
    if (db_find_user_by_uuid(conn, id, &stream->scratch, &user, NULL) == 1)
        return sees_users;
    if (db_find_service_account(conn, id, &stream->scratch, &account, NULL) == 1)
        return sees_accounts;
    return sees_users && sees_accounts;
}

// A rule's number, "role-" and a role's, or the uuid of a user or a service account.
static bool may_see_access(struct stream *stream, struct db_conn *conn, const char *id)
{
    struct access_rule rule;
    char *end;
    int64_t number = strtoll(id, &end, 10);
    if (!strncmp(id, "role-", 5))
        return may_see_above(stream, RESOURCE_TYPE_ROLES);
    if (*end)
        return may_see_account(stream, conn, id);
    return db_find_access_rule(conn, number, &stream->scratch, &rule, NULL) == 1 &&
           (strcmp(rule.subject_id, stream->req->caller->rule_key) == 0 ||
            access_is_allowed(stream->req->caller, &rule.path, RESOURCE_TYPE_ACCESS_RULES, ACTION_READ));
}

static bool may_see(struct stream *stream, struct db_conn *conn, const struct db_change *change)
{
    switch (change->kind) {
    case CHANGE_EVENT:
        return stream->sees_all_workloads || may_see_event(stream, conn, change->id);
    case CHANGE_WORKLOAD:
        return stream->sees_all_workloads || may_see_row(stream, conn, SQL_PLACE_OF_WORKLOAD, change->id);
    case CHANGE_POD:
        return stream->sees_all_workloads || may_see_row(stream, conn, SQL_PLACE_OF_POD, change->id);
    case CHANGE_PROJECT:
    case CHANGE_DEPARTMENT:
        if (change->gone_from.cluster_id)
            return access_is_allowed(stream->req->caller, &change->gone_from,
                                     change->kind == CHANGE_PROJECT ? RESOURCE_TYPE_PROJECT : RESOURCE_TYPE_DEPARTMENT,
                                     ACTION_READ);
        return may_see_unit(stream, conn, change->id);
    case CHANGE_QUEUE_FIGURES:
        return may_see_unit(stream, conn, change->id);
    case CHANGE_CLUSTER:
        return may_see_above(stream, RESOURCE_TYPE_CLUSTER);
    case CHANGE_NODE_POOL:
        return may_see_above(stream, RESOURCE_TYPE_NODEPOOLS);
    case CHANGE_NODE:
    case CHANGE_SIMULATION:
        return may_see_above(stream, RESOURCE_TYPE_NODES);
    case CHANGE_ASSET:
        return may_see_asset(stream, conn, change->id);
    case CHANGE_POLICY:
        return may_see_above(stream, RESOURCE_TYPE_POLICIES);
    case CHANGE_ACCESS:
        return may_see_access(stream, conn, change->id);
    case CHANGE_SETTING:
        return may_see_above(stream, RESOURCE_TYPE_SETTINGS);
    default:
        return false;
    }
}

static int flush(struct stream *stream)
{
    if (stream->out.length == 0)
        return 0;
    int rc = response_stream_write(stream->res, stream->out.data, stream->out.length);
    buffer_clear(&stream->out);
    stream->written_us = timestamp_monotonic_us();
    return rc;
}

static void write_reset(struct stream *stream)
{
    stream->after = change_feed_last(stream->feed);
    buffer_printf(&stream->out, "id: %" PRId64 "\nevent: reset\ndata: {\"revision\":%" PRId64 "}\n\n", stream->after,
                  stream->after);
}

static bool comes_again(const struct db_change *changes, size_t i, size_t count)
{
    for (size_t j = i + 1; j < count; j++)
        if (changes[j].kind == changes[i].kind && strcmp(changes[j].id, changes[i].id) == 0)
            return true;
    return false;
}

static int write_changes(struct stream *stream)
{
    size_t count, kept = 0;
    struct db_change *changes = stream->changes;
    if (!change_feed_read(stream->feed, stream->after, changes, BATCH_SIZE, &count)) {
        write_reset(stream);
        return flush(stream);
    }
    int64_t last = count ? changes[count - 1].revision : stream->after;
    struct db_conn *conn = db_acquire(stream->req->server->db);
    for (size_t i = 0; i < count; i++)
        if (!comes_again(changes, i, count) && may_see(stream, conn, &changes[i]))
            changes[kept++] = changes[i];
    db_give_back(stream->req->server->db, conn);
    arena_clear(&stream->scratch);
    for (size_t i = 0; i < kept; i++) {
        if (i + 1 == kept || changes[i + 1].revision != changes[i].revision)
            buffer_printf(&stream->out, "id: %" PRId64 "\n", i + 1 == kept ? last : changes[i].revision);
        // Ids are uuids, words and numbers: nothing to escape.
        buffer_printf(&stream->out, "event: change\ndata: {\"kind\":\"%s\",\"id\":\"%s\",\"revision\":%" PRId64 "}\n\n",
                      change_kind_text(changes[i].kind), changes[i].id, changes[i].revision);
    }
    stream->after = last;
    return flush(stream);
}

static int follow(struct stream *stream)
{
    int64_t end_us = stream->written_us + STREAM_LIFE_MS * 1000LL; // its client comes again
    while (!response_stream_is_over(stream->res) && timestamp_monotonic_us() < end_us) {
        if (change_feed_wait(stream->feed, stream->after, LOOK_MS)) {
            nanosleep(&(struct timespec){.tv_nsec = COALESCE_MS * 1000000L}, NULL);
            if (response_stream_is_revoked(stream->res) || write_changes(stream) < 0)
                return -1;
        }
        if (timestamp_monotonic_us() - stream->written_us >= HEARTBEAT_MS * 1000LL) {
            // The id moves on although there was nothing to see.
            buffer_printf(&stream->out, ": heartbeat\nid: %" PRId64 "\n\n", stream->after);
            if (flush(stream) < 0)
                return -1;
        }
    }
    return 0;
}

static bool read_last_id(const struct request *req, int64_t *out_id)
{
    const char *header = request_header(req, "Last-Event-ID");
    if (header && header[0]) {
        *out_id = strtoll(header, NULL, 10);
        return true;
    }
    if (!request_has_query(req, "lastEventId"))
        return false;
    *out_id = request_query_integer(req, "lastEventId", 0);
    return true;
}

int op_stream_events(struct request *req, struct response *res, struct error *err)
{
    struct stream stream = {
        .req = req,
        .res = res,
        .feed = req->server->changes,
        .changes = arena_array(req->arena, BATCH_SIZE, sizeof(struct db_change)),
        .written_us = timestamp_monotonic_us(),
    };
    struct scope_filter filter;
    access_filter(req, RESOURCE_TYPE_WORKLOADS, ACTION_READ, &filter);
    stream.sees_all_workloads = filter.is_all;
    stream.after = change_feed_last(stream.feed);
    int64_t last_id = stream.after;
    (void)read_last_id(req, &last_id);
    if (response_stream_begin(res, "text/event-stream", err) < 0)
        return -1;
    arena_init(&stream.scratch);
    buffer_init(&stream.out, 0);
    buffer_printf(&stream.out, "retry: %d\n", RETRY_MS);
    if (last_id <= stream.after)
        stream.after = last_id;
    else
        write_reset(&stream); // of another life of the database
    buffer_printf(&stream.out, "id: %" PRId64 "\n\n", stream.after);
    if (flush(&stream) == 0)
        (void)follow(&stream); // ends when the peer has gone, too
    buffer_done(&stream.out);
    arena_done(&stream.scratch);
    return 0;
}
