// The HTTP face: every request becomes a call, meets its fault, is handled, and is answered.
#pragma once
#include "tests/fakekube/kube.h"
struct mg_context;

// Listens on loopback. certificate: a PEM file with the key in it, or NULL for plain HTTP. NULL: cannot; says why.
struct mg_context *server_start(struct kube *kube, int port, const char *certificate, int *out_port);
