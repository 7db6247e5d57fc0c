#include "backends/local/serving/callers.h"

#include "backends/local/serving/tcp_sockets.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>

static bool is_of_this_machine(const struct sockaddr_in *peer, const struct sockaddr_in *own)
{
    return ntohl(peer->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET || peer->sin_addr.s_addr == own->sin_addr.s_addr;
}

void caller_of(int fd, char out[CALLER_SIZE])
{
    struct sockaddr_in peer = {0}, own = {0};
    socklen_t peer_size = sizeof(peer), own_size = sizeof(own);
    struct tcp_socket caller;
    bool is_known = getpeername(fd, (struct sockaddr *)&peer, &peer_size) == 0 &&
                    getsockname(fd, (struct sockaddr *)&own, &own_size) == 0;
    if (is_known && !is_of_this_machine(&peer, &own))
        inet_ntop(AF_INET, &peer.sin_addr, out, CALLER_SIZE);
    else if (is_known && tcp_sockets_find_other_end(fd, &caller) == TCP_OTHER_END_FOUND)
        snprintf(out, CALLER_SIZE, "user %u", caller.user);
    else
        snprintf(out, CALLER_SIZE, "this machine");
}
