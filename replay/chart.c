#include "replay/chart.h"

#include "base/buffer.h"

#include <math.h>

enum {
    WIDTH = 1000,
    HEIGHT = 300,
    BAR_WIDTH = 1000,
    BAR_HEIGHT = 10
};

void chart_text(struct buffer *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '&')
            buffer_text(out, "&amp;");
        else if (*text == '<')
            buffer_text(out, "&lt;");
        else if (*text == '>')
            buffer_text(out, "&gt;");
        else if (*text == '"')
            buffer_text(out, "&quot;");
        else
            buffer_char(out, *text);
    }
}

double chart_round_up(double value)
{
    static const double STEPS[] = {1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10};
    if (value <= 0)
        return CHART_DIVISIONS;
    double power = pow(10, floor(log10(value / CHART_DIVISIONS)));
    for (size_t i = 0; i < sizeof(STEPS) / sizeof(STEPS[0]); i++)
        if (STEPS[i] * power * CHART_DIVISIONS >= value * (1 - 1e-9))
            return STEPS[i] * power * CHART_DIVISIONS;
    return 10 * power * CHART_DIVISIONS;
}

static void write_line(const struct chart_line *line, size_t index, struct buffer *out)
{
    if (line->count == 0)
        return;
    buffer_printf(out, "<path class=\"l p%zu\" d=\"", index % 8 + 1);
    for (size_t i = 0; i < line->count; i++)
        buffer_printf(out, "%c%.1f %.1f", i == 0 ? 'M' : 'L', line->points[i].x * WIDTH,
                      (1 - line->points[i].y) * HEIGHT);
    buffer_text(out, "\"><title>");
    chart_text(out, line->name);
    buffer_text(out, "</title></path>");
}

static void write_grid(struct buffer *out)
{
    buffer_text(out, "<path class=\"g\" d=\"");
    for (int i = 0; i <= CHART_DIVISIONS; i++)
        buffer_printf(out, "M0 %dH%d", HEIGHT * i / CHART_DIVISIONS, WIDTH);
    buffer_text(out, "\"/>");
}

void chart_write(const struct chart *chart, struct buffer *out)
{
    buffer_text(out, "<figure><figcaption><h3>");
    chart_text(out, chart->title);
    buffer_text(out, "</h3><span>");
    chart_text(out, chart->unit);
    buffer_text(out, "</span></figcaption><div class=\"plot\"><div class=\"y\">");
    for (size_t i = CHART_DIVISIONS + 1; i-- > 0;) {
        buffer_text(out, "<span>");
        chart_text(out, chart->y_labels[i]);
        buffer_text(out, "</span>");
    }
    buffer_printf(out, "</div><svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"",
                  WIDTH, HEIGHT);
    chart_text(out, chart->description);
    buffer_text(out, "\">");
    write_grid(out);
    for (size_t i = 0; i < chart->line_count; i++)
        write_line(&chart->lines[i], i, out);
    buffer_text(out, "</svg><div class=\"x\">");
    for (size_t i = 0; i < chart->x_label_count; i++) {
        buffer_text(out, "<span>");
        chart_text(out, chart->x_labels[i]);
        buffer_text(out, "</span>");
    }
    buffer_text(out, "</div></div></figure>\n");
}

void chart_bar(struct buffer *out, size_t policy, double share, double mark)
{
    buffer_printf(out,
                  "<svg class=\"bar\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
                  "<path class=\"t\" d=\"M0 0H%dV%dH0z\"/><path class=\"f p%zu\" d=\"M0 0H%.1fV%dH0z\"/>",
                  BAR_WIDTH, BAR_HEIGHT, BAR_WIDTH, BAR_HEIGHT, policy % 8 + 1, fmin(fmax(share, 0), 1) * BAR_WIDTH,
                  BAR_HEIGHT);
    if (mark >= 0)
        buffer_printf(out, "<path class=\"m\" d=\"M%.1f 0V%d\"/>", fmin(mark, 1) * BAR_WIDTH, BAR_HEIGHT);
    buffer_text(out, "</svg>");
}
