#include "model/facts.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

void fact_set_text(const char **text, const char *value)
{
    if (*text && value && strcmp(*text, value) == 0)
        return;
    free((void *)*text);
    *text = value ? memory_strdup(value) : NULL;
}

bool fact_text_differs(const char *a, const char *b)
{
    return (a == NULL) != (b == NULL) || (a && strcmp(a, b) != 0);
}

#define DIFFER_NUMBER(a, b) ((a) != (b))
#define DIFFER_FLAG(a, b) ((a) != (b))
#define DIFFER_TEXT(a, b) fact_text_differs(a, b)
#define DIFFER_PHASE(a, b) (phase_is_final(a) != phase_is_final(b)) // a plan knows no more of it
#define DIFFER_WISH(a, b) ((a) != (b))
#define DIFFER_STATUS(a, b) ((a) != (b))
#define COMPARE_PLAN(kind, a, b) \
    if (DIFFER_##kind(a, b))     \
        return true;
#define COMPARE_KEPT(kind, a, b)

#define COPY_NUMBER(to, from) to = from;
#define COPY_FLAG(to, from) to = from;
#define COPY_TEXT(to, from) fact_set_text(&to, from);
#define COPY_UUID(to, from) memcpy(to, from, UUID_SIZE);
#define COPY_REASON(to, from) memcpy(to, from, FACT_REASON_SIZE);
#define COPY_PHASE(to, from) to = from;
#define COPY_WISH(to, from) to = from;
#define COPY_STATUS(to, from) to = from;

#define FREE_NUMBER(member)
#define FREE_FLAG(member)
#define FREE_TEXT(member) free((void *)member);
#define FREE_UUID(member)
#define FREE_REASON(member)
#define FREE_PHASE(member)
#define FREE_WISH(member)
#define FREE_STATUS(member)

bool workload_facts_differ(const struct workload_facts *a, const struct workload_facts *b)
{
#define WORKLOAD_FACT(kind, member, column, plan) COMPARE_##plan(kind, a->member, b->member)
#include "model/workload_facts.def"
#undef WORKLOAD_FACT
    return false;
}

bool pod_facts_differ(const struct pod_facts *a, const struct pod_facts *b)
{
#define POD_FACT(kind, member, column, plan) COMPARE_##plan(kind, a->member, b->member)
#include "model/pod_facts.def"
#undef POD_FACT
    return false;
}

void workload_facts_copy(struct workload_facts *to, const struct workload_facts *from)
{
#define WORKLOAD_FACT(kind, member, column, plan) COPY_##kind(to->member, from->member)
#include "model/workload_facts.def"
#undef WORKLOAD_FACT
}

void pod_facts_copy(struct pod_facts *to, const struct pod_facts *from)
{
#define POD_FACT(kind, member, column, plan) COPY_##kind(to->member, from->member)
#include "model/pod_facts.def"
#undef POD_FACT
}

void workload_facts_done(struct workload_facts *facts)
{
#define WORKLOAD_FACT(kind, member, column, plan) FREE_##kind(facts->member)
#include "model/workload_facts.def"
#undef WORKLOAD_FACT
}

void pod_facts_done(struct pod_facts *facts)
{
#define POD_FACT(kind, member, column, plan) FREE_##kind(facts->member)
#include "model/pod_facts.def"
#undef POD_FACT
}
