// Cuts what a server sends into JSON texts of one object each, as the bytes come: the lines of a watch, or the items of
// a list, whose rest comes last. Nothing is parsed but strings and brackets.
#pragma once
#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum kube_lines_form {
    KUBE_LINES_WATCH,
    KUBE_LINES_LIST
};

// -1 ends the reading.
typedef int (*kube_line_fn)(void *context, const char *text, size_t length);

struct kube_lines {
    enum kube_lines_form form;
    kube_line_fn take; // a line, or an item
    void *context;
    size_t line_max;
    struct buffer part; // of the present line or item
    struct buffer rest; // LIST: all but the items
    int depth;
    bool in_items, in_string, is_escaped;
};

void kube_lines_init(struct kube_lines *lines, enum kube_lines_form form, size_t line_max, kube_line_fn take,
                     void *context);
void kube_lines_done(struct kube_lines *lines);
// -1: take said so, or an item or the rest is longer than line_max.
int kube_lines_feed(struct kube_lines *lines, const char *data, size_t length);
// LIST: whether the list has come to its end. Its rest, with "items":[] in it, is then in lines->rest.
bool kube_lines_is_whole(const struct kube_lines *lines);
