// `prorata hours`: who held how much, by day, of a data folder. What was held long ago is a sum; the total is the same.
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "daemon/daemon.h"
#include "db/db.h"
#include "db/usage_days.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    EXIT_FAILED = 1,
    EXIT_USAGE = 2
};

#define DAY_MS INT64_C(86400000)
#define HOUR_MS 3600000.0

static const char HELP[] =
    "Usage: prorata hours --data DIR [--from DATE] [--to DATE] [--json]\n\n"
    "Prints the hours for which GPUs, cores and memory (GiB) were held, by day (UTC), project, node pool and person.\n"
    "What still runs counts until now. A server may serve the folder meanwhile.\n\n"
    "  --data DIR   the server's data folder\n"
    "  --from DATE  the first day, 2026-01-31; left out: all\n"
    "  --to DATE    the day after the last; left out: all\n"
    "  --json       the answer as JSON, whose milliseconds are exact\n";

struct words {
    const char *data;
    int64_t from_ms, to_ms;
    bool json, help;
};

static int read_day(const char *name, const char *text, int64_t *out_ms, struct error *err)
{
    if (timestamp_parse(text, out_ms, err) < 0)
        return error_prefix(err, "%s: ", name);
    if (*out_ms % DAY_MS != 0)
        return error_set(err, ERROR_INVALID, "%s: expected a day such as 2026-01-31, got %.40s", name, text);
    return 0;
}

static int read_words(int argc, char **argv, struct words *out, struct error *err)
{
    *out = (struct words){.to_ms = INT64_MAX};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        int rc = 0;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            out->help = true;
        else if (strcmp(argv[i], "--json") == 0)
            out->json = true;
        else if (value && strcmp(argv[i], "--data") == 0)
            out->data = argv[++i];
        else if (value && strcmp(argv[i], "--from") == 0)
            rc = read_day("--from", argv[++i], &out->from_ms, err);
        else if (value && strcmp(argv[i], "--to") == 0)
            rc = read_day("--to", argv[++i], &out->to_ms, err);
        else
            rc = error_set(err, ERROR_INVALID, "%.60s: unknown, or its value is missing", argv[i]);
        if (rc < 0)
            return -1;
    }
    if (!out->help && (!out->data || !*out->data))
        return error_set(err, ERROR_INVALID, "--data: the server's folder is missing");
    return 0;
}

static void print_text(const struct usage_day *days, size_t count)
{
    printf("%-10s  %-24s  %-16s  %-32s  %12s  %12s  %14s\n", "DAY", "PROJECT", "NODE POOL", "PERSON", "GPU HOURS",
           "CORE HOURS", "GIB HOURS");
    for (size_t i = 0; i < count; i++) {
        char day[TIMESTAMP_SIZE];
        timestamp_format(days[i].day_ms, day);
        printf("%.10s  %-24s  %-16s  %-32s  %12.3f  %12.3f  %14.3f\n", day, days[i].project_name,
               days[i].node_pool_name, days[i].person, (double)days[i].gpu_milli_ms / 1000 / HOUR_MS,
               (double)days[i].cpu_milli_ms / 1000 / HOUR_MS, (double)days[i].memory_mib_ms / 1024 / HOUR_MS);
    }
}

static void print_json(const struct usage_day *days, size_t count)
{
    json_t *all = json_array();
    for (size_t i = 0; i < count; i++) {
        char day[TIMESTAMP_SIZE];
        timestamp_format(days[i].day_ms, day);
        day[strlen("2026-01-31")] = '\0';
        json_array_append_new(
            all, json_pack("{s:s, s:I, s:s, s:I, s:I, s:s, s:s, s:I, s:I, s:I}", "day", day, "projectId",
                           (json_int_t)days[i].project_id, "project", days[i].project_name, "departmentId",
                           (json_int_t)days[i].department_id, "nodePoolId", (json_int_t)days[i].node_pool_id,
                           "nodePool", days[i].node_pool_name, "person", days[i].person, "gpuMilliMs",
                           (json_int_t)days[i].gpu_milli_ms, "cpuMilliMs", (json_int_t)days[i].cpu_milli_ms,
                           "memoryMibMs", (json_int_t)days[i].memory_mib_ms));
    }
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
}

static int print_hours(const struct words *words, struct arena *arena, struct error *err)
{
    struct db *db;
    struct usage_day *days;
    size_t count;
    const char *path = arena_printf(arena, "%s/prorata.db", words->data);
    if (access(path, R_OK) < 0)
        return error_set(err, ERROR_INVALID, "%s: there is no database to read", path);
    if (db_open(&(struct db_options){.path = path, .readonly = true, .reader_count = 1}, &db, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(db);
    int rc = db_list_usage(conn, words->from_ms, words->to_ms, timestamp_now_ms(), arena, &days, &count, err);
    db_give_back(db, conn);
    db_close(db);
    if (rc == 0 && words->json)
        print_json(days, count);
    else if (rc == 0)
        print_text(days, count);
    return rc;
}

int daemon_main_hours(int argc, char **argv)
{
    struct words words;
    struct error err = {0};
    struct arena arena;
    arena_init(&arena);
    int rc = read_words(argc, argv, &words, &err);
    if (rc == 0 && words.help)
        rc = fputs(HELP, stdout) < 0 ? -1 : 0;
    else if (rc == 0)
        rc = print_hours(&words, &arena, &err);
    arena_done(&arena);
    if (rc == 0)
        return fflush(stdout) == 0 ? 0 : EXIT_FAILED;
    fprintf(stderr, "prorata hours: %s%s%s\n", err.message, err.details[0] ? ". " : "", err.details);
    return err.code == ERROR_INVALID ? EXIT_USAGE : EXIT_FAILED;
}
