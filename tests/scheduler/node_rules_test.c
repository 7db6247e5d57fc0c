// Which nodes may take a pod: a pod beside one node that has room, and whether it starts there.
#include "base/arena.h"
#include "base/error.h"
#include "form/snapshot_reader.h"
#include "scheduler/scheduler.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

#define AFFINITY(key, operator, values)                                                                 \
    "\"nodeAffinity\":[{\"matchExpressions\":[{\"key\":\"" key "\",\"operator\":\"" operator"\"" values \
                                                                                            "}]}],\"gpuDevices\":1"
#define ONE_OF(text) ",\"values\":[" text "]"
#define TOLERATES(text) "\"gpuDevices\":1,\"tolerations\":[{" text "}]"
#define TAINT "\"taints\":[{\"key\":\"team\",\"value\":\"blue\"}]"
#define LABELS "\"labels\":{\"rack\":\"r1\",\"generation\":\"7\",\"colour\":\"blue\"}"
#define MIXED "\"gpus\":0,\"migStrategy\":\"mixed\",\"migInstances\":{\"nvidia.com/mig-1g.10gb\":1}"
#define ASKS_MIG "\"migInstances\":{\"nvidia.com/mig-1g.10gb\":1}"

static const struct {
    const char *name;
    const char *node, *pod;
    bool starts;
} CASES[] = {
    {"nothing asked", LABELS, "\"gpuDevices\":1", true},
    {"not ready", "\"ready\":false", "\"gpuDevices\":1", false},
    {"cordoned", "\"cordoned\":true", "\"gpuDevices\":1", false},
    {"selector: one of its values", LABELS, "\"nodeSelector\":{\"rack\":[\"r0\",\"r1\"]},\"gpuDevices\":1", true},
    {"selector: none of them", LABELS, "\"nodeSelector\":{\"rack\":[\"r0\"]},\"gpuDevices\":1", false},
    {"selector: every key", LABELS, "\"nodeSelector\":{\"rack\":[\"r1\"],\"zone\":[\"z\"]},\"gpuDevices\":1", false},
    {"In", LABELS, AFFINITY("rack", "In", ONE_OF("\"r0\",\"r1\"")), true},
    {"not In", LABELS, AFFINITY("rack", "In", ONE_OF("\"r0\"")), false},
    {"In without the label", LABELS, AFFINITY("zone", "In", ONE_OF("\"r0\"")), false},
    {"NotIn", LABELS, AFFINITY("rack", "NotIn", ONE_OF("\"r0\"")), true},
    {"NotIn, but it is", LABELS, AFFINITY("rack", "NotIn", ONE_OF("\"r1\"")), false},
    {"NotIn without the label", LABELS, AFFINITY("zone", "NotIn", ONE_OF("\"r1\"")), true},
    {"Exists", LABELS, AFFINITY("rack", "Exists", ""), true},
    {"Exists without the label", LABELS, AFFINITY("zone", "Exists", ""), false},
    {"DoesNotExist", LABELS, AFFINITY("zone", "DoesNotExist", ""), true},
    {"DoesNotExist, but it does", LABELS, AFFINITY("rack", "DoesNotExist", ""), false},
    {"Gt", LABELS, AFFINITY("generation", "Gt", ONE_OF("\"6\"")), true},
    {"Gt, but equal", LABELS, AFFINITY("generation", "Gt", ONE_OF("\"7\"")), false},
    {"Gt of a negative number", LABELS, AFFINITY("generation", "Gt", ONE_OF("\"-1\"")), true},
    {"Gt of what is no number", LABELS, AFFINITY("colour", "Gt", ONE_OF("\"6\"")), false},
    {"Gt without the label", LABELS, AFFINITY("zone", "Gt", ONE_OF("\"6\"")), false},
    {"Lt", LABELS, AFFINITY("generation", "Lt", ONE_OF("\"8\"")), true},
    {"Lt, but equal", LABELS, AFFINITY("generation", "Lt", ONE_OF("\"7\"")), false},
    {"Lt of an empty label", "\"labels\":{\"generation\":\"\"}", AFFINITY("generation", "Lt", ONE_OF("\"7\"")), false},
    {"Gt of a number that is too long", "\"labels\":{\"generation\":\"99999999999999999999\"}",
     AFFINITY("generation", "Gt", ONE_OF("\"7\"")), false},
    {"the second term holds", LABELS,
     "\"nodeAffinity\":[{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"Exists\"}]},"
     "{\"matchExpressions\":[{\"key\":\"rack\",\"operator\":\"Exists\"}]}],\"gpuDevices\":1",
     true},
    {"a term holds with all its expressions", LABELS,
     "\"nodeAffinity\":[{\"matchExpressions\":[{\"key\":\"rack\",\"operator\":\"Exists\"},"
     "{\"key\":\"zone\",\"operator\":\"Exists\"}]}],\"gpuDevices\":1",
     false},
    {"a taint", TAINT, "\"gpuDevices\":1", false},
    {"a taint that is a preference", "\"taints\":[{\"key\":\"team\",\"effect\":\"PreferNoSchedule\"}]",
     "\"gpuDevices\":1", true},
    {"tolerated by value", TAINT, TOLERATES("\"key\":\"team\",\"value\":\"blue\""), true},
    {"another value", TAINT, TOLERATES("\"key\":\"team\",\"value\":\"red\""), false},
    {"no value", TAINT, TOLERATES("\"key\":\"team\""), false},
    {"another key", TAINT, TOLERATES("\"key\":\"crew\",\"value\":\"blue\""), false},
    {"any value", TAINT, TOLERATES("\"key\":\"team\",\"operator\":\"Exists\""), true},
    {"any taint", TAINT, TOLERATES("\"operator\":\"Exists\""), true},
    {"this effect", TAINT, TOLERATES("\"key\":\"team\",\"operator\":\"Exists\",\"effect\":\"NoSchedule\""), true},
    {"another effect", TAINT, TOLERATES("\"key\":\"team\",\"operator\":\"Exists\",\"effect\":\"NoExecute\""), false},
    {"a second taint", "\"taints\":[{\"key\":\"team\"},{\"key\":\"night\"}]", TOLERATES("\"key\":\"team\""), false},
    {"MIG on a mixed node", MIXED, ASKS_MIG, true},
    {"a whole device on a mixed node", "\"migStrategy\":\"mixed\"", "\"gpuDevices\":1", false},
    {"no GPU on a mixed node", MIXED, "\"cpuCores\":1", true},
    {"MIG on an ordinary node", "\"migStrategy\":\"none\"", ASKS_MIG, false},
    {"a whole device on a single-strategy node", "\"migStrategy\":\"single\"", "\"gpuDevices\":1", true},
    {"a part of one on a single-strategy node", "\"migStrategy\":\"single\"", "\"gpuPortion\":0.5", false},
    {"MIG on a single-strategy node", "\"migStrategy\":\"single\"", ASKS_MIG, false},
    {"a part of a device of unknown memory", "\"gpuMemoryMib\":0", "\"gpuPortion\":0.5", false},
    {"a whole one of unknown memory", "\"gpuMemoryMib\":0", "\"gpuDevices\":1", true},
    {"more memory than a device has", LABELS, "\"gpuMemoryMib\":9000", false},
    {"all that a device has", LABELS, "\"gpuMemoryMib\":8000", true},
};

static const char SNAPSHOT[] =
    "{\"version\":1,\"now\":\"2026-01-01T12:00:00Z\",\"nodePools\":[{\"name\":\"default\"}],"
    "\"departments\":[{\"name\":\"d\"}],\"projects\":[{\"name\":\"p\",\"department\":\"d\"}],"
    "\"nodes\":[{\"name\":\"n\",\"nodePool\":\"default\",\"cpuCores\":8,%s%s%s}],"
    "\"workloads\":[{\"name\":\"w\",\"project\":\"p\",\"pods\":[{\"name\":\"w-0\",%s}]}]}";

int main(void)
{
    for (size_t i = 0; i < COUNT(CASES); i++) {
        char text[2048];
        struct arena arena;
        struct error err = {0};
        struct snapshot *snapshot;
        struct plan *plan;
        bool says_gpus = strstr(CASES[i].node, "\"gpus\"") != NULL;
        bool says_memory = strstr(CASES[i].node, "gpuMemoryMib") != NULL;
        arena_init(&arena);
        snprintf(text, sizeof(text), SNAPSHOT, says_gpus ? "" : "\"gpus\":1,",
                 says_memory ? "" : "\"gpuMemoryMib\":8000,", CASES[i].node, CASES[i].pod);
        bool planned = snapshot_read(text, strlen(text), &arena, &snapshot, &err) == 0 &&
                       scheduler_plan(snapshot, &arena, &plan, &err) == 0;
        check_text(err.message, "", "%s: reads and plans", CASES[i].name);
        if (planned)
            check_true((plan->pods[0].status == SNAPSHOT_POD_BINDING) == CASES[i].starts, "%s", CASES[i].name);
        arena_done(&arena);
    }
    return check_finish();
}
