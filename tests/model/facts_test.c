// Every fact of the tables: whether a plan notices that it is another, and that a copy is whole and its own.
#include "model/facts.h"
#include "tests/support/check.h"

#include <string.h>

#define IS_PLAN true
#define IS_KEPT false
// Another value of the same kind, one that a plan can tell from the blank one.
#define CHANGE_NUMBER(member) member = 7;
#define CHANGE_FLAG(member) member = true;
#define CHANGE_TEXT(member) member = "text";
#define CHANGE_UUID(member) strcpy(member, "uuid");
#define CHANGE_REASON(member) strcpy(member, "reason");
#define CHANGE_PHASE(member) member = PHASE_COMPLETED;
#define CHANGE_WISH(member) member = DESIRED_DELETED;
#define CHANGE_STATUS(member) member = POD_STATUS_RUNNING;
#define SAME_NUMBER(a, b) ((a) == (b))
#define SAME_FLAG(a, b) ((a) == (b))
#define SAME_TEXT(a, b) ((a) != (b) && !fact_text_differs(a, b))
#define SAME_UUID(a, b) (strcmp(a, b) == 0)
#define SAME_REASON(a, b) (strcmp(a, b) == 0)
#define SAME_PHASE(a, b) ((a) == (b))
#define SAME_WISH(a, b) ((a) == (b))
#define SAME_STATUS(a, b) ((a) == (b))

// One fact after the other is changed; all of them are, in the end.
#define CHECK(of, kind, member, plan)                                                                         \
    do {                                                                                                      \
        struct of##_facts one = {0};                                                                          \
        CHANGE_##kind(one.member);                                                                            \
        check_int(of##_facts_differ(&blank, &one), IS_##plan, #of ": a plan depends on " #member);            \
        CHANGE_##kind(all.member);                                                                            \
        of##_facts_copy(&copy, &all);                                                                         \
        check_true(SAME_##kind(all.member, copy.member), #of ": %s is copied, texts to a place of their own", \
                   #member);                                                                                  \
    } while (0);

static void check_workload(void)
{
    struct workload_facts blank = {0};
    struct workload_facts all = {0}, copy = {0};
#define WORKLOAD_FACT(kind, member, column, plan) CHECK(workload, kind, member, plan)
#include "model/workload_facts.def"
#undef WORKLOAD_FACT
    check_true(!workload_facts_differ(&all, &copy), "a copy is the same to a plan");
    workload_facts_done(&copy);
}

static void check_pod(void)
{
    struct pod_facts blank = {0};
    struct pod_facts all = {0}, copy = {0};
#define POD_FACT(kind, member, column, plan) CHECK(pod, kind, member, plan)
#include "model/pod_facts.def"
#undef POD_FACT
    check_true(!pod_facts_differ(&all, &copy), "a copy is the same to a plan");
    pod_facts_done(&copy);
}

int main(void)
{
    check_workload();
    check_pod();
    return check_finish();
}
