#include "backends/kubernetes/streams/kube_upgrade.h"

#include "backends/kubernetes/client/kube_answer.h"
#include "base/arena.h"

#include <openssl/evp.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    ACCEPT_SIZE = 40,
    SWITCHING = 101,
    VALUE_SIZE = 64
};

static const char PROTOCOLS[] = "v5.channel.k8s.io, v4.channel.k8s.io";
static const char MAGIC[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; // of RFC 6455

void kube_upgrade_init(struct kube_upgrade *upgrade, const unsigned char random[16])
{
    *upgrade = (struct kube_upgrade){0};
    sodium_bin2base64(upgrade->key, sizeof(upgrade->key), random, 16, sodium_base64_VARIANT_ORIGINAL);
}

void kube_upgrade_write(const struct kube_upgrade *upgrade, const char *target, const char *host,
                        const char *const *headers, struct buffer *out)
{
    buffer_printf(out, "GET %s HTTP/1.1\r\nHost: %s\r\n", target, host);
    for (; headers && *headers; headers++)
        buffer_printf(out, "%s\r\n", *headers);
    buffer_printf(out,
                  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
                  "%s\r\nSec-WebSocket-Protocol: %s\r\n\r\n",
                  upgrade->key, PROTOCOLS);
}

static void make_accept(const char *key, char out[ACCEPT_SIZE])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    char text[KUBE_KEY_SIZE + sizeof(MAGIC)];
    snprintf(text, sizeof(text), "%s%s", key, MAGIC);
    if (EVP_Digest(text, strlen(text), digest, &length, EVP_sha1(), NULL) != 1)
        abort();
    sodium_bin2base64(out, ACCEPT_SIZE, digest, length, sodium_base64_VARIANT_ORIGINAL);
}

// The value of a header between the first line and the end of the head; "" where there is none, or where it is too
// long.
static const char *header_of(const char *head, const char *end, const char *name, char out[VALUE_SIZE])
{
    size_t size = strlen(name);
    *out = '\0';
    for (const char *line = head; line < end;) {
        const char *next = memmem(line, (size_t)(end - line), "\r\n", 2);
        size_t length = next ? (size_t)(next - line) : (size_t)(end - line);
        if (length > size && line[size] == ':' && strncasecmp(line, name, size) == 0) {
            const char *value = line + size + 1;
            length -= size + 1;
            while (length > 0 && *value == ' ') {
                value++;
                length--;
            }
            if (length < VALUE_SIZE)
                snprintf(out, VALUE_SIZE, "%.*s", (int)length, value);
            return out;
        }
        line = next ? next + 2 : end;
    }
    return out;
}

static enum kube_upgrade_outcome refuse(struct kube_status *status, const char *what)
{
    status->code = SWITCHING;
    snprintf(status->message, sizeof(status->message), "the answer is no WebSocket: %s", what);
    return KUBE_UPGRADE_REFUSED;
}

static enum kube_upgrade_outcome read_switch(struct kube_upgrade *upgrade, const char *head, const char *end,
                                             struct kube_status *status)
{
    char value[VALUE_SIZE], accept[ACCEPT_SIZE];
    if (strcasecmp(header_of(head, end, "Upgrade", value), "websocket") != 0)
        return refuse(status, "another upgrade");
    make_accept(upgrade->key, accept);
    if (strcmp(header_of(head, end, "Sec-WebSocket-Accept", value), accept) != 0)
        return refuse(status, "another key");
    header_of(head, end, "Sec-WebSocket-Protocol", value);
    upgrade->version = strcmp(value, "v5.channel.k8s.io") == 0 ? 5 : strcmp(value, "v4.channel.k8s.io") == 0 ? 4 : 0;
    return upgrade->version ? KUBE_UPGRADED : refuse(status, "another protocol");
}

// Chunks are not told apart: a Status is what stands between the outer braces.
static void read_refusal(const char *body, size_t length, int code, struct kube_status *status)
{
    const char *first = memchr(body, '{', length), *last = memrchr(body, '}', length);
    struct kube_answer answer = {.outcome = KUBE_ANSWERED, .is_json = first && last > first};
    answer.status.code = code;
    if (answer.is_json) {
        answer.text_length = (size_t)(last - first) + 1;
        answer.text = memory_alloc(answer.text_length + 1);
        memcpy(answer.text, first, answer.text_length);
        answer.text[answer.text_length] = '\0';
        kube_answer_read(&answer);
    }
    *status = answer.status;
    status->code = code;
    kube_answer_done(&answer);
}

enum kube_upgrade_outcome kube_upgrade_read(struct kube_upgrade *upgrade, const char *data, size_t length, bool is_over,
                                            size_t *out_length, struct kube_status *out_status)
{
    const char *end = length ? memmem(data, length, "\r\n\r\n", 4) : NULL;
    char value[VALUE_SIZE];
    int code = 0;
    *out_status = (struct kube_status){0};
    if (!end)
        return is_over || length > KUBE_UPGRADE_MAX ? refuse(out_status, "no head") : KUBE_UPGRADE_WAITS;
    snprintf(value, sizeof(value), "%.*s", (int)(end - data < VALUE_SIZE - 1 ? end - data : VALUE_SIZE - 1), data);
    if (sscanf(value, "HTTP/1.1 %3d", &code) != 1)
        return refuse(out_status, "no HTTP");
    const char *body = end + 4;
    size_t behind = length - (size_t)(body - data);
    *out_length = length - behind;
    if (code == SWITCHING)
        return read_switch(upgrade, data, end, out_status);
    long wanted = strtol(header_of(data, end, "Content-Length", value), NULL, 10);
    bool has_length = *value != '\0';
    bool is_whole =
        has_length ? behind >= (size_t)(wanted > 0 ? wanted : 0) : behind >= 5 && memmem(body, behind, "0\r\n\r\n", 5);
    if (!is_whole && !is_over && behind < KUBE_UPGRADE_MAX)
        return KUBE_UPGRADE_WAITS;
    read_refusal(body, behind, code, out_status);
    return KUBE_UPGRADE_REFUSED;
}
