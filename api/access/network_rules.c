#include "api/access/network_rules.h"

#include "base/error.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAPPED_BITS = 96, // of ::ffff:0:0/96, where IPv4 lies here
    TEXT_MAX = 64
};

// RFC 6890 and what came after it.
static const char *const CLOSED[] = {
    "0.0.0.0/8",    "10.0.0.0/8",   "100.64.0.0/10",  "127.0.0.0/8",   "169.254.0.0/16",  "172.16.0.0/12",
    "192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
    "224.0.0.0/3", // groups, what is reserved, and everybody
};
// Of IPv6 only what is given out for use in the whole world is open, without what carries another address.
static const char *const OPEN_SIX = "2000::/3";
static const char *const CLOSED_SIX[] = {"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"};
// Also as they are carried: ::a.b.c.d, NAT64, 6to4. At the end where AWS and Alibaba Cloud tell machines their secrets.
static const char *const CLOSED_TO_SITE[] = {
    "169.254.0.0/16", "fe80::/10",     "::169.254.0.0/112", "64:ff9b::169.254.0.0/112",
    "2002:a9fe::/32", "fd00:ec2::254", "100.100.100.200",
};

static int parse_address(const char *text, unsigned char out_address[16], bool *out_is_four)
{
    struct in_addr four;
    *out_is_four = inet_pton(AF_INET, text, &four) == 1;
    if (!*out_is_four)
        return inet_pton(AF_INET6, text, out_address) == 1 ? 0 : -1;
    memset(out_address, 0, 10);
    memset(out_address + 10, 0xff, 2);
    memcpy(out_address + 12, &four, 4);
    return 0;
}

static int parse_network(const char *text, struct network *out_network)
{
    char address[TEXT_MAX];
    const char *slash = strchr(text, '/');
    size_t length = slash ? (size_t)(slash - text) : strlen(text);
    bool is_four;
    char *end = NULL;
    if (length >= sizeof(address))
        return -1;
    snprintf(address, sizeof(address), "%.*s", (int)length, text);
    if (parse_address(address, out_network->address, &is_four) < 0)
        return -1;
    long most = is_four ? 32 : 128;
    long bits = slash ? strtol(slash + 1, &end, 10) : most;
    if (bits < 0 || bits > most || (slash && (end == slash + 1 || *end || slash[1] < '0' || slash[1] > '9')))
        return -1;
    out_network->bits = (int)bits + (is_four ? MAPPED_BITS : 0);
    return 0;
}

static bool contains(const struct network *network, const unsigned char address[16])
{
    int whole = network->bits / 8, rest = network->bits % 8;
    if (memcmp(network->address, address, (size_t)whole) != 0)
        return false;
    return rest == 0 || (network->address[whole] ^ address[whole]) >> (8 - rest) == 0;
}

static bool is_in(const char *const *texts, size_t count, const unsigned char address[16])
{
    for (size_t i = 0; i < count; i++) {
        struct network network;
        if (parse_network(texts[i], &network) < 0)
            abort(); // our own tables
        if (contains(&network, address))
            return true;
    }
    return false;
}

int network_rules_add(struct network_rules *rules, const char *text, struct error *err)
{
    if (rules->allowed_count == NETWORK_RULES_MAX)
        return error_set(err, ERROR_INVALID, "at most %d networks", NETWORK_RULES_MAX);
    if (parse_network(text, &rules->allowed[rules->allowed_count]) < 0)
        return error_set(err, ERROR_INVALID, "expected a network like 10.1.0.0/16, got \"%.60s\"", text);
    rules->allowed_count++;
    return 0;
}

// 16 bytes whatever the family; false for a family that is no network's.
static bool read_address(const struct sockaddr *address, unsigned char out_address[16], bool *out_is_four)
{
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    if (address->sa_family == AF_INET) {
        memcpy(&four, address, sizeof(four));
        memset(out_address, 0, 10);
        memset(out_address + 10, 0xff, 2);
        memcpy(out_address + 12, &four.sin_addr, 4);
        *out_is_four = true;
        return true;
    }
    if (address->sa_family != AF_INET6)
        return false;
    memcpy(&six, address, sizeof(six));
    memcpy(out_address, &six.sin6_addr, 16);
    *out_is_four = false;
    return true;
}

bool network_rules_allow(const struct network_rules *rules, const struct sockaddr *address)
{
    unsigned char bytes[16];
    bool is_four;
    if (!read_address(address, bytes, &is_four))
        return false;
    if (rules->are_of_site)
        return !is_in(CLOSED_TO_SITE, sizeof(CLOSED_TO_SITE) / sizeof(CLOSED_TO_SITE[0]), bytes);
    for (size_t i = 0; i < rules->allowed_count; i++)
        if (contains(&rules->allowed[i], bytes))
            return true;
    if (is_four)
        return !is_in(CLOSED, sizeof(CLOSED) / sizeof(CLOSED[0]), bytes);
    return is_in(&OPEN_SIX, 1, bytes) && !is_in(CLOSED_SIX, sizeof(CLOSED_SIX) / sizeof(CLOSED_SIX[0]), bytes);
}
