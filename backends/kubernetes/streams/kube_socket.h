// A connection to the API server that has become a WebSocket: libcurl makes it, with its TLS, proxies and credentials,
// and hands over bytes alone. One thread at a time.
#pragma once
#include "backends/kubernetes/client/kube_access.h"
#include "base/buffer.h"

struct kube_socket {
    struct kube_transfer transfer;
    struct buffer early; // what came behind the head of the answer
    int fd;              // to poll; not to read from
    int version;         // of the protocol of remote commands: 4 or 5
};

// Connects and upgrades, within 15 s. ERROR_CONFLICT: the pod is not there or does not run; ERROR_FORBIDDEN: no right,
// or neither protocol is known; ERROR_UNAVAILABLE: the server is away. On failure nothing is the caller's.
int kube_socket_open(struct kube_socket *socket, struct kube_access *access, const char *path, const char *query,
                     struct error *err);
void kube_socket_done(struct kube_socket *socket);
// What is there, without waiting. Returns how many bytes; 0: nothing yet; -1: it is closed.
ssize_t kube_socket_read(struct kube_socket *socket, char *data, size_t size);
// What it takes, without waiting; -1: it is closed.
ssize_t kube_socket_write(struct kube_socket *socket, const char *data, size_t length);
