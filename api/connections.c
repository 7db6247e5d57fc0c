#include "api/connections.h"
#include "base/arena.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

struct holder {
    uint32_t address;
    size_t count;
};

bool connections_are_many(const struct connections *connections)
{
    return atomic_load_explicit(&connections->open_count, memory_order_relaxed) > connections->max_per_address;
}

bool connections_is_proxy(const struct connections *connections, uint32_t address)
{
    for (size_t i = 0; i < connections->proxy_count; i++) {
        if (connections->proxies[i] == address)
            return true;
    }
    return false;
}

// Whether the socket is a connection to one of our ports.
static bool is_ours(const struct connections *connections, int fd, uint32_t *out_address)
{
    struct sockaddr_in peer = {0}, self = {0};
    socklen_t peer_size = sizeof(peer), self_size = sizeof(self);
    if (getpeername(fd, (struct sockaddr *)&peer, &peer_size) < 0 || peer.sin_family != AF_INET ||
        getsockname(fd, (struct sockaddr *)&self, &self_size) < 0)
        return false;
    size_t port_count = atomic_load(&connections->port_count);
    for (size_t i = 0; i < port_count; i++) {
        if (connections->ports[i] == ntohs(self.sin_port)) {
            *out_address = peer.sin_addr.s_addr;
            return true;
        }
    }
    return false;
}

static struct holder *find_holder(struct arena *arena, struct holder **holders, size_t *count, size_t *capacity,
                                  uint32_t address)
{
    for (size_t i = 0; i < *count; i++) {
        if ((*holders)[i].address == address)
            return &(*holders)[i];
    }
    *holders = arena_grow(arena, *holders, capacity, *count + 1, sizeof(**holders));
    (*holders)[*count] = (struct holder){.address = address};
    return &(*holders)[(*count)++];
}

size_t connections_cut_excess(const struct connections *connections)
{
    struct arena arena;
    struct holder *holders = NULL;
    size_t holder_count = 0, capacity = 0, cut_count = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return 0;
    arena_init(&arena);
    for (struct dirent *entry; (entry = readdir(dir));) {
        uint32_t address;
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] == '.' || fd == dirfd(dir) || !is_ours(connections, fd, &address) ||
            connections_is_proxy(connections, address))
            continue;
        struct holder *holder = find_holder(&arena, &holders, &holder_count, &capacity, address);
        if (++holder->count > connections->max_per_address) {
            shutdown(fd, SHUT_RDWR);
            cut_count++;
        }
    }
    closedir(dir);
    arena_done(&arena);
    return cut_count;
}
