// Sockets of this machine as the kernel lists them: who listens at a port, and the other end of a connection before and
// after it is taken, over IPv4, IPv6 and both.
#include "backends/local/serving/tcp_sockets.h"
#include "base/arena.h"
#include "tests/support/check.h"

#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

union address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
};

static const struct {
    const char *name;
    int family;
    struct in6_addr address; // that it listens at
    bool is_v6_only;         // as it is listed
    int connects;            // the family of who connects, by loopback
    int listed;              // the family that it is listed with
} CASES[] = {
    {"IPv4, one address", AF_INET, {.s6_addr = {127, 0, 0, 1}}, false, AF_INET, AF_INET},
    {"IPv4, all addresses", AF_INET, {.s6_addr = {0}}, false, AF_INET, AF_INET},
    {"IPv6, one address", AF_INET6, IN6ADDR_LOOPBACK_INIT, true, AF_INET6, AF_INET6},
    {"IPv6 alone, all addresses", AF_INET6, IN6ADDR_ANY_INIT, true, AF_INET6, AF_INET6},
    {"both, all addresses, by IPv4", AF_INET6, IN6ADDR_ANY_INIT, false, AF_INET, AF_INET6},
    {"both, all addresses, by IPv6", AF_INET6, IN6ADDR_ANY_INIT, false, AF_INET6, AF_INET6},
    {"IPv6, an address of IPv4",
     AF_INET6,
     {.s6_addr = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1}},
     false,
     AF_INET,
     AF_INET},
};

static uint32_t number_of(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 ? (uint32_t)info.st_ino : 0;
}

static socklen_t fill(union address *out, int family, const struct in6_addr *address, uint16_t port)
{
    memset(out, 0, sizeof(*out));
    if (family == AF_INET) {
        out->four = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = port};
        memcpy(&out->four.sin_addr, address, sizeof(out->four.sin_addr));
        return sizeof(out->four);
    }
    out->six = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = port, .sin6_addr = *address};
    return sizeof(out->six);
}

static void check_other_end(int fd, enum tcp_other_end want, uint32_t number, const char *name)
{
    struct tcp_socket other = {0};
    check_int(tcp_sockets_find_other_end(fd, &other), want, "%s", name);
    check_int(other.number, number, "%s: its number", name);
    if (want == TCP_OTHER_END_FOUND)
        check_int(other.state, TCP_ESTABLISHED, "%s", name);
}

static void check_case(size_t index, struct arena *arena)
{
    static const struct in6_addr LOOPBACK_4 = {.s6_addr = {127, 0, 0, 1}}, LOOPBACK_6 = IN6ADDR_LOOPBACK_INIT;
    const char *name = CASES[index].name;
    int only = CASES[index].is_v6_only, fd = socket(CASES[index].family, SOCK_STREAM, 0);
    union address address;
    struct tcp_socket *sockets;
    size_t count;
    socklen_t size = fill(&address, CASES[index].family, &CASES[index].address, 0);
    if (CASES[index].family == AF_INET6)
        check_int(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only)), 0, "%s", name);
    check_int(bind(fd, &address.any, size), 0, "%s: bind", name);
    check_int(listen(fd, 1), 0, "%s: listen", name);
    check_int(getsockname(fd, &address.any, &size), 0, "%s", name);
    uint16_t port = CASES[index].family == AF_INET ? address.four.sin_port : address.six.sin6_port;
    check_true(tcp_sockets_list(ntohs(port), arena, &sockets, &count), "%s", name);
    check_int((int64_t)count, 1, "%s: one listens", name);
    check_int(sockets[0].number, number_of(fd), "%s", name);
    check_int(sockets[0].family, CASES[index].listed, "%s", name);
    check_int(sockets[0].is_v6_only, only, "%s", name);
    check_int(sockets[0].user, getuid(), "%s", name);
    int client = socket(CASES[index].connects, SOCK_STREAM, 0);
    size = fill(&address, CASES[index].connects, CASES[index].connects == AF_INET ? &LOOPBACK_4 : &LOOPBACK_6, port);
    check_int(connect(client, &address.any, size), 0, "%s: connect", name);
    check_other_end(client, TCP_OTHER_END_FOUND, 0, name);
    int taken = accept(fd, NULL, NULL);
    check_other_end(client, TCP_OTHER_END_FOUND, number_of(taken), name);
    check_other_end(taken, TCP_OTHER_END_FOUND, number_of(client), name);
    struct linger at_once = {.l_onoff = 1};
    check_int(setsockopt(taken, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)), 0, "%s", name);
    close(taken); // resets it: what listens there still is not taken for the other end
    check_other_end(client, TCP_OTHER_END_GONE, 0, name);
    close(client);
    close(fd);
    check_true(tcp_sockets_list(ntohs(port), arena, &sockets, &count), "%s", name);
    check_int((int64_t)count, 0, "%s: nobody listens any more", name);
}

int main(void)
{
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        check_case(i, &arena);
    arena_done(&arena);
    return check_finish();
}
