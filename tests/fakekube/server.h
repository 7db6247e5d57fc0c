// The HTTP face: every request becomes a call, meets its fault, is handled, and is answered.
#pragma once
#include "tests/fakekube/kube.h"
struct mg_context;

// Listens on loopback, in plain HTTP: Debian's civetweb does not go with OpenSSL 3. NULL: cannot.
struct mg_context *server_start(struct kube *kube, int port, int *out_port);
