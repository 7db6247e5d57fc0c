// GET /about: which server this is, how its parts are, and, for who runs it, what it keeps on its disk. Memory, one
// look at the folder of backups and one at the disk; no statement.
#include "api/access/authorization.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/lists/scheduler_pace.h"
#include "api/operations.h"
#include "api/organisation/backups.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/db.h"
#include "reconciler/reconciler.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <sys/statvfs.h>

// problem NULL: the part is well. is_fatal: the server is not ready.
static void write_part(struct json_writer *json, const char *name, const char *problem, bool is_fatal)
{
    json_begin_object(json);
    json_text(json, "name", name);
    json_text(json, "state", !problem ? "ok" : is_fatal ? "failed" : "warning");
    json_text(json, "problem", problem);
    json_end_object(json);
}

// From a line of a list to a sentence of its own.
static const char *sentence(const char *text, struct arena *arena)
{
    return arena_printf(arena, "%c%s.", toupper((unsigned char)*text), *text ? text + 1 : "");
}

static const char *database_problem(const struct db_stats *stats)
{
    return stats->is_damaged                    ? "It is damaged: prorata verify says where."
           : !stats->writable && stats->is_full ? "Its disk is full."
           : !stats->writable                   ? "Its disk refuses writes."
           : stats->reads_fail                  ? "It cannot be read: its disk fails, or it is damaged."
                                                : NULL;
}

static void write_parts(struct request *req, const struct reconciler_health *health, bool is_keeper,
                        struct json_writer *json)
{
    const struct server *server = req->server;
    struct db_stats stats;
    db_get_stats(server->db, &stats);
    const char *problem = database_problem(&stats);
    json_key(json, "parts");
    json_begin_array(json);
    write_part(json, "Database",
               problem                 ? problem
               : health->is_over_bound ? "It is over its bound, and nothing is left that may go."
                                       : NULL,
               problem != NULL);
    write_part(json, "Scheduler",
               health->is_failing        ? "Cycles fail: the log has the cause."
               : health->plan_is_refused ? "Plans are refused: the last good state stands."
                                         : NULL,
               health->is_failing);
    const char *strays =
        arena_printf(req->arena, "%zu pods run that no workload asks for: prorata pods list.", health->stray_count);
    write_part(json, "Backend",
               health->backend_problem[0] ? sentence(health->backend_problem, req->arena)
               : health->stray_count      ? strays
                                          : NULL,
               false);
    // The cause names a path of the machine.
    const char *cause =
        is_keeper ? arena_printf(req->arena, "It is not written: %s.", health->journal_cause) : "It is not written.";
    if (health->has_journal)
        write_part(json, "Journal of decisions", health->journal_is_stopped ? cause : NULL, false);
    write_part(json, "Audit", server->audit ? NULL : "No records are made.", false);
    json_end_array(json);
}

static void write_kept(struct json_writer *json, const char *name, int64_t bytes)
{
    json_begin_object(json);
    json_text(json, "name", name);
    json_int(json, "sizeBytes", bytes);
    json_end_object(json);
}

static int write_storage(struct request *req, const struct reconciler_health *health, struct json_writer *json,
                         struct error *err)
{
    struct backup_list backups;
    struct statvfs disk;
    int64_t bytes = 0;
    const char *data = req->server->config.data;
    if (backups_list(req, &backups, err) < 0)
        return -1;
    for (size_t i = 0; i < backups.count; i++)
        bytes += backups.items[i].bytes;
    json_int(json, "cycles", health->cycles); // they tell how much others do
    json_int(json, "lastCycleUs", health->last_cycle_us);
    json_key(json, "storage");
    json_begin_array(json);
    write_kept(json, "Database", health->database_bytes);
    write_kept(json, "Room in the database's file", health->database_free_bytes);
    write_kept(json, "Journal of decisions", health->journal_bytes);
    write_kept(json, "Backups", bytes);
    write_kept(json, "Logs", health->log_bytes);
    write_kept(json, "Homes", health->home_bytes);
    write_kept(json, "Images", health->image_bytes);
    json_end_array(json);
    if (statvfs(data, &disk) == 0) {
        json_key(json, "disk");
        json_begin_object(json);
        json_int(json, "sizeBytes", (int64_t)(disk.f_blocks * disk.f_frsize));
        json_int(json, "freeBytes", (int64_t)(disk.f_bavail * disk.f_frsize));
        json_end_object(json);
    }
    json_key(json, "backups");
    json_begin_object(json);
    json_int(json, "count", (int64_t)backups.count);
    json_time(json, "newestAt", backups.count ? backups.items[0].created_ms : 0);
    json_end_object(json);
    return 0;
}

int op_get_about(struct request *req, struct response *res, struct error *err)
{
    struct server *server = req->server;
    struct reconciler_health health;
    struct json_writer json;
    struct error ignored = {0};
    bool is_keeper = access_check_tenant(req, RESOURCE_TYPE_TENANT, ACTION_UPDATE, &ignored) == 0;
    reconciler_read_health(server->reconciler, &health);
    json_writer_init(&json, res->body, false);
    json_begin_object(&json);
    json_text(&json, "version", PRORATA_VERSION);
    json_text(&json, "backend", health.backend);
    json_time(&json, "startedAt", server->started_ms);
    scheduler_pace_write(&json, server->reconciler);
    write_parts(req, &health, is_keeper, &json);
    if (is_keeper && write_storage(req, &health, &json, err) < 0)
        return -1;
    json_end_object(&json);
    return 0;
}
