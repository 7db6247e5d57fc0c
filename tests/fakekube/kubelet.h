// All nodes' kubelets in one thread: admits or rejects bound pods, runs them as their annotations say, ends them after
// a delete in two steps (a terminal phase, then the object goes; before 1.27 the object alone).
// Annotations of a pod, times as "2s", "300ms", "1m":
//   test.prorata.io/ends-after   runs so long, then ends          test.prorata.io/exit-code   with this code (0)
//   test.prorata.io/reject       the reason of a refusal          test.prorata.io/start-after Pending so long
//   test.prorata.io/stop-delay   stops so long after a delete     test.prorata.io/stuck       "true": never stops
//   test.prorata.io/stop-code    exit code when stopped (143)     test.prorata.io/log         its log
// A node that is missing, or has the label test.prorata.io/dead, does nothing.
#pragma once
#include "tests/fakekube/kube.h"

// Starts the thread and listens to the store. NULL: no thread.
struct kubelet *kubelet_create(struct kube *kube);
void kubelet_destroy(struct kubelet *kubelet); // kube->stops is set and the store's condition was broadcast
