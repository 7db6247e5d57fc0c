// Requests that read once: get and list.
#pragma once
#include "tests/fakekube/call.h"
#include "tests/fakekube/selector.h"

// What a list or a watch asks for.
struct filter {
    char prefix[260]; // of keys: "namespace/", or ""
    struct selector labels;
    struct selector fields;
};

// 0 or -1; both have answered, but for filter_read that answers only a failure. filter_done in both cases.
int filter_read(struct call *call, struct filter *out_filter);
void filter_done(struct filter *filter);
bool filter_passes(const struct filter *filter, const struct revision *revision);
// 422 of ListOptions.
int fail_options(struct call *call, const char *field, const char *detail);
// A watch with a match rule, where none is allowed.
int fail_watch_options(struct call *call);
// The version a reader named; -1: none, or 0; -2: no number, and 400 is answered.
int64_t read_version(struct call *call);
int get_object(struct call *call);
int list_objects(struct call *call);
// 504 Timeout: this server has not seen that version yet. Returns -1.
int fail_too_large(struct call *call, int64_t version);
