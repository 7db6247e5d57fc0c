// Command-line flags by table. A flag may come as `--name value`, `--name=value`, `-n value` or `-nvalue`; switches
// take no value (or true, false), and their letters may stand together: `-it`. Words that are no flags are kept
// in order; after `--` everything is a rest word.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct arena;
struct error;

enum flag_type {
    FLAG_TEXT,
    FLAG_SWITCH,
    FLAG_LIST,
    FLAG_OPTIONAL, // a text, or nothing where `--` follows or the line ends: then ""
    FLAG_HEADING   // no flag: what those below are about; argument: of which type of workload alone, or ""
};

enum {
    FLAG_VALUES_MAX = 64,
    WORDS_MAX = 64,
    REST_MAX = 256
};

struct flag {
    const char *name;  // without the dashes; "" of a heading; NULL ends a table
    const char *alias; // another spelling, or NULL
    char letter;       // 0: none
    enum flag_type type;
    const char *argument; // for the help text
    const char *sentence;
};

struct flag_value {
    const struct flag *flag;
    const char *texts[FLAG_VALUES_MAX];
    size_t count;
};

struct arguments {
    struct flag_value values[FLAG_VALUES_MAX];
    size_t value_count;
    const char *words[WORDS_MAX];
    size_t word_count;
    const char *rest[REST_MAX];
    size_t rest_count;
    bool has_rest;
};

// tables: NULL-terminated list of tables. Reads all of argv from index 0. An unknown flag is ERROR_INVALID.
int flags_read(int argc, char **argv, const struct flag *const *tables, struct arguments *out_arguments,
               struct error *err);
const char *flag_text(const struct arguments *arguments, const char *name); // the last value, or NULL
bool flag_is_set(const struct arguments *arguments, const char *name);      // a switch that is true, or any value
const struct flag_value *flag_values(const struct arguments *arguments, const char *name); // NULL: not given
bool flag_takes(const struct flag *const *tables, const char *name); // whether a table has it; tables may be NULL
// type: of the workloads that the command is for; NULL: any.
void flags_help(const struct flag *const *tables, const char *type);
