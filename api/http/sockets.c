#include "api/http/sockets.h"
#include <arpa/inet.h>
#include <civetweb.h>
#include <dirent.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

bool connection_ends_of(const struct mg_request_info *info, struct connection_ends *out_ends)
{
    struct in_addr address;
    if (inet_pton(AF_INET, info->remote_addr, &address) != 1)
        return false;
    *out_ends = (struct connection_ends){address.s_addr, (uint16_t)info->remote_port, (uint16_t)info->server_port};
    return true;
}

uint64_t connection_ends_pack(const struct connection_ends *ends)
{
    return (uint64_t)ends->remote_address << 32 | (uint64_t)ends->remote_port << 16 | ends->local_port;
}

bool socket_ends(int fd, struct connection_ends *out_ends)
{
    struct sockaddr_in self = {0}, peer = {0};
    socklen_t self_size = sizeof(self), peer_size = sizeof(peer);
    if (getsockname(fd, (struct sockaddr *)&self, &self_size) < 0 || self.sin_family != AF_INET || self.sin_port == 0)
        return false;
    if (getpeername(fd, (struct sockaddr *)&peer, &peer_size) < 0)
        peer = (struct sockaddr_in){0};
    *out_ends = (struct connection_ends){peer.sin_addr.s_addr, ntohs(peer.sin_port), ntohs(self.sin_port)};
    return true;
}

void sockets_visit(bool (*visit)(int fd, const struct connection_ends *ends, void *context), void *context)
{
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        struct connection_ends ends;
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && fd != dirfd(dir) && socket_ends(fd, &ends) && visit(fd, &ends, context))
            break;
    }
    closedir(dir);
}

static bool cut_if_local(int fd, const struct connection_ends *ends, void *context)
{
    const uint16_t *local_port = context;
    if (ends->local_port == *local_port)
        shutdown(fd, SHUT_RDWR);
    return false;
}

void sockets_cut_all(uint16_t local_port)
{
    sockets_visit(cut_if_local, &local_port);
}
