// login sso: signs in at the server's identity provider with a browser. With a display the browser is opened here and
// its answer comes to a listener on 127.0.0.1; without one the person opens the address anywhere and copies a code.
#include "base/error.h"
#include "cli/browser.h"
#include "cli/command.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SHOW_CODE "urn:ietf:wg:oauth:2.0:oob"
#define SIGN_IN "/api/v1/authentication/openid/sign-in"

enum {
    SECRET_BYTES = 32,
    SECRET_TEXT = 44,
    WAIT_MS = 300000,
    REQUEST_MAX = 8192,
    READ_S = 5
};

struct secrets {
    char verifier[SECRET_TEXT], challenge[SECRET_TEXT], state[SECRET_TEXT];
};

static void encode(const unsigned char bytes[SECRET_BYTES], char out[SECRET_TEXT])
{
    sodium_bin2base64(out, SECRET_TEXT, bytes, SECRET_BYTES, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

static void make_secrets(struct secrets *out)
{
    unsigned char bytes[SECRET_BYTES];
    randombytes_buf(bytes, sizeof(bytes));
    encode(bytes, out->verifier);
    crypto_hash_sha256(bytes, (const unsigned char *)out->verifier, strlen(out->verifier));
    encode(bytes, out->challenge);
    randombytes_buf(bytes, sizeof(bytes));
    encode(bytes, out->state);
}

static int listen_here(int *out_fd, int *out_port, struct error *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) < 0 || listen(fd, 4) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) < 0) {
        error_set(err, ERROR_INTERNAL, "127.0.0.1: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *out_fd = fd;
    *out_port = ntohs(address.sin_port);
    return 0;
}

// The value of a parameter in a request line, in the arena; NULL: not there. The server escapes nothing in these.
static const char *parameter(struct cli *cli, const char *line, const char *name)
{
    const char *mark = arena_printf(&cli->arena, "%s=", name);
    const char *at = strchr(line, '?');
    while (at && strncmp(at + 1, mark, strlen(mark)) != 0)
        at = strpbrk(at + 1, "& ") && *strpbrk(at + 1, "& ") == '&' ? strpbrk(at + 1, "& ") : NULL;
    if (!at)
        return NULL;
    at += 1 + strlen(mark);
    return arena_strndup(&cli->arena, at, strcspn(at, "& \r\n"));
}

static void answer(int fd, const char *text)
{
    dprintf(fd,
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %zu\r\nConnection: close\r\n"
            "Cache-Control: no-store\r\n\r\n%s",
            strlen(text), text);
}

// One request of a browser: 1: the answer to this sign-in; 0: another; -1: refused.
static int take_request(struct cli *cli, int fd, const struct secrets *secrets, const char **out_code,
                        struct error *err)
{
    char *line = arena_alloc(&cli->arena, REQUEST_MAX);
    struct timeval limit = {.tv_sec = READ_S};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    ssize_t size = recv(fd, line, REQUEST_MAX - 1, 0);
    line[size > 0 ? size : 0] = '\0';
    const char *state = parameter(cli, line, "state"), *problem = parameter(cli, line, "error");
    if (!state || strcmp(state, secrets->state) != 0) {
        answer(fd, "Not the answer that the terminal waits for.\n");
        return 0;
    }
    *out_code = parameter(cli, line, "code");
    answer(fd, *out_code ? "Signed in. This page can be closed.\n" : "Not signed in: the terminal says why.\n");
    if (*out_code)
        return 1;
    return error_set(err, ERROR_UNAUTHORIZED, "the identity provider did not sign you in: %.40s",
                     problem ? problem : "no reason");
}

static int wait_for_code(struct cli *cli, int listener, const struct secrets *secrets, const char **out_code,
                         struct error *err)
{
    int rc = 0;
    while (rc == 0) {
        struct pollfd polled = {.fd = listener, .events = POLLIN};
        if (poll(&polled, 1, WAIT_MS) <= 0)
            return error_set(err, ERROR_UNAVAILABLE, "no answer from the browser within 5 minutes");
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            continue;
        rc = take_request(cli, fd, secrets, out_code, err);
        close(fd);
    }
    return rc < 0 ? -1 : 0;
}

static const char *begin_url(struct cli *cli, const char *uri, const struct secrets *secrets)
{
    return arena_printf(&cli->arena, "%s" SIGN_IN "?redirectUri=%s&codeChallenge=%s&state=%s", cli->client.url,
                        client_escape(&cli->client, uri), secrets->challenge, secrets->state);
}

static int by_browser(struct cli *cli, const struct secrets *secrets, const char **out_uri, const char **out_code,
                      struct error *err)
{
    int listener, port;
    if (listen_here(&listener, &port, err) < 0)
        return -1;
    *out_uri = arena_printf(&cli->arena, "http://127.0.0.1:%d/done", port);
    const char *url = begin_url(cli, *out_uri, secrets);
    fprintf(stderr, "A browser opens. Where it does not, open this address on this machine:\n\n%s\n\n", url);
    browser_open(url);
    int rc = wait_for_code(cli, listener, secrets, out_code, err);
    close(listener);
    return rc;
}

static int by_code(struct cli *cli, const struct secrets *secrets, const char **out_uri, const char **out_code,
                   struct error *err)
{
    char line[256];
    *out_uri = SHOW_CODE;
    fprintf(stderr, "Open this address in a browser, sign in, and copy the code:\n\n%s\n\nCode: ",
            begin_url(cli, SHOW_CODE, secrets));
    if (!fgets(line, sizeof(line), stdin))
        return error_set(err, ERROR_INVALID, "no code was given");
    line[strcspn(line, " \r\n")] = '\0';
    *out_code = arena_strdup(&cli->arena, line);
    return 0;
}

int run_login_sso(struct cli *cli, struct error *err)
{
    struct secrets secrets;
    const char *uri, *code = "";
    bool has_display = getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
    if (sodium_init() < 0)
        return error_set(err, ERROR_INTERNAL, "no source of random numbers");
    if (client_open(profile_url(&cli->profile), NULL, &cli->arena, &cli->client, err) < 0)
        return -1;
    make_secrets(&secrets);
    int rc = has_display && !flag_is_set(&cli->arguments, "no-browser") ? by_browser(cli, &secrets, &uri, &code, err)
                                                                        : by_code(cli, &secrets, &uri, &code, err);
    client_close(&cli->client);
    if (rc < 0)
        return -1;
    return cli_sign_in(cli,
                       json_pack("{s:s, s:s, s:s, s:s}", "grantType", "exchange_token", "code", code, "redirectUri",
                                 uri, "codeVerifier", secrets.verifier),
                       NULL, err);
}
