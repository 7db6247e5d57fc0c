// System V shared memory where the pod has none of its own (isolate.h): what its processes made and left is removed. By
// who made it, and when: never by the user alone, who may have others.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    SEGMENTS_NOTED_MAX = 4096 // the latest
};

struct segments {
    struct {
        pid_t pid;
        int64_t from_s, to_s; // it lived; since the epoch
    } noted[SEGMENTS_NOTED_MAX];
    size_t count;
};

// A process of the pod that is over, and not yet waited for.
void segments_note(struct segments *segments, pid_t pid);
// Removes what the noted ones made and nobody uses. What a process made whose parent has waited for it stays.
void segments_remove(const struct segments *segments);
