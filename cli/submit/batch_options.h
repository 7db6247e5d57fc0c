// What the #SBATCH lines of a script say, as flags of a submission.
#pragma once
#include "cli/flags.h"

#include <stdbool.h>

struct arena;
struct error;

enum {
    BATCH_NOTES_MAX = 32
};

// --array: the numbers of its tasks. The runs of a training have their own, from 0.
struct batch_array {
    bool is_asked;
    unsigned long long first, step;
};

struct batch_options {
    struct arguments flags;             // as if they had been typed
    const char *notes[BATCH_NOTES_MAX]; // what has no meaning here, a line each
    size_t note_count;
    struct batch_array array;
};

// Reads the lines up to the first command. ERROR_INVALID names the line's number and an option that is not known, that
// has no value, or that would make something else of the script, as several nodes. Texts are the arena's.
int batch_options_read(const char *script, struct arena *arena, struct batch_options *out, struct error *err);
