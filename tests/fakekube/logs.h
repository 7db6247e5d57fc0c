// Logs of pods: the annotation test.prorata.io/log is the log of all containers. A line's time is the pod's start and a
// millisecond for each line before it. A test that patches the annotation writes on.
#pragma once
#include "tests/fakekube/call.h"

// Answers the log as it is; called with the store's lock held.
int log_answer(struct call *call);
// The same, and then what comes, until the pod has ended; takes and gives back the lock.
int log_follow(struct call *call);
// GET .../pods/NAME:PORT/proxy/metrics: the annotation test.prorata.io/metrics of the pod NAME; -1: no such path.
int page_answer(struct call *call);
