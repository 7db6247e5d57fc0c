// The reconciler on its own thread, while others submit, delete, read the published cycle, metrics and logs.
#include "backends/simulated/simulated.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "journal/journal.h"
#include "tests/support/check.h"
#include "tests/support/live.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SUBMITTERS = 3,
    EACH = 40,
    DEADLINE_MS = 60000,
    SLOW_DISK_US = 500000 // whoever adds a cycle waits for twice as long before it is missed
};

struct client {
    struct live live; // a copy: its own arena, the shared database
    int number;
};

static atomic_bool is_over;

static void *submit_and_delete(void *context)
{
    struct client *client = context;
    for (int i = 0; i < EACH; i++) {
        char name[32];
        snprintf(name, sizeof(name), "w-%d-%d", client->number, i);
        live_submit(
            &client->live,
            &(struct live_spec){.name = name, .project = client->number % 2 ? "team-a" : "team-b", .gpus = 1 + i % 2});
        if (i % 2 == 1)
            live_delete(&client->live, name);
    }
    return NULL;
}

static void *watch(void *context)
{
    struct live *live = context;
    while (!atomic_load(&is_over)) {
        struct buffer text;
        buffer_init(&text, 0);
        reconciler_write_metrics(live->reconciler, &text);
        reconciler_write_health(live->reconciler, &text);
        const struct reconciler_view *view = reconciler_acquire_view(live->reconciler);
        size_t bytes = 0;
        for (size_t i = 0; view && i < view->snapshot->pod_count; i++)
            bytes += strlen(view->snapshot->pods[i].name);
        reconciler_release_view(live->reconciler, view);
        int64_t position;
        bool ended;
        struct reconciler_log_request request = {.workload_id = 1, .tail = 5};
        (void)reconciler_read_logs(live->reconciler, &request, &text, &position, &ended, NULL);
        buffer_done(&text);
        usleep((useconds_t)(bytes % 7 * 100));
    }
    return NULL;
}

// Waits for a count to become what is wanted; the time only bounds a failure.
static void wait_for(struct live *live, const char *sql, int64_t wanted, const char *what)
{
    int64_t until_us = timestamp_monotonic_us() + DEADLINE_MS * INT64_C(1000);
    while (live_number(live, sql) != wanted && timestamp_monotonic_us() < until_us)
        usleep(2000);
    check_int(live_number(live, sql), wanted, "%s", what);
}

int main(void)
{
    struct live live = {.has_journal = true};
    live_open(&live, 20, 4);
    live_add_project(&live, "team-a", 40);
    live_add_project(&live, "team-b", 40);
    live_use_threads(&live);
    struct client clients[SUBMITTERS];
    pthread_t threads[SUBMITTERS], watcher;
    pthread_create(&watcher, NULL, watch, &live);
    for (int i = 0; i < SUBMITTERS; i++) {
        clients[i] = (struct client){.live = live, .number = i};
        arena_init(&clients[i].live.arena);
        pthread_create(&threads[i], NULL, submit_and_delete, &clients[i]);
    }
    for (int i = 0; i < SUBMITTERS; i++) {
        pthread_join(threads[i], NULL);
        arena_done(&clients[i].live.arena);
    }
    wait_for(&live, "SELECT count(*) FROM workloads WHERE deleted_ms > 0", SUBMITTERS * EACH / 2,
             "what was deleted is");
    wait_for(&live, "SELECT count(*) FROM workloads WHERE deleted_ms = 0 AND phase = 'Running'", SUBMITTERS * EACH / 2,
             "the rest runs");
    check_true(reconciler_is_ready(live.reconciler), "it is ready");
    atomic_store(&is_over, true);
    pthread_join(watcher, NULL);
    reconciler_stop(live.reconciler);
    live_check(&live, "after the load");
    struct journal_stats stats;
    journal_flush(live.journal);
    journal_get_stats(live.journal, &stats);
    const struct reconciler_view *view = reconciler_acquire_view(live.reconciler);
    check_true(stats.cycles > 0 && !stats.is_stopped, "cycles are kept: %" PRId64, stats.cycles);
    check_int(stats.cycles + stats.missed_cycles, view->cycle, "each is kept or counted as missed");
    check_true(stats.missed_cycles == 0 || stats.busy_us > SLOW_DISK_US,
               "%" PRId64 " are missed, and the disk isn't slow", stats.missed_cycles);
    reconciler_release_view(live.reconciler, view);
    live_close(&live);
    return check_finish();
}
