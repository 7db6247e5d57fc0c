// Lines of a log as the kubelet sends them, each behind its time, and positions in it.
//
// A log of Kubernetes has no byte numbers that stay: it is asked from a second on, and what was read already comes
// again. So a position is the microsecond of the last line that was read, and how many lines of that microsecond were:
// good for any server and after any restart. What the container's clock puts before the position is not read again.
#pragma once
#include "base/buffer.h"

#include <stdint.h>

enum {
    KUBE_LOG_LINE_MAX = 256 * 1024 // of a line: the rest of a longer one is left out
};

struct kube_log_lines {
    int64_t from;       // a position: what lies before it is skipped
    int64_t since_us;   // nothing older
    bool has_times;     // each line given begins with its time
    size_t max_bytes;   // of what is given; a first line is always whole
    struct buffer *out; // the caller's
    int64_t position;   // behind the last line that was given, or skipped
    struct buffer line; // that has begun
    size_t begin;       // where out stood
    int64_t last_us;    // the time of the line before
    int64_t same_us;    // how many had it
    bool is_full;       // no more fits
};

void kube_log_lines_init(struct kube_log_lines *lines, int64_t from, struct buffer *out);
// More of the answer. False: there is no room for the next line, which is left for another time.
bool kube_log_lines_feed(struct kube_log_lines *lines, const char *data, size_t length);
// The answer has ended. is_over: so has the log, and what is left without an end is a line.
void kube_log_lines_finish(struct kube_log_lines *lines, bool is_over);
// The second, in ms, from which a log is to be asked so that nothing from the position on is missed. 0: the beginning.
int64_t kube_log_position_ms(int64_t position);
