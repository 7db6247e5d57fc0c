// The fixed dictionaries behind workloads: categories and priorities.
#pragma once
#include <stdbool.h>

struct filter;

struct workload_category {
    const char *id; // uuid, fixed
    const char *name, *description;
};

// By id or name; NULL where there is none.
const struct workload_category *workload_category_find(const char *word);
// One condition on a text, as api/lists/list_query.h has it for what is in the database.
bool property_text_passes(const char *text, const struct filter *filter);
