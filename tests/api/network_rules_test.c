// Which addresses the server may connect to: whatever is not the public internet's is refused, in any of its forms,
// unless a network is allowed.
#include "api/access/network_rules.h"

#include "base/error.h"
#include "tests/support/check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

static bool allows(const struct network_rules *rules, const char *text)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
        return network_rules_allow(rules, (const struct sockaddr *)&four);
    check_int(inet_pton(AF_INET6, text, &six.sin6_addr), 1, "%s is an address", text);
    return network_rules_allow(rules, (const struct sockaddr *)&six);
}

static const struct {
    const char *address;
    bool is_open;
} ADDRESSES[] = {
    {"1.1.1.1", true},
    {"93.184.216.34", true},
    {"172.15.255.255", true},
    {"172.32.0.0", true},
    {"100.63.255.255", true},
    {"223.255.255.255", true},
    {"2606:4700::1111", true},
    {"2a00:1450:4001::1", true},
    {"0.0.0.0", false},
    {"0.1.2.3", false},
    {"10.0.0.1", false},
    {"100.64.0.1", false},
    {"127.0.0.1", false},
    {"127.255.255.255", false},
    {"169.254.169.254", false},
    {"172.16.0.1", false},
    {"172.31.255.255", false},
    {"192.168.1.1", false},
    {"198.18.0.1", false},
    {"224.0.0.1", false},
    {"240.0.0.1", false},
    {"255.255.255.255", false},
    {"::", false},
    {"::1", false},
    {"::ffff:127.0.0.1", false},
    {"::ffff:1.1.1.1", false},
    {"::127.0.0.1", false},
    {"64:ff9b::7f00:1", false},
    {"2002:7f00:1::", false},
    {"2001:0:1::", false},
    {"2001:db8::1", false},
    {"fe80::1", false},
    {"fec0::1", false},
    {"fc00::1", false},
    {"fd12:3456::1", false},
    {"ff02::1", false},
};

static void test_without_a_setting(void)
{
    struct network_rules rules = {0};
    for (size_t i = 0; i < sizeof(ADDRESSES) / sizeof(ADDRESSES[0]); i++)
        check_int(allows(&rules, ADDRESSES[i].address), ADDRESSES[i].is_open, "%s", ADDRESSES[i].address);
    struct sockaddr_storage local = {.ss_family = AF_UNIX};
    check_int(network_rules_allow(&rules, (const struct sockaddr *)&local), false, "a socket of this machine");
}

static void test_allowed_networks(void)
{
    struct network_rules rules = {0};
    struct error err = {0};
    check_int(network_rules_add(&rules, "10.1.0.0/16", &err), 0, "a network");
    check_int(network_rules_add(&rules, "192.168.1.7", &err), 0, "an address");
    check_int(network_rules_add(&rules, "fd00::/9", &err), 0, "one of IPv6");
    static const struct {
        const char *address;
        bool is_open;
    } CASES[] = {
        {"10.1.0.0", true},     {"10.1.255.255", true}, {"10.2.0.0", false},        {"192.168.1.7", true},
        {"192.168.1.8", false}, {"fd7f::1", true},      {"fd80::1", false},         {"::ffff:10.1.0.1", true},
        {"127.0.0.1", false},   {"8.8.8.8", true},      {"::ffff:10.2.0.1", false},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        check_int(allows(&rules, CASES[i].address), CASES[i].is_open, "%s", CASES[i].address);
}

// What administrators set up may be anywhere but at addresses at which a machine alone is answered.
static void test_rules_of_the_site(void)
{
    static const struct network_rules RULES = {.are_of_site = true};
    static const struct {
        const char *address;
        bool is_open;
    } CASES[] = {
        {"8.8.8.8", true},
        {"10.0.0.1", true},
        {"127.0.0.1", true},
        {"192.168.1.1", true},
        {"::1", true},
        {"fd12:3456::1", true},
        {"::ffff:10.0.0.1", true},
        {"64:ff9b::8.8.8.8", true},
        {"2606:4700::1111", true},
        {"169.253.255.255", true},
        {"169.255.0.0", true},
        {"169.254.0.0", false},
        {"169.254.169.254", false},
        {"169.254.255.255", false},
        {"fe80::1", false},
        {"febf:ffff::1", false},
        {"fec0::1", true},
        {"::ffff:169.254.169.254", false},
        {"::169.254.169.254", false},
        {"64:ff9b::169.254.169.254", false},
        {"2002:a9fe:a9fe::1", false},
        {"fd00:ec2::254", false},
        {"100.100.100.200", false},
        {"100.100.100.201", true},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        check_int(allows(&RULES, CASES[i].address), CASES[i].is_open, "%s", CASES[i].address);
    struct sockaddr_storage local = {.ss_family = AF_UNIX};
    check_int(network_rules_allow(&RULES, (const struct sockaddr *)&local), false, "a socket of this machine");
}

static void test_what_is_no_network(void)
{
    static const char *const TEXTS[] = {"",           "localhost",   "10.0.0.0/33", "10.0.0.0/-1",
                                        "10.0.0.0/",  "10.0.0.0/ 8", "10.0.0/8",    "10.0.0.0/8x",
                                        "fd00::/129", "fd00::/+8"};
    struct network_rules rules = {0};
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++)
        check_int(network_rules_add(&rules, TEXTS[i], NULL), -1, "\"%s\"", TEXTS[i]);
    check_int((int64_t)rules.allowed_count, 0, "none was added");
    for (size_t i = 0; i < NETWORK_RULES_MAX; i++)
        check_int(network_rules_add(&rules, "10.0.0.0/8", NULL), 0, "network %zu", i);
    check_int(network_rules_add(&rules, "10.0.0.0/8", NULL), -1, "one too many");
}

int main(void)
{
    test_without_a_setting();
    test_allowed_networks();
    test_rules_of_the_site();
    test_what_is_no_network();
    return check_finish();
}
