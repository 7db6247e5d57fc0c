// The command line for who has none: this server's own program, and a script that installs it.
#include "api/http/exchange.h"
#include "api/http/packing.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "api/people/session.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/program.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_OF_INSTALLER "/api/v1/cli-exposer/installer/unix"

static const char SCRIPT[] =
    "folder=${1:-$HOME/.local/bin}\n"
    "system=$(uname -s | tr '[:upper:]' '[:lower:]')\n"
    "case $(uname -m) in\n"
    "    x86_64 | amd64) machine=amd64 ;;\n"
    "    aarch64 | arm64) machine=arm64 ;;\n"
    "    *) machine=$(uname -m) ;;\n"
    "esac\n"
    "mkdir -p \"$folder\"\n"
    "file=$(mktemp \"$folder/.prorata-XXXXXX\")\n"
    "trap 'rm -f \"$file\"' EXIT\n"
    "path=$url/api/v1/cli-exposer/dist/$system/$machine/runai\n"
    "if command -v curl >/dev/null; then\n"
    "    curl -fsS -o \"$file\" \"$path\" || fail=1\n"
    "else\n"
    "    wget -q -O \"$file\" \"$path\" || fail=1\n"
    "fi\n"
    "if [ \"${fail:-}\" ]; then\n"
    "    echo \"$path was not fetched into $folder. A server has the build for its own kind of machine alone.\" >&2\n"
    "    exit 1\n"
    "fi\n"
    "chmod 755 \"$file\"\n"
    "if ! \"$file\" version >/dev/null 2>&1; then\n"
    "    echo 'It does not run here. Libraries that are missing:' >&2\n"
    "    ldd \"$file\" 2>/dev/null | sed -n 's/ => not found//p' >&2\n"
    "    echo 'On Debian: apt-get install libcivetweb1 libcurl4 libjansson4 libjwt0 libsodium23 libsqlite3-0 "
    "libyaml-0-2' >&2\n"
    "    exit 1\n"
    "fi\n"
    "mv \"$file\" \"$folder/prorata\"\n"
    "trap - EXIT\n"
    "ln -sf prorata \"$folder/runai\"\n"
    "\"$folder/prorata\" config set --cp-url \"$url\"\n"
    "case :$PATH: in\n"
    "    *\":$folder:\"*) ;;\n"
    "    *) echo \"$folder is not in your PATH: export PATH=\\\"$folder:\\$PATH\\\"\" ;;\n"
    "esac\n"
    "echo 'prorata is installed, and runai is another name of it. Next: prorata login'\n";

// The address that the caller came by. It ends in a shell's script, so nothing but a name and a port is taken.
static int find_url(struct request *req, const char **out_url, struct error *err)
{
    static const char GOOD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]";
    const char *host = request_header(req, "Host");
    if (!host || !*host || host[strspn(host, GOOD)] != '\0')
        return error_set(err, ERROR_INVALID, "Host: expected a name or an address, and a port");
    *out_url = arena_printf(req->arena, "%s://%s", session_cookie_is_secure(req) ? "https" : "http", host);
    return 0;
}

int op_get_installer(struct request *req, struct response *res, struct error *err)
{
    const char *url;
    if (find_url(req, &url, err) < 0)
        return -1;
    const char *text = arena_printf(req->arena,
                                    "#!/bin/sh\n# Installs the command line of prorata, as %s has it, into a folder: "
                                    "the argument, else ~/.local/bin.\nset -eu\nurl='%s'\n%s",
                                    url, url, SCRIPT);
    return response_text(res, "text/x-shellscript; charset=utf-8", text, strlen(text));
}

int op_get_installer_commands(struct request *req, struct response *res, struct error *err)
{
    const char *url;
    if (find_url(req, &url, err) < 0)
        return -1;
    bool is_windows = strcmp(request_path(req, "system"), "windows") == 0;
    const char *text = arena_printf(req->arena, "%scurl -fsSL %s" PATH_OF_INSTALLER " | sh\n",
                                    is_windows ? "# in a shell of the Windows Subsystem for Linux:\n" : "", url);
    return response_text(res, "text/plain; charset=utf-8", text, strlen(text));
}

// The running program's file, which stays as it is while this server runs, whatever is installed above it.
static struct lasting_body program;

static void map_program(void)
{
    struct stat file;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &file) == 0 && file.st_size > 0) {
        void *data = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data != MAP_FAILED)
            program = (struct lasting_body){data, (size_t)file.st_size};
    }
    close(fd);
}

int op_get_binary(struct request *req, struct response *res, struct error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *system = request_path(req, "operatingSystem"), *machine = request_path(req, "architecture");
    if (strcmp(system, "linux") != 0 || strcmp(machine, PROGRAM_MACHINE) != 0)
        return error_set(err, ERROR_NOT_FOUND,
                         "this server has the command line for linux/" PROGRAM_MACHINE " alone, not for %.40s/%.40s",
                         system, machine);
    pthread_once(&once, map_program);
    if (!program.data)
        return error_set(err, ERROR_INTERNAL, "the program's own file cannot be read");
    response_header(res, "Content-Disposition", "attachment; filename=\"prorata\"");
    res->content_type = "application/octet-stream";
    res->status = 200;
    req->exchange->lasting = program;
    return 0;
}
