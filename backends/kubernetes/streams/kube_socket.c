#include "backends/kubernetes/streams/kube_socket.h"

#include "backends/kubernetes/streams/kube_upgrade.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
    OPEN_MS = 15000,
    HEADERS_MAX = 16,
    READ_SIZE = 1024,
    MESSAGE_SHOWN = 150,
    UNAUTHORIZED = 401
};

ssize_t kube_socket_read(struct kube_socket *socket, char *data, size_t size)
{
    size_t got = 0;
    CURLcode result = curl_easy_recv(socket->transfer.easy, data, size, &got);
    if (result == CURLE_AGAIN)
        return 0;
    return result == CURLE_OK && got > 0 ? (ssize_t)got : -1;
}

ssize_t kube_socket_write(struct kube_socket *socket, const char *data, size_t length)
{
    size_t sent = 0;
    CURLcode result = curl_easy_send(socket->transfer.easy, data, length, &sent);
    if (result == CURLE_AGAIN)
        return 0;
    return result == CURLE_OK ? (ssize_t)sent : -1;
}

// Waits until the time is over. False: it is.
static bool wait_for(const struct kube_socket *socket, short events, int64_t until_us)
{
    int64_t left_ms = (until_us - timestamp_monotonic_us()) / 1000;
    struct pollfd wanted = {.fd = socket->fd, .events = events};
    return left_ms > 0 && poll(&wanted, 1, (int)left_ms) >= 0;
}

static int say_away(struct error *err, const char *why)
{
    return error_set(err, ERROR_UNAVAILABLE, "the cluster cannot be reached: %.*s", MESSAGE_SHOWN, why);
}

static int connect_socket(struct kube_socket *socket, struct error *err)
{
    char problem[CURL_ERROR_SIZE] = "";
    CURL *easy = socket->transfer.easy;
    curl_socket_t fd = CURL_SOCKET_BAD;
    curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, problem);
    CURLcode result = curl_easy_perform(easy);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL);
    if (result != CURLE_OK)
        return say_away(err, *problem ? problem : curl_easy_strerror(result));
    if (curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd) != CURLE_OK || fd == CURL_SOCKET_BAD)
        return say_away(err, "no connection");
    socket->fd = (int)fd;
    return 0;
}

static char *part_of(CURLU *url, CURLUPart part)
{
    char *text = NULL;
    return curl_url_get(url, part, &text, 0) == CURLUE_OK ? text : NULL;
}

// The same address and credentials as the transfer has.
static void write_request(const struct kube_socket *socket, const struct kube_upgrade *upgrade, struct buffer *out)
{
    const char *headers[HEADERS_MAX + 1] = {NULL};
    const char *address = "";
    size_t count = 0;
    struct buffer target, host_port;
    buffer_init(&target, 0);
    buffer_init(&host_port, 0);
    curl_easy_getinfo(socket->transfer.easy, CURLINFO_EFFECTIVE_URL, &address);
    CURLU *url = curl_url();
    if (!url || curl_url_set(url, CURLUPART_URL, address, 0) != CURLUE_OK)
        abort();
    char *path = part_of(url, CURLUPART_PATH), *query = part_of(url, CURLUPART_QUERY),
         *host = part_of(url, CURLUPART_HOST), *port = part_of(url, CURLUPART_PORT);
    buffer_printf(&target, "%s%s%s", path ? path : "/", query ? "?" : "", query ? query : "");
    buffer_printf(&host_port, "%s%s%s", host ? host : "", port ? ":" : "", port ? port : "");
    for (const struct curl_slist *line = socket->transfer.headers; line && count < HEADERS_MAX; line = line->next)
        headers[count++] = line->data;
    kube_upgrade_write(upgrade, target.data, host_port.data, headers, out);
    curl_free(path);
    curl_free(query);
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(url);
    buffer_done(&target);
    buffer_done(&host_port);
}

static int send_all(struct kube_socket *socket, const struct buffer *request, int64_t until_us, struct error *err)
{
    for (size_t at = 0; at < request->length;) {
        ssize_t sent = kube_socket_write(socket, request->data + at, request->length - at);
        if (sent < 0)
            return say_away(err, "the connection broke off");
        at += (size_t)sent;
        if (sent == 0 && !wait_for(socket, POLLOUT, until_us))
            return say_away(err, "it takes no request");
    }
    return 0;
}

static int say_refused(const struct kube_status *status, struct error *err)
{
    if (status->code == 403 && !*status->message)
        return error_set(err, ERROR_FORBIDDEN, "the cluster knows no protocol of shells that the server knows");
    if (status->code == 403 || status->code == UNAUTHORIZED)
        return error_set(err, ERROR_FORBIDDEN, "the cluster does not let the server open shells: %.*s", MESSAGE_SHOWN,
                         status->message);
    if (status->code == 400 || status->code == 404 || status->code == 500)
        return error_set(err, ERROR_CONFLICT, "the pod does not run: %.*s", MESSAGE_SHOWN, status->message);
    return error_set(err, ERROR_UNAVAILABLE, "the cluster opens no shell: %.*s", MESSAGE_SHOWN, status->message);
}

// *out_code is of the answer; 0 where there is none.
static int upgrade(struct kube_socket *socket, int *out_code, struct error *err)
{
    struct kube_upgrade asked;
    struct kube_status status;
    struct buffer request, answer;
    unsigned char random[16];
    int64_t until_us = timestamp_monotonic_us() + OPEN_MS * 1000LL;
    enum kube_upgrade_outcome outcome = KUBE_UPGRADE_WAITS;
    size_t used = 0;
    if (getrandom(random, sizeof(random), 0) != sizeof(random))
        abort();
    kube_upgrade_init(&asked, random);
    buffer_init(&request, 0);
    buffer_init(&answer, 0);
    write_request(socket, &asked, &request);
    int rc = send_all(socket, &request, until_us, err);
    while (rc == 0 && outcome == KUBE_UPGRADE_WAITS) {
        char data[READ_SIZE];
        ssize_t got = kube_socket_read(socket, data, sizeof(data));
        if (got > 0)
            buffer_append(&answer, data, (size_t)got);
        if (got != 0)
            outcome = kube_upgrade_read(&asked, answer.data, answer.length, got < 0, &used, &status);
        else if (!wait_for(socket, POLLIN, until_us))
            rc = say_away(err, "it does not answer");
    }
    if (rc == 0) {
        *out_code = status.code;
        rc = outcome == KUBE_UPGRADED ? 0 : say_refused(&status, err);
    }
    if (rc == 0) {
        socket->version = asked.version;
        buffer_append(&socket->early, answer.data + used, answer.length - used);
    }
    if (request.data)
        explicit_bzero(request.data, request.length); // it holds a token
    buffer_done(&request);
    buffer_done(&answer);
    return rc;
}

static int open_once(struct kube_socket *socket, struct kube_access *access, const struct kube_call *call,
                     int *out_code, struct error *err)
{
    *socket = (struct kube_socket){.fd = -1};
    buffer_init(&socket->early, 0);
    if (kube_transfer_init(&socket->transfer, access, call, OPEN_MS, NULL, err) == 0 &&
        connect_socket(socket, err) == 0 && upgrade(socket, out_code, err) == 0)
        return 0;
    if (*out_code == UNAUTHORIZED)
        kube_access_refuse(access, socket->transfer.generation);
    kube_socket_done(socket);
    return -1;
}

int kube_socket_open(struct kube_socket *socket, struct kube_access *access, const char *path, const char *query,
                     struct error *err)
{
    struct kube_call call = {.method = KUBE_GET, .path = path, .query = query};
    int code = 0;
    if (open_once(socket, access, &call, &code, err) == 0)
        return 0;
    if (code != UNAUTHORIZED)
        return -1;
    code = 0; // once more, with fresh credentials
    return open_once(socket, access, &call, &code, err);
}

void kube_socket_done(struct kube_socket *socket)
{
    kube_transfer_done(&socket->transfer);
    buffer_done(&socket->early);
    socket->fd = -1;
}
