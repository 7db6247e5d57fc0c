#include "model/placement_words.h"

#include <stddef.h>

#define WORD_TEXT(value, word) word,

const char *const TAINT_EFFECT_WORDS[TAINT_EFFECT_COUNT + 1] = {
#define TAINT_EFFECT WORD_TEXT
#include "model/placement_words.def"
#undef TAINT_EFFECT
};

const char *const TOLERATION_WORDS[TOLERATION_COUNT + 1] = {
#define TOLERATION_OPERATOR WORD_TEXT
#include "model/placement_words.def"
#undef TOLERATION_OPERATOR
};

const char *const REQUIREMENT_WORDS[REQUIREMENT_COUNT + 1] = {
#define REQUIREMENT_OPERATOR WORD_TEXT
#include "model/placement_words.def"
#undef REQUIREMENT_OPERATOR
};
