// Streams to TCP ports at which processes of a pod listen. Pods share this machine's addresses, so that a port is the
// pod's is proven, by which processes have its socket open (socket_holders.h):
//   - before: a socket that listens at the port is the pod's; its address is connected to;
//   - after: so is the other end of this very connection. One that the pod's process has not taken yet has no holder:
//     then all sockets that listen there are the pod's, and were the same ones before, so that nobody else can take it.
// What cannot be proven is closed, and no byte has passed. A pod that gives its socket to another lets that one in.
#pragma once
#include "backends/backend.h"

// backend: a struct local. Takes 3 s where what listens does not take the connection: ERROR_UNAVAILABLE.
int pod_ports_open(void *backend, const struct backend_port_request *request, int *out_fd, struct error *err);
