// Ends the pods of a data folder whose server is not running.
#pragma once
#include <stddef.h>
#include <stdint.h>
struct error;

// Tells every supervisor of `home` (a local backend's folder; absolute, without links) to stop its command within
// grace_ms and waits until all are gone; also those whose folder is lost. Their next server starts the workloads again.
int local_stop_pods(const char *home, int64_t grace_ms, size_t *out_stopped, struct error *err);
