// Questions that `prorata simulate` puts to a snapshot instead of running cycles: what if, how did the fair shares come
// about, in which order is what waits tried.
#pragma once
#include <stdbool.h>

struct buffer;
struct error;

struct question_options {
    const char *what_if;    // a file with a workload, or the name of one in the snapshot; NULL: not asked
    const char *fair_share; // a node pool; NULL: not asked
    const char *resource;   // "gpu", "cpu", "memory": of fair_share
    const char *queue;      // a node pool; NULL: not asked
};

// Whether there is any.
bool questions_are_asked(const struct question_options *options);
// The answers as one JSON object. Fails with ERROR_INVALID: which file or option, and what is wrong with it.
int questions_answer(const char *path, const struct question_options *options, bool pretty, struct buffer *out,
                     struct error *err);
