// filterBy, as it comes from outside, up to the SQL that is made of it: whatever is taken must be a statement that
// SQLite prepares, with its parameters all bound.
#include "api/http/filters.h"
#include "api/http/request.h"
#include "api/lists/list_query.h"
#include "api/schema.h"
#include "base/arena.h"
#include "base/error.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static const char *const FIELD_NAMES[] = {"name", "gpus", "createdAt", "preemptible", "nodepool"};
static const struct list_field FIELDS[] = {
    {.name = "name", .sql = "a.name", .type = LIST_TEXT, .is_searched = true},
    {.name = "gpus", .sql = "a.gpu_milli", .type = LIST_NUMBER, .scale = 1000},
    {.name = "createdAt", .sql = "a.created_ms", .type = LIST_TIME},
    {.name = "preemptible", .sql = "a.preemptible", .type = LIST_BOOL},
    {.name = "nodepool", .sql = "a.pools_json", .type = LIST_SET},
};
static const struct parameter FILTER_BY = {
    .name = "filterBy",
    .place = PARAMETER_QUERY,
    .is_list = true,
    .filter_fields = FIELD_NAMES,
    .filter_field_count = sizeof(FIELD_NAMES) / sizeof(FIELD_NAMES[0]),
    .filter_operators = 0xff,
};
static const struct list_source SOURCE = {
    .columns = "a.name",
    .from = "a",
    .id = "a.name",
    .order = "a.name",
    .fields = FIELDS,
    .field_count = sizeof(FIELDS) / sizeof(FIELDS[0]),
};

static sqlite3 *open_table(void)
{
    sqlite3 *handle = NULL;
    if (sqlite3_open(":memory:", &handle) != SQLITE_OK ||
        sqlite3_exec(handle, "CREATE TABLE a (name, gpu_milli, created_ms, preemptible, pools_json)", NULL, NULL,
                     NULL) != SQLITE_OK)
        abort();
    return handle;
}

static void check_statement(struct list_query *query)
{
    static sqlite3 *handle;
    sqlite3_stmt *stmt = NULL;
    if (!handle)
        handle = open_table();
    if (sqlite3_prepare_v2(handle, list_query_sql(query), -1, &stmt, NULL) != SQLITE_OK)
        abort();
    if ((size_t)sqlite3_bind_parameter_count(stmt) != query->bind_count + 2)
        abort();
    sqlite3_finalize(stmt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct error err = {0};
    struct filter *filters = NULL;
    struct list_query query;
    size_t count = 0, capacity = 0;
    arena_init(&arena);
    const char *text = arena_strndup(&arena, (const char *)data, size < 4096 ? size : 4096);
    if (filters_parse(&FILTER_BY, text, &arena, &filters, &count, &capacity, &err) == 0) {
        struct list_request request = {.filters = filters, .filter_count = count, .search = text, .limit = 50};
        if (list_query_build(&query, &SOURCE, &request, &arena, &err) == 0 &&
            list_query_add_search(&query, NULL, &err) == 0)
            check_statement(&query);
    }
    arena_done(&arena);
    return 0;
}
