// A policy and a specification under it: one byte for the kind, then two JSON texts with a line break between them. No
// input may crash or leak; a policy that was taken is taken again unchanged, and filling twice is filling once.
#include "api/http/validate.h"
#include "api/policies/policy_evaluate.h"
#include "api/policies/policy_read.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_reader.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_issues(const json_t *issues)
{
    static const char *const MEMBERS[] = {"field", "details", "rule"};
    for (size_t i = 0; i < json_array_size(issues); i++)
        for (size_t j = 0; j < sizeof(MEMBERS) / sizeof(MEMBERS[0]); j++)
            assert(json_string_value(json_object_get(json_array_get(issues, i), MEMBERS[j])));
}

static void check_part(enum policy_kind kind, enum policy_part part, const struct policy_effective *effective,
                       const json_t *given, struct arena *arena)
{
    json_t *spec = json_deep_copy(given), *issues = json_array();
    policy_fill(kind, part, effective, spec);
    json_t *again = json_deep_copy(spec);
    policy_fill(kind, part, effective, again);
    assert(json_equal(spec, again));
    policy_check(kind, part, effective, spec, arena, issues);
    check_issues(issues);
    json_decref(spec);
    json_decref(again);
    json_decref(issues);
}

static void evaluate(enum policy_kind kind, json_t *policy, const json_t *spec, struct arena *arena)
{
    struct policy_effective effective;
    json_t *source = json_pack("{s:s}", "scope", "tenant");
    const struct policy_layer layers[] = {{.policy = policy, .source = source, .updated_ms = 1},
                                          {.policy = policy, .source = source, .updated_ms = 2}};
    policy_effective_make(kind, layers, 2, &effective);
    assert(effective.updated_ms == 2);
    check_part(kind, kind == POLICY_KIND_DISTRIBUTED ? POLICY_PART_WORKER : POLICY_PART_WHOLE, &effective, spec, arena);
    if (kind == POLICY_KIND_DISTRIBUTED)
        check_part(kind, POLICY_PART_MASTER, &effective, spec, arena);
    policy_effective_done(&effective);
    json_decref(source);
}

static void check_policy(enum policy_kind kind, json_t *policy, const json_t *spec, struct arena *arena)
{
    struct error err = {0};
    if (validate_body(policy_kind_schema(kind), policy, &err) < 0 || policy_read(kind, policy, arena, &err) < 0) {
        assert(err.code == ERROR_INVALID && err.message[0]);
        return;
    }
    json_t *again = json_deep_copy(policy);
    int rc = policy_read(kind, again, arena, &err);
    assert(rc == 0 && json_equal(policy, again));
    json_decref(again);
    if (json_is_object(spec))
        evaluate(kind, policy, spec, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data + 1;
    const char *line = size > 1 ? memchr(text, '\n', size - 1) : NULL;
    json_t *policy = NULL, *spec = NULL;
    struct arena arena;
    if (!line)
        return 0;
    arena_init(&arena);
    if (json_reader_parse(text, (size_t)(line - text), &policy, NULL) == 0 &&
        json_reader_parse(line + 1, size - 2 - (size_t)(line - text), &spec, NULL) == 0 && json_is_object(policy))
        check_policy((enum policy_kind)(data[0] % POLICY_KIND_COUNT), policy, spec, &arena);
    arena_done(&arena);
    json_decref(policy);
    json_decref(spec);
    return 0;
}
