// What a watch does next, after a list, a watch or a question has ended: a table of cases, without threads or network.
#pragma once
#include "backends/kubernetes/client/kube_call.h"

enum kube_step {
    KUBE_STEP_LIST,       // not older than what was seen
    KUBE_STEP_LIST_FRESH, // whatever is newest: what was seen is forgotten
    KUBE_STEP_PROBE,      // ask whether the server knows what was seen
    KUBE_STEP_WATCH
};

// How the last step ended.
struct kube_end {
    enum kube_step step;
    const struct kube_answer *answer; // KUBE_ANSWERED with 200 where it went well
    const struct kube_status *error;  // an ERROR event of the watch; NULL: none came
    bool had_lines;                   // events or bookmarks came
    bool was_silent;                  // we cut it for its silence
    int64_t lasted_ms;
};

// What is remembered from step to step.
struct kube_course {
    int64_t backoff_ms, backoff_max_ms, too_new_wait_ms; // settings
    int failures;                                        // in a row
    int too_new;                                         // in a row
};

enum kube_verdict {
    KUBE_VERDICT_GOOD,
    KUBE_VERDICT_CUT,     // it ended before its time, without a word
    KUBE_VERDICT_EXPIRED, // 410
    KUBE_VERDICT_TOO_NEW, // the server is behind what was seen
    KUBE_VERDICT_FAILED
};

// The step that follows, how long to wait before it, and what to count. chance is a random number.
enum kube_step kube_next_step(struct kube_course *course, const struct kube_end *end, uint32_t chance,
                              int64_t *out_wait_ms, enum kube_verdict *out_verdict);
