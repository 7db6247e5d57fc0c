#include "backends/local/serving/tcp_sockets.h"

#include "base/arena.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ANSWER_SIZE = 1024,
    LIST_SIZE = 8192, // the kernel sends no more than was asked for before, and a page at first
    ADDRESS_SIZE_4 = 4
};

struct question {
    struct nlmsghdr head;
    struct inet_diag_req_v2 body;
};

union answer {
    struct nlmsghdr head;
    char space[ANSWER_SIZE];
};

static struct question question_of(int family, uint16_t flags)
{
    return (struct question){.head = {.nlmsg_len = sizeof(struct question),
                                      .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                                      .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags)},
                             .body = {.sdiag_family = (uint8_t)family,
                                      .sdiag_protocol = IPPROTO_TCP,
                                      .idiag_states = UINT32_MAX,
                                      .id = {.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}}};
}

// A netlink socket to which the question was put; -1.
static int ask(const struct question *question)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd >= 0 && send(fd, question, sizeof(*question), 0) == (ssize_t)sizeof(*question))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool read_v6_only(const struct nlmsghdr *head)
{
    size_t begin = NLMSG_SPACE(sizeof(struct inet_diag_msg));
    const struct rtattr *attribute = (const struct rtattr *)((const char *)head + begin);
    for (size_t left = head->nlmsg_len > begin ? head->nlmsg_len - begin : 0; RTA_OK(attribute, left);
         attribute = RTA_NEXT(attribute, left))
        if (attribute->rta_type == INET_DIAG_SKV6ONLY && RTA_PAYLOAD(attribute) >= 1)
            return *(const uint8_t *)RTA_DATA(attribute) != 0;
    return false;
}

static bool read_socket(const struct nlmsghdr *head, struct tcp_socket *out)
{
    struct inet_diag_msg found;
    if (head->nlmsg_type != SOCK_DIAG_BY_FAMILY || head->nlmsg_len < NLMSG_LENGTH(sizeof(found)))
        return false;
    memcpy(&found, NLMSG_DATA(head), sizeof(found));
    *out = (struct tcp_socket){
        .number = found.idiag_inode, .user = found.idiag_uid, .state = found.idiag_state, .family = found.idiag_family};
    memcpy(&out->address, found.id.idiag_src, sizeof(out->address));
    if (out->family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&out->address)) {
        out->family = AF_INET;
        memmove(&out->address, &out->address.s6_addr[sizeof(out->address) - ADDRESS_SIZE_4], ADDRESS_SIZE_4);
    }
    out->is_v6_only = read_v6_only(head);
    return true;
}

struct list {
    struct arena *arena;
    struct tcp_socket *items;
    size_t count, capacity;
};

// One datagram of a list. 1: it is the last one; -1: it is none.
static int read_part(const struct nlmsghdr *head, size_t length, struct list *list)
{
    for (size_t left = length; NLMSG_OK(head, left); head = NLMSG_NEXT(head, left)) {
        if (head->nlmsg_type == NLMSG_DONE)
            return 1;
        if (list->count == TCP_LISTENING_MAX)
            return -1;
        list->items = arena_grow(list->arena, list->items, &list->capacity, list->count + 1, sizeof(*list->items));
        if (!read_socket(head, &list->items[list->count]))
            return -1;
        list->count++;
    }
    return 0;
}

static bool list_family(int family, uint16_t port, struct list *list)
{
    struct nlmsghdr *answer = arena_alloc(list->arena, LIST_SIZE);
    struct question question = question_of(family, NLM_F_DUMP);
    question.body.idiag_states = 1U << TCP_LISTEN;
    question.body.id.idiag_sport = htons(port);
    int fd = ask(&question), state = fd < 0 ? -1 : 0;
    while (state == 0) {
        ssize_t length = recv(fd, answer, LIST_SIZE, MSG_DONTWAIT | MSG_TRUNC); // the kernel answers within both
        if (length > 0 && length <= LIST_SIZE)
            state = read_part(answer, (size_t)length, list);
        else if (length >= 0 || errno != EINTR)
            state = -1;
    }
    if (fd >= 0)
        close(fd);
    return state > 0;
}

bool tcp_sockets_list(uint16_t port, struct arena *arena, struct tcp_socket **out_sockets, size_t *out_count)
{
    struct list list = {.arena = arena};
    if (!list_family(AF_INET, port, &list) || !list_family(AF_INET6, port, &list))
        return false;
    *out_sockets = list.items;
    *out_count = list.count;
    return true;
}

union end {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

static uint16_t put_end(const union end *end, uint32_t address[4])
{
    if (end->any.sa_family == AF_INET) {
        memcpy(address, &end->four.sin_addr, ADDRESS_SIZE_4);
        return end->four.sin_port;
    }
    memcpy(address, &end->six.sin6_addr, sizeof(end->six.sin6_addr));
    return end->six.sin6_port;
}

enum tcp_other_end tcp_sockets_find_other_end(int fd, struct tcp_socket *out_socket)
{
    union end peer = {0}, own = {0};
    socklen_t peer_size = sizeof(peer), own_size = sizeof(own);
    union answer answer;
    enum tcp_other_end found = TCP_OTHER_END_UNKNOWN;
    if (getpeername(fd, &peer.any, &peer_size) < 0)
        return errno == ENOTCONN ? TCP_OTHER_END_GONE : TCP_OTHER_END_UNKNOWN;
    if (getsockname(fd, &own.any, &own_size) < 0 || own.any.sa_family != peer.any.sa_family)
        return TCP_OTHER_END_UNKNOWN;
    struct question question = question_of(peer.any.sa_family, 0);
    question.body.id.idiag_sport = put_end(&peer, question.body.id.idiag_src);
    question.body.id.idiag_dport = put_end(&own, question.body.id.idiag_dst);
    int netlink_fd = ask(&question);
    ssize_t length = netlink_fd < 0 ? -1 : recv(netlink_fd, &answer, sizeof(answer), MSG_DONTWAIT);
    if (length >= (ssize_t)NLMSG_LENGTH(sizeof(struct nlmsgerr)) && answer.head.nlmsg_type == NLMSG_ERROR) {
        struct nlmsgerr refused;
        memcpy(&refused, NLMSG_DATA(&answer.head), sizeof(refused));
        found = refused.error == -ENOENT ? TCP_OTHER_END_GONE : TCP_OTHER_END_UNKNOWN;
    } else if (length >= (ssize_t)NLMSG_LENGTH(0) && answer.head.nlmsg_len <= (size_t)length &&
               read_socket(&answer.head, out_socket)) {
        // Where there is no such connection the kernel names who listens there.
        found = out_socket->state == TCP_LISTEN ? TCP_OTHER_END_GONE : TCP_OTHER_END_FOUND;
    }
    if (netlink_fd >= 0)
        close(netlink_fd);
    return found;
}
