#include "backends/local/serving/listener.h"

#include <stdbool.h>
#include <stdio.h>

enum {
    STATE_LISTEN = 0x0A,
    LINE_SIZE = 512
};

// Lines of /proc/net/tcp and tcp6 (proc(5)); listening ports come first. True: it is listened on.
static bool find(const char *path, uint16_t port, unsigned *out_user)
{
    char line[LINE_SIZE];
    bool is_found = false;
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    unsigned listens = STATE_LISTEN;
    bool has_head = fgets(line, sizeof(line), file);
    while (has_head && !is_found && listens == STATE_LISTEN && fgets(line, sizeof(line), file)) {
        unsigned at, user;
        if (sscanf(line, " %*u: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x %*x:%*x %*x:%*x %*x %u", &at, &listens, &user) != 3)
            break;
        is_found = listens == STATE_LISTEN && at == port;
        *out_user = user;
    }
    fclose(file);
    return is_found;
}

enum listener_owner listener_owner_of(uint16_t port, int64_t user)
{
    unsigned found;
    if (user < 0)
        return LISTENER_OWN;
    if (!find("/proc/net/tcp", port, &found) && !find("/proc/net/tcp6", port, &found))
        return LISTENER_NONE;
    return (int64_t)found == user || found == 0 ? LISTENER_OWN : LISTENER_FOREIGN;
}
