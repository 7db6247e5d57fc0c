// filterBy: conditions FIELD OP VALUE, joined by commas. A comma parts two conditions only where what follows it begins
// one, since values may hold commas that cannot be escaped.
#pragma once
#include <stddef.h>

struct arena;
struct error;
struct filter;
struct parameter;

// Adds the conditions of text to *filters. ERROR_INVALID for an unknown field, an operator that the operation does not
// take, or an empty value.
int filters_parse(const struct parameter *parameter, const char *text, struct arena *arena, struct filter **filters,
                  size_t *count, size_t *capacity, struct error *err);
