#include "backends/local/serving/callers.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ANSWER_SIZE = 1024
};

// The user whose socket is at the other end. False: the kernel does not say.
static bool find_user(const struct sockaddr_in *peer, const struct sockaddr_in *own, unsigned *out_user)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 body;
    } ask = {.head = {.nlmsg_len = sizeof(ask), .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST},
             .body = {.sdiag_family = AF_INET,
                      .sdiag_protocol = IPPROTO_TCP,
                      .idiag_states = UINT32_MAX,
                      .id = {.idiag_sport = peer->sin_port,
                             .idiag_dport = own->sin_port,
                             .idiag_src = {peer->sin_addr.s_addr},
                             .idiag_dst = {own->sin_addr.s_addr},
                             .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}}};
    union {
        struct nlmsghdr head;
        char space[ANSWER_SIZE];
    } answer;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    ssize_t length = -1;
    if (fd >= 0 && send(fd, &ask, sizeof(ask), 0) == (ssize_t)sizeof(ask))
        length = recv(fd, &answer, sizeof(answer), MSG_DONTWAIT); // the kernel answers within send
    if (fd >= 0)
        close(fd);
    if (length < (ssize_t)NLMSG_LENGTH(sizeof(struct inet_diag_msg)) || answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return false;
    struct inet_diag_msg found;
    memcpy(&found, NLMSG_DATA(&answer.head), sizeof(found));
    *out_user = found.idiag_uid;
    return true;
}

static bool is_of_this_machine(const struct sockaddr_in *peer, const struct sockaddr_in *own)
{
    return ntohl(peer->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET || peer->sin_addr.s_addr == own->sin_addr.s_addr;
}

void caller_of(int fd, char out[CALLER_SIZE])
{
    struct sockaddr_in peer = {0}, own = {0};
    socklen_t peer_size = sizeof(peer), own_size = sizeof(own);
    unsigned user;
    bool is_known = getpeername(fd, (struct sockaddr *)&peer, &peer_size) == 0 &&
                    getsockname(fd, (struct sockaddr *)&own, &own_size) == 0;
    if (is_known && !is_of_this_machine(&peer, &own))
        inet_ntop(AF_INET, &peer.sin_addr, out, CALLER_SIZE);
    else if (is_known && find_user(&peer, &own, &user))
        snprintf(out, CALLER_SIZE, "user %u", user);
    else
        snprintf(out, CALLER_SIZE, "this machine");
}
