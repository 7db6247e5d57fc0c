// --listen: what is understood, and what the refusals say.
#include "api/http/listen.h"
#include "base/error.h"
#include "tests/support/check.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

// name, text, want ("" for a refusal), beginning of the message
static const struct {
    const char *name, *text, *want, *message;
} CASES[] = {
    {"an address and a port", "127.0.0.1:8080", "127.0.0.1:8080", ""},
    {"every address", "0.0.0.0:80", "0.0.0.0:80", ""},
    {"every address, in short", ":8080", "0.0.0.0:8080", ""},
    {"by name", "localhost:65535", "127.0.0.1:65535", ""},
    {"any free port", "127.0.0.1:0", "127.0.0.1:0", ""},
    {"no port", "127.0.0.1", "", "127.0.0.1: expected ADDR:PORT"},
    {"a port alone", "8080", "", "8080: expected ADDR:PORT"},
    {"nothing", "", "", ": expected ADDR:PORT"},
    {"an empty port", "127.0.0.1:", "", "127.0.0.1:: expected a port from 0 to 65535"},
    {"too high a port", "127.0.0.1:65536", "", "127.0.0.1:65536: expected a port from 0 to 65535"},
    {"a long port", "127.0.0.1:000000080", "", "127.0.0.1:000000080: expected a port from 0 to 65535"},
    {"a negative port", "127.0.0.1:-1", "", "127.0.0.1:-1: expected a port from 0 to 65535"},
    {"two ports", "127.0.0.1:80,81", "", "127.0.0.1:80,81: expected a port from 0 to 65535"},
    {"TLS", "127.0.0.1:443s", "", "127.0.0.1:443s: no TLS here"},
    {"a redirect to TLS", "127.0.0.1:80r", "", "127.0.0.1:80r: no TLS here"},
    {"IPv6", "[::1]:8080", "", "[::1]:8080: no IPv6 here"},
    {"IPv6 without brackets", "::1:8080", "", "::1:8080: no IPv6 here"},
    {"civetweb's spelling of both", "+8080", "", "+8080: expected ADDR:PORT"},
    {"a URL", "http://127.0.0.1:8080", "", "http://127.0.0.1:8080: no"},
    {"another name", "example.com:80", "", "example.com:80: expected an IPv4 address"},
    {"too large a number", "127.0.0.256:80", "", "127.0.0.256:80: expected an IPv4 address"},
};

int main(void)
{
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct listen_address address = {0};
        struct error err = {0};
        char got[64] = "", host[INET_ADDRSTRLEN];
        int rc = listen_parse(CASES[i].text, &address, &err);
        if (rc == 0) {
            inet_ntop(AF_INET, &address.address, host, sizeof(host));
            snprintf(got, sizeof(got), "%s:%u", host, address.port);
        }
        check_text(got, CASES[i].want, "%s", CASES[i].name);
        check_true(strncmp(err.message, CASES[i].message, strlen(CASES[i].message)) == 0, "%s: %s", CASES[i].name,
                   err.message);
    }
    return check_finish();
}
