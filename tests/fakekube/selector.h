// Label and field selectors: read once, then asked of each revision.
#pragma once
#include "tests/fakekube/store.h"

struct selector_term {
    char *key;
    int relation; // of selector.c
    char **values;
    size_t count;
};

struct selector {
    struct selector_term *terms;
    size_t count;
};

// -1: not a selector; out_wrong (200 bytes) says where. selector_done also then.
int selector_read_labels(const char *text, struct selector *out_selector, char out_wrong[200]);
int selector_read_fields(const char *text, int resource, struct selector *out_selector, char out_wrong[200]);
void selector_done(struct selector *selector);
// values: an object of texts; NULL has none. A field that is missing is empty.
bool selector_matches(const struct selector *selector, const json_t *values);
bool selector_matches_fields(const struct selector *selector, const json_t *fields);
