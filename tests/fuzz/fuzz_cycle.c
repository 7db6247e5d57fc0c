// Any bytes as a cluster that lives through some cycles: as a document, or, where they don't start with a brace, as the
// throws of the dice that make a random one. Every invariant holds in every cycle.
#include "base/arena.h"
#include "base/error.h"
#include "form/snapshot_reader.h"
#include "tests/support/cluster_life.h"
#include "tests/support/rich_document.h"

#include <stdio.h>
#include <stdlib.h>

// What is fuzzed is how decisions come about; small clusters keep the runs short.
enum {
    CYCLES = 3,
    PODS = 60,
    NODES = 16,
    GPUS = 128
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void live(const struct snapshot *snapshot)
{
    struct life life;
    struct breach breach;
    uint64_t gpus = 0;
    for (size_t i = 0; i < snapshot->node_count; i++)
        gpus += snapshot->nodes[i].gpu_count;
    if (snapshot->pod_count > PODS || snapshot->node_count > NODES || gpus > GPUS)
        return;
    if (cluster_live(snapshot, CYCLES, false, &life, &breach))
        return;
    fprintf(stderr, "cycle %d: %s: %s\n", breach.cycle, breach.rule, breach.subject);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct error err = {0};
    struct snapshot *snapshot;
    arena_init(&arena);
    if (size > 0 && data[0] == '{') {
        if (snapshot_read((const char *)data, size, &arena, &snapshot, &err) == 0)
            live(snapshot);
    } else {
        struct document_dice dice = {.state = 1, .bytes = data, .byte_count = size};
        json_t *document = rich_document(&dice);
        if (snapshot_read_json(document, &arena, &snapshot, &err) < 0) {
            fprintf(stderr, "%s\n", err.message);
            abort();
        }
        json_decref(document);
        live(snapshot);
    }
    arena_done(&arena);
    return 0;
}
