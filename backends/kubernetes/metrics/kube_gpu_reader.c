#include "backends/kubernetes/metrics/kube_gpu_reader.h"

#include "backends/kubernetes/client/kube_client.h"
#include "backends/kubernetes/client/kube_path.h"
#include "backends/kubernetes/metrics/kube_rounds.h"
#include "backends/kubernetes/objects/kube_meta.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

enum {
    PERIOD_MS = 10000,
    PAGES_MAX = 64, // of one round: the next goes on behind them
    PAGE_MAX = 4 << 20,
    LIST_MAX = 16 << 20
};

#define PART "500" // pods of one answer

// How the GPU operator and the exporter's own chart label its pods.
static const char *const SELECTORS[] = {"app=nvidia-dcgm-exporter", "app.kubernetes.io/name=dcgm-exporter"};

struct kube_gpu_reader {
    struct kube_client *client;
    struct kube_gpu_reader_ops ops;
    void *context;
    struct kube_rounds *rounds;
    bool has_complained;
    size_t next; // of the exporters: where the next round begins
};

// 0: the answer's text or JSON is good.
static int get(struct kube_gpu_reader *reader, const char *path, const char *query, size_t answer_max,
               struct kube_answer *answer)
{
    struct error err = {0};
    struct kube_call call = {
        .method = KUBE_GET, .path = path, .query = query, .try_for_ms = 0, .answer_max = answer_max};
    int rc = kube_client_call(reader->client, &call, answer, &err);
    if (rc < 0 && answer->status.code == 403 && !reader->has_complained) {
        reader->has_complained = true;
        log_write(LOG_WARN, "backends", "no utilization of GPUs is known: the DCGM exporter is out of reach: \"%s\"",
                  err.message);
    }
    return rc;
}

static void read_page(struct kube_gpu_reader *reader, const json_t *exporter, struct kube_answer *answer)
{
    const char *node = kube_text_at(exporter, "spec.nodeName");
    struct kube_dcgm_device *devices;
    struct buffer path;
    struct arena arena;
    buffer_init(&path, 0);
    arena_init(&arena);
    kube_path(&path, "/api/v1/namespaces/%s/pods/%s:9400/proxy/metrics", kube_text_at(exporter, "metadata.namespace"),
              kube_text_at(exporter, "metadata.name"));
    if (get(reader, path.data, NULL, PAGE_MAX, answer) == 0 && answer->text) {
        size_t count = kube_dcgm_read(answer->text, answer->text_length, &arena, &devices);
        reader->ops.take(reader->context, node, devices, count);
    }
    kube_answer_done(answer);
    arena_done(&arena);
    buffer_done(&path);
}

// How far a round has come.
struct round {
    size_t seen;  // exporters, of all parts of the list
    size_t pages; // read
    struct kube_rounds *rounds;
};

static void read_pages(struct kube_gpu_reader *reader, const json_t *exporters, struct round *round)
{
    const json_t *exporter;
    size_t i;
    struct kube_answer *answer = memory_array(1, sizeof(*answer)); // large for a stack
    json_array_foreach(exporters, i, exporter) {
        const char *node = kube_text_at(exporter, "spec.nodeName");
        if (round->pages == PAGES_MAX || kube_rounds_is_ending(round->rounds))
            break;
        if (round->seen++ < reader->next || !*node || strcmp(kube_text_at(exporter, "status.phase"), "Running") != 0 ||
            !reader->ops.wants(reader->context, node))
            continue;
        read_page(reader, exporter, answer);
        round->pages++;
    }
    free(answer);
}

// A part of the list of one selector's exporters. Returns where it goes on, for free(); NULL: it has ended.
static char *read_part(struct kube_gpu_reader *reader, const char *selector, const char *from, struct round *round)
{
    struct kube_answer answer;
    struct buffer query;
    char *rest = NULL;
    buffer_init(&query, 0);
    kube_query(&query, "labelSelector", selector);
    kube_query(&query, "limit", PART);
    kube_query(&query, "continue", from);
    if (get(reader, "/api/v1/pods", query.data, LIST_MAX, &answer) == 0) {
        read_pages(reader, json_object_get(answer.body, "items"), round);
        const char *next = kube_text_at(answer.body, "metadata.continue");
        rest = *next ? memory_strdup(next) : NULL;
    }
    kube_answer_done(&answer);
    buffer_done(&query);
    return rest;
}

// A cluster has exporters of one selector. What a round leaves over is the next one's.
static void read_round(void *context, struct kube_rounds *rounds)
{
    struct kube_gpu_reader *reader = context;
    struct round round = {.rounds = rounds};
    for (size_t i = 0; i < sizeof(SELECTORS) / sizeof(SELECTORS[0]) && round.seen == 0; i++) {
        char *from = NULL;
        do {
            char *rest = read_part(reader, SELECTORS[i], from, &round);
            free(from);
            from = rest;
        } while (from && round.pages < PAGES_MAX && !kube_rounds_is_ending(rounds));
        free(from);
    }
    reader->next = round.pages == PAGES_MAX ? round.seen : 0;
}

int kube_gpu_reader_create(struct kube_client *client, const struct kube_gpu_reader_ops *ops, void *context,
                           int64_t period_ms, struct kube_gpu_reader **out_reader, struct error *err)
{
    struct kube_gpu_reader *reader = memory_array(1, sizeof(*reader));
    *reader = (struct kube_gpu_reader){.client = client, .ops = *ops, .context = context};
    if (kube_rounds_create(period_ms > 0 ? period_ms : PERIOD_MS, 0, read_round, reader, &reader->rounds, err) < 0) {
        free(reader);
        return -1;
    }
    *out_reader = reader;
    return 0;
}

void kube_gpu_reader_destroy(struct kube_gpu_reader *reader)
{
    if (!reader)
        return;
    kube_rounds_destroy(reader->rounds);
    free(reader);
}
