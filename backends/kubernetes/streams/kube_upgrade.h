// How a connection becomes a WebSocket: what is asked, and whether the answer is one. Protocols are those of
// Kubernetes' remote commands; the newer one tells the end of the input.
#pragma once
#include "backends/kubernetes/client/kube_call.h"
#include "base/buffer.h"

enum {
    KUBE_KEY_SIZE = 25,          // of a key with its end
    KUBE_UPGRADE_MAX = 64 * 1024 // of an answer's head, and of a refusal's body
};

struct kube_upgrade {
    char key[KUBE_KEY_SIZE]; // random: the answer proves that it was read
    int version;             // that the server chose: 4 or 5
};

// A fresh key, from random bytes.
void kube_upgrade_init(struct kube_upgrade *upgrade, const unsigned char random[16]);
// GET target, with these lines of headers in front (NULL: none more), each without its end.
void kube_upgrade_write(const struct kube_upgrade *upgrade, const char *target, const char *host,
                        const char *const *headers, struct buffer *out);

enum kube_upgrade_outcome {
    KUBE_UPGRADE_WAITS,  // for more bytes
    KUBE_UPGRADED,       // from *out_length on come frames
    KUBE_UPGRADE_REFUSED // status says why
};

// is_over: no more bytes will come. *out_length is how many belong to the answer.
enum kube_upgrade_outcome kube_upgrade_read(struct kube_upgrade *upgrade, const char *data, size_t length, bool is_over,
                                            size_t *out_length, struct kube_status *out_status);
