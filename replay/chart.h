// Charts as SVG that needs no script and reads well at any width: only lines and areas stand in the SVG, which is
// stretched; texts stand beside it as HTML and keep their size.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct buffer;

enum {
    CHART_DIVISIONS = 4, // of the vertical axis
    CHART_LABELS_MAXIMUM = 10
};

struct chart_point {
    double x, y; // 0 to 1, from the left and from below
};

struct chart_line {
    const char *name;
    const struct chart_point *points;
    size_t count;
};

struct chart {
    const char *title;
    const char *unit;                           // what the vertical axis counts
    const char *description;                    // for who does not see it
    const char *y_labels[CHART_DIVISIONS + 1];  // from below
    const char *x_labels[CHART_LABELS_MAXIMUM]; // evenly spaced from left to right
    size_t x_label_count;
    const struct chart_line *lines; // the n-th in the colour of the n-th policy
    size_t line_count;
};

// Text for HTML: & < > " as entities.
void chart_text(struct buffer *out, const char *text);
void chart_write(const struct chart *chart, struct buffer *out);
// A horizontal bar from 0 to `share` in the colour of the policy; a mark at `mark`, negative: none.
void chart_bar(struct buffer *out, size_t policy, double share, double mark);
// The smallest value not below this one whose CHART_DIVISIONS parts read well.
double chart_round_up(double value);
