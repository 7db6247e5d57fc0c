#include "backends/kubernetes/client/kube_answer.h"

#include "base/error.h"
#include "base/json_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WAIT_FIRST_MS = 500,
    WAIT_MAX_MS = 15000
};

static void copy_at(const json_t *object, const char *key, char *out, size_t size)
{
    const char *text = json_string_value(json_object_get(object, key));
    snprintf(out, size, "%s", text ? text : "");
}

static void read_causes(const json_t *causes, struct kube_status *out)
{
    size_t i;
    json_t *cause;
    json_array_foreach(causes, i, cause) {
        if (out->cause_count == KUBE_CAUSES_MAX)
            return;
        struct kube_cause *next = &out->causes[out->cause_count++];
        copy_at(cause, "reason", next->reason, sizeof(next->reason));
        copy_at(cause, "field", next->field, sizeof(next->field));
        copy_at(cause, "message", next->message, sizeof(next->message));
    }
}

void kube_status_read(const json_t *object, struct kube_status *out_status)
{
    const json_t *details = json_object_get(object, "details");
    const json_t *code = json_object_get(object, "code");
    out_status->cause_count = 0;
    if (json_is_integer(code) && !out_status->code)
        out_status->code = (int)json_integer_value(code);
    copy_at(object, "reason", out_status->reason, sizeof(out_status->reason));
    copy_at(object, "message", out_status->message, sizeof(out_status->message));
    copy_at(details, "kind", out_status->kind, sizeof(out_status->kind));
    copy_at(details, "name", out_status->name, sizeof(out_status->name));
    read_causes(json_object_get(details, "causes"), out_status);
}

static void take_wait(const json_t *body, struct kube_answer *answer)
{
    const json_t *seconds = json_object_get(json_object_get(body, "details"), "retryAfterSeconds");
    if (json_is_integer(seconds) && json_integer_value(seconds) > 0 && answer->retry_after_ms < 0)
        answer->retry_after_ms = (json_integer_value(seconds) < 3600 ? json_integer_value(seconds) : 3600) * 1000;
}

void kube_answer_read(struct kube_answer *answer)
{
    struct error problem = {0};
    bool is_json = answer->is_json && answer->text;
    if (is_json && json_reader_parse(answer->text, answer->text_length, &answer->body, &problem) == 0) {
        free(answer->text);
        answer->text = NULL;
        answer->text_length = 0;
    } else if (is_json) {
        answer->outcome = kube_answer_is_good(answer) ? KUBE_BAD_ANSWER : answer->outcome;
        snprintf(answer->status.message, sizeof(answer->status.message), "no JSON: %s", problem.message);
    }
    if (kube_answer_is_good(answer) || answer->outcome == KUBE_BAD_ANSWER)
        return;
    if (json_is_object(answer->body)) {
        kube_status_read(answer->body, &answer->status);
        take_wait(answer->body, answer);
    } else if (answer->text && !*answer->status.message) {
        int line = (int)strcspn(answer->text, "\r\n");
        snprintf(answer->status.message, sizeof(answer->status.message), "%.*s", line < 200 ? line : 200, answer->text);
    }
}

void kube_warning_read(const char *value, size_t length, char out[KUBE_CAUSE_SIZE])
{
    const char *start = memchr(value, '"', length), *end = value + length;
    size_t count = 0;
    if (!start)
        return;
    for (start++; start < end && *start != '"' && count + 1 < KUBE_CAUSE_SIZE; start++) {
        if (*start == '\\' && start + 1 < end)
            start++;
        out[count++] = *start;
    }
    out[count] = '\0';
}

void kube_answer_done(struct kube_answer *answer)
{
    json_decref(answer->body);
    free(answer->text);
    answer->body = NULL;
    answer->text = NULL;
}

bool kube_answer_is_good(const struct kube_answer *answer)
{
    return answer->outcome == KUBE_ANSWERED && answer->status.code >= 200 && answer->status.code < 300;
}

bool kube_status_has_cause(const struct kube_status *status, const char *reason)
{
    for (int i = 0; i < status->cause_count; i++)
        if (strcmp(status->causes[i].reason, reason) == 0)
            return true;
    return false;
}

const char *kube_answer_text(const struct kube_answer *answer, char *out, size_t size)
{
    const struct kube_status *status = &answer->status;
    static const char *const WORDS[] = {
        [KUBE_ANSWERED] = "answered",
        [KUBE_NOT_SENT] = "cannot be reached",
        [KUBE_NO_ANSWER] = "gave no answer",
        [KUBE_BAD_ANSWER] = "gave an answer that cannot be read",
        [KUBE_NO_CREDENTIALS] = "no credentials",
        [KUBE_STOPPED] = "stopped",
    };
    if (answer->outcome == KUBE_ANSWERED)
        snprintf(out, size, "%d%s%s%s%s", status->code, *status->reason ? " " : "", status->reason,
                 *status->message ? ": " : "", status->message);
    else
        snprintf(out, size, "%s%s%s", WORDS[answer->outcome], *status->message ? ": " : "", status->message);
    return out;
}

bool kube_try_wants_credentials(const struct kube_try *attempt)
{
    bool is_refused = attempt->answer->outcome == KUBE_ANSWERED && attempt->answer->status.code == 401;
    return !attempt->is_renewed && (is_refused || attempt->answer->is_certificate_bad);
}

static bool may_pass(const struct kube_try *attempt)
{
    const struct kube_answer *answer = attempt->answer;
    int code = answer->status.code;
    if (answer->outcome == KUBE_NOT_SENT)
        return !answer->is_certificate_bad;
    if (answer->outcome == KUBE_NO_ANSWER)
        return attempt->is_repeatable;
    if (answer->outcome != KUBE_ANSWERED)
        return false;
    if (code == 429) // a budget does not pass by waiting a little
        return !kube_status_has_cause(&answer->status, "DisruptionBudget");
    return attempt->is_repeatable && (code == 500 || code == 502 || code == 503 || code == 504);
}

int64_t kube_try_again_after(const struct kube_try *attempt, uint32_t chance)
{
    int tries = attempt->answer->attempts;
    if (tries >= KUBE_TRIES_MAX)
        return -1;
    if (kube_try_wants_credentials(attempt))
        return 0;
    if (!may_pass(attempt))
        return -1;
    if (attempt->answer->retry_after_ms >= 0)
        return attempt->answer->retry_after_ms;
    int64_t most = (int64_t)WAIT_FIRST_MS << (tries > 1 ? tries - 1 : 0);
    return chance % ((most < WAIT_MAX_MS ? most : WAIT_MAX_MS) + 1);
}
