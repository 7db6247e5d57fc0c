#include "daemon/greeting.h"

#include "api/api_server.h"
#include "daemon/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_next_steps(const struct settings *settings, const char *address)
{
    const char *project = settings->scenario && strcmp(settings->scenario, "preemption") == 0 ? "project-a" : "team-a";
    if (!settings->quick_start && !settings->scenario)
        project = "default";
    printf(
        "\nTry next, in another terminal:\n"
        "  build/prorata config set --cp-url http://%s && build/prorata login user -u admin@prorata.local -p PASSWORD\n"
        "  build/prorata training submit a1 -i runai.jfrog.io/demo/quickstart -g 1 -p %s\n"
        "  build/prorata workload list -A\n",
        address, project);
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
    print_next_steps(settings, address);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : -1;
}
