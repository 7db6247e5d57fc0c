#include "api/http/peers.h"
#include "api/http/sockets.h"
#include "base/arena.h"
#include <arpa/inet.h>
#include <civetweb.h>
#include <inttypes.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SECRET_BYTES = 32,
    SECRET_TEXT_SIZE = 2 * SECRET_BYTES + 1
};

#define SECRET_HEADER "X-Prorata-Peer"

struct entry {
    uint16_t port; // 0: free
    bool is_greeted;
    int64_t uid;
    char secret[SECRET_TEXT_SIZE];
};

struct peers {
    pthread_mutex_t mutex;
    struct entry *entries;
    size_t count;
};

struct peers *peers_create(size_t max)
{
    struct peers *peers = memory_array(1, sizeof(*peers));
    pthread_mutex_init(&peers->mutex, NULL);
    peers->entries = memory_array(max, sizeof(*peers->entries));
    peers->count = max;
    return peers;
}

void peers_destroy(struct peers *peers)
{
    if (!peers)
        return;
    pthread_mutex_destroy(&peers->mutex);
    free(peers->entries);
    free(peers);
}

static void make_secret(char out_secret[SECRET_TEXT_SIZE])
{
    unsigned char bytes[SECRET_BYTES];
    randombytes_buf(bytes, sizeof(bytes));
    sodium_bin2hex(out_secret, SECRET_TEXT_SIZE, bytes, sizeof(bytes));
}

int peers_expect(struct peers *peers, uint16_t port, int64_t uid, char out_greeting[PEER_GREETING_SIZE])
{
    int number = -1;
    pthread_mutex_lock(&peers->mutex);
    for (size_t i = 0; i < peers->count && number < 0; i++)
        if (peers->entries[i].port == 0)
            number = (int)i;
    if (number >= 0) {
        struct entry *entry = &peers->entries[number];
        *entry = (struct entry){.port = port, .uid = uid};
        make_secret(entry->secret);
        snprintf(out_greeting, PEER_GREETING_SIZE,
                 "GET /socket HTTP/1.1\r\nHost: localhost\r\n" SECRET_HEADER ": %s\r\n\r\n", entry->secret);
    }
    pthread_mutex_unlock(&peers->mutex);
    return number;
}

void peers_forget(struct peers *peers, int number)
{
    if (number < 0)
        return;
    pthread_mutex_lock(&peers->mutex);
    peers->entries[number] = (struct entry){0};
    pthread_mutex_unlock(&peers->mutex);
}

static bool take(struct peers *peers, uint16_t port, const char *secret, int64_t *out_uid)
{
    bool is_right = false;
    pthread_mutex_lock(&peers->mutex);
    for (size_t i = 0; i < peers->count && !is_right; i++) {
        struct entry *entry = &peers->entries[i];
        if (entry->port != port || entry->is_greeted)
            continue;
        is_right = sodium_memcmp(entry->secret, secret, SECRET_TEXT_SIZE) == 0;
        entry->is_greeted = is_right;
        *out_uid = entry->uid;
    }
    pthread_mutex_unlock(&peers->mutex);
    return is_right;
}

static bool is_loopback(const struct connection_ends *ends)
{
    return ends->remote_address == htonl(INADDR_LOOPBACK);
}

struct peer *peers_greet(struct peers *peers, struct mg_connection *connection)
{
    struct connection_ends ends;
    const char *secret = mg_get_header(connection, SECRET_HEADER);
    int64_t uid;
    if (!secret || strlen(secret) != SECRET_TEXT_SIZE - 1 ||
        !connection_ends_of(mg_get_request_info(connection), &ends) || !is_loopback(&ends) ||
        !take(peers, ends.remote_port, secret, &uid))
        return NULL;
    struct peer *peer = memory_array(1, sizeof(*peer));
    peer->uid = uid;
    snprintf(peer->address, sizeof(peer->address), "unix:%" PRId64, uid);
    return peer;
}

bool peers_is_relay(struct peers *peers, const struct connection_ends *ends)
{
    bool is_there = false;
    pthread_mutex_lock(&peers->mutex);
    for (size_t i = 0; i < peers->count && !is_there; i++)
        is_there = peers->entries[i].port == ends->remote_port;
    pthread_mutex_unlock(&peers->mutex);
    return is_there && is_loopback(ends);
}
