// Shells in pods of a cluster, and connections to their ports: backend_ops.open_session and open_port. A thread for
// each carries bytes between the caller's ends and a WebSocket to the API server (channels of Kubernetes' remote
// commands: input, output, errors, end, size; or of its ports: data, error).
#pragma once
#include "backends/backend.h"

struct kube_access;
struct kube_sessions;
struct place_book; // base/places.h

// access must outlive it, and so must book; NULL: there are no figures.
struct kube_sessions *kube_sessions_create(struct kube_access *access, struct place_book *book);
// Hangs up all of them, and waits for their threads; an open that is on its way takes up to 15 s.
void kube_sessions_destroy(struct kube_sessions *sessions); // NULL is fine
// namespace and name are those of the pod in the cluster. Waits for the server, 15 s at most. ERROR_CONFLICT: the pod
// does not run; ERROR_FORBIDDEN: the server may not; ERROR_UNAVAILABLE: the
// caller finds no place. A command that the pod does
// not have ends its session with 127. With the older protocol (servers before 1.30) a command that waits for the end of
// an input without a terminal never sees it.
int kube_sessions_open(struct kube_sessions *sessions, const char *namespace, const char *name,
                       const struct backend_session_request *request, struct backend_session *out, struct error *err);
// The same of a port. What does not listen there, or refuses, ends the connection at once: the server opens it before
// it knows. The pod does not see that the caller sends no more: only the connection's end.
int kube_sessions_open_port(struct kube_sessions *sessions, const char *namespace, const char *name,
                            const struct backend_port_request *request, int *out_fd, struct error *err);
