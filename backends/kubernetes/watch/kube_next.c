#include "backends/kubernetes/watch/kube_next.h"

enum {
    GOOD_MS = 1000,  // a watch that ends sooner, and said nothing, has failed
    TOO_NEW_MAX = 3, // then the server was put back to an older state
    DOUBLINGS_MAX = 10
};

// Doubling, and by chance between half and whole.
static int64_t backoff(struct kube_course *course, uint32_t chance)
{
    int doublings = course->failures < DOUBLINGS_MAX ? course->failures : DOUBLINGS_MAX;
    int64_t most = course->backoff_ms << doublings;
    course->failures++;
    if (most > course->backoff_max_ms)
        most = course->backoff_max_ms;
    return most / 2 + chance % (most / 2 + 1);
}

static int64_t wait_after(struct kube_course *course, int64_t retry_after_ms, uint32_t chance)
{
    int64_t wait_ms = backoff(course, chance);
    return retry_after_ms > wait_ms ? retry_after_ms : wait_ms;
}

static bool is_too_new(const struct kube_status *status)
{
    return status->code == 504 && kube_status_has_cause(status, "ResourceVersionTooLarge");
}

static bool may_pass(int code)
{
    return code == 429 || code >= 500;
}

// The server is behind what was seen: it may catch up, or was put back to an older state.
static enum kube_step after_too_new(struct kube_course *course, enum kube_step step, int64_t *out_wait_ms)
{
    *out_wait_ms = course->too_new_wait_ms;
    if (++course->too_new < TOO_NEW_MAX)
        return step == KUBE_STEP_LIST ? KUBE_STEP_LIST : KUBE_STEP_PROBE;
    course->too_new = 0;
    *out_wait_ms = 0;
    return KUBE_STEP_LIST_FRESH;
}

// A failure with a code, of an answer or of an ERROR event.
static enum kube_step after_code(struct kube_course *course, const struct kube_end *end,
                                 const struct kube_status *status, uint32_t chance, int64_t *out_wait_ms,
                                 enum kube_verdict *out_verdict)
{
    bool is_list = end->step == KUBE_STEP_LIST || end->step == KUBE_STEP_LIST_FRESH;
    if (is_too_new(status)) {
        *out_verdict = KUBE_VERDICT_TOO_NEW;
        return after_too_new(course, end->step, out_wait_ms);
    }
    *out_wait_ms = wait_after(course, end->answer->retry_after_ms, chance);
    if (status->code == 410) {
        *out_verdict = KUBE_VERDICT_EXPIRED;
        *out_wait_ms = course->failures > 1 ? *out_wait_ms : 0; // the first is taken as it comes
        return KUBE_STEP_LIST;
    }
    if (is_list && (status->code == 400 || status->code == 422))
        return KUBE_STEP_LIST_FRESH; // a server that does not know the match rule
    if (end->step == KUBE_STEP_PROBE && (status->code == 400 || status->code == 422))
        return KUBE_STEP_WATCH;
    if (is_list || status->code == 401)
        return end->step;
    return may_pass(status->code) ? KUBE_STEP_PROBE : KUBE_STEP_LIST;
}

// A watch that ended, well or cut.
static enum kube_step after_watch(struct kube_course *course, const struct kube_end *end, uint32_t chance,
                                  int64_t *out_wait_ms, enum kube_verdict *out_verdict)
{
    bool is_whole = end->answer->outcome == KUBE_ANSWERED;
    *out_verdict = is_whole && !end->was_silent ? KUBE_VERDICT_GOOD : KUBE_VERDICT_CUT;
    if (end->had_lines || (is_whole && end->lasted_ms >= GOOD_MS)) {
        course->failures = 0;
        return is_whole ? KUBE_STEP_WATCH : KUBE_STEP_PROBE;
    }
    if (end->was_silent)
        return KUBE_STEP_WATCH; // it has just been asked
    *out_verdict = KUBE_VERDICT_FAILED;
    *out_wait_ms = backoff(course, chance);
    return KUBE_STEP_PROBE;
}

enum kube_step kube_next_step(struct kube_course *course, const struct kube_end *end, uint32_t chance,
                              int64_t *out_wait_ms, enum kube_verdict *out_verdict)
{
    const struct kube_answer *answer = end->answer;
    bool is_answered = answer->outcome == KUBE_ANSWERED;
    *out_wait_ms = 0;
    *out_verdict = KUBE_VERDICT_FAILED;
    if (is_answered && answer->status.code != 200)
        return after_code(course, end, &answer->status, chance, out_wait_ms, out_verdict);
    if (end->error)
        return after_code(course, end, end->error, chance, out_wait_ms, out_verdict);
    if (end->step == KUBE_STEP_WATCH && (is_answered || end->had_lines || end->was_silent))
        return after_watch(course, end, chance, out_wait_ms, out_verdict);
    if (is_answered) {
        *out_verdict = KUBE_VERDICT_GOOD;
        course->too_new = 0;
        return KUBE_STEP_WATCH;
    }
    *out_wait_ms = backoff(course, chance);
    return end->step == KUBE_STEP_WATCH ? KUBE_STEP_PROBE : end->step;
}
