// `ssh NAME`, `ssh-config`, and what their entry calls, `ssh-proxy HOST`: OpenSSH's server in the pod, one for each
// connection, over an exec session. No port is opened. Who may enter is checked when the session opens, as for exec: so
// the server's key is made for the connection, and the client's for the login; neither is asked about.
#include "base/error.h"
#include "base/program.h"
#include "cli/command.h"
#include "cli/pod/session.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".prorata"

enum {
    KEY_SIZE = 1024
};

// The pod's user need not be in the image's /etc/passwd, and OpenSSH serves nobody who is not: nss_wrapper adds a line.
// The shell of that line gives the session the pod's variables, which sshd drops. Terminals have the group that they
// are made with: sshd would change it to tty, and may not. $1: the public key.
static const char POD_SCRIPT[] =
    "mask=$(umask); umask 077\n"
    "lacks() { echo \"$1 is missing in this pod: install the package $2\" >&2; exit 127; }\n"
    "sshd=$(PATH=$PATH:/usr/sbin:/sbin; command -v sshd) || lacks sshd openssh-server\n"
    "command -v ssh-keygen >/dev/null || lacks ssh-keygen openssh-client\n"
    "wrapper=\n"
    "for file in /usr/lib/*/libnss_wrapper.so /usr/lib64/libnss_wrapper.so /usr/lib/libnss_wrapper.so; do\n"
    "  [ -e \"$file\" ] && wrapper=$file\n"
    "done\n"
    "[ \"$wrapper\" ] || lacks libnss_wrapper.so libnss-wrapper\n"
    // What a session has left that was killed, the next one puts away.
    "for old in \"${TMPDIR:-/tmp}\"/prorata-ssh-*; do\n"
    "  pid=${old##*/prorata-ssh-}\n"
    "  [ -d \"$old\" ] && ! kill -0 \"${pid%%-*}\" 2>/dev/null && rm -rf \"$old\"\n"
    "done\n"
    "folder=$(mktemp -d \"${TMPDIR:-/tmp}/prorata-ssh-$$-XXXXXXXX\") || exit 1\n"
    "trap : HUP TERM\n" // its children end by them; it stays to put the folder away
    "printf '%s\\n' \"$1\" >\"$folder/keys\"\n"
    "export -p >\"$folder/environment\"\n"
    "shell=$(command -v bash || command -v sh)\n"
    "printf '#!/bin/sh\\n. %s/environment\\numask %s\\nexec %s \"$@\"\\n' \"$folder\" \"$mask\" \"$shell\" "
    ">\"$folder/shell\"\n"
    "chmod 700 \"$folder/shell\"\n"
    "printf 'prorata:x:%s:%s::%s:%s/shell\\n' \"$(id -u)\" \"$(id -g)\" \"$PWD\" \"$folder\" >\"$folder/passwd\"\n"
    "cat /etc/passwd >>\"$folder/passwd\"\n"
    "tty=$(sed -n 's/^devpts [^ ]* .*[ ,]gid=\\([0-9]*\\).*/\\1/p' /proc/mounts | head -n 1)\n"
    "{ echo \"tty:x:${tty:-$(id -g)}:\"; grep -v '^tty:' /etc/group; } >\"$folder/group\"\n"
    "printf '%s\\n' \"HostKey $folder/host\" \"AuthorizedKeysFile $folder/keys\" 'Subsystem sftp internal-sftp' "
    "'PidFile none' 'UsePAM no' 'StrictModes no' 'AuthenticationMethods publickey' 'AllowUsers prorata' "
    "'LogLevel ERROR' 'PrintMotd no' >\"$folder/config\"\n"
    "NSS_WRAPPER_PASSWD=$folder/passwd NSS_WRAPPER_GROUP=$folder/group LD_PRELOAD=$wrapper sh -c '\n"
    "ssh-keygen -q -t ed25519 -N \"\" -f \"$1/host\" </dev/null >&2 && \"$2\" -i -e -f \"$1/config\"' "
    "sh \"$folder\" \"$sshd\"\n"
    "status=$?; trap '' HUP TERM; rm -rf \"$folder\"; exit $status\n";

// Whole or not at all, for two connections may begin at once; and not from this input, which is ssh's.
static int make_key(struct cli *cli, const char *path, struct error *err)
{
    const char *made = arena_printf(&cli->arena, "%s-%d", path, (int)getpid());
    const char *made_public = arena_printf(&cli->arena, "%s.pub", made);
    char *const words[] = {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "prorata", "-f", (char *)made, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    int code = posix_spawnp(&pid, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (code != 0) {
        error_set(err, ERROR_INVALID, "ssh-keygen: %s", strerrordesc_np(code));
        return error_details(err, "install the package openssh-client");
    }
    if (program_wait(pid) == 0 && rename(made_public, arena_printf(&cli->arena, "%s.pub", path)) == 0 &&
        rename(made, path) == 0)
        return 0;
    return error_set(err, ERROR_INTERNAL, "%s: ssh-keygen made no key", path);
}

// A small file's first line; "" where there is none.
static void read_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "re");
    line[0] = '\0';
    if (file && !fgets(line, size, file))
        line[0] = '\0';
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = '\0';
}

static int write_file(const char *path, const char *text, struct error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    ssize_t written = fd < 0 ? -1 : write(fd, text, strlen(text));
    int code = errno;
    if (fd >= 0)
        close(fd);
    return written == (ssize_t)strlen(text) ? 0 : error_set(err, ERROR_INTERNAL, "%s: %s", path, strerrordesc_np(code));
}

// The key of this login: signing in and out takes it away. *out_path is the arena's.
static int take_key(struct cli *cli, const char **out_path, struct error *err)
{
    const char *folder = arena_printf(&cli->arena, "%s/" PROFILE_SSH, cli->profile.folder);
    if ((mkdir(cli->profile.folder, 0700) < 0 && errno != EEXIST) || (mkdir(folder, 0700) < 0 && errno != EEXIST))
        return error_set(err, ERROR_INTERNAL, "%s: %s", folder, strerrordesc_np(errno));
    *out_path = arena_printf(&cli->arena, "%s/key", folder);
    return access(*out_path, R_OK) == 0 ? 0 : make_key(cli, *out_path, err);
}

// For the shell that ssh starts, and with ssh's own %.
static const char *quote(struct cli *cli, const char *word)
{
    const char *quoted = "'";
    for (const char *c = word; *c; c++)
        quoted = arena_printf(&cli->arena, "%s%s%.*s", quoted, *c == '%' ? "%" : *c == '\'' ? "'\\'" : "", 1, c);
    return arena_printf(&cli->arena, "%s'", quoted);
}

static int make_entry(struct cli *cli, const char **out_text, struct error *err)
{
    static const char *const PASSED_ON[] = {"config-path", "config-file", "server", "project"};
    const char *program = program_path(&cli->arena, err), *key, *flags = "";
    if (!program || take_key(cli, &key, err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof(PASSED_ON) / sizeof(PASSED_ON[0]); i++) {
        const char *value = flag_text(&cli->arguments, PASSED_ON[i]);
        if (value)
            flags = arena_printf(&cli->arena, "%s --%s %s", flags, PASSED_ON[i], quote(cli, value));
    }
    *out_text = arena_printf(&cli->arena,
                             "Host *" SUFFIX "\n"
                             "    ProxyCommand %s ssh-proxy %%n%s\n"
                             "    User prorata\n"
                             "    IdentityFile \"%s\"\n"
                             "    IdentitiesOnly yes\n"
                             "    StrictHostKeyChecking no\n"
                             "    UserKnownHostsFile /dev/null\n"
                             "    GlobalKnownHostsFile /dev/null\n"
                             "    LogLevel ERROR\n",
                             quote(cli, program), flags, key);
    return 0;
}

int run_ssh_config(struct cli *cli, struct error *err)
{
    const char *text;
    if (make_entry(cli, &text, err) < 0)
        return -1;
    fputs(text, stdout);
    return 0;
}

int run_ssh(struct cli *cli, struct error *err)
{
    const struct arguments *arguments = &cli->arguments;
    const char *name, *text, *words[WORDS_MAX + REST_MAX + 8];
    size_t count = 0;
    if (cli_name(cli, &name, err) < 0 || make_entry(cli, &text, err) < 0)
        return -1;
    const char *config = arena_printf(&cli->arena, "%s/" PROFILE_SSH "/config", cli->profile.folder);
    if (write_file(config, text, err) < 0)
        return -1;
    words[count++] = "ssh";
    words[count++] = "-F";
    words[count++] = config;
    words[count++] = arena_printf(&cli->arena, "%s" SUFFIX, name);
    for (size_t i = 1; i < arguments->word_count; i++)
        words[count++] = arguments->words[i];
    for (size_t i = 0; i < arguments->rest_count; i++)
        words[count++] = arguments->rest[i];
    words[count] = NULL;
    fflush(stdout);
    execvp("ssh", (char *const *)words);
    error_set(err, ERROR_INVALID, "ssh: %s", strerrordesc_np(errno));
    return error_details(err, "install the package openssh-client");
}

int run_ssh_proxy(struct cli *cli, struct error *err)
{
    const char *host, *key;
    char public[KEY_SIZE];
    json_t *workload;
    if (cli_name(cli, &host, err) < 0 || take_key(cli, &key, err) < 0)
        return -1;
    size_t length = strlen(host), tail = strlen(SUFFIX);
    if (length > tail && strcmp(host + length - tail, SUFFIX) == 0)
        host = arena_strndup(&cli->arena, host, length - tail);
    read_line(arena_printf(&cli->arena, "%s.pub", key), public, sizeof(public));
    if (cli_find_workload(cli, host, &workload, err) < 0)
        return -1;
    struct session_wish wish = {
        .workload_uuid = arena_strdup(&cli->arena, cli_text(workload, "id")),
        .command = json_pack("[s, s, s, s, s]", "/bin/sh", "-c", POD_SCRIPT, "ssh", public),
        .has_input = true,
    };
    json_decref(workload);
    int rc = session_run(cli, &wish, &cli->exit_status, err);
    json_decref(wish.command);
    return rc;
}
