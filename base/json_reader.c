#include "base/json_reader.h"

#include "base/error.h"

size_t json_reader_depth(const char *text, size_t length)
{
    size_t depth = 0, deepest = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"') {
            for (i++; i < length && text[i] != '"'; i++)
                i += text[i] == '\\';
        } else if (text[i] == '[' || text[i] == '{') {
            if (++depth > deepest)
                deepest = depth;
        } else if ((text[i] == ']' || text[i] == '}') && depth > 0) {
            depth--;
        }
    }
    return deepest;
}

int json_reader_parse(const char *text, size_t length, json_t **out_value, struct error *err)
{
    if (json_reader_depth(text, length) > JSON_READER_DEPTH)
        return error_set(err, ERROR_INVALID, "more than %d levels of nesting", JSON_READER_DEPTH);
    json_error_t problem;
    json_t *value = json_loadb(text, length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &problem);
    if (!value)
        return error_set(err, ERROR_INVALID, "line %d column %d: %s", problem.line, problem.column, problem.text);
    *out_value = value;
    return 0;
}
