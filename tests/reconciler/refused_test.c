// A plan that breaks an invariant, made by a planner that was spoiled: nothing of it is carried out, what was there
// stands, everybody can see it, and it is written down for whoever looks into it.
#include "base/buffer.h"
#include "base/error.h"
#include "form/snapshot_reader.h"
#include "journal/refused.h"
#include "scheduler/scheduler.h"
#include "tests/support/check.h"
#include "tests/support/live.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_spoiled;

// Binds what the good plan binds, all on device 0.
static int plan_spoiled(const struct snapshot *snapshot, struct arena *arena, struct plan **out_plan, struct error *err)
{
    static const uint32_t ZERO;
    if (scheduler_plan(snapshot, arena, out_plan, err) < 0)
        return -1;
    struct plan_pod *pods = (struct plan_pod *)(*out_plan)->pods;
    for (size_t i = 0; is_spoiled && i < snapshot->pod_count; i++)
        if (pods[i].status == SNAPSHOT_POD_BINDING)
            pods[i].devices.gpu_indices = &ZERO;
    return 0;
}

static size_t count_files(const char *folder, const char *end)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        const char *dot = strchr(entry->d_name, '.');
        count += dot && dot != entry->d_name && strcmp(dot, end) == 0;
    }
    if (directory)
        closedir(directory);
    return count;
}

static void check_health(struct live *live, const char *want, bool is_red)
{
    struct buffer text;
    buffer_init(&text, 0);
    buffer_text(&text, "");
    reconciler_write_health(live->reconciler, &text);
    check_true(strncmp(text.data, want, strlen(want)) == 0, "health: \"%s\" begins with \"%s\"", text.data, want);
    check_true(strstr(text.data, "late") == NULL, "and names nobody");
    buffer_clear(&text);
    reconciler_write_metrics(live->reconciler, &text);
    const char *metric = is_red ? "prorata_scheduler_plan_refused 1\n" : "prorata_scheduler_plan_refused 0\n";
    check_true(strstr(text.data, metric) != NULL, "the metric says so");
    buffer_done(&text);
}

static void test_refused_plan(void)
{
    struct live live = {0};
    char folder[96];
    live_open(&live, 1, 4);
    // Opened again, with the spoiled planner and a folder for what it makes.
    snprintf(folder, sizeof(folder), "%s/refused", live.folder);
    live.options.plan = plan_spoiled;
    live.options.refused_folder = folder;
    live_crash(&live);
    live_add_project(&live, "team-a", 4);
    is_spoiled = false;
    live_submit(&live, &(struct live_spec){.name = "early", .project = "team-a"});
    live_run(&live);
    check_text(live_phase(&live, "early"), "Running", "a good plan is carried out");
    check_health(&live, "", false);

    is_spoiled = true;
    live_submit(&live, &(struct live_spec){.name = "late", .project = "team-a"});
    live_run(&live);
    live_advance(&live, 30000);
    struct reconciler_stats stats;
    reconciler_get_stats(live.reconciler, &stats);
    check_true(stats.refused_plans >= 2, "it was refused, and tried again: %" PRId64, stats.refused_plans);
    check_true(strstr(stats.refused_cause, "is held already") != NULL, "the cause: %s", stats.refused_cause);
    check_int(live_number(&live, "SELECT count(*) FROM pods WHERE node_id > 0"), 1, "nothing of it is carried out");
    check_text(live_phase(&live, "early"), "Running", "the last good state stands");
    check_health(&live, "red: plans are refused since ", true);
    check_int((int64_t)count_files(folder, ".json"), 1, "one cause is written down once");
    check_int((int64_t)count_files(folder, ".plan.json"), 1, "with what the plan said");

    struct snapshot *snapshot;
    struct plan *plan;
    struct error err = {0};
    DIR *directory = opendir(folder);
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (!strstr(entry->d_name, ".json") || strstr(entry->d_name, ".plan"))
            continue;
        check_int(
            snapshot_read_file(arena_printf(&live.arena, "%s/%s", folder, entry->d_name), &live.arena, &snapshot, &err),
            0, "it can be read: %s", err.message);
        check_int(scheduler_plan(snapshot, &live.arena, &plan, &err), 0, "and planned again");
        check_int((int64_t)plan->decision_count, 1, "it is the cycle in question");
    }
    closedir(directory);

    is_spoiled = false;
    live_advance(&live, 11000);
    check_text(live_phase(&live, "late"), "Running", "a good plan is carried out again, without anybody's doing");
    check_health(&live, "", false);
    live.options.plan = NULL;
    live.options.refused_folder = NULL;
    live_close(&live);
}

static void test_bounded(void)
{
    struct live live = {0};
    struct error err = {0};
    live_open(&live, 1, 2);
    live_run(&live);
    const char *folder = arena_printf(&live.arena, "%s/refused", live.folder);
    const struct reconciler_view *view = reconciler_acquire_view(live.reconciler);
    for (int i = 0; i < REFUSED_KEPT + 5; i++) {
        struct snapshot later = *view->snapshot;
        later.now_ms += i;
        check_int(refused_keep(folder, &later, i % 2 ? view->plan : NULL, "a \"cause\"", &err), 0, "%s", err.message);
    }
    reconciler_release_view(live.reconciler, view);
    check_int((int64_t)count_files(folder, ".json"), REFUSED_KEPT, "the oldest go");
    check_int((int64_t)count_files(folder, ".plan.json"), REFUSED_KEPT, "with their plans");
    check_int(refused_keep("/nowhere/refused", view->snapshot, NULL, "", &err), -1, "no folder");
    live_close(&live);
}

int main(void)
{
    test_refused_plan();
    test_bounded();
    return check_finish();
}
