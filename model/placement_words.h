// Enumerations of where pods may go, and the words for them, from one table (placement_words.def).
#pragma once
#define WORD_VALUE(value, word) value,
#define WORD_ONE(value, word) +1

enum taint_effect {
#define TAINT_EFFECT WORD_VALUE
#include "model/placement_words.def"
#undef TAINT_EFFECT
};

enum toleration_operator {
#define TOLERATION_OPERATOR WORD_VALUE
#include "model/placement_words.def"
#undef TOLERATION_OPERATOR
};

enum requirement_operator {
#define REQUIREMENT_OPERATOR WORD_VALUE
#include "model/placement_words.def"
#undef REQUIREMENT_OPERATOR
};

enum {
    TAINT_EFFECT_COUNT = 0
#define TAINT_EFFECT WORD_ONE
#include "model/placement_words.def"
#undef TAINT_EFFECT
};

enum {
    TOLERATION_COUNT = 0
#define TOLERATION_OPERATOR WORD_ONE
#include "model/placement_words.def"
#undef TOLERATION_OPERATOR
};

enum {
    REQUIREMENT_COUNT = 0
#define REQUIREMENT_OPERATOR WORD_ONE
#include "model/placement_words.def"
#undef REQUIREMENT_OPERATOR
};

#undef WORD_VALUE
#undef WORD_ONE

// By their enumeration; NULL ends them.
extern const char *const TAINT_EFFECT_WORDS[TAINT_EFFECT_COUNT + 1];
extern const char *const TOLERATION_WORDS[TOLERATION_COUNT + 1];
extern const char *const REQUIREMENT_WORDS[REQUIREMENT_COUNT + 1];
