#include "backends/simulated/sim_log.h"

#include "backends/backend.h"
#include "base/buffer.h"
#include "base/timestamp.h"

#include <inttypes.h>
#include <string.h>

enum {
    LINE_INTERVAL_MS = 2000,
    STEPS_AN_EPOCH = 50,
    HEAD_LINES = 3
};

// FNV-1a over the pod's identity and the line's number: a number that looks random and never changes.
static uint32_t noise(const char *uuid, int64_t line)
{
    uint32_t hash = 2166136261U;
    for (const char *c = uuid; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619U;
    for (int shift = 0; shift < 64; shift += 8)
        hash = (hash ^ (uint32_t)((uint64_t)line >> shift & 0xFF)) * 16777619U;
    return hash;
}

static void write_text(const struct backend_pod *pod, int64_t line, struct buffer *out)
{
    if (line == 0) {
        buffer_printf(out, "prorata: simulated pod %s of workload %s on %s", pod->name, pod->workload_name,
                      pod->node_name ? pod->node_name : "no node");
    } else if (line == 1) {
        buffer_printf(out, "prorata: project %s, %" PRId64 ".%02" PRId64 " GPUs, devices", pod->project_name,
                      pod->gpu_milli / 1000, pod->gpu_milli % 1000 / 10);
        for (size_t i = 0; i < pod->gpu_index_count; i++)
            buffer_printf(out, " %" PRIu32, pod->gpu_indices[i]);
        if (pod->gpu_index_count == 0)
            buffer_text(out, " none");
    } else if (line == 2) {
        buffer_text(out, "training from step 0; no checkpoint found");
    } else {
        int64_t step = line - HEAD_LINES + 1;
        uint32_t wobble = noise(pod->uuid, line) % 1000;
        // A loss that falls with the steps and trembles a little.
        double loss = 0.05 + 3.2 / (1.0 + (double)step / 40.0) + (double)wobble / 10000.0;
        buffer_printf(out, "epoch %" PRId64 " step %" PRId64 " loss %.4f throughput %u samples/s",
                      (step - 1) / STEPS_AN_EPOCH + 1, step, loss, 900 + wobble / 8);
    }
}

void sim_log_read(const struct backend_log_request *request, struct buffer *out, int64_t *out_position, bool *out_ended)
{
    const struct backend_pod *pod = &request->pod;
    *out_position = request->position;
    *out_ended = pod->completed_ms != 0;
    if (pod->started_ms == 0 || pod->started_ms > request->now_ms)
        return;
    int64_t until_ms = pod->completed_ms && pod->completed_ms < request->now_ms ? pod->completed_ms : request->now_ms;
    int64_t count = (until_ms - pod->started_ms) / LINE_INTERVAL_MS + HEAD_LINES;
    int64_t first = request->position;
    if (request->since_ms > pod->started_ms) {
        int64_t since =
            (request->since_ms - pod->started_ms + LINE_INTERVAL_MS - 1) / LINE_INTERVAL_MS + HEAD_LINES - 1;
        if (since > first)
            first = since;
    }
    if (request->tail >= 0 && count - request->tail > first)
        first = count - request->tail;
    int64_t line = first;
    for (; line < count && out->length < request->max_bytes; line++) {
        if (request->timestamps) {
            char time[TIMESTAMP_SIZE];
            int64_t after = line < HEAD_LINES ? 0 : line - HEAD_LINES + 1;
            timestamp_format(pod->started_ms + after * LINE_INTERVAL_MS, time);
            buffer_printf(out, "%s ", time);
        }
        write_text(pod, line, out);
        buffer_char(out, '\n');
    }
    *out_position = line > request->position ? line : request->position;
    *out_ended = pod->completed_ms != 0 && line >= count;
}
