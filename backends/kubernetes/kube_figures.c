// How it goes with the cluster, for who watches the server: Prometheus text.
#include "backends/kubernetes/client/kube_client.h"
#include "backends/kubernetes/kubernetes_state.h"
#include "base/buffer.h"
#include "base/timestamp.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    WATCHES = 4
};

static void write_one(struct buffer *out, const char *name, const char *type, const char *help, int64_t value)
{
    buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %" PRId64 "\n", name, help, name, type, name, value);
}

static const char *const NAMES[WATCHES] = {"pods", "pods of others", "nodes", "events"};

static void write_watches(struct buffer *out, struct kube_watch *const *watches)
{
    struct kube_watch_state states[WATCHES] = {0};
    for (size_t i = 0; i < WATCHES; i++)
        if (watches[i])
            kube_watch_read_state(watches[i], &states[i]);
    buffer_text(out, "# HELP prorata_kubernetes_watch_up 1 while what is known of these objects is whole and current.\n"
                     "# TYPE prorata_kubernetes_watch_up gauge\n");
    for (size_t i = 0; i < WATCHES; i++)
        buffer_printf(out, "prorata_kubernetes_watch_up{of=\"%s\"} %d\n", NAMES[i],
                      states[i].is_synced && states[i].is_connected);
    buffer_text(out, "# HELP prorata_kubernetes_lists_total Lists that were read whole, by what of.\n"
                     "# TYPE prorata_kubernetes_lists_total counter\n");
    for (size_t i = 0; i < WATCHES; i++)
        buffer_printf(out, "prorata_kubernetes_lists_total{of=\"%s\"} %" PRId64 "\n", NAMES[i], states[i].counts.lists);
    buffer_text(out, "# HELP prorata_kubernetes_objects Objects that are known, by what of.\n"
                     "# TYPE prorata_kubernetes_objects gauge\n");
    for (size_t i = 0; i < WATCHES; i++)
        buffer_printf(out, "prorata_kubernetes_objects{of=\"%s\"} %" PRId64 "\n", NAMES[i], states[i].counts.objects);
}

bool kube_figures_find_problem(void *backend, char *out, size_t size)
{
    struct kubernetes *kubernetes = backend;
    struct kube_watch *const watches[] = {kubernetes->own_watch, kubernetes->others_watch, kubernetes->nodes_watch};
    for (size_t i = 0; i < sizeof(watches) / sizeof(*watches); i++) {
        struct kube_watch_state state;
        char heard[TIMESTAMP_SIZE] = "never";
        if (!watches[i])
            continue;
        kube_watch_read_state(watches[i], &state);
        if (state.is_synced && state.is_connected)
            continue;
        if (state.heard_ms)
            timestamp_format(state.heard_ms, heard);
        snprintf(out, size, "the Kubernetes API server does not tell of %s; it did last: %s", NAMES[i], heard);
        return true;
    }
    if (!kubernetes_may_write(kubernetes)) {
        snprintf(out, size, "this server does not hold the Lease of the cluster, so it changes nothing there");
        return true;
    }
    return false;
}

void kube_figures_write(void *backend, struct buffer *out)
{
    struct kubernetes *kubernetes = backend;
    struct kube_client_counts counts;
    struct kube_watch *const watches[WATCHES] = {kubernetes->own_watch, kubernetes->others_watch,
                                                 kubernetes->nodes_watch, kubernetes->events_watch};
    kube_client_read_counts(kubernetes->client, &counts);
    write_watches(out, watches);
    write_one(out, "prorata_kubernetes_acts", "gauge", "1 while this server holds the lease and writes.",
              kubernetes_may_write(kubernetes));
    write_one(out, "prorata_kubernetes_requests_total", "counter", "Requests sent, tries included.", counts.sent);
    write_one(out, "prorata_kubernetes_requests_failed_total", "counter", "Requests that were given up or refused.",
              counts.failed);
    write_one(out, "prorata_kubernetes_requests_slowed_total", "counter", "Answers that asked for less (429).",
              counts.refused_429);
    write_one(out, "prorata_kubernetes_events_dropped_total", "counter",
              "Events that were not written to the cluster, for too many waited.",
              atomic_load(&kubernetes->reports.dropped));
    write_one(out, "prorata_kubernetes_requests_open", "gauge", "Requests that are on their way or wait for room.",
              counts.open);
}
