// What the HTTP server below prorata can do at best: civetweb with one handler and a fixed body, the same threads.
// bench_bare_civetweb PORT BODY_BYTES: serves until standard input ends.
#include <civetweb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct body {
    char *text;
    size_t size;
};

static int answer(struct mg_connection *connection, void *context)
{
    const struct body *body = context;
    mg_write(connection, body->text, body->size);
    return 200;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: bench_bare_civetweb PORT BODY_BYTES\n");
        return 2;
    }
    const char *options[] = {
        "listening_ports", argv[1], "num_threads", "256", "enable_keep_alive", "yes", "keep_alive_timeout_ms", "2000",
        "tcp_nodelay",     "1",     NULL};
    size_t size = (size_t)strtoul(argv[2], NULL, 10);
    struct body body = {.text = malloc(size + 256)};
    if (!body.text)
        return 1;
    int head = snprintf(body.text, 256,
                        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n", size);
    memset(body.text + head, 'x', size);
    body.size = (size_t)head + size;
    mg_init_library(0);
    struct mg_callbacks callbacks = {0};
    struct mg_context *server = mg_start(&callbacks, NULL, options);
    if (!server)
        return 1;
    mg_set_request_handler(server, "/", answer, &body);
    while (getchar() != EOF) {
    }
    mg_stop(server);
    free(body.text);
    return 0;
}
