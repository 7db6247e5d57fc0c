#include "api/policies/compliance.h"

#include "api/http/request.h"
#include "api/policies/policy_evaluate.h"
#include "api/policies/policy_place.h"
#include "base/arena.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

// A chain read and merged: what holds there.
static int open_effective(struct db_conn *conn, enum policy_kind kind, const struct scope_path *path,
                          struct arena *arena, struct policy_effective *out, struct error *err)
{
    struct policy_chain chain;
    if (policy_chain_read(conn, kind, path, arena, &chain, err) < 0)
        return -1;
    policy_effective_make(kind, chain.layers, chain.count, out);
    policy_chain_done(&chain);
    return 0;
}

static void comply_distributed(const struct policy_effective *effective, const struct policy_subject *subject,
                               struct arena *arena, json_t *issues)
{
    enum policy_kind kind = subject->kind;
    policy_fill(kind, POLICY_PART_WORKER, effective, subject->spec);
    policy_check(kind, POLICY_PART_WORKER, effective, subject->spec, arena, issues);
    if (subject->is_master_same)
        policy_check(kind, POLICY_PART_MASTER, effective, subject->spec, arena, issues);
    if (!subject->master)
        return;
    policy_fill(kind, POLICY_PART_MASTER, effective, subject->master);
    json_t *image = json_object_get(subject->spec, "image");
    if (image && !json_object_get(subject->master, "image")) // as the specification is read
        json_object_set(subject->master, "image", image);
    policy_check(kind, POLICY_PART_MASTER, effective, subject->master, arena, issues);
}

int policy_comply(struct db_conn *conn, const struct scope_path *path, const struct policy_subject *subject,
                  struct arena *arena, json_t **out_issues, struct error *err)
{
    struct policy_effective effective;
    if (open_effective(conn, subject->kind, path, arena, &effective, err) < 0)
        return -1;
    json_t *issues = json_array();
    if (subject->kind == POLICY_KIND_DISTRIBUTED) {
        comply_distributed(&effective, subject, arena, issues);
    } else {
        policy_fill(subject->kind, POLICY_PART_WHOLE, &effective, subject->spec);
        policy_check(subject->kind, POLICY_PART_WHOLE, &effective, subject->spec, arena, issues);
    }
    policy_effective_done(&effective);
    *out_issues = issues;
    return 0;
}

// The member of the body that a field of an issue is in; *out_field is what follows.
static const char *member_of(const char *field, const char **out_field)
{
    bool is_master = strncmp(field, "master.", 7) == 0;
    *out_field = field + (is_master || strncmp(field, "worker.", 7) == 0 ? 7 : 0);
    return is_master ? "masterSpec" : "spec";
}

int policy_refuse(struct request *req, const json_t *issues, struct error *err)
{
    const json_t *first = json_array_get(issues, 0);
    const char *field, *member = member_of(json_string_value(json_object_get(first, "field")), &field);
    char *text = json_dumps(issues, JSON_COMPACT);
    size_t more = json_array_size(issues) - 1;
    req->compliance_json = arena_strdup(req->arena, text);
    free(text);
    error_set(err, ERROR_INVALID, "%s.%s: %s (rule %s)", member, field,
              json_string_value(json_object_get(first, "details")), json_string_value(json_object_get(first, "rule")));
    return more ? error_details(err, "%zu more rule%s broken: complianceIssues names them", more,
                                more == 1 ? " is" : "s are")
                : -1;
}

int policy_standard_open(struct db_conn *conn, const struct scope_path *path, enum policy_kind kind,
                         struct arena *arena, struct policy_standard *out, struct error *err)
{
    *out = (struct policy_standard){.kind = kind};
    return open_effective(conn, kind, path, arena, &out->effective, err);
}

void policy_standard_done(struct policy_standard *standard)
{
    policy_effective_done(&standard->effective);
}

void policy_standard_check(const struct policy_standard *standard, bool is_master, const json_t *piece,
                           struct arena *arena, json_t *issues)
{
    enum policy_part part = standard->kind != POLICY_KIND_DISTRIBUTED ? POLICY_PART_WHOLE
                            : is_master                               ? POLICY_PART_MASTER
                                                                      : POLICY_PART_WORKER;
    policy_check(standard->kind, part, &standard->effective, piece, arena, issues);
    for (size_t i = json_array_size(issues); i-- > 0;) {
        const char *rule = json_string_value(json_object_get(json_array_get(issues, i), "rule"));
        if (strcmp(rule, "required") == 0)
            json_array_remove(issues, i);
    }
}
