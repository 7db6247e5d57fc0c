#include "backends/local/specification/port_choice.h"

#include "backends/local/pods/local_pods.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    PORT_FIRST = 20000, // below those that the kernel gives to clients
    PORT_LAST = 32000,
    TRIES = 256,
    STRIDE = 61
};

static bool is_free(int64_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_ANY)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0)
        return true;                                                 // not known
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)); // what only lingers is free
    bool is_bound = bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
    close(fd);
    return is_bound;
}

static bool are_taken(const struct local_pods *pods, const struct ports *wanted)
{
    for (struct local_pod *pod = local_pods_next(pods, NULL); pod; pod = local_pods_next(pods, pod))
        if (wanted->first < pod->ports.first + pod->ports.count && pod->ports.first < wanted->first + wanted->count)
            return true;
    for (int64_t i = 0; i < wanted->count; i++)
        if (!is_free(wanted->first + i))
            return true;
    return false;
}

struct ports ports_choose(const struct local_pods *pods, const char *workload_uuid, int64_t count)
{
    struct ports ports = {.count = count};
    snprintf(ports.workload_uuid, sizeof(ports.workload_uuid), "%s", workload_uuid);
    for (struct local_pod *pod = local_pods_next(pods, NULL); pod; pod = local_pods_next(pods, pod))
        if (pod->ports.count && strcmp(pod->ports.workload_uuid, workload_uuid) == 0)
            return pod->ports;
    uint32_t hash = UINT32_C(2166136261); // FNV-1a: where to begin, so that few meet
    for (const char *at = workload_uuid; *at; at++)
        hash = (hash ^ (unsigned char)*at) * UINT32_C(16777619);
    int64_t room = PORT_LAST - PORT_FIRST - (count < PORT_LAST - PORT_FIRST ? count : 0);
    for (int64_t i = 0; i < TRIES; i++) {
        ports.first = PORT_FIRST + (hash + i * (count + STRIDE)) % room;
        if (!are_taken(pods, &ports))
            break;
    }
    return ports;
}
