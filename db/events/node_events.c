#include "db/events/node_events.h"

#include "base/arena.h"
#include "db/db.h"
#include "db/events.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char SQL_FIRST_NODE[] = "SELECT created_ms FROM nodes ORDER BY id LIMIT 1";

enum {
    MESSAGE_SIZE = 1024
};

static int add(struct db_conn *conn, const struct node *node, int64_t now_ms, const char *type, const char *reason,
               const char *source, struct error *err, const char *format, ...) __attribute__((format(printf, 8, 9)));

static int add(struct db_conn *conn, const struct node *node, int64_t now_ms, const char *type, const char *reason,
               const char *source, struct error *err, const char *format, ...)
{
    char message[MESSAGE_SIZE];
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof(message), format, values);
    va_end(values);
    struct event event = {.time_ms = now_ms,
                          .type = type,
                          .reason = reason,
                          .message = message,
                          .source = source,
                          .object_kind = "Node",
                          .object_name = node->name,
                          .object_uuid = node->uuid};
    return db_add_event(conn, &event, err);
}

// The backend's own.
static int add_found(struct db_conn *conn, const struct node *node, const char *type, const char *reason,
                     const char *message, struct error *err)
{
    return add(conn, node, node->updated_ms, type, reason, "backend", err, "%s%s", node->name, message);
}

static const char *gpu_word(int64_t count)
{
    return count == 1 ? "GPU" : "GPUs";
}

// All nodes of a first report carry its time.
static int add_join(struct db_conn *conn, const struct node *node, struct error *err)
{
    char message[MESSAGE_SIZE / 2];
    int64_t begun_ms;
    bool is_ready = node->status == NODE_STATUS_READY;
    const char *reason = node->status_reason ? node->status_reason : "";
    if (db_read_number(conn, SQL_FIRST_NODE, &begun_ms, err) < 0)
        return -1;
    if (begun_ms == node->updated_ms)
        return 0;
    snprintf(message, sizeof(message), " joined the cluster with %" PRId64 " %s%s%s%.300s", node->gpu_count,
             gpu_word(node->gpu_count), is_ready ? "" : ", and is not ready", is_ready || !*reason ? "" : ": ",
             is_ready ? "" : reason);
    return add_found(conn, node, EVENT_NORMAL, "RegisteredNode", message, err);
}

int node_events_add_status(struct db_conn *conn, const struct node_before *before, const struct node *node,
                           struct error *err)
{
    char message[MESSAGE_SIZE / 2];
    bool was_ready = before->status == NODE_STATUS_READY, is_ready = node->status == NODE_STATUS_READY;
    const char *reason = node->status_reason ? node->status_reason : "";
    if (was_ready == is_ready)
        return 0;
    if (is_ready)
        return add_found(conn, node, EVENT_NORMAL, "NodeReady", " is ready again", err);
    snprintf(message, sizeof(message), " is not ready%s%.400s", *reason ? ": " : "", reason);
    return add_found(conn, node, EVENT_WARNING, "NodeNotReady", message, err);
}

static int add_gpus(struct db_conn *conn, const struct node_before *before, const struct node *node, struct error *err)
{
    bool has_lost = node->gpu_count < before->gpu_count;
    char message[MESSAGE_SIZE / 2];
    snprintf(message, sizeof(message), " has %" PRId64 " %s; it had %" PRId64, node->gpu_count,
             gpu_word(node->gpu_count), before->gpu_count);
    return add_found(conn, node, has_lost ? EVENT_WARNING : EVENT_NORMAL, has_lost ? "GPUsLost" : "GPUsAdded", message,
                     err);
}

int node_events_add_report(struct db_conn *conn, const struct node_before *before, const struct node *node,
                           struct error *err)
{
    if (!before->is_known)
        return add_join(conn, node, err);
    if (node_events_add_status(conn, before, node, err) < 0)
        return -1;
    if (before->is_cordoned != node->is_cordoned &&
        add_found(conn, node, EVENT_NORMAL, node->is_cordoned ? "NodeNotSchedulable" : "NodeSchedulable",
                  node->is_cordoned ? " was cordoned in the cluster" : " was uncordoned in the cluster", err) < 0)
        return -1;
    return before->gpu_count == node->gpu_count ? 0 : add_gpus(conn, before, node, err);
}

int node_events_add_removal(struct db_conn *conn, const struct node *node, struct error *err)
{
    return add_found(conn, node, EVENT_NORMAL, "RemovingNode", " left the cluster", err);
}

int node_events_add_cordon(struct db_conn *conn, const struct node *node, const struct node_cordon *cordon,
                           int64_t now_ms, struct error *err)
{
    const struct node_cordon *was = &node->cordon;
    const char *who = cordon->by && *cordon->by ? cordon->by : "Somebody", *why = cordon->reason ? cordon->reason : "";
    if (!cordon->ms && !was->ms)
        return 0;
    if (!cordon->ms)
        return add(conn, node, now_ms, EVENT_NORMAL, "NodeSchedulable", "control-plane", err, "%.200s uncordoned %s",
                   who, node->name);
    if (was->ms && was->drain == cordon->drain && strcmp(was->reason, why) == 0)
        return 0;
    return add(conn, node, now_ms, EVENT_NORMAL, cordon->drain ? "NodeDraining" : "NodeNotSchedulable", "control-plane",
               err, "%.200s %s %s%s%s%.400s", who, cordon->drain ? "drains" : "cordoned", node->name,
               cordon->drain == NODE_DRAIN_ALL ? " of everything" : "", *why ? ": " : "", why);
}

int node_events_add_drained(struct db_conn *conn, const struct node *node, int64_t now_ms, struct error *err)
{
    return add(conn, node, now_ms, EVENT_NORMAL, "NodeDrained", "control-plane", err, "%s is drained: %s", node->name,
               node->cordon.drain == NODE_DRAIN_ALL ? "nothing runs there any more"
                                                    : "nothing that may be preempted runs there any more");
}
