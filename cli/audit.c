// audit list, audit download: who did what.
#include "base/error.h"
#include "base/timestamp.h"
#include "cli/command.h"
#include "cli/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH "/api/v1/audit/log"
#define DEFAULT_PERIOD_MS (INT64_C(30) * 86400000)

enum {
    SHOWN_DEFAULT = 50,
    SHOWN_MAX = 1000
};

static int time_flag(struct cli *cli, const char *name, int64_t fallback_ms, const char **out_text, struct error *err)
{
    const char *given = flag_text(&cli->arguments, name);
    char *text = arena_alloc(&cli->arena, TIMESTAMP_SIZE);
    int64_t time_ms = fallback_ms;
    if (given && timestamp_parse(given, &time_ms, NULL) < 0)
        return error_set(err, ERROR_INVALID, "--%s: expected a time like 2026-01-01T00:00:00Z, got %s", name, given);
    timestamp_format(time_ms, text);
    *out_text = text;
    return 0;
}

// The path with start, end and every --filter.
static int question(struct cli *cli, const char *path, const char **out_path, struct error *err)
{
    const char *start, *end;
    int64_t now_ms = timestamp_now_ms();
    const struct flag_value *filters = flag_values(&cli->arguments, "filter");
    if (time_flag(cli, "start", now_ms - DEFAULT_PERIOD_MS, &start, err) < 0 ||
        time_flag(cli, "end", now_ms + 60000, &end, err) < 0)
        return -1;
    const char *asked = arena_printf(&cli->arena, "%s?start=%s&end=%s", path, start, end);
    for (size_t i = 0; filters && i < filters->count; i++)
        asked = arena_printf(&cli->arena, "%s&filterBy=%s", asked, client_escape(&cli->client, filters->texts[i]));
    *out_path = asked;
    return 0;
}

static void add_record(struct cli *cli, const json_t *record, struct table *table)
{
    const char *subject = cli_text(record, "subject"), *name = cli_text(record, "entity_name");
    double count = cli_number(record, "count");
    const char *result =
        arena_printf(&cli->arena, "%s (%.0f)", cli_text(record, "result"), cli_number(record, "http_status_code"));
    if (count > 1)
        result = arena_printf(&cli->arena, "%s, %.0f times", result, count);
    table_add(table, (const char *const[]){cli_text(record, "timestamp"), *subject ? subject : NULL,
                                           cli_text(record, "source_ip"), cli_text(record, "action"),
                                           cli_text(record, "entity_type"),
                                           *name ? name : cli_text(record, "entity_id"), result});
}

int run_audit_list(struct cli *cli, struct error *err)
{
    static const char *const TITLES[] = {"Time", "Subject", "Address", "Action", "Entity", "Name", "Result"};
    const char *path, *most = flag_text(&cli->arguments, "max-items");
    char *end = NULL;
    long count = most ? strtol(most, &end, 10) : SHOWN_DEFAULT;
    json_t *answer;
    if (most && (*end || count < 1 || count > SHOWN_MAX))
        return error_set(err, ERROR_INVALID, "--max-items: expected 1 to %d, got %s", SHOWN_MAX, most);
    if (question(cli, PATH, &path, err) < 0 || cli_get(cli, &answer, err, "%s&numberOfSamples=%ld", path, count) < 0)
        return -1;
    cli_print_list(cli, json_object_get(answer, "audit_logs"), TITLES, sizeof(TITLES) / sizeof(TITLES[0]), add_record);
    json_decref(answer);
    return 0;
}

static size_t write_part(char *data, size_t size, size_t count, void *context)
{
    return fwrite(data, size, count, context);
}

static FILE *open_output(const char *name, struct error *err)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file) {
        error_set(err, ERROR_INVALID, "%s: %s", name, strerror(errno));
        if (fd >= 0)
            close(fd);
    }
    return file;
}

int run_audit_download(struct cli *cli, struct error *err)
{
    const char *path, *form = flag_text(&cli->arguments, "format"), *name = flag_text(&cli->arguments, "output");
    bool is_json = form && strcmp(form, "json") == 0;
    if (form && !is_json && strcmp(form, "csv") != 0)
        return error_set(err, ERROR_INVALID, "--format: expected csv or json, got %s", form);
    if (question(cli, PATH "/file", &path, err) < 0)
        return -1;
    FILE *file = name ? open_output(name, err) : stdout;
    if (!file)
        return -1;
    path = arena_printf(&cli->arena, "%s&file_type=%s", path, is_json ? "JSON" : "CSV");
    int rc = client_stream(&cli->client, path, write_part, file, err);
    if ((name ? fclose(file) : fflush(file)) != 0 && rc == 0)
        rc = error_set(err, ERROR_INVALID, "%s: %s", name ? name : "output", strerror(errno));
    return rc;
}
