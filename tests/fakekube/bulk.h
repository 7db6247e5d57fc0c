// Fills the stand-in with objects.
#pragma once
#include "tests/fakekube/kube.h"

// The namespaces that every cluster has.
void bulk_add_namespaces(struct kube *kube);
// Nodes node-00000.. with so many GPUs, Ready; pods of others on them, running, in namespace "others".
// Each pod has an annotation of so many bytes more, for the size of real ones. Called with the store's lock held.
void bulk_fill(struct kube *kube, int64_t nodes, int64_t gpus, int64_t pods, int64_t pod_bytes);
