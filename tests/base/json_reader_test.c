#include "base/error.h"
#include "base/json_reader.h"
#include "tests/support/check.h"

#include <string.h>

struct depth_case {
    const char *name, *text;
    size_t want_depth;
};

static const struct depth_case DEPTHS[] = {
    {"no bracket", "1", 0},
    {"one of each", "{\"a\": [1, {}]}", 3},
    {"side by side does not add up", "[[],[],[]]", 2},
    {"brackets in a string", "[\"[[[{{{\"]", 1},
    {"an escaped quote does not end a string", "[\"\\\"[[[\"]", 1},
    {"an escaped backslash does", "[\"\\\\\", [[]]]", 3},
    {"a string that never ends", "[\"[[[", 1},
    {"a backslash at the very end", "[\"\\", 1},
    {"more closing than opening", "]]]][", 1},
};

struct parse_case {
    const char *name, *text, *want_message;
};

static const struct parse_case PARSES[] = {
    {"a value", "{\"a\": 1}", ""},
    {"any value", "7", ""},
    {"nothing", "", "line 1 column 0: unexpected token near end of file"},
    {"a key twice", "{\"a\": 1,\n \"a\": 2}", "line 2 column 4: duplicate object key near '\"a\"'"},
    {"something behind it", "{} {}", "line 1 column 4: end of file expected near '{'"},
    {"not a number", "[NaN]", "line 1 column 4: invalid token near 'NaN'"},
    {"beyond a double", "[1e999]", "line 1 column 6: real number overflow near '1e999'"},
    {"beyond 64 bits", "[9223372036854775808]", "line 1 column 20: too big integer near '9223372036854775808'"},
    {"not UTF-8", "[\"\xff\"]", "line 1 column 2: unable to decode byte 0xff near '\"'"},
};

int main(void)
{
    for (size_t i = 0; i < COUNT(DEPTHS); i++)
        check_int((int64_t)json_reader_depth(DEPTHS[i].text, strlen(DEPTHS[i].text)), (int64_t)DEPTHS[i].want_depth,
                  "%s", DEPTHS[i].name);
    for (size_t i = 0; i < COUNT(PARSES); i++) {
        struct error err = {0};
        json_t *value = NULL;
        int rc = json_reader_parse(PARSES[i].text, strlen(PARSES[i].text), &value, &err);
        check_int(rc, *PARSES[i].want_message ? -1 : 0, "%s", PARSES[i].name);
        check_text(err.message, PARSES[i].want_message, "%s", PARSES[i].name);
        json_decref(value);
    }
    char deep[JSON_READER_DEPTH * 2 + 3];
    for (size_t depth = JSON_READER_DEPTH; depth <= JSON_READER_DEPTH + 1; depth++) {
        memset(deep, '[', depth);
        memset(deep + depth, ']', depth);
        struct error err = {0};
        json_t *value = NULL;
        json_reader_parse(deep, 2 * depth, &value, &err);
        check_text(err.message, depth == JSON_READER_DEPTH ? "" : "more than 32 levels of nesting", "%zu levels",
                   depth);
        json_decref(value);
    }
    return check_finish();
}
