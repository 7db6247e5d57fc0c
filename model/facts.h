// What the reconciler knows of a workload and of a pod: one line a column in workload_facts.def and pod_facts.def. From
// these tables come the structs, the SELECT lists and their reading (db/reconcile_read.c), the comparison and the copy,
// so that a column cannot be forgotten in one of them.
//
//   WORKLOAD_FACT(kind, member, "SQL expression", PLAN)   PLAN: a plan depends on it; else KEPT
//
// A TEXT belongs to whoever holds the facts: rows keep theirs in an arena, a copy has its own on the heap.
#pragma once
#include "base/uuid.h"
#include "model/phase.h"
#include "model/pod_status.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    FACT_REASON_SIZE = 64
};

#define FACT_MEMBER_NUMBER(member) int64_t member;
#define FACT_MEMBER_FLAG(member) bool member;
#define FACT_MEMBER_TEXT(member) const char *member;
#define FACT_MEMBER_UUID(member) char member[UUID_SIZE];
#define FACT_MEMBER_REASON(member) char member[FACT_REASON_SIZE];
#define FACT_MEMBER_PHASE(member) enum workload_phase member;
#define FACT_MEMBER_WISH(member) enum desired_phase member;
#define FACT_MEMBER_STATUS(member) enum pod_status member;

struct workload_facts {
#define WORKLOAD_FACT(kind, member, column, plan) FACT_MEMBER_##kind(member)
#include "model/workload_facts.def"
#undef WORKLOAD_FACT
};

struct pod_facts {
#define POD_FACT(kind, member, column, plan) FACT_MEMBER_##kind(member)
#include "model/pod_facts.def"
#undef POD_FACT
};

// Whether they say something else of what a plan is made of.
bool workload_facts_differ(const struct workload_facts *a, const struct workload_facts *b);
bool pod_facts_differ(const struct pod_facts *a, const struct pod_facts *b);
// Takes all of them over. to is blank or was made so before.
void workload_facts_copy(struct workload_facts *to, const struct workload_facts *from);
void pod_facts_copy(struct pod_facts *to, const struct pod_facts *from);
// Frees what a copy owns.
void workload_facts_done(struct workload_facts *facts);
void pod_facts_done(struct pod_facts *facts);

// Replaces an owned text; NULL: none.
void fact_set_text(const char **text, const char *value);
bool fact_text_differs(const char *a, const char *b);
