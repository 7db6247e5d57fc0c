// Reads the log that a supervisor writes (supervisor/pod_folder.h).
#pragma once
#include "backends/backend.h"

// Appends lines from request->position on; *out_position is where the next call goes on. A position is twice the byte's
// number, and one more where the line before goes on. Where lines have gone with their file a line in brackets says so,
// and for which bound; pod_bytes is that of a pod's log. Returns true where all there is now has been read.
bool pod_log_read(int pod_folder_fd, int64_t pod_bytes, const struct backend_log_request *request, struct buffer *out,
                  int64_t *out_position);
