#include "cli/way.h"

#include "base/error.h"
#include "cli/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const SETTINGS[][2] = {
#define SETTING(name, member, type, fallback, ...) {#name, fallback},
#include "base/settings.def"
#undef SETTING
};

static const char *default_of(const char *setting)
{
    for (size_t i = 0; i < sizeof(SETTINGS) / sizeof(SETTINGS[0]); i++)
        if (strcmp(SETTINGS[i][0], setting) == 0)
            return SETTINGS[i][1];
    return "";
}

static bool is_roots(const char *path, mode_t type)
{
    struct stat about;
    return lstat(path, &about) == 0 && (about.st_mode & S_IFMT) == type && about.st_uid == 0 &&
           (type == S_IFSOCK || !(about.st_mode & 0022));
}

// NULL: there is none. One that others than root could have put there is refused, and not spoken to.
static int find_socket(struct cli *cli, const char **out_path, struct error *err)
{
    const char *path = getenv("PRORATA_SOCKET");
    struct stat about;
    if (!path || !*path)
        path = default_of("socket");
    *out_path = NULL;
    if (lstat(path, &about) < 0)
        return 0;
    const char *slash = strrchr(path, '/');
    const char *folder = slash > path ? arena_strndup(&cli->arena, path, (size_t)(slash - path)) : "/";
    if (!slash || !is_roots(path, S_IFSOCK) || !is_roots(folder, S_IFDIR))
        return error_set(err, ERROR_INVALID, "%s: others than root could have put it there: it is not used", path);
    *out_path = path;
    return 0;
}

const char *way_url(const struct cli *cli)
{
    const char *url = flag_text(&cli->arguments, "server");
    return url ? url : profile_url(&cli->profile);
}

static bool is_tcp_asked_for(const struct cli *cli)
{
    const char *url = getenv("RUNAI_CP_URL");
    return flag_text(&cli->arguments, "server") || (url && *url);
}

int way_open(struct cli *cli, struct error *err)
{
    const char *token, *socket = NULL;
    if (profile_read_token(&cli->profile, &cli->arena, &token, err) < 0 ||
        (!token && !is_tcp_asked_for(cli) && find_socket(cli, &socket, err) < 0))
        return -1;
    if (client_open(socket ? "http://localhost" : way_url(cli), token, &cli->arena, &cli->client, err) < 0)
        return -1;
    cli->client.socket = socket;
    if (token || socket)
        return 0;
    error_set(err, ERROR_UNAUTHORIZED, "nobody is signed in");
    return error_details(err, "sign in with: %s login user -u MAIL", cli->program);
}
