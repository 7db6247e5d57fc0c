#include "api/http/parameters.h"
#include "api/http/filters.h"
#include "api/http/path.h"
#include "api/http/request.h"
#include "api/http/validate.h"
#include "api/schema.h"
#include "base/arena.h"
#include "base/error.h"
#include <string.h>

enum {
    LIST_MAX = 1000,
    NEAR_FROM = 4 // letters: of shorter names too many are near
};

#define PLUS_HINT "A + in a query is a blank: write %%2B, as in 2022-01-01T03:49:52%%2B02:00"

static int add_item(struct parameter_value *value, const char *text, struct arena *arena, size_t *capacity,
                    struct error *err)
{
    const struct parameter *parameter = value->parameter;
    size_t max = parameter->max_items ? parameter->max_items : LIST_MAX;
    if (value->item_count == max)
        return error_set(err, ERROR_INVALID, "%s: at most %zu items", parameter->name, max);
    if (validate_text(parameter->schema, parameter->name, text, &value->integer, err) < 0)
        return -1;
    value->items = arena_grow(arena, value->items, capacity, value->item_count + 1, sizeof(*value->items));
    value->items[value->item_count++] = text;
    return 0;
}

static int read_list(struct parameter_value *value, const char *text, struct arena *arena, struct error *err)
{
    size_t capacity = value->item_count; // a repeated parameter goes on where the first ended
    for (const char *at = text; *text;) {
        size_t length = strcspn(at, ",");
        if (add_item(value, arena_strndup(arena, at, length), arena, &capacity, err) < 0)
            return -1;
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    value->text = value->item_count ? value->items[0] : NULL;
    return 0;
}

static int read_value(struct request *req, struct parameter_value *value, const char *text, struct error *err)
{
    const struct parameter *parameter = value->parameter;
    bool is_repeated = value->text != NULL;
    if (parameter->filter_field_count > 0) {
        struct filter *filters = (struct filter *)req->filters;
        size_t capacity = req->filter_count;
        value->text = text;
        if (*text && filters_parse(parameter, text, req->arena, &filters, &req->filter_count, &capacity, err) < 0)
            return -1;
        req->filters = filters;
        return 0;
    }
    if (parameter->is_list)
        return read_list(value, text, req->arena, err);
    if (is_repeated)
        return error_set(err, ERROR_INVALID, "%s: given twice", parameter->name);
    if (validate_text(parameter->schema, parameter->name, text, &value->integer, err) < 0)
        return -1;
    value->text = text;
    return 0;
}

static char next_letter(const char **at)
{
    while (**at == '_' || **at == '-')
        (*at)++;
    char c = **at;
    *at += c != '\0';
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool is_same_word(const char *a, const char *b)
{
    char letter;
    do {
        letter = next_letter(&a);
        if (letter != next_letter(&b))
            return false;
    } while (letter);
    return true;
}

// One letter more, less, another or two exchanged; or another spelling: sort_by, sortby.
static bool is_near(const char *name, const char *known)
{
    size_t length = strlen(name), known_length = strlen(known), same = 0;
    if (is_same_word(name, known))
        return true;
    if (known_length < NEAR_FROM)
        return false;
    while (name[same] && name[same] == known[same])
        same++;
    const char *a = name + same, *b = known + same;
    if (length == known_length)
        return strcmp(a + 1, b + 1) == 0 || (a[0] == b[1] && a[1] == b[0] && strcmp(a + 2, b + 2) == 0);
    return length + 1 == known_length ? strcmp(a, b + 1) == 0 : length == known_length + 1 && strcmp(a + 1, b) == 0;
}

// Clients of other versions send what the document does not have, so that is passed over, but for what is one of the
// operation's parameters misspelt. Our own operations have no such clients; at open ones others come back with what
// they like.
static int check_unknown(const struct request *req, const char *name, struct error *err)
{
    const struct operation *operation = req->operation;
    const char *known = "", *near = NULL;
    for (size_t i = 0; i < operation->parameter_count; i++) {
        const struct parameter *parameter = &operation->parameters[i];
        if (parameter->place != PARAMETER_QUERY)
            continue;
        near = !near && is_near(name, parameter->name) ? parameter->name : near;
        known = arena_printf(req->arena, "%s%s%s", known, *known ? ", " : "", parameter->name);
    }
    if (!near && !(operation->is_own && operation->access != OPERATION_ACCESS_OPEN))
        return 0;
    error_set(err, ERROR_INVALID, "%.60s: unknown parameter", name);
    if (near)
        return error_details(err, "%s is one", near);
    return error_details(err, "%s%s", *known ? "It takes " : "It takes none", known);
}

static bool is_blank_for_plus(const char *raw, size_t length)
{
    for (size_t i = 1; i + 1 < length; i++)
        if (raw[i] == '+' && raw[i - 1] >= '0' && raw[i - 1] <= '9' && raw[i + 1] >= '0' && raw[i + 1] <= '9')
            return true;
    return false;
}

static int read_query(struct request *req, const char *query, struct error *err)
{
    for (const char *at = query; *at;) {
        size_t length = strcspn(at, "&");
        size_t name_length = strcspn(at, "=&");
        char *name, *text;
        if (percent_decode(at, name_length, "query", req->arena, &name, err) < 0)
            return -1;
        const char *value_at = at + name_length + (name_length < length);
        if (percent_decode(value_at, (size_t)(at + length - value_at), *name ? name : "query", req->arena, &text, err) <
            0)
            return -1;
        bool is_known = !*name;
        for (size_t i = 0; i < req->value_count; i++) {
            const struct parameter *parameter = req->values[i].parameter;
            if (parameter->place != PARAMETER_QUERY || strcmp(parameter->name, name) != 0)
                continue;
            is_known = true;
            if (read_value(req, &req->values[i], text, err) == 0)
                continue;
            return is_blank_for_plus(value_at, (size_t)(at + length - value_at)) ? error_details(err, PLUS_HINT) : -1;
        }
        if (!is_known && check_unknown(req, name, err) < 0)
            return -1;
        at += length + (at[length] == '&');
    }
    return 0;
}

int parameters_read(struct request *req, const struct path *path, const char *query, struct error *err)
{
    const struct operation *operation = req->operation;
    req->value_count = operation->parameter_count;
    req->values = arena_array(req->arena, req->value_count, sizeof(*req->values));
    for (size_t i = 0; i < req->value_count; i++) // all of them: a refusal is recorded with what was read before it
        req->values[i].parameter = &operation->parameters[i];
    for (size_t i = 0; i < req->value_count; i++) {
        struct parameter_value *value = &req->values[i];
        const char *text = NULL;
        if (value->parameter->place == PARAMETER_PATH)
            text = path->segments[value->parameter->segment];
        else if (value->parameter->place == PARAMETER_HEADER)
            text = request_header(req, value->parameter->name);
        if (text && read_value(req, value, text, err) < 0)
            return -1;
    }
    if (query && read_query(req, query, err) < 0)
        return -1;
    for (size_t i = 0; i < req->value_count; i++) {
        struct parameter_value *value = &req->values[i];
        if (value->text)
            continue;
        if (value->parameter->required)
            return error_set(err, ERROR_INVALID, "%s: required", value->parameter->name);
        value->is_default = true;
        if (value->parameter->default_text && read_value(req, value, value->parameter->default_text, err) < 0)
            return -1;
    }
    return 0;
}
