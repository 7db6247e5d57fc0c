#include "api/http/listen.h"
#include "base/error.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int address_parse(const char *text, uint32_t *out_address, struct error *err)
{
    struct in_addr address;
    if (inet_pton(AF_INET, text, &address) != 1)
        return error_set(err, ERROR_INVALID, "%s: expected an IPv4 address", text);
    *out_address = address.s_addr;
    return 0;
}

static int parse_port(const char *text, const char *port, uint16_t *out_port, struct error *err)
{
    size_t digits = strspn(port, "0123456789");
    long number = digits > 0 && digits <= 5 ? strtol(port, NULL, 10) : 65536;
    if (digits > 0 && (strcmp(port + digits, "s") == 0 || strcmp(port + digits, "r") == 0)) {
        error_set(err, ERROR_INVALID, "%s: no TLS here", text);
        return error_details(err,
                             "TLS ends in front of prorata: nginx, Caddy, haproxy or hitch, see docs/operating.md");
    }
    if (port[digits] != '\0' || number > 65535)
        return error_set(err, ERROR_INVALID, "%s: expected a port from 0 to 65535", text);
    *out_port = (uint16_t)number;
    return 0;
}

int listen_parse(const char *text, struct listen_address *out_address, struct error *err)
{
    struct listen_address parsed = {.address = htonl(INADDR_ANY)};
    if (text[0] == '[' || (strchr(text, ':') && strchr(strchr(text, ':') + 1, ':'))) {
        error_set(err, ERROR_INVALID, "%s: no IPv6 here, Debian's civetweb is built without it", text);
        return error_details(err, "listen on an IPv4 address and put a proxy in front, see docs/operating.md");
    }
    if (strncmp(text, "https:", 6) == 0 || strncmp(text, "http:", 5) == 0)
        return error_set(err, ERROR_INVALID, "%s: expected ADDR:PORT, not a URL", text);
    const char *colon = strchr(text, ':');
    if (!colon)
        return error_set(err, ERROR_INVALID, "%s: expected ADDR:PORT", text);
    char host[64];
    size_t length = (size_t)(colon - text);
    if (length >= sizeof(host))
        return error_set(err, ERROR_INVALID, "%s: expected an IPv4 address", text);
    memcpy(host, text, length);
    host[length] = '\0';
    if (strcmp(host, "localhost") == 0)
        parsed.address = htonl(INADDR_LOOPBACK);
    else if (length > 0 && address_parse(host, &parsed.address, NULL) < 0)
        return error_set(err, ERROR_INVALID, "%s: expected an IPv4 address", text);
    if (parse_port(text, colon + 1, &parsed.port, err) < 0)
        return -1;
    *out_address = parsed;
    return 0;
}

int listen_try(const char *text, const struct listen_address *address, struct error *err)
{
    struct sockaddr_in name = {
        .sin_family = AF_INET, .sin_port = htons(address->port), .sin_addr.s_addr = address->address};
    int on = 1, rc = 0;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return error_set(err, ERROR_INTERNAL, "listen %s: %s", text, strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *)&name, sizeof(name)) < 0 || listen(fd, 1) < 0)
        rc = error_set(err, ERROR_INVALID, "listen %s: %s", text,
                       errno == EADDRINUSE ? "the port is in use" : strerror(errno));
    close(fd);
    return rc;
}

int listen_check(const char *text, struct error *err)
{
    struct listen_address address;
    return listen_parse(text, &address, err);
}
