// Deadlines and shares, on real sockets: the right connection is cut, in the right way, and no other.
#include "api/connections.h"
#include "api/deadlines.h"
#include "base/error.h"
#include "tests/support/check.h"
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

// A connection through loopback: both its sockets are in this process, as a server's would not be.
struct pair {
    int client, served;
    struct connection_ends ends; // as the server sees them
};

static int listener;
static uint16_t port;

static void open_listener(void)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(name);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    int rc = bind(listener, (struct sockaddr *)&name, size);
    assert(rc == 0 && listen(listener, 8) == 0);
    rc = getsockname(listener, (struct sockaddr *)&name, &size);
    assert(rc == 0);
    port = ntohs(name.sin_port);
}

static struct pair connect_pair(void)
{
    struct pair pair;
    struct sockaddr_in name = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(name);
    pair.client = socket(AF_INET, SOCK_STREAM, 0);
    int rc = connect(pair.client, (struct sockaddr *)&name, size);
    assert(rc == 0);
    pair.served = accept(listener, (struct sockaddr *)&name, &size);
    assert(pair.served >= 0);
    pair.ends = (struct connection_ends){name.sin_addr.s_addr, ntohs(name.sin_port), port};
    return pair;
}

static void close_pair(const struct pair *pair)
{
    close(pair->client);
    close(pair->served);
}

static bool is_open(int fd)
{
    char byte;
    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static bool no_chore(void *context)
{
    (void)context;
    return false;
}

static void test_late_body(void)
{
    struct error err = {0};
    char byte;
    struct deadlines *deadlines = deadlines_create(4, no_chore, NULL, &err);
    struct pair late = connect_pair(), other = connect_pair();
    size_t slot = deadlines_begin(deadlines, &late.ends, 1, DEADLINE_ENDS_READING);
    size_t patient = deadlines_begin(deadlines, &other.ends, 3600000, DEADLINE_ENDS_READING);
    check_int(recv(late.served, &byte, 1, 0), 0, "the late read returns");
    check_true(deadlines_end(deadlines, slot), "and the worker hears why");
    check_int(send(late.served, "x", 1, MSG_NOSIGNAL), 1, "it can still answer");
    check_int(recv(late.client, &byte, 1, 0), 1, "which arrives");
    check_true(is_open(other.served), "another connection goes on");
    check_true(!deadlines_end(deadlines, patient), "its deadline has not passed");
    deadlines_destroy(deadlines);
    close_pair(&late);
    close_pair(&other);
}

static void test_late_answer(void)
{
    struct error err = {0};
    char byte;
    struct deadlines *deadlines = deadlines_create(4, no_chore, NULL, &err);
    struct pair late = connect_pair();
    size_t slot = deadlines_begin(deadlines, &late.ends, 1, DEADLINE_ENDS_ALL);
    check_int(recv(late.client, &byte, 1, 0), 0, "the peer sees the end");
    check_int(send(late.served, "x", 1, MSG_NOSIGNAL), -1, "the worker's write fails");
    check_true(deadlines_end(deadlines, slot), "and it hears why");
    deadlines_destroy(deadlines);
    close_pair(&late);
}

static void test_slots(void)
{
    struct error err = {0};
    struct deadlines *deadlines = deadlines_create(2, no_chore, NULL, &err);
    struct pair pair = connect_pair();
    size_t first = deadlines_begin(deadlines, &pair.ends, 3600000, DEADLINE_ENDS_ALL);
    size_t second = deadlines_begin(deadlines, &pair.ends, 3600000, DEADLINE_ENDS_ALL);
    size_t none = deadlines_begin(deadlines, &pair.ends, 3600000, DEADLINE_ENDS_ALL);
    check_true(first != second, "two deadlines, two slots");
    check_int((int64_t)none, 2, "no third");
    check_true(!deadlines_end(deadlines, none), "whose end is harmless");
    deadlines_end(deadlines, first);
    check_int((int64_t)deadlines_begin(deadlines, &pair.ends, 3600000, DEADLINE_ENDS_ALL), (int64_t)first,
              "a slot is used again");
    deadlines_destroy(deadlines);
    close_pair(&pair);
}

static void test_ends_must_agree(void)
{
    struct pair pair = connect_pair();
    struct connection_ends other_port = pair.ends, other_address = pair.ends, other_side = pair.ends;
    other_port.remote_port ^= 1;
    other_address.remote_address = htonl(INADDR_LOOPBACK + 1);
    other_side.local_port ^= 1;
    check_true(!connection_cut(&other_port, DEADLINE_ENDS_ALL), "another remote port");
    check_true(!connection_cut(&other_address, DEADLINE_ENDS_ALL), "another address");
    check_true(!connection_cut(&other_side, DEADLINE_ENDS_ALL), "another listening port");
    check_true(is_open(pair.served), "nothing was cut");
    check_true(connection_cut(&pair.ends, DEADLINE_ENDS_ALL), "the very one");
    check_true(!is_open(pair.served), "is cut");
    close_pair(&pair);
}

static void test_shares(void)
{
    struct pair pairs[5];
    struct connections connections = {.max_per_address = 3, .ports = {port}, .port_count = 1};
    for (size_t i = 0; i < COUNT(pairs); i++)
        pairs[i] = connect_pair();
    atomic_store(&connections.open_count, COUNT(pairs));
    check_true(connections_are_many(&connections), "more than one address may hold");
    check_int((int64_t)connections_cut_excess(&connections), 2, "what is beyond the share is cut");
    connections.proxies[connections.proxy_count++] = htonl(INADDR_LOOPBACK);
    check_int((int64_t)connections_cut_excess(&connections), 0, "a proxy has no share");
    size_t open_count = 0;
    for (size_t i = 0; i < COUNT(pairs); i++)
        open_count += is_open(pairs[i].served);
    check_int((int64_t)open_count, 3, "the share stays");
    connection_cut_all(port);
    for (size_t i = 0; i < COUNT(pairs); i++) {
        check_true(!is_open(pairs[i].served), "all are cut when the server stops");
        close_pair(&pairs[i]);
    }
}

int main(void)
{
    open_listener();
    test_late_body();
    test_late_answer();
    test_slots();
    test_ends_must_agree();
    test_shares();
    close(listener);
    return check_finish();
}
