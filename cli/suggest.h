// What was meant by a word that is none.
#pragma once
#include <stddef.h>

enum {
    SUGGEST_LENGTH_MAX = 48
};

// How far apart two words are: characters put in, left out, changed, or two neighbours swapped (the optimal string
// alignment distance; Damerau 1964). SIZE_MAX where one is longer than SUGGEST_LENGTH_MAX.
size_t suggest_distance(const char *one, const char *other);
// Whether `found`, so far from `word`, is near enough to be what was meant: a third of its length.
int suggest_is_near(const char *word, size_t distance);
