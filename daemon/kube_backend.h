// A Kubernetes cluster: where it is and who we are there.
#pragma once
#include "daemon/backend_site.h"

struct backend;
struct error;

// Reads the configuration and creates the backend; nothing is asked of the cluster yet, so a server starts while its
// cluster does not answer. What is ours in the cluster carries the uuid that the cluster has in this data folder.
int kube_backend_create(const struct backend_site *site, struct backend *out_backend, struct error *err);
