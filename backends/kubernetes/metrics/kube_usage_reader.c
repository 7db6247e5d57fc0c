#include "backends/kubernetes/metrics/kube_usage_reader.h"

#include "backends/kubernetes/client/kube_client.h"
#include "backends/kubernetes/client/kube_path.h"
#include "backends/kubernetes/metrics/kube_rounds.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
    PERIOD_MS = 15000, // as often as the metrics server measures
    PAUSE_PARTS = 400, // of a core in a large cluster
    ABSENT_US = 300 * 1000000,
    LIST_MAX = 64 << 20
};

struct kube_usage_reader {
    struct kube_client *client;
    struct kube_usage_reader_ops ops;
    void *context;
    struct kube_rounds *rounds;
    char *pods_query;
    int64_t absent_until_us; // the cluster has no such API group: it is not asked before
    bool has_complained;
};

static void note_failure(struct kube_usage_reader *reader, const struct kube_answer *answer, const struct error *err)
{
    if (answer->status.code == 404)
        reader->absent_until_us = timestamp_monotonic_us() + ABSENT_US;
    if (answer->status.code != 403 || reader->has_complained)
        return;
    reader->has_complained = true;
    log_write(LOG_WARN, "backends",
              "CPU and memory that pods use are not known: metrics.k8s.io is out of reach: \"%s\"", err->message);
}

static void read_list(struct kube_usage_reader *reader, const char *path, const char *query,
                      void (*take)(void *context, const struct kube_usage *usages, size_t count))
{
    struct kube_call call = {.method = KUBE_GET, .path = path, .query = query, .answer_max = LIST_MAX};
    struct kube_answer *answer = memory_array(1, sizeof(*answer)); // large for a stack
    struct kube_usage *usages;
    struct error err = {0};
    struct arena arena;
    arena_init(&arena);
    if (kube_client_call(reader->client, &call, answer, &err) == 0) {
        size_t count = kube_usage_read(answer->body, &arena, &usages);
        take(reader->context, usages, count);
    } else {
        note_failure(reader, answer, &err);
    }
    kube_answer_done(answer);
    free(answer);
    arena_done(&arena);
}

static void read_round(void *context, struct kube_rounds *rounds)
{
    struct kube_usage_reader *reader = context;
    if (timestamp_monotonic_us() < reader->absent_until_us)
        return;
    read_list(reader, "/apis/metrics.k8s.io/v1beta1/nodes", NULL, reader->ops.take_nodes);
    if (timestamp_monotonic_us() >= reader->absent_until_us && !kube_rounds_is_ending(rounds))
        read_list(reader, "/apis/metrics.k8s.io/v1beta1/pods", reader->pods_query, reader->ops.take_pods);
}

int kube_usage_reader_create(struct kube_client *client, const char *selector, const struct kube_usage_reader_ops *ops,
                             void *context, struct kube_usage_reader **out_reader, struct error *err)
{
    struct kube_usage_reader *reader = memory_array(1, sizeof(*reader));
    struct buffer query;
    buffer_init(&query, 0);
    kube_query(&query, "labelSelector", selector);
    *reader = (struct kube_usage_reader){
        .client = client, .ops = *ops, .context = context, .pods_query = memory_strdup(query.data)};
    buffer_done(&query);
    if (kube_rounds_create(PERIOD_MS, PAUSE_PARTS, read_round, reader, &reader->rounds, err) < 0) {
        free(reader->pods_query);
        free(reader);
        return -1;
    }
    *out_reader = reader;
    return 0;
}

void kube_usage_reader_destroy(struct kube_usage_reader *reader)
{
    if (!reader)
        return;
    kube_rounds_destroy(reader->rounds);
    free(reader->pods_query);
    free(reader);
}
