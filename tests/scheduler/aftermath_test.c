// What a plan leaves of a pod and of a workload, for a cluster that obeys at once and for one that is told.
#include "scheduler/aftermath.h"
#include "tests/support/check.h"

#define PENDING SNAPSHOT_POD_PENDING
#define PIPELINED SNAPSHOT_POD_PIPELINED
#define BINDING SNAPSHOT_POD_BINDING
#define RUNNING SNAPSHOT_POD_RUNNING
#define RELEASING SNAPSHOT_POD_RELEASING
#define GATED SNAPSHOT_POD_GATED

enum {
    OLD_NODE = 1,
    NEW_NODE = 2,
    NOW = 5000,
    LONG_AGO = 1000
};

static const struct {
    const char *name;
    enum snapshot_pod_status before, planned;
    bool is_evicted, is_deleting;
    enum snapshot_pod_status at_once, as_told;
    uint32_t node_at_once, node_as_told;
    size_t devices_at_once, devices_as_told;
} PODS[] = {
    {"waits on", PENDING, PENDING, false, false, PENDING, PENDING, SNAPSHOT_NONE, SNAPSHOT_NONE, 0, 0},
    {"is bound", PENDING, BINDING, false, false, RUNNING, BINDING, NEW_NODE, NEW_NODE, 2, 2},
    {"is promised a place", PENDING, PIPELINED, false, false, PIPELINED, PIPELINED, NEW_NODE, NEW_NODE, 0, 0},
    {"its promise is withdrawn", PIPELINED, PENDING, false, false, PENDING, PENDING, SNAPSHOT_NONE, SNAPSHOT_NONE, 0,
     0},
    {"its promise comes true", PIPELINED, BINDING, false, false, RUNNING, BINDING, NEW_NODE, NEW_NODE, 2, 2},
    {"is evicted", RUNNING, RELEASING, true, false, PENDING, RELEASING, SNAPSHOT_NONE, OLD_NODE, 0, 1},
    {"is moved", RUNNING, PIPELINED, true, false, PIPELINED, RELEASING, NEW_NODE, OLD_NODE, 0, 1},
    {"is being deleted", RELEASING, RELEASING, false, true, RELEASING, RELEASING, NEW_NODE, OLD_NODE, 2, 1},
    {"goes on", RUNNING, RUNNING, false, false, RUNNING, RUNNING, NEW_NODE, OLD_NODE, 2, 1},
    {"is gated", GATED, GATED, false, false, GATED, GATED, SNAPSHOT_NONE, OLD_NODE, 0, 1},
};

static void check_pods(void)
{
    static const char *const GROUPS[] = {"g"};
    static const uint32_t INDICES[] = {3, 4}, OLD_INDICES[] = {0};
    for (size_t i = 0; i < COUNT(PODS); i++) {
        const char *name = PODS[i].name;
        struct plan_pod planned = {
            .status = PODS[i].planned,
            .node = PODS[i].planned == PENDING ? SNAPSHOT_NONE : NEW_NODE,
            .devices = {
                .gpu_groups = GROUPS, .gpu_group_count = 1, .gpu_indices = INDICES, .gpu_index_count = COUNT(INDICES)}};
        struct snapshot_pod before = {.status = PODS[i].before,
                                      .node = OLD_NODE,
                                      .started_ms = LONG_AGO,
                                      .gpu_indices = OLD_INDICES,
                                      .gpu_index_count = COUNT(OLD_INDICES)};
        struct snapshot_pod pod = before;
        aftermath_at_once(&pod, &planned, PODS[i].is_deleting, NOW);
        check_int(pod.status, PODS[i].at_once, "%s, at once: status", name);
        check_int(pod.node, PODS[i].node_at_once, "%s, at once: node", name);
        check_int((int64_t)pod.gpu_index_count, (int64_t)PODS[i].devices_at_once, "%s, at once: devices", name);
        check_int(pod.started_ms,
                  PODS[i].planned == BINDING ? NOW
                  : aftermath_waits(&pod)    ? SNAPSHOT_TIME_NONE
                                             : LONG_AGO,
                  "%s, at once: when it started", name);
        pod = before;
        aftermath_as_told(&pod, &planned, PODS[i].is_evicted);
        check_int(pod.status, PODS[i].as_told, "%s, as told: status", name);
        check_int(pod.node, PODS[i].node_as_told, "%s, as told: node", name);
        check_int((int64_t)pod.gpu_index_count, (int64_t)PODS[i].devices_as_told, "%s, as told: devices", name);
    }
}

static void check_workloads(void)
{
    struct snapshot_workload workload = {.stale_ms = SNAPSHOT_TIME_NONE, .promise = SNAPSHOT_PROMISE_NONE};
    aftermath_of_workload(&workload, &(struct plan_workload){.promise = 7, .is_stale = true, .was_displaced = true},
                          NOW);
    check_int(workload.promise, 7, "the promise is remembered");
    check_int(workload.stale_ms, 0, "stale since this cycle");
    check_int(workload.displaced_count, 1, "displaced once");
    check_int(workload.displaced_ms, NOW, "displaced now");
    workload.stale_ms = 2000;
    aftermath_of_workload(&workload, &(struct plan_workload){.promise = SNAPSHOT_PROMISE_NONE, .is_stale = true},
                          NOW + 1);
    check_int(workload.stale_ms, 2000, "stale as long as before");
    check_int(workload.promise, SNAPSHOT_PROMISE_NONE, "the promise is gone");
    check_int(workload.displaced_count, 1, "not displaced again");
    aftermath_of_workload(&workload, &(struct plan_workload){.promise = SNAPSHOT_PROMISE_NONE}, NOW + 2);
    check_int(workload.stale_ms, SNAPSHOT_TIME_NONE, "stale no more");
}

int main(void)
{
    check_pods();
    check_workloads();
    return check_finish();
}
