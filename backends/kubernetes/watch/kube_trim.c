#include "backends/kubernetes/watch/kube_trim.h"

#include <stdio.h>
#include <string.h>

enum {
    PATTERN_SIZE = 64
};

// Behind the bracket that ends the array which begins at text; NULL: it does not end.
static const char *find_end(const char *text, const char *end)
{
    int depth = 0;
    for (const char *at = text; at < end; at++) {
        if (*at == '"') {
            for (at++; at < end && *at != '"'; at++)
                at += *at == '\\';
        } else if (*at == '[' || *at == '{') {
            depth++;
        } else if ((*at == ']' || *at == '}') && --depth == 0) {
            return at + 1;
        }
    }
    return NULL;
}

size_t kube_trim_array(char *text, size_t length, const char *key)
{
    char pattern[PATTERN_SIZE];
    size_t size = (size_t)snprintf(pattern, sizeof(pattern), "\"%s\":[", key);
    char *at = text, *end = text + length;
    while ((at = memmem(at, (size_t)(end - at), pattern, size)) != NULL) {
        char *value = at + size; // behind the bracket
        // Inside of a string the quote would have a backslash before it.
        const char *rest = at > text && (at[-1] == ',' || at[-1] == '{') ? find_end(value - 1, end) : NULL;
        at = value;
        if (!rest)
            continue;
        memmove(value, rest - 1, (size_t)(end - rest) + 2); // with the bracket and the '\0'
        end -= rest - 1 - value;
    }
    return (size_t)(end - text);
}
