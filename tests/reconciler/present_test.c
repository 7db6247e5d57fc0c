// What others are asked about is the cluster as the next cycle sees it: pods that were promised a place stand at it.
#include "base/error.h"
#include "base/places.h"
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
    check_int(present_open(live->reconciler, &(struct place_claim){.holder = "a", .socket = -1}, &present, &err), 0,
              "present: %s", err.message);
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

// In this order, each while those before still ask.
static const struct asker_case {
    const char *name, *holder;
    bool is_administrator;
    const char *message; // "": they may ask
} ASKERS[] = {
    {"one", "ann", false, ""},
    {"the same again", "ann", false, ""},
    {"and again", "ann", false, ""},
    {"half is one account's", "ann", false, ""},
    {"no more than that", "ann", false, "questions: you hold 4, all that one account may have of 8"},
    {"another", "bob", false, ""},
    {"the same again", "bob", false, ""},
    {"the last ones are kept", "bob", false, "questions: all 8 places are taken"},
    {"for administrators", "root", true, ""},
    {"both of them", "root", true, ""},
    {"none is left", "root", true, "questions: all 8 places are taken"},
};

static void check_askers(void)
{
    struct live live = {0};
    static struct present presents[COUNT(ASKERS)];
    live_open(&live, 1, 2);
    live_run(&live);
    for (size_t i = 0; i < COUNT(ASKERS); i++) {
        const struct asker_case *row = &ASKERS[i];
        struct place_claim claim = {.holder = row->holder, .is_administrator = row->is_administrator, .socket = -1};
        struct error err = {0};
        int rc = present_open(live.reconciler, &claim, &presents[i], &err);
        check_int(rc, row->message[0] ? -1 : 0, "%s", row->name);
        check_text(err.message, row->message, "%s", row->name);
    }
    for (size_t i = 0; i < COUNT(ASKERS); i++)
        if (!ASKERS[i].message[0])
            present_close(&presents[i]);
    live_close(&live);
}

int main(void)
{
    check_askers();
    check_scene("whole GPUs", &(struct live_spec){.name = "winner", .project = "team-b", .gpus = 2});
    check_scene("parts",
                &(struct live_spec){.name = "winner", .project = "team-b", .portion_milli = 500, .parallelism = 2});
    check_scene("a gang", &(struct live_spec){.name = "winner", .project = "team-b", .workers = 2, .min_pods = 2});
    return check_finish();
}
