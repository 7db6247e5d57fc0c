#include "cli/follow.h"

#include "base/error.h"
#include "base/timestamp.h"
#include "cli/frames.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    AGAIN_MS = 1000,
    AGAIN_FOR_MS = 120000,
    PLACE_SIZE = 64
};

struct following {
    struct cli *cli;
    struct frames frames;
    char place[PLACE_SIZE]; // behind what was printed; "": nothing came yet
    char why[128];          // it broke off, as the server says; "": it does not
    bool was_heard;         // since the connection was made
    bool is_over;
    bool is_deaf; // standard output takes no more
};

// The place that a frame begins with; returns how many bytes that are.
static size_t take_place(struct following *following, const char *data, size_t length)
{
    const char *end = memchr(data, '\n', length);
    size_t size = end ? (size_t)(end - data) : 0;
    if (size == 0 || size >= PLACE_SIZE)
        return 0;
    memcpy(following->place, data, size);
    following->place[size] = '\0';
    return size + 1;
}

static bool take_frame(void *context, char kind, const char *data, size_t length)
{
    struct following *following = context;
    following->was_heard = true;
    size_t place = kind == 'l' || kind == 'n' ? take_place(following, data, length) : 0;
    size_t rest = length - place;
    if (kind == 'l')
        following->is_deaf = fwrite(data + place, 1, rest, stdout) != rest || fflush(stdout) != 0;
    else if (kind == 'n')
        fprintf(stderr, "--- %.*s ---\n", (int)rest, data + place);
    else if (kind == '2')
        snprintf(following->why, sizeof(following->why), "%.*s", (int)rest, data);
    else if (kind == 'x')
        following->is_over = true;
    return !following->is_deaf;
}

// Whoever signed in meanwhile has left another token.
static bool renew_token(struct cli *cli)
{
    const char *token;
    if (profile_read_token(&cli->profile, &cli->arena, &token, NULL) < 0 || !token ||
        (cli->client.token && strcmp(token, cli->client.token) == 0))
        return false;
    cli->client.token = token;
    return true;
}

static int follow_once(struct following *following, const char *path, struct error *err)
{
    struct cli *cli = following->cli;
    if (following->place[0])
        path = cli_add_query(cli, path, "position", following->place);
    buffer_clear(&following->frames.bytes);
    following->was_heard = false;
    following->why[0] = '\0';
    int rc = client_stream(&cli->client, path, frames_take, &following->frames, err);
    if (rc == 0 && !following->is_over)
        rc = error_set(err, ERROR_UNAVAILABLE, "%s", following->why[0] ? following->why : "the answer broke off");
    return rc;
}

static bool is_worth_another_try(struct following *following, int64_t lost_us, struct error *why)
{
    if (following->is_deaf)
        return false;
    if (why->code == ERROR_UNAUTHORIZED && renew_token(following->cli))
        return true;
    if (why->code == ERROR_UNAUTHORIZED && following->place[0]) {
        error_set(why, ERROR_UNAUTHORIZED, "your sign-in has ended");
        error_details(why, "sign in with: %s login user -u MAIL", following->cli->program);
    }
    return why->code == ERROR_UNAVAILABLE && following->place[0] &&
           timestamp_monotonic_us() - lost_us < AGAIN_FOR_MS * 1000LL;
}

int cli_follow_log(struct cli *cli, const char *path, struct error *err)
{
    struct following following = {.cli = cli};
    struct error why = {0};
    int64_t heard_us = timestamp_monotonic_us();
    int rc;
    frames_init(&following.frames, take_frame, &following);
    path = cli_add_query(cli, cli_add_query(cli, path, "follow", "true"), "frames", "true");
    while ((rc = follow_once(&following, path, &why)) < 0) {
        if (following.was_heard)
            heard_us = timestamp_monotonic_us();
        if (!is_worth_another_try(&following, heard_us, &why))
            break;
        why = (struct error){0};
        nanosleep(&(struct timespec){.tv_sec = AGAIN_MS / 1000}, NULL);
    }
    frames_done(&following.frames);
    if (rc < 0 && following.place[0])
        error_prefix(&why, "the log is not at its end: ");
    if (rc < 0 && err)
        *err = why;
    return rc;
}
