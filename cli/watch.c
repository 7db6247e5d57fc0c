#include "cli/watch.h"

#include "base/error.h"
#include "base/timestamp.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOK_MS = 500,
    AGAIN_FOR_MS = 120000,
    LINE_SIZE = 1024,
    COLUMNS_DEFAULT = 80
};

struct watch {
    struct client client; // its arena is cleared after each look
    struct arena arena;
    const struct watch_wish *wish;
    bool is_terminal;
    bool is_until_over;
    char line[LINE_SIZE]; // what was said last
};

// What a phase is to who waits; those that are missing here are on their way to one of these.
static const struct {
    const char *phase;
    enum watch_end end;
} ENDS[] = {
    {"Running", WATCH_RUNS},  {"Degraded", WATCH_RUNS},   {"Completed", WATCH_COMPLETED},
    {"Failed", WATCH_FAILED}, {"Stopped", WATCH_STOPPED},
};

static bool is_end(const struct watch *watch, const char *phase, enum watch_end *out_end)
{
    for (size_t i = 0; i < sizeof(ENDS) / sizeof(ENDS[0]); i++)
        if (strcmp(ENDS[i].phase, phase) == 0) {
            *out_end = ENDS[i].end;
            return !watch->is_until_over || ENDS[i].end != WATCH_RUNS;
        }
    return false;
}

static int columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : COLUMNS_DEFAULT - 1;
}

// Cut between characters, not inside of one.
static int cut(const char *text, int most)
{
    int length = 0;
    for (int seen = 0; text[length]; length++)
        if (((unsigned char)text[length] & 0xc0) != 0x80 && ++seen > most)
            break;
    return length;
}

static void say(struct watch *watch, const char *line)
{
    if (watch->wish->is_quiet || strcmp(line, watch->line) == 0)
        return;
    snprintf(watch->line, sizeof(watch->line), "%s", line);
    if (watch->is_terminal)
        fprintf(stderr, "\r\033[K%.*s", cut(line, columns()), line);
    else
        fprintf(stderr, "%s\n", line);
}

static void end_line(const struct watch *watch)
{
    if (watch->is_terminal && watch->line[0])
        fputs("\r\033[K", stderr);
}

static void describe(struct watch *watch, const json_t *explanation)
{
    char line[LINE_SIZE];
    const char *sentence = cli_text(explanation, "sentence"), *forecast = cli_text(explanation, "forecast.sentence");
    snprintf(line, sizeof(line), "%s: %s: %s%s%s", watch->wish->name, cli_text(explanation, "phase"), sentence,
             *forecast ? " Start: " : "", forecast);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    say(watch, line);
}

// 1: it is there; 0: not yet.
static int look(struct watch *watch, enum watch_end *out_end, struct error *err)
{
    json_t *explanation;
    const char *path = arena_printf(&watch->arena, "/api/v1/workloads/%s/explanation", watch->wish->workload_uuid);
    int rc = client_call(&watch->client, "GET", path, NULL, &explanation, err);
    if (rc == 0) {
        rc = is_end(watch, cli_text(explanation, "phase"), out_end);
        if (rc == 0 && !watch->is_until_over)
            describe(watch, explanation);
        json_decref(explanation);
    }
    arena_clear(&watch->arena);
    return rc;
}

static int follow(struct watch *watch, enum watch_end *out_end, struct error *err)
{
    int64_t heard_us = timestamp_monotonic_us();
    for (;;) {
        struct error why = {0};
        int rc = look(watch, out_end, &why);
        if (rc > 0)
            return 0;
        if (rc == 0)
            heard_us = timestamp_monotonic_us();
        if (rc < 0 && (why.code != ERROR_UNAVAILABLE || timestamp_monotonic_us() - heard_us > AGAIN_FOR_MS * 1000LL)) {
            *err = why;
            return -1;
        }
        if (rc < 0)
            say(watch, "The server does not answer; it is asked again.");
        nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL);
    }
}

static int run(struct cli *cli, const struct watch_wish *wish, bool is_until_over, enum watch_end *out_end,
               struct error *err)
{
    struct watch watch = {.wish = wish, .is_terminal = isatty(STDERR_FILENO), .is_until_over = is_until_over};
    arena_init(&watch.arena);
    int rc = client_open(cli->client.url, cli->client.token, &watch.arena, &watch.client, err);
    watch.client.url = cli->client.url;
    watch.client.socket = cli->client.socket;
    if (rc == 0)
        rc = follow(&watch, out_end, err);
    end_line(&watch);
    client_close(&watch.client);
    arena_done(&watch.arena);
    return rc;
}

int watch_until_begun(struct cli *cli, const struct watch_wish *wish, enum watch_end *out_end, struct error *err)
{
    return run(cli, wish, false, out_end, err);
}

int watch_until_over(struct cli *cli, const struct watch_wish *wish, enum watch_end *out_end, struct error *err)
{
    return run(cli, wish, true, out_end, err);
}
