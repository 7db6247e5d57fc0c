// Deadlines, shares and who gives way, on real sockets: the right connection is cut, in the right way, and no other.
#include "api/http/connection_cuts.h"
#include "api/http/connections.h"
#include "api/http/deadlines.h"
#include "api/http/sockets.h"
#include "base/error.h"
#include "tests/support/check.h"
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
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

// The last number of 127.0.0.N that it comes from.
static struct pair connect_from(uint32_t number)
{
    struct pair pair;
    struct sockaddr_in name = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in self = {.sin_family = AF_INET, .sin_addr.s_addr = htonl((INADDR_LOOPBACK & ~0xffU) | number)};
    socklen_t size = sizeof(name);
    pair.client = socket(AF_INET, SOCK_STREAM, 0);
    int rc = bind(pair.client, (struct sockaddr *)&self, sizeof(self));
    assert(rc == 0);
    rc = connect(pair.client, (struct sockaddr *)&name, size);
    assert(rc == 0);
    pair.served = accept(listener, (struct sockaddr *)&name, &size);
    assert(pair.served >= 0);
    pair.ends = (struct connection_ends){name.sin_addr.s_addr, ntohs(name.sin_port), port};
    return pair;
}

static struct pair connect_pair(void)
{
    return connect_from(1);
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

static int64_t no_chore(void *context)
{
    (void)context;
    return 0;
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
    struct error err = {0};
    struct deadlines *deadlines = deadlines_create(4, no_chore, NULL, &err);
    struct pair pair = connect_pair(), late = connect_pair();
    struct connection_ends others[] = {pair.ends, pair.ends, pair.ends};
    others[0].remote_port = 1; // nobody's
    others[1].remote_address = htonl(INADDR_LOOPBACK + 1);
    others[2].local_port ^= 1;
    for (size_t i = 0; i < COUNT(others); i++)
        deadlines_begin(deadlines, &others[i], 1, DEADLINE_ENDS_ALL);
    char byte;
    deadlines_begin(deadlines, &late.ends, 1, DEADLINE_ENDS_ALL);
    check_int(recv(late.served, &byte, 1, 0), 0, "the very one is cut");
    check_true(is_open(pair.served), "no other, whose ends differ in one thing");
    deadlines_destroy(deadlines);
    close_pair(&pair);
    close_pair(&late);
}

// So many workers, all of whose connections are in their first head unless told otherwise.
struct scene {
    struct connections connections;
    struct connection_cuts cuts;
    struct pair pairs[16];
    size_t pair_count;
    size_t counts[CUT_REASON_COUNT]; // of the last pass
};

static void scene_init(struct scene *scene, size_t worker_count)
{
    *scene = (struct scene){.connections = {.ports = {port}, .port_count = 1}};
    connections_init(&scene->connections, worker_count);
}

static void scene_done(struct scene *scene)
{
    for (size_t i = 0; i < scene->pair_count; i++)
        close_pair(&scene->pairs[i]);
    connection_cuts_done(&scene->cuts);
    connections_done(&scene->connections);
}

static struct pair *scene_add(struct scene *scene, uint32_t address)
{
    struct pair *pair = &scene->pairs[scene->pair_count++];
    *pair = connect_from(address);
    connections_open(&scene->connections, connections_add_worker(&scene->connections));
    return pair;
}

// The worker knows whose connection it has, by what a proxy says of the client where it is one.
static struct pair *scene_know(struct scene *scene, uint32_t address, uint32_t client, enum worker_state state)
{
    struct pair *pair = scene_add(scene, address);
    struct worker *worker = &scene->connections.workers[scene->pair_count - 1];
    worker_know(worker, &pair->ends, client ? htonl((INADDR_LOOPBACK & ~0xffU) | client) : pair->ends.remote_address);
    worker_enter(worker, state);
    return pair;
}

static size_t scene_pass(struct scene *scene)
{
    size_t sum = 0;
    memset(scene->counts, 0, sizeof(scene->counts));
    connection_cuts_pass(&scene->cuts, &scene->connections, scene->counts);
    for (size_t i = 0; i < CUT_REASON_COUNT; i++)
        sum += scene->counts[i];
    return sum;
}

static size_t scene_open_count(const struct scene *scene, size_t first, size_t end)
{
    size_t count = 0;
    for (size_t i = first; i < end; i++)
        count += is_open(scene->pairs[i].served);
    return count;
}

static void test_shares(void)
{
    struct scene scene;
    scene_init(&scene, 12);
    for (size_t i = 0; i < 5; i++)
        scene_add(&scene, 1);
    check_true(connections_are_many(&scene.connections), "more than one address may hold");
    check_int((int64_t)scene_pass(&scene), 2, "what is beyond the share is cut");
    check_int((int64_t)scene.counts[CUT_SHARE], 2, "and called so");
    check_int((int64_t)scene_pass(&scene), 0, "once");
    check_int((int64_t)scene_open_count(&scene, 0, 5), 3, "the share stays");
    sockets_cut_all(port);
    check_int((int64_t)scene_open_count(&scene, 0, 5), 0, "all are cut when the server stops");
    scene_done(&scene);
}

static void test_a_proxy_has_no_share(void)
{
    struct scene scene;
    scene_init(&scene, 12);
    scene.connections.proxies[scene.connections.proxy_count++] = htonl(INADDR_LOOPBACK);
    for (size_t i = 0; i < 5; i++)
        scene_add(&scene, 1);
    check_int((int64_t)scene_pass(&scene), 0, "it speaks for many");
    scene_done(&scene);
}

static void test_while_workers_are_left_the_slow_may_be_slow(void)
{
    struct scene scene;
    scene_init(&scene, 16);
    for (uint32_t i = 0; i < 12; i++)
        scene_add(&scene, 1 + i / 4);
    check_int((int64_t)scene_pass(&scene), 0, "a quarter of the workers is free");
    scene_done(&scene);
}

static void test_who_holds_most_gives_way(void)
{
    struct scene scene;
    scene_init(&scene, 16);
    scene_add(&scene, 9); // the oldest, but alone
    for (uint32_t i = 0; i < 12; i++)
        scene_add(&scene, 1 + i / 4);
    check_int((int64_t)scene_pass(&scene), 5, "half of the workers may wait for clients");
    check_int((int64_t)scene.counts[CUT_HEAD], 5, "for heads, here");
    check_true(is_open(scene.pairs[0].served), "who holds one connection keeps it");
    for (size_t first = 1; first < 13; first += 4) {
        size_t count = scene_open_count(&scene, first, first + 4);
        check_true(count == 2 || count == 3, "who holds four keeps two or three");
    }
    scene_done(&scene);
}

static void test_what_is_idle_gives_way_first_and_what_runs_last(void)
{
    struct scene scene;
    scene_init(&scene, 16);
    for (uint32_t i = 0; i < 3; i++)
        scene_know(&scene, 11 + i, 0, WORKER_BODY);
    for (uint32_t i = 0; i < 5; i++)
        scene_know(&scene, 21 + i, 0, WORKER_IDLE);
    for (uint32_t i = 0; i < 5; i++)
        scene_know(&scene, 31 + i, 0, i % 2 ? WORKER_REQUEST : WORKER_STREAM);
    check_int((int64_t)scene_pass(&scene), 4, "with five at work, a quarter may wait for clients");
    check_int((int64_t)scene.counts[CUT_IDLE], 4, "idle ones go");
    check_int((int64_t)scene_open_count(&scene, 0, 3), 3, "bodies stay");
    check_int((int64_t)scene_open_count(&scene, 8, 13), 5, "what runs stays");
    scene_done(&scene);
}

static void test_who_has_sent_is_heard(void)
{
    struct scene scene;
    scene_init(&scene, 16);
    for (uint32_t i = 0; i < 13; i++) {
        struct pair *pair = scene_add(&scene, 11 + i);
        int sent = (int)send(pair->client, "G", 1, MSG_NOSIGNAL);
        char byte;
        assert(sent == 1 && recv(pair->served, &byte, 1, MSG_PEEK) == 1);
    }
    check_int((int64_t)scene_pass(&scene), 0, "no worker has read yet what they sent");
    scene_done(&scene);
}

static void test_a_cut_request_that_arrives_is_still_read(void)
{
    struct scene scene;
    scene_init(&scene, 16);
    for (uint32_t i = 0; i < 13; i++)
        scene_know(&scene, 11 + i, 0, WORKER_IDLE);
    check_int((int64_t)scene_pass(&scene), 5, "five of thirteen");
    check_int(send(scene.pairs[0].client, "G", 1, MSG_NOSIGNAL), 1, "a request that was on its way");
    char byte;
    check_int(recv(scene.pairs[0].served, &byte, 1, 0), 1, "is read");
    check_int(send(scene.pairs[0].served, "x", 1, MSG_NOSIGNAL), 1, "and answered");
    scene_done(&scene);
}

static void test_behind_a_proxy_its_clients_count(void)
{
    struct scene scene;
    scene_init(&scene, 16);
    scene.connections.proxies[scene.connections.proxy_count++] = htonl(INADDR_LOOPBACK);
    scene_know(&scene, 1, 200, WORKER_BODY);
    for (uint32_t i = 0; i < 12; i++)
        scene_know(&scene, 1, 100, WORKER_BODY);
    check_int((int64_t)scene_pass(&scene), 5, "five of thirteen bodies");
    check_true(is_open(scene.pairs[0].served), "all of the client that has twelve");
    check_true(worker_was_cut(&scene.connections.workers[12]) || worker_was_cut(&scene.connections.workers[1]),
               "whose workers can tell why");
    scene_done(&scene);
}

int main(void)
{
    open_listener();
    test_late_body();
    test_late_answer();
    test_slots();
    test_ends_must_agree();
    test_a_proxy_has_no_share();
    test_while_workers_are_left_the_slow_may_be_slow();
    test_who_holds_most_gives_way();
    test_what_is_idle_gives_way_first_and_what_runs_last();
    test_who_has_sent_is_heard();
    test_a_cut_request_that_arrives_is_still_read();
    test_behind_a_proxy_its_clients_count();
    test_shares(); // the last: it ends listening
    close(listener);
    return check_finish();
}
