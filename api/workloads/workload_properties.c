#include "api/workloads/workload_properties.h"

#include "api/http/request.h"
#include "api/http/response.h"
#include "api/operations.h"
#include "base/arena.h"
#include "base/error.h"
#include "model/priority.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct workload_category CATEGORIES[] = {
    {"1d23469f-35c0-5b38-bf45-af8365444282", "Build", "Interactive work: building and trying out"},
    {"86b2b119-ba85-58ad-8a0b-7b8b3bf5fb0c", "Train", "Training and batch work"},
    {"143b2e54-b314-5af7-b35a-cdb366e8c1c7", "Deploy", "Serving models"},
};

enum {
    CATEGORY_COUNT = sizeof(CATEGORIES) / sizeof(CATEGORIES[0])
};

const struct workload_category *workload_category_find(const char *word)
{
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        if (strcasecmp(CATEGORIES[i].id, word) == 0 || strcmp(CATEGORIES[i].name, word) == 0)
            return &CATEGORIES[i];
    return NULL;
}

static json_t *category_to_json(const struct workload_category *category)
{
    return json_pack("{s:s, s:s, s:s, s:s}", "id", category->id, "name", category->name, "description",
                     category->description, "createdBy", "system");
}

int op_list_categories(struct request *req, struct response *res, struct error *err)
{
    (void)req;
    (void)err;
    json_t *list = json_array();
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        json_array_append_new(list, category_to_json(&CATEGORIES[i]));
    return response_json(res, json_pack("{s:o}", "categories", list));
}

int op_get_category_by_id(struct request *req, struct response *res, struct error *err)
{
    const char *id = request_path(req, "categoryId");
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        if (strcasecmp(CATEGORIES[i].id, id) == 0)
            return response_json(res, category_to_json(&CATEGORIES[i]));
    return error_set(err, ERROR_NOT_FOUND, "category %.40s: not found", id);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcasecmp(text + length - end_length, end) == 0;
}

bool property_text_passes(const char *text, const struct filter *filter)
{
    switch (filter->op) {
    case FILTER_EQUAL:
        return strcmp(text, filter->value) == 0;
    case FILTER_NOT_EQUAL:
        return strcmp(text, filter->value) != 0;
    case FILTER_LESS_EQUAL:
        return strcmp(text, filter->value) <= 0;
    case FILTER_GREATER_EQUAL:
        return strcmp(text, filter->value) >= 0;
    case FILTER_CONTAINS:
        return strcasestr(text, filter->value) != NULL;
    case FILTER_LACKS:
        return strcasestr(text, filter->value) == NULL;
    case FILTER_BEGINS:
        return strncasecmp(text, filter->value, strlen(filter->value)) == 0;
    case FILTER_ENDS:
        return ends_with(text, filter->value);
    }
    return false;
}

static bool value_passes(int64_t value, const struct filter *filter, struct error *err, bool *out_is_bad)
{
    char *end;
    long long wanted = strtoll(filter->value, &end, 10);
    *out_is_bad = *end || filter->op > FILTER_GREATER_EQUAL;
    if (*out_is_bad)
        error_set(err, ERROR_INVALID, "filterBy: value is compared by == != <= >= with a whole number, got %.40s",
                  filter->value);
    switch (filter->op) {
    case FILTER_EQUAL:
        return value == wanted;
    case FILTER_NOT_EQUAL:
        return value != wanted;
    case FILTER_LESS_EQUAL:
        return value <= wanted;
    default:
        return value >= wanted;
    }
}

static int priority_passes(const struct request *req, const struct priority_class *class, bool *out_passes,
                           struct error *err)
{
    *out_passes = true;
    for (size_t i = 0; i < req->filter_count; i++) {
        const struct filter *filter = &req->filters[i];
        bool is_bad = false;
        if (strcmp(filter->field, "value") == 0)
            *out_passes = value_passes(class->value, filter, err, &is_bad) && *out_passes;
        else
            *out_passes = property_text_passes(strcmp(filter->field, "name") == 0 ? class->name : "system", filter) &&
                          *out_passes;
        if (is_bad)
            return -1;
    }
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(const struct priority_class *const *)a)->name, (*(const struct priority_class *const *)b)->name);
}

int op_get_workload_priorities(struct request *req, struct response *res, struct error *err)
{
    const char *sort = request_query(req, "sortBy"), *order = request_query(req, "sortOrder");
    const struct priority_class **classes = arena_array(req->arena, PRIORITY_CLASS_COUNT, sizeof(*classes));
    size_t count = 0;
    for (size_t i = 0; i < PRIORITY_CLASS_COUNT; i++) {
        bool passes;
        if (priority_passes(req, &PRIORITY_CLASSES[i], &passes, err) < 0)
            return -1;
        if (passes)
            classes[count++] = &PRIORITY_CLASSES[i];
    }
    if (sort && strcmp(sort, "name") == 0)
        qsort(classes, count, sizeof(*classes), compare_names);
    bool is_descending = order && strcmp(order, "desc") == 0;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct priority_class *class = classes[is_descending ? count - 1 - i : i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:s}", "id", class->id, "name", class->name, "value",
                                              (json_int_t) class->value, "source", "system"));
    }
    return response_json(res, json_pack("{s:o}", "priorities", list));
}
