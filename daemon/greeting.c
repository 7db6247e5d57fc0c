#include "daemon/greeting.h"

#include "api/api_server.h"
#include "api/server.h"
#include "daemon/settings.h"
#include "db/db.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Also where nodes are not known yet.
static bool has_gpus(const struct server *server)
{
    struct db_conn *conn = db_acquire(server->db);
    int64_t has = 1;
    (void)db_read_number(conn, "SELECT count(*) = 0 OR max(gpu_count) > 0 FROM nodes WHERE deleted_ms = 0", &has, NULL);
    db_give_back(server->db, conn);
    return has != 0;
}

// Commands that work as they stand, as this program was started. A machine may have nothing that runs images.
static void print_next_steps(const struct settings *settings, const struct server *server, const char *address)
{
    const char *program = program_invocation_name;
    const char *project = settings->scenario && strcmp(settings->scenario, "preemption") == 0 ? "project-a" : "team-a";
    if (!settings->quick_start && !settings->scenario)
        project = "default";
    bool is_local = strcmp(settings->backend, "local") == 0;
    printf("\nTry next, in another terminal:\n"
           "  %s config set --cp-url http://%s && %s login user -u admin@prorata.local\n"
           "  %s training submit a1 -i %s%s -p %s%s\n"
           "  %s workload list -A\n",
           program, address, program, program, is_local ? "none" : "runai.jfrog.io/demo/quickstart",
           has_gpus(server) ? " -g 1" : "", project, is_local ? " --command -- sleep 600" : "", program);
}

int greeting_print(const struct settings *settings, const struct server *server, bool is_first, const char *password)
{
    char address[128] = "";
    for (size_t i = 0; i < settings->listen_count; i++) {
        const char *listen = settings->listen[i], *colon = strrchr(listen, ':');
        char shown[128];
        snprintf(shown, sizeof(shown), "%.*s:%d", (int)(colon ? colon - listen : 0), listen,
                 api_server_port(server, i));
        printf("%s http://%s\n", i == 0 ? "prorata " PRORATA_VERSION " is at" : "                and", shown);
        if (i == 0)
            snprintf(address, sizeof(address), "%s", shown);
    }
    if (password)
        printf("sign in as admin@prorata.local %s\n(shown this once)\n", password);
    else if (is_first)
        puts("sign in as admin@prorata.local with the password in PRORATA_ADMIN_PASSWORD");
    else
        puts("sign in as admin@prorata.local");
    print_next_steps(settings, server, address);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : -1;
}
