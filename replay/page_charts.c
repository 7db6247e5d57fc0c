#include "replay/page_charts.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "replay/chart.h"
#include "replay/policy.h"
#include "replay/report.h"
#include "replay/trace.h"

#include <math.h>
#include <stdlib.h>

enum {
    CDF_POINTS = 240,
    TIME_LABELS = 5
};

// What a chart over time shows of an interval; total: of all intervals so far.
typedef double (*series_value)(const struct measure *measure, const struct measure_sums *sums, double *total);

static double mean(__int128 sum, int64_t time_ms)
{
    return time_ms > 0 ? (double)sum / (double)time_ms : 0;
}

static double allocated_percent(const struct measure *measure, const struct measure_sums *sums, double *total)
{
    (void)total;
    return mean(sums->allocated, sums->time_ms) / (double)measure->capacity_milli * 100;
}

static double fragmented_percent(const struct measure *measure, const struct measure_sums *sums, double *total)
{
    (void)total;
    return mean(sums->fragmented, sums->time_ms) / (double)measure->capacity_milli * 100;
}

static double waiting_jobs(const struct measure *measure, const struct measure_sums *sums, double *total)
{
    (void)measure, (void)total;
    return mean(sums->waiting, sums->time_ms);
}

static double waiting_gpus(const struct measure *measure, const struct measure_sums *sums, double *total)
{
    (void)measure, (void)total;
    return mean(sums->waiting_gpu_milli, sums->time_ms) / 1000;
}

static double evictions_so_far(const struct measure *measure, const struct measure_sums *sums, double *total)
{
    (void)measure;
    return *total += (double)sums->evictions;
}

struct series {
    const char *title;
    const char *unit;
    const char *ending; // of the labels
    double least_top;   // the axis reaches at least this far
    series_value value;
};

static const struct series SERIES[] = {
    {"Allocated GPUs", "percent of all GPUs", " %", 100, allocated_percent},
    {"Waiting jobs", "number", "", 4, waiting_jobs},
    {"GPUs that waiting jobs ask for", "GPUs", "", 4, waiting_gpus},
    {"Fragmented GPUs", "free but of no use to the trace's typical pod, percent of all GPUs", " %", 1,
     fragmented_percent},
    {"Evictions so far", "jobs, each time", "", 4, evictions_so_far},
};

static double series_top(const struct report *report, const struct series *series)
{
    double top = series->least_top;
    for (size_t r = 0; r < report->run_count; r++) {
        const struct measure *measure = &report->runs[r].run->measure;
        double total = 0;
        for (size_t i = 0; i < measure->interval_count; i++)
            top = fmax(top, series->value(measure, &measure->intervals[i], &total));
    }
    return chart_round_up(top);
}

static void label_values(struct chart *chart, double bottom, double top, const char *ending, struct arena *arena)
{
    for (int i = 0; i <= CHART_DIVISIONS; i++)
        chart->y_labels[i] = arena_printf(arena, "%.6g%s", bottom + (top - bottom) * i / CHART_DIVISIONS, ending);
}

static void write_series(const struct report *report, const struct series *series, struct arena *arena,
                         struct buffer *out)
{
    const struct measure *first = &report->runs[0].run->measure;
    double top = series_top(report, series);
    struct chart_line *lines = arena_array(arena, report->run_count, sizeof(*lines));
    struct chart chart = {.title = series->title,
                          .unit = series->unit,
                          .lines = lines,
                          .line_count = report->run_count,
                          .x_label_count = TIME_LABELS};
    chart.description = arena_printf(arena,
                                     "%s over the time of the trace, a line for each policy; series.csv has the "
                                     "numbers",
                                     series->title);
    label_values(&chart, 0, top, series->ending, arena);
    for (int i = 0; i < TIME_LABELS; i++) {
        char *label = arena_alloc(arena, 32);
        chart.x_labels[i] =
            report_duration(first->from_ms + (first->horizon_ms - first->from_ms) * i / (TIME_LABELS - 1), label);
    }
    for (size_t r = 0; r < report->run_count; r++) {
        const struct measure *measure = &report->runs[r].run->measure;
        struct chart_point *points = arena_array(arena, measure->interval_count, sizeof(*points));
        double length = (double)(measure->horizon_ms - measure->from_ms);
        double total = 0;
        lines[r] = (struct chart_line){report->runs[r].run->policy->name, points, 0};
        for (size_t i = 0; i < measure->interval_count; i++) {
            const struct measure_sums *sums = &measure->intervals[i];
            double value = series->value(measure, sums, &total);
            if (sums->time_ms == 0)
                continue;
            double middle = (double)((int64_t)i * measure->interval_ms) + (double)sums->time_ms / 2;
            points[lines[r].count++] = (struct chart_point){middle / length, value / top};
        }
    }
    chart_write(&chart, out);
}

// Waits stand on an axis whose steps are those that people think in.
static const int64_t WAIT_STEPS_S[] = {0, 1, 10, 60, 600, 3600, 21600, 86400, 604800, 2592000};
static const char *const WAIT_LABELS[] = {"0", "1 s", "10 s", "1 min", "10 min", "1 h", "6 h", "1 d", "7 d", "30 d"};
enum {
    WAIT_STEPS = sizeof(WAIT_STEPS_S) / sizeof(WAIT_STEPS_S[0])
};

// The wait at position 0 to `steps` of the axis: even inside the first step, then in equal ratios.
static int64_t wait_at(double position, size_t steps)
{
    size_t step = position >= (double)steps ? steps - 1 : (size_t)position;
    double part = position - (double)step;
    double from = (double)WAIT_STEPS_S[step], to = (double)WAIT_STEPS_S[step + 1];
    return llround((step == 0 ? to * part : from * pow(to / from, part)) * 1000);
}

// How many of the jobs waited no longer.
static size_t count_waits(const struct report_waits *waits, int64_t wait_ms)
{
    size_t low = 0, high = waits->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (waits->sorted_ms[middle] <= wait_ms)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double share_of(const struct report_run *run, int64_t wait_ms)
{
    return run->arrived ? (double)count_waits(&run->waits, wait_ms) / (double)run->arrived : 0;
}

static void write_waits(const struct report *report, struct arena *arena, struct buffer *out)
{
    size_t steps = 3;
    double bottom = 0.95;
    for (size_t r = 0; r < report->run_count; r++) {
        while (steps + 1 < WAIT_STEPS && WAIT_STEPS_S[steps] * 1000 < report->runs[r].waits.longest_ms)
            steps++;
        bottom = fmin(bottom, floor(share_of(&report->runs[r], 0) * 20) / 20);
    }
    struct chart_line *lines = arena_array(arena, report->run_count, sizeof(*lines));
    struct chart chart = {.title = "How long jobs waited",
                          .unit = "percent of the jobs that had started after so long",
                          .description =
                              "The share of jobs that had started after a given wait, a line for each policy",
                          .lines = lines,
                          .line_count = report->run_count,
                          .x_label_count = steps + 1};
    label_values(&chart, bottom * 100, 100, " %", arena);
    for (size_t i = 0; i <= steps; i++)
        chart.x_labels[i] = WAIT_LABELS[i];
    for (size_t r = 0; r < report->run_count; r++) {
        struct chart_point *points = arena_array(arena, CDF_POINTS + 1, sizeof(*points));
        lines[r] = (struct chart_line){report->runs[r].run->policy->name, points, CDF_POINTS + 1};
        for (size_t i = 0; i <= CDF_POINTS; i++) {
            double x = (double)i / CDF_POINTS;
            double share = share_of(&report->runs[r], wait_at(x * (double)steps, steps));
            points[i] = (struct chart_point){x, (share - bottom) / (1 - bottom)};
        }
    }
    chart_write(&chart, out);
}

void page_charts_write(const struct report *report, struct arena *arena, struct buffer *out)
{
    for (size_t i = 0; i < sizeof(SERIES) / sizeof(SERIES[0]); i++) {
        write_series(report, &SERIES[i], arena, out);
        if (i == 1)
            write_waits(report, arena, out);
    }
}

// Projects by what they held, most first.
struct ranked {
    __int128 held;
    size_t project;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *one = a, *other = b;
    if (one->held != other->held)
        return one->held > other->held ? -1 : 1;
    return (one->project > other->project) - (one->project < other->project);
}

enum {
    BAR_PROJECTS = 12
};

struct bars {
    const char *title;
    const char *unit;
    double (*value)(const struct report_run *run, size_t project);
    double (*mark)(const struct report_run *run, size_t project); // negative: none
    void (*label)(const struct report_run *run, size_t project, char out[32]);
};

static double allocated_of(const struct report_run *run, size_t project)
{
    return (double)run->projects[project].allocated_milli;
}

static double quota_of(const struct report_run *run, size_t project)
{
    int64_t quota = run->run->projects[project].deserved_milli;
    return quota == QUANTITY_UNLIMITED ? -1 : (double)quota;
}

static double no_mark(const struct report_run *run, size_t project)
{
    (void)run, (void)project;
    return -1;
}

static double wait_of(const struct report_run *run, size_t project)
{
    return (double)run->projects[project].waits.mean_ms;
}

static double evicted_of(const struct report_run *run, size_t project)
{
    return (double)run->run->projects[project].evicted;
}

static void label_allocated(const struct report_run *run, size_t project, char out[32])
{
    int64_t quota = run->run->projects[project].deserved_milli;
    double held = allocated_of(run, project) / 1000;
    if (quota == QUANTITY_UNLIMITED)
        snprintf(out, 32, "%.1f", held);
    else
        snprintf(out, 32, "%.1f / %.5g", held, (double)quota / 1000);
}

static void label_wait(const struct report_run *run, size_t project, char out[32])
{
    report_duration(run->projects[project].waits.mean_ms, out);
}

static void label_evicted(const struct report_run *run, size_t project, char out[32])
{
    snprintf(out, 32, "%.0f", evicted_of(run, project));
}

static const struct bars BARS[] = {
    {"Allocated GPUs by project", "mean / quota, which the mark shows", allocated_of, quota_of, label_allocated},
    {"Mean wait by project", "from arrival to first start", wait_of, no_mark, label_wait},
    {"Evictions by project", "its jobs that gave way, each time", evicted_of, no_mark, label_evicted},
};

static void write_bars(const struct report *report, const struct bars *bars, const struct ranked *order, size_t count,
                       struct buffer *out)
{
    double top = 0;
    char label[32];
    for (size_t i = 0; i < count; i++)
        for (size_t r = 0; r < report->run_count; r++)
            top = fmax(top, fmax(bars->value(&report->runs[r], order[i].project),
                                 bars->mark(&report->runs[r], order[i].project)));
    buffer_text(out, "<figure><figcaption><h3>");
    chart_text(out, bars->title);
    buffer_printf(out, "</h3><span>%s</span></figcaption><ul class=\"bars\">", bars->unit);
    for (size_t i = 0; i < count; i++) {
        size_t project = order[i].project;
        buffer_text(out, "<li><b>");
        chart_text(out, report->trace->projects[project].name);
        buffer_text(out, "</b>");
        for (size_t r = 0; r < report->run_count; r++) {
            double mark = bars->mark(&report->runs[r], project);
            bars->label(&report->runs[r], project, label);
            buffer_text(out, "<div>");
            chart_bar(out, r, top > 0 ? bars->value(&report->runs[r], project) / top : 0,
                      mark >= 0 && top > 0 ? mark / top : -1);
            buffer_printf(out, "<span>%s</span></div>", label);
        }
        buffer_text(out, "</li>");
    }
    buffer_text(out, "</ul></figure>\n");
}

void page_bars_write(const struct report *report, struct arena *arena, struct buffer *out)
{
    size_t all = report->trace->project_count, count = all < BAR_PROJECTS ? all : BAR_PROJECTS;
    struct ranked *order = arena_array(arena, all, sizeof(*order));
    for (size_t p = 0; p < all; p++) {
        order[p].project = p;
        for (size_t r = 0; r < report->run_count; r++)
            order[p].held += report->runs[r].run->measure.project_window[p];
    }
    qsort(order, all, sizeof(*order), compare_ranked);
    buffer_text(out, "<div class=\"grid\">");
    for (size_t i = 0; i < sizeof(BARS) / sizeof(BARS[0]); i++)
        write_bars(report, &BARS[i], order, count, out);
    buffer_text(out, "</div>");
    if (all > count)
        buffer_printf(out, "<p class=\"note\">The %zu projects that held most; projects.csv has all %zu.</p>", count,
                      all);
}
