#include "api/http/pattern.h"

bool pattern_matches(const struct pattern *pattern, const char *text, size_t length)
{
    uint16_t state = 1;
    for (size_t i = 0; i < length && state != 0; i++)
        state = pattern->next[state * pattern->class_count + pattern->classes[(unsigned char)text[i]]];
    return pattern->accepting[state];
}
