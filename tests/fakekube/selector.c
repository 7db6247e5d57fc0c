#include "tests/fakekube/selector.h"
#include "base/arena.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum relation {
    RELATION_IN,
    RELATION_NOT_IN,
    RELATION_EXISTS,
    RELATION_MISSING,
    RELATION_ABOVE,
    RELATION_BELOW
};

static char *copy_part(const char *text, size_t length)
{
    while (length && isspace((unsigned char)*text))
        text++, length--;
    while (length && isspace((unsigned char)text[length - 1]))
        length--;
    char *copy = memory_alloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

static struct selector_term *add_term(struct selector *selector, char *key, enum relation relation)
{
    selector->terms = memory_realloc(selector->terms, (selector->count + 1) * sizeof(*selector->terms));
    struct selector_term *term = &selector->terms[selector->count++];
    *term = (struct selector_term){.key = key, .relation = (int)relation};
    return term;
}

static void add_value(struct selector_term *term, const char *text, size_t length)
{
    term->values = memory_realloc(term->values, (term->count + 1) * sizeof(*term->values));
    term->values[term->count++] = copy_part(text, length);
}

static bool is_label_text(const char *text, bool may_be_empty)
{
    size_t length = strlen(text);
    const char *name = strrchr(text, '/') ? strrchr(text, '/') + 1 : text;
    if (length == 0)
        return may_be_empty;
    if (strlen(name) > 63 || !isalnum((unsigned char)name[0]) || !isalnum((unsigned char)text[length - 1]))
        return false;
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./") == length;
}

static int wrong(char out[200], const char *what, const char *text)
{
    snprintf(out, 200, "%s: '%.120s'", what, text);
    return -1;
}

// The end of a term: a comma outside brackets.
static size_t term_length(const char *text)
{
    size_t depth = 0;
    for (size_t i = 0;; i++) {
        if (text[i] == '\0' || (text[i] == ',' && depth == 0))
            return i;
        depth += text[i] == '(';
        depth -= text[i] == ')' && depth > 0;
    }
}

static void read_set(struct selector *selector, const char *term, const char *mark, bool is_not)
{
    struct selector_term *made =
        add_term(selector, copy_part(term, (size_t)(mark - term)), is_not ? RELATION_NOT_IN : RELATION_IN);
    const char *begin = strchr(mark, '(') + 1;
    for (const char *end = strchr(begin, ')'); begin <= end; begin++) {
        size_t length = strcspn(begin, ",)");
        add_value(made, begin, length);
        begin += length;
    }
}

static void read_comparison(struct selector *selector, const char *term)
{
    size_t length = strcspn(term, "=!<>");
    const char *mark = term + length;
    enum relation relation = RELATION_IN;
    if (*mark == '!')
        relation = RELATION_NOT_IN;
    else if (*mark == '>')
        relation = RELATION_ABOVE;
    else if (*mark == '<')
        relation = RELATION_BELOW;
    const char *value = mark + 1 + (mark[0] != '>' && mark[0] != '<' && mark[1] == '=');
    add_value(add_term(selector, copy_part(term, length), relation), value, strlen(value));
}

static void read_label_term(struct selector *selector, const char *term)
{
    const char *in = strstr(term, " in (");
    const char *notin = strstr(term, " notin (");
    if (notin && strchr(notin, ')'))
        read_set(selector, term, notin, true);
    else if (in && strchr(in, ')'))
        read_set(selector, term, in, false);
    else if (strpbrk(term, "=<>"))
        read_comparison(selector, term);
    else if (*term == '!')
        add_term(selector, copy_part(term + 1, strlen(term + 1)), RELATION_MISSING);
    else
        add_term(selector, copy_part(term, strlen(term)), RELATION_EXISTS);
}

static int check_labels(const struct selector *selector, char out_wrong[200])
{
    for (size_t i = 0; i < selector->count; i++) {
        const struct selector_term *term = &selector->terms[i];
        if (!is_label_text(term->key, false))
            return wrong(out_wrong, "unable to parse requirement: invalid label key", term->key);
        for (size_t v = 0; v < term->count; v++)
            if (strchr(term->values[v], '/') || !is_label_text(term->values[v], true))
                return wrong(out_wrong, "unable to parse requirement: invalid label value", term->values[v]);
    }
    return 0;
}

int selector_read_labels(const char *text, struct selector *out_selector, char out_wrong[200])
{
    *out_selector = (struct selector){0};
    while (text && *text) {
        size_t length = term_length(text);
        char *term = copy_part(text, length);
        read_label_term(out_selector, term);
        free(term);
        text += length + (text[length] == ',');
    }
    return check_labels(out_selector, out_wrong);
}

int selector_read_fields(const char *text, int resource, struct selector *out_selector, char out_wrong[200])
{
    *out_selector = (struct selector){0};
    while (text && *text) {
        size_t length = term_length(text);
        char *term = copy_part(text, length);
        bool is_comparison = strchr(term, '=') != NULL && strpbrk(term, "<>") == NULL;
        if (is_comparison)
            read_comparison(out_selector, term);
        int rc = is_comparison ? 0 : wrong(out_wrong, "invalid field selector", term);
        free(term);
        if (rc < 0)
            return rc;
        text += length + (text[length] == ',');
    }
    for (size_t i = 0; i < out_selector->count; i++)
        if (!resource_has_field(resource, out_selector->terms[i].key))
            return wrong(out_wrong, "field label not supported", out_selector->terms[i].key);
    return 0;
}

void selector_done(struct selector *selector)
{
    for (size_t i = 0; i < selector->count; i++) {
        for (size_t v = 0; v < selector->terms[i].count; v++)
            free(selector->terms[i].values[v]);
        free(selector->terms[i].values);
        free(selector->terms[i].key);
    }
    free(selector->terms);
    *selector = (struct selector){0};
}

static bool is_among(const struct selector_term *term, const char *value)
{
    for (size_t i = 0; i < term->count; i++)
        if (strcmp(term->values[i], value) == 0)
            return true;
    return false;
}

static bool term_matches(const struct selector_term *term, const char *value)
{
    switch ((enum relation)term->relation) {
    case RELATION_IN:
        return value && is_among(term, value);
    case RELATION_NOT_IN:
        return !value || !is_among(term, value);
    case RELATION_EXISTS:
        return value != NULL;
    case RELATION_MISSING:
        return value == NULL;
    case RELATION_ABOVE:
        return value && atoll(value) > atoll(term->values[0]);
    case RELATION_BELOW:
        return value && atoll(value) < atoll(term->values[0]);
    }
    return false;
}

bool selector_matches(const struct selector *selector, const json_t *values)
{
    for (size_t i = 0; i < selector->count; i++)
        if (!term_matches(&selector->terms[i], json_string_value(json_object_get(values, selector->terms[i].key))))
            return false;
    return true;
}

bool selector_matches_fields(const struct selector *selector, const json_t *fields)
{
    for (size_t i = 0; i < selector->count; i++) {
        const char *value = json_string_value(json_object_get(fields, selector->terms[i].key));
        if (!term_matches(&selector->terms[i], value ? value : ""))
            return false;
    }
    return true;
}
