#include "cli/submit/here.h"

#include "base/error.h"
#include "cli/submit/submit.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    PREFIX_MAX = 2048
};

// Not taken along by --env-from-shell: who and where the shell is, the session's own sockets and screen, what the pod
// has of its own. A name that ends with * stands for all that begin so.
static const char *const LEFT_OUT[] = {
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "PWD",
    "OLDPWD",
    "SHLVL",
    "_",
    "MAIL",
    "HOSTNAME",
    "TMPDIR",
    "TERM*",
    "DISPLAY",
    "XDG_*",
    "SSH_*",
    "XAUTHORITY",
    "DBUS_*",
    "WAYLAND_*",
    "TMUX*",
    "STY",
    "SUDO_*",
    "LD_PRELOAD",
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "PRORATA_*",
    "RUNAI_*",
    "SLURM_*",
    "LS_COLORS",
    "BASH_FUNC_*",
};

// Whoever may read the workload reads its variables.
static const char *const SECRET_ENDS[] = {"TOKEN", "SECRET", "PASSWORD", "PASSWD", "_KEY", "CREDENTIALS"};

static bool is_left_out(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(LEFT_OUT) / sizeof(LEFT_OUT[0]); i++) {
        size_t wanted = strlen(LEFT_OUT[i]);
        bool is_prefix = LEFT_OUT[i][wanted - 1] == '*';
        if (is_prefix ? length >= wanted - 1 && strncmp(name, LEFT_OUT[i], wanted - 1) == 0
                      : length == wanted && strncmp(name, LEFT_OUT[i], wanted) == 0)
            return true;
    }
    return false;
}

static bool is_secret(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(SECRET_ENDS) / sizeof(SECRET_ENDS[0]); i++) {
        size_t wanted = strlen(SECRET_ENDS[i]);
        if (length >= wanted && strncasecmp(name + length - wanted, SECRET_ENDS[i], wanted) == 0)
            return true;
    }
    return false;
}

static bool is_name(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (name[i] != '_' && !isalnum((unsigned char)name[i]))
            return false;
    return length > 0 && !isdigit((unsigned char)name[0]);
}

static bool has_variable(const json_t *spec, const char *name, size_t length)
{
    const json_t *list = json_object_get(spec, "environmentVariables");
    json_t *item;
    size_t i;
    json_array_foreach(list, i, item) {
        const char *given = cli_text(item, "name");
        if (strlen(given) == length && strncmp(given, name, length) == 0)
            return true;
    }
    return false;
}

// Unless it is given already.
static void add(json_t *spec, const char *name, size_t length, const char *value)
{
    json_t *text = has_variable(spec, name, length) ? NULL : json_string(value); // NULL, too, where it is no UTF-8
    if (text)
        submit_append_to(spec, "environmentVariables", json_pack("{s:s%, s:o}", "name", name, length, "value", text));
}

static void take_shell(struct cli *cli, json_t *spec)
{
    const char *secrets = "";
    for (char **at = environ; *at; at++) {
        const char *equals = strchr(*at, '=');
        size_t length = equals ? (size_t)(equals - *at) : 0;
        if (!is_name(*at, length) || is_left_out(*at, length))
            continue;
        if (is_secret(*at, length))
            secrets = arena_printf(&cli->arena, "%s%s%.*s", secrets, *secrets ? ", " : "", (int)length, *at);
        else
            add(spec, *at, length, equals + 1);
    }
    if (*secrets && !flag_is_set(&cli->arguments, "quiet"))
        fprintf(stderr, "Left out of the environment, for others can read it: %s. To pass one: -e NAME=VALUE\n",
                secrets);
}

static bool is_prefix(struct cli *cli, const char *folder)
{
    return access(arena_printf(&cli->arena, "%s/bin/python", folder), X_OK) == 0;
}

// The folder of a conda environment: a path, the base, or one that conda has written down or keeps beside its base.
static const char *find_conda(struct cli *cli, const char *name)
{
    const char *exe = getenv("CONDA_EXE"), *home = getenv("HOME"), *found = NULL;
    if (strchr(name, '/'))
        return name;
    static const size_t TAIL = sizeof("/bin/conda") - 1;
    if (exe && strlen(exe) > TAIL) {
        const char *base = arena_strndup(&cli->arena, exe, strlen(exe) - TAIL);
        const char *folder = strcmp(name, "base") == 0 ? base : arena_printf(&cli->arena, "%s/envs/%s", base, name);
        if (is_prefix(cli, folder))
            return folder;
    }
    FILE *list = home ? fopen(arena_printf(&cli->arena, "%s/.conda/environments.txt", home), "re") : NULL;
    char line[PREFIX_MAX];
    while (list && !found && fgets(line, sizeof(line), list)) {
        line[strcspn(line, "\n")] = '\0';
        const char *slash = strrchr(line, '/');
        if (slash && strcmp(slash + 1, name) == 0 && is_prefix(cli, line))
            found = arena_strdup(&cli->arena, line);
    }
    if (list)
        fclose(list);
    return found;
}

// Its programs come first on the path, as its activation does it.
static int take_prefix(struct cli *cli, json_t *spec, const char *flag, const char *folder, struct error *err)
{
    const char *path = getenv("PATH"), *given = flag_text(&cli->arguments, flag);
    char *found = folder ? realpath(folder, NULL) : NULL;
    const char *real = found ? arena_strdup(&cli->arena, found) : NULL;
    free(found);
    if (!real || !is_prefix(cli, real))
        return error_set(err, ERROR_INVALID, "--%s: %s: no such environment: there is no bin/python in it", flag,
                         given);
    if (has_variable(spec, "PATH", 4))
        return error_set(err, ERROR_INVALID, "--%s: it sets PATH, and -e PATH does, too", flag);
    add(spec, "PATH", 4, arena_printf(&cli->arena, "%s/bin:%s", real, path ? path : "/usr/local/bin:/usr/bin:/bin"));
    if (strcmp(flag, "venv") == 0) {
        add(spec, "VIRTUAL_ENV", strlen("VIRTUAL_ENV"), real);
    } else {
        add(spec, "CONDA_PREFIX", strlen("CONDA_PREFIX"), real);
        add(spec, "CONDA_DEFAULT_ENV", strlen("CONDA_DEFAULT_ENV"), given);
    }
    return 0;
}

static int check_backend(struct cli *cli, bool *out_is_here, struct error *err)
{
    static const char *const FLAGS[] = {"conda", "venv", "env-from-shell"};
    json_t *about;
    if (cli_get(cli, &about, err, "/api/v1/about") < 0)
        return -1;
    const char *backend = arena_strdup(&cli->arena, cli_text(about, "backend"));
    bool has_image = flag_is_set(&cli->arguments, "image");
    json_decref(about);
    *out_is_here = strcmp(backend, "local") == 0 && !has_image;
    for (size_t i = 0; i < sizeof(FLAGS) / sizeof(FLAGS[0]); i++)
        if (flag_is_set(&cli->arguments, FLAGS[i]) && !*out_is_here)
            return error_set(err, ERROR_INVALID, "--%s: %s", FLAGS[i],
                             has_image
                                 ? "a container has the files of its image, not of this machine"
                                 : arena_printf(&cli->arena, "it needs the local backend; this one is %s", backend));
    return 0;
}

int here_take(struct cli *cli, json_t *spec, struct error *err)
{
    const struct arguments *arguments = &cli->arguments;
    const char *conda = flag_text(arguments, "conda"), *venv = flag_text(arguments, "venv");
    bool is_here;
    if (check_backend(cli, &is_here, err) < 0)
        return -1;
    if (conda && venv)
        return error_set(err, ERROR_INVALID, "--conda, --venv: one of them");
    if (conda && take_prefix(cli, spec, "conda", find_conda(cli, conda), err) < 0)
        return -1;
    if (venv && take_prefix(cli, spec, "venv", venv, err) < 0)
        return -1;
    if (flag_is_set(arguments, "env-from-shell"))
        take_shell(cli, spec);
    if (is_here && !flag_is_set(arguments, "template"))
        json_object_set_new(spec, "image", json_string("none")); // the local backend's word for the machine's own files
    if (!is_here || flag_is_set(arguments, "working-dir"))
        return 0;
    char *folder = getcwd(NULL, 0);
    if (!folder)
        return error_set(err, ERROR_INVALID, "the working folder: %s", strerrordesc_np(errno));
    json_object_set_new(spec, "workingDir", json_string(folder));
    free(folder);
    return 0;
}
