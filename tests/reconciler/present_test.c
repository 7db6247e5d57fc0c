// What others are asked about is the cluster as the next cycle sees it: pods that were promised a place stand at it.
#include "base/error.h"
#include "reconciler/questions.h"
#include "tests/support/check.h"
#include "tests/support/live.h"

#include <string.h>

struct seen_pod {
    const char *name;
    enum snapshot_pod_status status;
    uint32_t node;
    size_t group_count;
};

enum {
    PODS_MAX = 16
};

static bool waits(enum snapshot_pod_status status)
{
    return status == SNAPSHOT_POD_PENDING || status == SNAPSHOT_POD_PIPELINED;
}

static size_t read_present(struct live *live, struct seen_pod *pods)
{
    struct present present;
    struct error err = {0};
    size_t count = 0;
    check_int(present_open(live->reconciler, &present, &err), 0, "present: %s", err.message);
    for (; count < present.snapshot.pod_count && count < PODS_MAX; count++) {
        const struct snapshot_pod *pod = &present.snapshot.pods[count];
        pods[count] =
            (struct seen_pod){arena_strdup(&live->arena, pod->name), pod->status, pod->node, pod->gpu_group_count};
    }
    present_close(&present);
    return count;
}

// Returns how many pods the next cycle finds promised.
static int compare_with_cycle(struct live *live, const struct seen_pod *pods, size_t count, const char *when)
{
    const struct reconciler_view *view = reconciler_acquire_view(live->reconciler);
    const struct snapshot *next = view->snapshot;
    int promised = 0;
    for (size_t i = 0; i < next->pod_count; i++)
        for (size_t k = 0; k < count; k++) {
            const struct snapshot_pod *pod = &next->pods[i];
            if (strcmp(pod->name, pods[k].name) != 0 || !waits(pod->status))
                continue;
            check_int(pods[k].status, pod->status, "%s: status of %s", when, pod->name);
            check_int(pods[k].node, pod->node, "%s: node of %s", when, pod->name);
            check_int((int64_t)pods[k].group_count, (int64_t)pod->gpu_group_count, "%s: groups of %s", when, pod->name);
            promised += pod->status == SNAPSHOT_POD_PIPELINED;
        }
    reconciler_release_view(live->reconciler, view);
    return promised;
}

static void check_scene(const char *what, const struct live_spec *winner)
{
    struct live live = {0};
    live_open(&live, 1, 2);
    live_add_project(&live, "team-a", 0);
    live_add_project(&live, "team-b", 2);
    live_submit(&live, &(struct live_spec){.name = "loser", .project = "team-a"});
    live_submit(&live, &(struct live_spec){.name = "other-loser", .project = "team-a"});
    live_run(&live);
    live_submit(&live, winner);
    int promised = 0;
    bool busy = true;
    struct seen_pod pods[PODS_MAX];
    for (int turn = 0; busy && turn < 100; turn++) {
        struct error err = {0};
        size_t count = read_present(&live, pods);
        check_int(reconciler_turn(live.reconciler, &busy, &err), 0, "%s: %s", what, err.message);
        promised += compare_with_cycle(&live, pods, count, what);
    }
    check_true(promised > 0, "%s: somebody is promised a place", what);
    live_close(&live);
}

int main(void)
{
    check_scene("whole GPUs", &(struct live_spec){.name = "winner", .project = "team-b", .gpus = 2});
    check_scene("parts",
                &(struct live_spec){.name = "winner", .project = "team-b", .portion_milli = 500, .parallelism = 2});
    check_scene("a gang", &(struct live_spec){.name = "winner", .project = "team-b", .workers = 2, .min_pods = 2});
    return check_finish();
}
