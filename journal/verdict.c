#include "journal/verdict.h"

#include "journal/reader.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static json_t *without_words(json_t *decision)
{
    json_t *copy = json_copy(decision);
    json_object_del(copy, "why");
    return copy;
}

static bool is_equal(json_t *a, json_t *b, bool with_words)
{
    if (with_words || !json_is_object(a) || !json_is_object(b))
        return json_equal(a, b);
    json_t *left = without_words(a), *right = without_words(b);
    bool is_same = json_equal(left, right);
    json_decref(left);
    json_decref(right);
    return is_same;
}

// The first decision that differs; SIZE_MAX: none.
static size_t first_difference(json_t *a, json_t *b, bool with_words)
{
    const size_t counts[] = {json_array_size(a), json_array_size(b)};
    size_t most = counts[0] > counts[1] ? counts[0] : counts[1];
    for (size_t i = 0; i < most; i++)
        if (i >= counts[0] || i >= counts[1] || !is_equal(json_array_get(a, i), json_array_get(b, i), with_words))
            return i;
    return SIZE_MAX;
}

static void set_digests(struct verdict *verdict, const struct recorded_cycle *recorded, const struct plan *plan)
{
    if (recorded->digests.decided[0] != '\0')
        digest_plan(recorded->snapshot, plan, &verdict->digests);
    else
        digest_plan_whole(recorded->snapshot, plan, verdict->whole_digest);
}

static void set_alike(struct verdict *verdict, bool has_other_whole)
{
    verdict->kind = VERDICT_ALIKE;
    verdict->word = "decided alike, in other words";
    verdict->sentence = "Decided alike, in other words.";
    if (!has_other_whole)
        return;
    verdict->word =
        "decided alike, in other words or figures beside the decisions (its release kept one digest of both)";
    verdict->sentence = "Decided alike. Beside the decisions, words or figures are not equal; the release that "
                        "recorded the cycle kept one digest of both.";
}

static void set_different(struct verdict *verdict)
{
    verdict->kind = VERDICT_DIFFERENT;
    verdict->word = "different";
    verdict->sentence =
        verdict->decision == SIZE_MAX
            ? "The decisions are equal; what else the plan says of pods, workloads, queues or nodes is not."
            : "From this decision on they are not equal.";
}

struct verdict verdict_of(const struct recorded_cycle *recorded, const struct plan *plan, const char *decisions)
{
    struct verdict verdict = {.kind = VERDICT_EQUAL, .word = "equal", .decision = SIZE_MAX};
    set_digests(&verdict, recorded, plan);
    bool is_decided_alike = strcmp(verdict.digests.decided, recorded->digests.decided) == 0;
    if (is_decided_alike && strcmp(verdict.digests.words, recorded->digests.words) == 0 &&
        strcmp(verdict.whole_digest, recorded->whole_digest) == 0 && strcmp(decisions, recorded->decisions) == 0)
        return verdict;
    json_t *before = json_loads(recorded->decisions, 0, NULL), *now = json_loads(decisions, 0, NULL);
    verdict.decision = first_difference(before, now, false);
    if (is_decided_alike && verdict.decision == SIZE_MAX) {
        verdict.decision = first_difference(before, now, true);
        set_alike(&verdict, strcmp(verdict.whole_digest, recorded->whole_digest) != 0);
    } else {
        set_different(&verdict);
    }
    json_decref(before);
    json_decref(now);
    return verdict;
}
