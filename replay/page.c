#include "replay/page.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/quantity.h"
#include "replay/chart.h"
#include "replay/nodes.h"
#include "replay/page_charts.h"
#include "replay/page_style.h"
#include "replay/policy.h"
#include "replay/report.h"
#include "replay/trace.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

// 82 247: groups of three from 10 000 up, with thin spaces.
static void put_count(struct buffer *out, uint64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
    for (int i = 0; i < length; i++) {
        if (count >= 10000 && i > 0 && (length - i) % 3 == 0)
            buffer_text(out, "\xe2\x80\x89");
        buffer_char(out, digits[i]);
    }
}

// A policy forbids everything but this very style.
static void write_head(const struct report *report, struct buffer *out)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    char text[sodium_base64_ENCODED_LEN(sizeof(hash), sodium_base64_VARIANT_ORIGINAL)];
    crypto_hash_sha256(hash, (const unsigned char *)PAGE_STYLE, strlen(PAGE_STYLE));
    sodium_bin2base64(text, sizeof(text), hash, sizeof(hash), sodium_base64_VARIANT_ORIGINAL);
    buffer_printf(out,
                  "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-%s'; "
                  "base-uri 'none'; form-action 'none'\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width\">\n<title>Replay of ",
                  text);
    chart_text(out, base_name(report->trace->name));
    buffer_printf(out, "</title>\n<style>%s</style></head>\n<body><main>\n", PAGE_STYLE);
}

static void write_setup(const struct report *report, struct buffer *out)
{
    const struct trace *trace = report->trace;
    const struct measure *measure = &report->runs[0].run->measure;
    char from[32], until[32];
    buffer_text(out, "<h1>Replay of ");
    chart_text(out, base_name(trace->name));
    buffer_text(out, "</h1><p>");
    put_count(out, trace->arrival_count);
    buffer_printf(out, " jobs of %zu projects", trace->project_count);
    if (report->demand_percent > 0)
        buffer_printf(out, ", drawn with seed %" PRIu64 " until they asked for %" PRId64 " %% of the GPUs",
                      report->seed, report->demand_percent);
    buffer_text(out, " on ");
    put_count(out, report->nodes->count);
    buffer_text(out, " nodes with ");
    put_count(out, (uint64_t)report->nodes->gpu_milli / 1000);
    buffer_printf(out, " GPUs. Means are over the time from %s to %s of the trace.</p>\n",
                  report_duration(measure->from_ms, from), report_duration(measure->until_ms, until));
}

static void write_legend(const struct report *report, struct buffer *out)
{
    buffer_text(out, "<ul class=\"legend\">");
    for (size_t r = 0; r < report->run_count; r++) {
        buffer_printf(
            out, "<li><svg viewBox=\"0 0 28 10\" aria-hidden=\"true\"><path class=\"l p%zu\" d=\"M0 5H28\"/></svg>",
            r % 8 + 1);
        chart_text(out, report->runs[r].run->policy->name);
        buffer_text(out, "</li>");
    }
    buffer_text(out, "</ul>\n");
}

enum kind {
    KIND_SHARE, // millionths
    KIND_TIME,  // ms
    KIND_COUNT
};

struct row {
    const char *label;
    enum kind kind;
    bool is_part; // of the row above
    int64_t (*value)(const struct report_run *run);
};

#define VALUE(name, expression)                       \
    static int64_t name(const struct report_run *run) \
    {                                                 \
        return (int64_t)(expression);                 \
    }
VALUE(value_utilised, run->utilisation_micro)
VALUE(value_allocated, run->allocation_micro)
VALUE(value_fragmented, run->fragmented_micro)
VALUE(value_stranded, run->stranded_micro)
VALUE(value_end, run->end_allocation_micro)
VALUE(value_mean, run->waits.mean_ms)
VALUE(value_p50, run->waits.p50_ms)
VALUE(value_p90, run->waits.p90_ms)
VALUE(value_p99, run->waits.p99_ms)
VALUE(value_longest, run->waits.longest_ms)
VALUE(value_evictions, run->evictions)
VALUE(value_reclaimed, run->run->evictions[ACTION_RECLAIM])
VALUE(value_preempted, run->run->evictions[ACTION_PREEMPT])
VALUE(value_consolidated, run->run->evictions[ACTION_CONSOLIDATION])
VALUE(value_lost, run->lost_gpu_ms)
VALUE(value_unstarted, run->unstarted)
VALUE(value_cycles, run->run->cycles)
#undef VALUE

static const struct row ROWS[] = {
    {"Utilised", KIND_SHARE, false, value_utilised},
    {"Allocated", KIND_SHARE, false, value_allocated},
    {"Fragmented", KIND_SHARE, false, value_fragmented},
    {"Stranded", KIND_SHARE, false, value_stranded},
    {"Allocated at the end", KIND_SHARE, false, value_end},
    {"Wait, mean", KIND_TIME, false, value_mean},
    {"P50", KIND_TIME, true, value_p50},
    {"P90", KIND_TIME, true, value_p90},
    {"P99", KIND_TIME, true, value_p99},
    {"longest", KIND_TIME, true, value_longest},
    {"Evictions", KIND_COUNT, false, value_evictions},
    {"by reclaim", KIND_COUNT, true, value_reclaimed},
    {"by preemption", KIND_COUNT, true, value_preempted},
    {"by consolidation", KIND_COUNT, true, value_consolidated},
    {"GPU time lost", KIND_TIME, false, value_lost},
    {"Jobs never started", KIND_COUNT, false, value_unstarted},
    {"Cycles", KIND_COUNT, false, value_cycles},
};

static void write_value(const struct row *row, const struct report_run *run, struct buffer *out)
{
    char text[32];
    int64_t value = row->value(run);
    if (row->kind == KIND_SHARE)
        buffer_printf(out, "%s\xe2\x80\x89%%", report_percent(value, text));
    else if (row->kind == KIND_TIME)
        buffer_text(out, report_duration(value, text));
    else
        put_count(out, (uint64_t)value);
}

static void write_table(const struct report *report, struct buffer *out)
{
    buffer_text(out, "<h2 id=\"side\">Side by side</h2><div class=\"sheet\" tabindex=\"0\" role=\"region\" "
                     "aria-labelledby=\"side\"><table><thead><tr><th scope=\"col\">Policy</th>");
    for (size_t r = 0; r < report->run_count; r++) {
        buffer_text(out, "<th scope=\"col\">");
        chart_text(out, report->runs[r].run->policy->name);
        buffer_text(out, "</th>");
    }
    buffer_text(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        buffer_printf(out, "<tr%s><th scope=\"row\">%s</th>", ROWS[i].is_part ? " class=\"sub\"" : "", ROWS[i].label);
        for (size_t r = 0; r < report->run_count; r++) {
            buffer_text(out, "<td>");
            write_value(&ROWS[i], &report->runs[r], out);
            buffer_text(out, "</td>");
        }
        buffer_text(out, "</tr>\n");
    }
    buffer_text(out, "</tbody></table></div>\n");
}

static const char WORDS[] =
    "<h2>Words</h2><dl>"
    "<dt>Allocated</dt><dd>GPU time that jobs held, of all there was.</dd>"
    "<dt>Utilised</dt><dd>Allocated, less what evictions threw away because the job started over.</dd>"
    "<dt>Fragmented</dt><dd>Free GPUs that the trace\xe2\x80\x99s typical pod could not use: the measure of Weng et "
    "al., "
    "Beware of Fragmentation, USENIX ATC 2023, over the pods that ask for GPUs.</dd>"
    "<dt>Stranded</dt><dd>GPUs that were free while a job waited that a cycle had looked at and that asks for no more "
    "than is free.</dd>"
    "<dt>Wait</dt><dd>From arrival to first start, of the jobs that started.</dd>"
    "</dl>\n";

void page_write(const struct report *report, struct buffer *out)
{
    struct arena arena;
    arena_init(&arena);
    write_head(report, out);
    write_setup(report, out);
    write_legend(report, out);
    write_table(report, out);
    buffer_text(out, "<h2>Over time</h2><div class=\"grid\">\n");
    page_charts_write(report, &arena, out);
    buffer_text(out, "</div>\n<h2>Projects</h2>\n");
    write_legend(report, out);
    page_bars_write(report, &arena, out);
    buffer_text(out, WORDS);
    buffer_text(out, "</main></body></html>\n");
    arena_done(&arena);
}
