// Ends the pods of a data folder whose server is not running.
#pragma once
#include <stddef.h>
#include <stdint.h>
struct error;

// Tells every supervisor in `home` (a local backend's folder) to stop its command within grace_ms and waits until all
// are gone. Their next server starts the workloads anew. A folder that is not there holds no pod.
int local_stop_pods(const char *home, int64_t grace_ms, size_t *out_stopped, struct error *err);
