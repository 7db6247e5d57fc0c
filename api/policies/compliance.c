#include "api/policies/compliance.h"

#include "api/policies/policy_evaluate.h"
#include "api/policies/policy_place.h"

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
