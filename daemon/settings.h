// The server's settings, from flags, environment and file (base/settings.def has the rows). Values are read and checked
// here, once; later code sees typed fields.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;

enum {
    SETTINGS_LIST_MAX = 16
};

#define SETTING_MEMBER_TEXT(member) const char *member; // NULL: none
#define SETTING_MEMBER_LIST(member)        \
    const char *member[SETTINGS_LIST_MAX]; \
    size_t member##_count;
#define SETTING_MEMBER_NUMBER(member) double member;
#define SETTING_MEMBER_INTEGER(member) int64_t member;
#define SETTING_MEMBER_FLAG(member) bool member;
#define SETTING_MEMBER_CHOICE(member) int member; // which of the argument's words, from 0

// A member for each row; which words a choice has is said there.
struct settings {
#define SETTING(name, member, type, ...) SETTING_MEMBER_##type(member)
#include "base/settings.def"
#undef SETTING
    const char *scenario; // of `prorata demo`; NULL: the first
};

enum settings_outcome {
    SETTINGS_READ,
    SETTINGS_HELP_SHOWN
};

// Reads argv[1..]; texts live in arena. `command` names it in the help text. -1: err is one line that says what and
// where (flag, variable, or file and line).
int settings_read(int argc, char **argv, const char *command, struct arena *arena, struct settings *out_settings,
                  enum settings_outcome *out_outcome, struct error *err);
