// JSON text from outside to a jansson value: bounded depth, no duplicate keys, nothing behind the value.
// jansson parses recursively and only stops at 2,048 levels, past the end of a small stack: depth is scanned first.
#pragma once
#include <jansson.h>
#include <stddef.h>

struct error;

enum {
    JSON_READER_DEPTH = 32
};

// The caller owns *out_value (json_decref). ERROR_INVALID says line, column and what is wrong there. Numbers beyond
// 64 bits and reals beyond a double are refused, so every number is finite.
int json_reader_parse(const char *text, size_t length, json_t **out_value, struct error *err);
// The deepest nesting of arrays and objects in the text, brackets in strings not counted; the text need not be valid.
size_t json_reader_depth(const char *text, size_t length);
