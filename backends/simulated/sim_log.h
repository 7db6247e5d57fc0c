// Made-up log lines of a simulated pod. A line follows from the pod's identity and its number, and has a time, so logs
// are the same after a restart and need no memory.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct backend_log_request;
struct buffer;

// As backend_ops.logs. A position is a line's number.
void sim_log_read(const struct backend_log_request *request, struct buffer *out, int64_t *out_position,
                  bool *out_ended);
