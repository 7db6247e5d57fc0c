// The server as a whole, without a database: start, probes, drain, stop, many clients at once.
#include "api/api_server.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/log.h"
#include "tests/support/check.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    REPLY_SIZE = 65536,
    CLIENT_COUNT = 8,
    REQUEST_COUNT = 50
};

static int connect_to(int port)
{
    struct sockaddr_in name = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&name, sizeof(name)) == 0)
        return fd;
    close(fd);
    return -1;
}

// Sends and reads until the server closes; returns the reply's length.
static size_t ask(int port, const char *text, char reply[REPLY_SIZE])
{
    size_t length = 0;
    int fd = connect_to(port);
    reply[0] = '\0';
    if (fd < 0)
        return 0;
    send(fd, text, strlen(text), MSG_NOSIGNAL);
    for (ssize_t got = 1; got > 0 && length<REPLY_SIZE - 1; length += got> 0 ? (size_t)got : 0)
        got = recv(fd, reply + length, REPLY_SIZE - 1 - length, 0);
    reply[length] = '\0';
    close(fd);
    return length;
}

#define GET(path) "GET " path " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

static atomic_bool is_ready = true;

static int check_ready(void *context, struct error *err)
{
    return context && is_ready ? 0 : error_set(err, ERROR_UNAVAILABLE, "counting the devices");
}

static void write_metrics(void *context, struct buffer *out)
{
    (void)context;
    buffer_text(out, "prorata_test_metric 1\n");
}

static void start(struct server *server)
{
    struct error err = {0};
    *server = (struct server){
        .config = {.listen = {"127.0.0.1:0", "127.0.0.1:0"}, .listen_count = 2, .threads = 16, .is_metrics_open = true},
        .check_ready = check_ready,
        .write_metrics = write_metrics,
        .context = server};
    check_int(api_server_start(server, &err), 0, "starts: %s", err.message);
}

// name, request, what the reply begins with, what it holds
static const struct {
    const char *name, *request, *begin, *holds;
} CASES[] = {
    {"alive", GET("/healthz"), "HTTP/1.1 200 OK\r\n", "\r\n\r\nok\n"},
    {"ready", GET("/readyz"), "HTTP/1.1 200 OK\r\n", "\r\n\r\nok\n"},
    {"our metrics", GET("/metrics"), "HTTP/1.1 200 OK\r\n",
     "prorata_http_requests_total{operation=\"health\",status=\"200\"}"},
    {"the other rooms' metrics", GET("/metrics"), "HTTP/1.1 200 OK\r\n", "prorata_test_metric 1\n"},
    {"the document", GET("/api/v1/swagger.json"), "HTTP/1.1 200 OK\r\n", "\"openapi\":\"3.0.3\""},
    {"its pages", GET("/api/docs"), "HTTP/1.1 200 OK\r\n",
     "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'"},
    {"the dashboard", GET("/workloads"), "HTTP/1.1 200 OK\r\n",
     "style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'"},
    {"a page of one project", GET("/projects/7/edit"), "HTTP/1.1 200 OK\r\n", "Cache-Control: no-cache\r\n"},
    {"no such path", GET("/nonsense"), "HTTP/1.1 404 Not Found\r\n", "{\"code\":404,\"message\":\"no such path\"}"},
    {"a head", "HEAD /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 OK\r\n",
     "Content-Length: 3\r\n\r\n"},
    {"the methods of a path", "OPTIONS /api/v1/org-unit/projects HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
     "HTTP/1.1 204 No Content\r\n", "Allow: GET, HEAD, POST, OPTIONS\r\n"},
    {"a method the path lacks", "PUT /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
     "HTTP/1.1 405 Method Not Allowed\r\n", "Allow: GET, HEAD, OPTIONS\r\n"},
    {"two requests on a connection", "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" GET("/nonsense"), "HTTP/1.1 200 OK\r\n",
     "HTTP/1.1 404 Not Found"},
    {"a refusal closes", "GET /healthz HTTP/1.1\r\n\r\n" GET("/healthz"), "HTTP/1.1 400 Bad Request\r\n",
     "Connection: close\r\n"},
    {"what civetweb refuses has our form", "BREW / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n",
     "{\"code\":400,"},
};

static void test_answers(const struct server *server)
{
    static char reply[REPLY_SIZE];
    for (size_t i = 0; i < COUNT(CASES); i++) {
        ask(api_server_port(server, i % 2), CASES[i].request, reply);
        check_true(strncmp(reply, CASES[i].begin, strlen(CASES[i].begin)) == 0, "%s: %.60s", CASES[i].name, reply);
        check_true(strstr(reply, CASES[i].holds) != NULL, "%s: %s", CASES[i].name, reply);
    }
}

static void test_files_are_not_sent_twice(const struct server *server)
{
    static char reply[REPLY_SIZE];
    char request[256];
    ask(api_server_port(server, 0),
        "GET /api/docs HTTP/1.1\r\nHost: x\r\nAccept-Encoding: br, gzip;q=0.8\r\nConnection: close\r\n\r\n", reply);
    check_true(strstr(reply, "Content-Encoding: gzip\r\n") != NULL, "gzip where it is taken");
    char *etag = strstr(reply, "ETag: ");
    check_true(etag != NULL, "a file has an ETag");
    snprintf(request, sizeof(request),
             "GET /api/docs HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\nIf-None-Match: %.*s\r\nConnection: "
             "close\r\n\r\n",
             etag ? (int)strcspn(etag + 6, "\r") : 0, etag ? etag + 6 : "");
    ask(api_server_port(server, 0), request, reply);
    check_true(strncmp(reply, "HTTP/1.1 304 Not Modified\r\n", 27) == 0, "not sent again: %.40s", reply);
    ask(api_server_port(server, 0),
        "GET /api/docs HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip;q=0\r\nConnection: close\r\n\r\n", reply);
    check_true(strstr(reply, "Content-Encoding") == NULL, "no gzip where it is refused");
    check_true(strstr(reply, "<title>prorata API</title>") != NULL, "but the text");
}

static void *run_client(void *context)
{
    static __thread char reply[REPLY_SIZE];
    const struct server *server = context;
    for (int i = 0; i < REQUEST_COUNT; i++)
        ask(api_server_port(server, 0), CASES[(size_t)i % COUNT(CASES)].request, reply);
    return NULL;
}

static void test_many_at_once(struct server *server)
{
    static char reply[REPLY_SIZE];
    pthread_t clients[CLIENT_COUNT];
    for (size_t i = 0; i < CLIENT_COUNT; i++)
        pthread_create(&clients[i], NULL, run_client, server);
    for (size_t i = 0; i < CLIENT_COUNT; i++)
        pthread_join(clients[i], NULL);
    check_true(ask(api_server_port(server, 0), GET("/healthz"), reply) > 0, "still there");
}

static void test_port_in_use(const struct server *server)
{
    struct error err = {0};
    char text[32];
    struct server second = {.config = {.listen = {text}, .listen_count = 1}};
    snprintf(text, sizeof(text), "127.0.0.1:%d", api_server_port(server, 0));
    check_int(api_server_start(&second, &err), -1, "the port is taken");
    check_true(strstr(err.message, text) && strstr(err.message, "the port is in use"), "and it says so: %s",
               err.message);
}

static void test_drain(struct server *server)
{
    static char reply[REPLY_SIZE];
    is_ready = false;
    ask(api_server_port(server, 0), GET("/readyz"), reply);
    check_true(strstr(reply, "HTTP/1.1 503") && strstr(reply, "counting the devices"), "not ready, and why: %s", reply);
    is_ready = true;
    api_server_drain(server);
    ask(api_server_port(server, 0), GET("/readyz"), reply);
    check_true(strstr(reply, "HTTP/1.1 503") && strstr(reply, "stopping"), "not ready while it stops: %s", reply);
    ask(api_server_port(server, 0), "GET /api/v1/swagger.json HTTP/1.1\r\nHost: x\r\n\r\n", reply);
    check_true(strstr(reply, "HTTP/1.1 503") && strstr(reply, "Retry-After: 1\r\n"), "nothing new: %s", reply);
    ask(api_server_port(server, 0), GET("/healthz"), reply);
    check_true(strstr(reply, "HTTP/1.1 200") != NULL, "but alive");
}

int main(void)
{
    static struct server server;
    signal(SIGPIPE, SIG_IGN);
    log_configure(LOG_ERROR, false);
    check_true(sodium_init() >= 0, "sodium");
    start(&server);
    test_answers(&server);
    test_files_are_not_sent_twice(&server);
    test_many_at_once(&server);
    test_port_in_use(&server);
    test_drain(&server);
    int port = api_server_port(&server, 0);
    int idle = connect_to(port);
    api_server_stop(&server, 1000);
    check_int(connect_to(port), -1, "nobody listens any more");
    close(idle);
    return check_finish();
}
