// Durations as people write them: 90s, 5m, 1h30m, 2d, 1w, 500ms; a plain number is seconds.
#pragma once
#include <stdint.h>

struct error;

int duration_parse(const char *text, int64_t *out_ms, struct error *err);

enum {
    DURATION_WORDS_SIZE = 48
};

// 0 and more, as a sentence has it, in the two largest units that say something: "50 min", "60 min", "90 s", "23 h 50
// min", "3 d"; less than two of a unit are said in the next smaller one. Parts of a second go. Returns out.
const char *duration_words(int64_t ms, char out[static DURATION_WORDS_SIZE]);
