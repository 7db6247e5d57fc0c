// Paths and percent-encoding. A path is split at its slashes first and each segment decoded once, so that an encoded
// slash or dot never changes what is routed: such segments are refused.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct arena;
struct error;

enum {
    PATH_SEGMENT_MAX = 16
};

struct path {
    const char *segments[PATH_SEGMENT_MAX]; // decoded, in the arena
    size_t count;                           // 0 for "/"
};

// raw is the request target up to the question mark. ERROR_INVALID for %00, %2F, `.`, `..`, an empty segment (also a
// slash at the end), control characters, a broken escape, bad UTF-8, and more than PATH_SEGMENT_MAX segments.
int path_split(const char *raw, struct arena *arena, struct path *out_path, struct error *err);

// Decodes length bytes of a query or form: + is a blank. what names it in the message. ERROR_INVALID as above.
int percent_decode(const char *text, size_t length, const char *what, struct arena *arena, char **out_text,
                   struct error *err);

// Well-formed UTF-8 by RFC 3629: no overlong forms, no surrogates, at most U+10FFFF.
bool utf8_is_valid(const char *text, size_t length);
