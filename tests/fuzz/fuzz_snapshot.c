// Any bytes as a snapshot: either refused with a message, or good enough to write, to read back unchanged, and to plan.
#include "base/arena.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "form/snapshot_reader.h"
#include "form/snapshot_writer.h"
#include "scheduler/simulation.h"

#include <assert.h>
#include <string.h>

// Planning is not what is fuzzed here; small clusters keep the runs short.
enum {
    PLANNED_PODS = 40,
    PLANNED_GPUS = 256
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_text(struct buffer *out, const struct snapshot *snapshot)
{
    struct json_writer json;
    buffer_init(out, 0);
    json_writer_init(&json, out, false);
    snapshot_write(&json, snapshot);
}

static void plan_twice(const struct snapshot *snapshot)
{
    struct simulation simulation;
    struct plan *plan;
    uint64_t gpus = 0;
    for (size_t i = 0; i < snapshot->node_count; i++)
        gpus += snapshot->nodes[i].gpu_count;
    if (snapshot->pod_count > PLANNED_PODS || gpus > PLANNED_GPUS)
        return;
    simulation_init(&simulation, snapshot);
    for (int cycle = 0; cycle < 2; cycle++) {
        struct error err = {0};
        int rc = simulation_plan(&simulation, &plan, &err);
        assert(rc == 0); // what the reader lets pass, the scheduler takes
        simulation_advance(&simulation, plan);
    }
    simulation_done(&simulation);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct error err = {0};
    struct snapshot *snapshot, *again;
    arena_init(&arena);
    if (snapshot_read((const char *)data, size, &arena, &snapshot, &err) < 0) {
        assert(err.code == ERROR_INVALID && err.message[0]);
        arena_done(&arena);
        return 0;
    }
    struct buffer once, twice;
    write_text(&once, snapshot);
    int rc = snapshot_read(once.data, once.length, &arena, &again, &err);
    assert(rc == 0);
    write_text(&twice, again);
    assert(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
    plan_twice(snapshot);
    buffer_done(&once);
    buffer_done(&twice);
    arena_done(&arena);
    return 0;
}
