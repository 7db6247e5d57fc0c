#include "api/http/filters.h"
#include "api/http/request.h"
#include "api/schema.h"
#include "base/arena.h"
#include "base/error.h"
#include <string.h>

enum {
    FILTER_MAX = 64,
    OPERATOR_LENGTH = 2
};

// In the order of enum filter_operator.
static const char OPERATORS[][OPERATOR_LENGTH + 1] = {"==", "!=", "<=", ">=", "=@", "!@", "=^", "=$"};
enum {
    OPERATOR_COUNT = sizeof(OPERATORS) / sizeof(OPERATORS[0])
};

// Whether a condition was meant: a word, and the beginning of an operator. What a value holds beside commas is no such
// thing.
static bool is_like_condition(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return length > 0 && text[length] != '\0' && strchr("=!<>~", text[length]);
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " ");
}

// Reads FIELD OP at the start of text; returns the length, or 0 where there is none.
static size_t read_condition(const struct parameter *parameter, const char *text, struct filter *out)
{
    for (size_t f = 0; f < parameter->filter_field_count; f++) {
        size_t length = strlen(parameter->filter_fields[f]);
        if (strncmp(text, parameter->filter_fields[f], length) != 0)
            continue;
        for (size_t op = 0; op < OPERATOR_COUNT; op++) {
            if ((parameter->filter_operators >> op & 1) &&
                strncmp(text + length, OPERATORS[op], OPERATOR_LENGTH) == 0) {
                out->field = parameter->filter_fields[f];
                out->op = (enum filter_operator)op;
                return length + OPERATOR_LENGTH;
            }
        }
    }
    return 0;
}

// Of what follows up to the next condition, or what was meant as one.
static size_t value_length(const struct parameter *parameter, const char *value)
{
    struct filter next;
    for (size_t i = 0; value[i]; i++) {
        const char *after = value[i] == ',' ? skip_blanks(value + i + 1) : "";
        if (read_condition(parameter, after, &next) > 0 || is_like_condition(after))
            return i;
    }
    return strlen(value);
}

int filters_parse(const struct parameter *parameter, const char *text, struct arena *arena, struct filter **filters,
                  size_t *count, size_t *capacity, struct error *err)
{
    for (const char *at = skip_blanks(text);;) {
        struct filter filter;
        size_t head = read_condition(parameter, at, &filter);
        if (head == 0)
            return error_set(err, ERROR_INVALID, "%s: not a condition on a known field: \"%.*s\"", parameter->name, 60,
                             at);
        size_t length = value_length(parameter, at + head);
        if (length == 0)
            return error_set(err, ERROR_INVALID, "%s: no value for %s", parameter->name, filter.field);
        if (*count == FILTER_MAX)
            return error_set(err, ERROR_INVALID, "%s: at most %d conditions", parameter->name, FILTER_MAX);
        filter.value = arena_strndup(arena, at + head, length);
        *filters = arena_grow(arena, *filters, capacity, *count + 1, sizeof(**filters));
        (*filters)[(*count)++] = filter;
        at += head + length;
        if (*at == '\0')
            return 0;
        at = skip_blanks(at + 1);
    }
}
