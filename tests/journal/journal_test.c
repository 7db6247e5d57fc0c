// What the journal keeps: each cycle of a live cluster, planned again from the file, gives the plan that was carried
// out.
#include "base/buffer.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/timestamp.h"
#include "form/plan_writer.h"
#include "journal/digest.h"
#include "journal/folder.h"
#include "journal/journal.h"
#include "journal/reader.h"
#include "journal/segment.h"
#include "scheduler/scheduler.h"
#include "tests/support/check.h"
#include "tests/support/live.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void open_live(struct live *live, int64_t bound)
{
    *live = (struct live){.has_journal = true, .journal_bound = bound};
    live_open(live, 3, 2);
    live_add_project(live, "team-a", 2);
    live_add_project(live, "team-b", 3);
}

static size_t list(struct live *live, struct journal_row **rows)
{
    size_t count = 0;
    struct error err = {0};
    journal_flush(live->journal);
    check_int(journal_list(live->journal_folder, 0, INT64_MAX, &live->arena, rows, &count, &err), 0, "list: %s",
              err.message);
    return count;
}

// Plans a cycle of the journal again and compares.
static void check_cycle(struct live *live, int64_t cycle, const char *when)
{
    struct arena arena;
    struct error err = {0};
    struct recorded_cycle recorded;
    struct plan *plan;
    struct plan_digests digests;
    arena_init(&arena);
    check_int(journal_find(live->journal_folder, cycle, 0, &arena, &recorded, &err), 0, "%s: cycle %" PRId64 ": %s",
              when, cycle, err.message);
    if (err.code == ERROR_NONE) {
        struct buffer text;
        struct json_writer json;
        buffer_init(&text, 0);
        json_writer_init(&json, &text, false);
        check_int(scheduler_plan(recorded.snapshot, &arena, &plan, &err), 0, "%s: it plans: %s", when, err.message);
        plan_write_decisions(&json, recorded.snapshot, plan);
        digest_plan(recorded.snapshot, plan, &digests);
        check_text(text.data, recorded.decisions, "%s: cycle %" PRId64 ": decisions", when, cycle);
        check_text(digests.decided, recorded.digests.decided, "%s: cycle %" PRId64 ": the rest of the plan", when,
                   cycle);
        check_text(digests.words, recorded.digests.words, "%s: cycle %" PRId64 ": its words", when, cycle);
        buffer_done(&text);
    }
    arena_done(&arena);
}

static size_t check_all(struct live *live, const char *when)
{
    struct journal_row *rows;
    size_t count = list(live, &rows);
    for (size_t i = 0; i < count; i++) {
        check_true(i == 0 || rows[i].cycle > rows[i - 1].cycle, "%s: numbers go up", when);
        check_cycle(live, rows[i].cycle, when);
    }
    return count;
}

static void submit_mixed(struct live *live, int number)
{
    static const char *const LIVES[] = {"[]", "[{\"name\":\"prorata.io/sim-duration\",\"value\":\"7s\"}]",
                                        "[{\"name\":\"prorata.io/sim-stop-duration\",\"value\":\"4s\"}]"};
    struct live_spec spec = {
        .name = arena_printf(&live->arena, "w%d", number),
        .project = number % 3 ? "team-a" : "team-b",
        .gpus = 1 + number % 2,
        .annotations = LIVES[number % 3],
        .priority = number % 4 ? 50 : 75,
        .non_preemptible = number % 5 == 0,
    };
    if (number % 6 == 1) {
        spec.workers = 3;
        spec.min_pods = number % 12 == 1 ? 1 : 0;
        spec.has_master = number % 12 == 1;
        spec.gpus = 1;
    }
    if (number % 7 == 2) {
        spec.portion_milli = 250;
        spec.gpus = 1;
    }
    live_submit(live, &spec);
}

static void test_every_cycle(void)
{
    struct live live;
    open_live(&live, 0);
    for (int i = 0; i < 24; i++) {
        submit_mixed(&live, i);
        live_advance(&live, 1500);
        if (i % 5 == 4)
            live_delete(&live, arena_printf(&live.arena, "w%d", i - 3));
        if (i == 9)
            live_add_node(&live, "node1", 2, false);
        if (i == 12)
            live_crash(&live);
        if (i == 14)
            live_add_pool(&live, "pool");
        if (i == 15)
            live_add_node(&live, "pool-a", 4, true);
        if (i == 16)
            live_submit(&live,
                        &(struct live_spec){
                            .name = "far", .project = "team-b", .gpus = 4, .node_pools = "[\"pool\",\"default\"]"});
        if (i == 18)
            live_add_node(&live, "node1", 2, true);
    }
    live_advance(&live, 30000);
    size_t count = check_all(&live, "a story");
    check_true(count > 40, "many cycles were kept: %zu", count);
    live_close(&live);
}

// The number goes on over a restart, and --at finds the cycle in force.
static void test_times_and_numbers(void)
{
    struct live live;
    struct journal_row *rows;
    struct recorded_cycle recorded;
    struct error err = {0};
    open_live(&live, 0);
    submit_mixed(&live, 1);
    live_advance(&live, 5000);
    size_t before = list(&live, &rows);
    int64_t last = rows[before - 1].cycle, last_ms = rows[before - 1].time_ms;
    live_crash(&live);
    submit_mixed(&live, 2);
    live_advance(&live, 5000);
    size_t after = list(&live, &rows);
    check_true(after > before, "cycles came after the restart");
    check_int(rows[before].cycle, last + 1, "numbers go on");
    check_int(journal_find(live.journal_folder, 0, last_ms + 1, &live.arena, &recorded, &err), 0, "%s", err.message);
    check_int(recorded.row.cycle, last, "the cycle in force at a time");
    check_int(journal_find(live.journal_folder, 0, INT64_MAX, &live.arena, &recorded, &err), 0, "%s", err.message);
    check_int(recorded.row.cycle, rows[after - 1].cycle, "the latest");
    check_int(journal_find(live.journal_folder, 0, rows[0].time_ms - 1, &live.arena, &recorded, &err), -1, "too early");
    check_int(err.code, ERROR_NOT_FOUND, "%s", err.message);
    check_int(journal_find(live.journal_folder, 999999, 0, &live.arena, &recorded, &err), -1, "no such number");
    check_int(journal_find("/nowhere", 1, 0, &live.arena, &recorded, &err), -1, "no such folder");
    check_text(err.message, "/nowhere: there is no journal", "its message");
    live_close(&live);
}

// What stands still costs next to nothing: a cycle that changes nothing takes a hundred bytes at most.
static void test_quiet_cycles_are_small(void)
{
    struct live live;
    struct journal_stats before, after;
    open_live(&live, 0);
    for (int i = 0; i < 200; i++)
        live_submit(&live, &(struct live_spec){.name = arena_printf(&live.arena, "w%d", i), .project = "team-a"});
    live_advance(&live, 10000);
    journal_flush(live.journal);
    journal_get_stats(live.journal, &before);
    // Each of these is a wish that changes one row, and so a cycle.
    for (int i = 0; i < 10; i++) {
        live_suspend(&live, "w199");
        live_run(&live);
        live_resume(&live, "w199");
        live_run(&live);
    }
    journal_flush(live.journal);
    journal_get_stats(live.journal, &after);
    int64_t cycles = after.cycles - before.cycles;
    check_true(cycles >= 20, "cycles: %" PRId64, cycles);
    int64_t each = (after.written_bytes - before.written_bytes) / cycles;
    check_true(each < 400, "bytes for each of them: %" PRId64, each);
    check_int(after.missed_cycles, 0, "none was missed");
    live_close(&live);
}

static void copy_file(const char *from, const char *to, int64_t length)
{
    char *data = memory_alloc((size_t)length + 1);
    int source = open(from, O_RDONLY), target = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    check_int(read(source, data, (size_t)length), length, "read %s", from);
    check_int(write(target, data, (size_t)length), length, "write %s", to);
    close(source);
    close(target);
    free(data);
}

// kill -9 at any moment: wherever the file ends, what stands before is read, and the next start takes the rest off.
static void test_torn_end(void)
{
    struct live live;
    struct journal_row *rows;
    char path[FOLDER_PATH_SIZE], torn[FOLDER_PATH_SIZE];
    struct stat info;
    open_live(&live, 0);
    for (int i = 0; i < 3; i++) {
        submit_mixed(&live, i);
        live_advance(&live, 1000);
    }
    size_t whole = list(&live, &rows);
    folder_path(live.journal_folder, rows[0].cycle, path);
    check_int(stat(path, &info), 0, "the segment is there");
    const char *folder = arena_printf(&live.arena, "%s/torn", live.folder);
    mkdir(folder, 0700);
    folder_path(folder, rows[0].cycle, torn);
    size_t before = whole;
    for (int64_t length = info.st_size; length >= 0; length -= length > 2000 ? 37 : 5) {
        size_t count = 0, repaired = 0;
        struct error err = {0};
        int64_t last_cycle;
        struct arena arena;
        arena_init(&arena);
        copy_file(path, torn, length);
        check_int(journal_list(folder, 0, INT64_MAX, &arena, &rows, &count, &err), 0, "%s", err.message);
        check_true(count <= before, "never more than before");
        before = count;
        if (count > 0 && (length % 11 == 0 || count != before)) {
            struct recorded_cycle recorded;
            check_int(journal_find(folder, rows[count - 1].cycle, 0, &arena, &recorded, &err), 0, "%s", err.message);
        }
        check_int(folder_prepare(folder, &last_cycle, &err), 0, "%s", err.message);
        check_int(last_cycle, count ? rows[count - 1].cycle : 0, "the last whole one at %" PRId64 " bytes", length);
        if (count > 0) {
            check_int(journal_list(folder, 0, INT64_MAX, &arena, &rows, &repaired, &err), 0, "%s", err.message);
            check_int((int64_t)repaired, (int64_t)count, "and all before it stay");
        } else {
            check_int(access(torn, F_OK), -1, "a segment without a cycle goes");
        }
        arena_done(&arena);
    }
    check_int((int64_t)before, 0, "to the very beginning");
    live_close(&live);
}

// A byte that is not what was written is found out, and the cycles before it are there.
static void test_damage(void)
{
    struct live live;
    struct journal_row *rows;
    struct recorded_cycle recorded;
    struct error err = {0};
    char path[FOLDER_PATH_SIZE];
    open_live(&live, 0);
    submit_mixed(&live, 1);
    live_advance(&live, 1000);
    submit_mixed(&live, 2);
    live_advance(&live, 1000);
    size_t count = list(&live, &rows);
    folder_path(live.journal_folder, rows[0].cycle, path);
    struct segment_reader segment;
    struct record record;
    check_int(segment_open(&segment, path, &err), 0, "%s", err.message);
    for (size_t i = 0; i < count; i++)
        check_true(segment_next(&segment, &record), "record %zu", i);
    segment_done(&segment);
    int fd = open(path, O_WRONLY);
    check_int(pwrite(fd, "x", 1, record.offset + record.stored_bytes / 2), 1, "damaged");
    close(fd);
    check_int(journal_find(live.journal_folder, rows[count - 1].cycle, 0, &live.arena, &recorded, &err), -1, "found");
    check_true(strstr(err.message, "is damaged") != NULL, "%s", err.message);
    check_cycle(&live, rows[count - 2].cycle, "the one before");
    live_close(&live);
}

static int64_t kept_bytes(struct live *live)
{
    struct journal_stats stats;
    journal_flush(live->journal);
    journal_get_stats(live->journal, &stats);
    return stats.kept_bytes;
}

static void test_bounds(void)
{
    enum {
        BOUND = 40000
    };
    struct live live;
    struct journal_row *rows;
    open_live(&live, BOUND);
    int64_t largest = 0;
    for (int i = 0; i < 150; i++) {
        submit_mixed(&live, i);
        live_run(&live);
        if (i >= 10)
            live_delete(&live, arena_printf(&live.arena, "w%d", i - 10));
        live_advance(&live, 1000);
        int64_t bytes = kept_bytes(&live);
        largest = bytes > largest ? bytes : largest;
    }
    check_true(largest <= BOUND, "never beyond the bound: %" PRId64, largest);
    size_t count = list(&live, &rows);
    check_true(rows[0].cycle > 1 && count > 20, "the oldest went, the others stay: %zu", count);
    check_cycle(&live, rows[0].cycle, "the oldest that is kept");
    // A week later, with the next cycle, what is older goes.
    live.now_ms += INT64_C(8) * 24 * 60 * 60 * 1000;
    submit_mixed(&live, 1000);
    live_run(&live);
    count = list(&live, &rows);
    check_true(rows[0].time_ms >= live.now_ms - 1000, "what is too old goes");
    check_all(&live, "after a week");
    live_close(&live);
}

static void release_nothing(void *owner)
{
    (void)owner;
}

// Where the disk takes nothing more, scheduling goes on.
static void test_full_disk(void)
{
    struct live live;
    struct journal_stats stats;
    struct rlimit limit, before;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    struct error err = {0};
    char folder[64] = "/tmp/prorata-journal-XXXXXX";
    check_true(mkdtemp(folder) != NULL, "a folder");
    live = (struct live){0};
    live_open(&live, 1, 2);
    live_add_project(&live, "team-a", 2);
    submit_mixed(&live, 1);
    live_run(&live);
    const struct reconciler_view *view = reconciler_acquire_view(live.reconciler);
    struct journal *journal = NULL;
    check_int(journal_open(&(struct journal_options){folder, 1000000, 1 << 20}, live.now_ms, &journal, &err), 0, "%s",
              err.message);
    sigaction(SIGXFSZ, &ignore, &old);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 100; // the header, and no record
    struct journal_cycle cycle = {1, 10, view->snapshot, view->plan, 1, NULL, release_nothing};
    setrlimit(RLIMIT_FSIZE, &limit);
    journal_add(journal, &cycle);
    cycle.cycle = 2;
    journal_add(journal, &cycle);
    journal_flush(journal);
    setrlimit(RLIMIT_FSIZE, &before);
    sigaction(SIGXFSZ, &old, NULL);
    journal_get_stats(journal, &stats);
    check_true(stats.is_stopped, "it says so");
    check_text(stats.cause, "File too large", "and why");
    check_int(stats.missed_cycles, 2, "cycles are missed");
    check_int(stats.cycles, 0, "none was written");
    journal_close(journal);
    check_int(rmdir(folder), 0, "no half a segment is left");
    reconciler_release_view(live.reconciler, view);
    live_close(&live);
}

int main(void)
{
    test_every_cycle();
    test_times_and_numbers();
    test_quiet_cycles_are_small();
    test_torn_end();
    test_damage();
    test_bounds();
    test_full_disk();
    return check_finish();
}
