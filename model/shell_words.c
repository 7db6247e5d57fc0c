#include "model/shell_words.h"

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Copies one quoted part, *in behind the opening quote, to *out; leaves *in behind the closing one.
static int take_quoted(const char **in, char **out, char quote, struct error *err)
{
    const char *start = *in;
    while (**in && **in != quote) {
        if (quote == '"' && **in == '\\' && (*in)[1] && strchr("\"\\$`\n", (*in)[1])) {
            (*in)++;
            if (**in == '\n') {
                (*in)++;
                continue;
            }
        }
        *(*out)++ = *(*in)++;
    }
    if (!**in)
        return error_set(err, ERROR_INVALID, "the quote before %.20s is not closed", start);
    (*in)++;
    return 0;
}

// Copies one word, *in at its first character.
static int take_word(const char **in, char **out, struct error *err)
{
    while (**in && !is_blank(**in)) {
        char c = *(*in)++;
        if (c == '\'' || c == '"') {
            if (take_quoted(in, out, c, err) < 0)
                return -1;
        } else if (c == '\\') {
            if (!**in)
                return error_set(err, ERROR_INVALID, "a backslash at the end");
            if (**in != '\n')
                *(*out)++ = **in;
            (*in)++;
        } else {
            *(*out)++ = c;
        }
    }
    return 0;
}

int shell_words_split(const char *text, struct arena *arena, const char *const **out_words, size_t *out_count,
                      struct error *err)
{
    size_t length = strlen(text);
    char *out = arena_alloc(arena, 2 * length + 1); // each word takes one byte more than it had
    const char **words = arena_array(arena, length / 2 + 2, sizeof(*words));
    size_t count = 0;
    for (const char *in = text;;) {
        while (is_blank(*in))
            in++;
        if (!*in)
            break;
        words[count++] = out;
        if (take_word(&in, &out, err) < 0)
            return -1;
        *out++ = '\0';
    }
    *out_words = words;
    *out_count = count;
    return 0;
}
