// YAML from files (never from requests) as a jansson tree. Bounded: 1 MiB, 32 levels, no aliases, no duplicate keys;
// libyaml is quadratic in nesting, so the bound is part of safety. Plain scalars that look like JSON numbers, true,
// false and null become such; all else is text. Every mapping carries the line it starts on under YAML_LINE_KEY, for
// messages; consumers skip that key.
#pragma once
#include <jansson.h>

struct error;

#define YAML_LINE_KEY "\x01line"

// The caller owns *out_root. Errors are `NAME:LINE: what is wrong`.
int yaml_read(const char *text, size_t length, const char *name, json_t **out_root, struct error *err);
int yaml_read_file(const char *path, json_t **out_root, struct error *err);
// The line of a mapping, or 0.
int yaml_line(const json_t *mapping);
