#include "api/http/path.h"
#include "base/arena.h"
#include "base/error.h"
#include <stdint.h>
#include <string.h>

bool utf8_is_valid(const char *text, size_t length)
{
    const unsigned char *s = (const unsigned char *)text;
    for (size_t i = 0; i < length;) {
        unsigned char c = s[i];
        size_t more = c < 0x80                 ? 0
                      : c >= 0xc2 && c <= 0xdf ? 1
                      : (c & 0xf0) == 0xe0     ? 2
                      : c >= 0xf0 && c <= 0xf4 ? 3
                                               : 9;
        if (more > length - i - 1)
            return false;
        for (size_t k = 1; k <= more; k++) {
            if ((s[i + k] & 0xc0) != 0x80)
                return false;
        }
        if ((c == 0xe0 && s[i + 1] < 0xa0) || (c == 0xed && s[i + 1] > 0x9f) || (c == 0xf0 && s[i + 1] < 0x90) ||
            (c == 0xf4 && s[i + 1] > 0x8f))
            return false;
        i += more + 1;
    }
    return true;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

// The decoded text is never longer than the encoded one. NUL bytes are refused here for all.
static int decode(const char *text, size_t length, bool plus_is_blank, const char *what, char *out, size_t *out_length,
                  struct error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '%') {
            int high = length - i > 2 ? hex_value(text[i + 1]) : -1;
            int low = length - i > 2 ? hex_value(text[i + 2]) : -1;
            if (high < 0 || low < 0)
                return error_set(err, ERROR_INVALID, "%s: broken percent-encoding", what);
            c = (char)(high * 16 + low);
            i += 2;
        } else if (c == '+' && plus_is_blank) {
            c = ' ';
        }
        if (c == '\0')
            return error_set(err, ERROR_INVALID, "%s: a NUL byte", what);
        out[n++] = c;
    }
    out[n] = '\0';
    if (!utf8_is_valid(out, n))
        return error_set(err, ERROR_INVALID, "%s: not UTF-8", what);
    *out_length = n;
    return 0;
}

int percent_decode(const char *text, size_t length, const char *what, struct arena *arena, char **out_text,
                   struct error *err)
{
    char *decoded = arena_alloc(arena, length + 1);
    size_t decoded_length = 0;
    if (decode(text, length, true, what, decoded, &decoded_length, err) < 0)
        return -1;
    *out_text = decoded;
    return 0;
}

static int check_segment(const char *segment, size_t length, struct error *err)
{
    if (length == 0)
        return error_set(err, ERROR_INVALID, "path: an empty segment");
    if (strcmp(segment, ".") == 0 || strcmp(segment, "..") == 0)
        return error_set(err, ERROR_INVALID, "path: a dot segment");
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)segment[i];
        if (c == '/' || c == '\\')
            return error_set(err, ERROR_INVALID, "path: an encoded slash");
        if (c < 0x20 || c == 0x7f)
            return error_set(err, ERROR_INVALID, "path: a control character");
    }
    return 0;
}

int path_split(const char *raw, struct arena *arena, struct path *out_path, struct error *err)
{
    struct path path = {.count = 0};
    if (raw[0] != '/')
        return error_set(err, ERROR_INVALID, "path: begins with a slash");
    const char *at = raw + 1;
    while (*at || path.count > 0) {
        size_t length = strcspn(at, "/");
        if (path.count == PATH_SEGMENT_MAX)
            return error_set(err, ERROR_INVALID, "path: more than %d segments", PATH_SEGMENT_MAX);
        char *segment = arena_alloc(arena, length + 1);
        size_t decoded_length = 0;
        if (decode(at, length, false, "path", segment, &decoded_length, err) < 0 ||
            check_segment(segment, decoded_length, err) < 0)
            return -1;
        path.segments[path.count++] = segment;
        at += length;
        if (*at == '\0')
            break;
        at++; // what follows a slash is a segment, empty or not
    }
    *out_path = path;
    return 0;
}
