// Lists: filters, search, sorting and pages over a small table, and what is refused.
#include "api/http/filters.h"
#include "api/http/request.h"
#include "api/lists/list_query.h"
#include "api/schema.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "db/db.h"
#include "tests/support/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct list_field FIELDS[] = {
    {.name = "name", .sql = "a.name", .type = LIST_TEXT, .is_searched = true},
    {.name = "note", .sql = "a.note", .type = LIST_TEXT, .is_searched = true},
    {.name = "gpus", .sql = "a.gpu_milli", .type = LIST_NUMBER, .scale = 1000},
    {.name = "weight", .sql = "a.weight", .type = LIST_NUMBER},
    {.name = "createdAt", .sql = "a.created_ms", .type = LIST_TIME},
    {.name = "preemptible", .sql = "a.preemptible", .type = LIST_BOOL},
    {.name = "nodepool", .sql = "a.pools_json", .type = LIST_SET},
};

// The rows that the tables below speak of. SQL without a file of its own: a list needs only a FROM.
#define ROWS                                                                                                    \
    "(SELECT 1 AS id, 'vision-a' AS name, 'first' AS note, 2000 AS gpu_milli, 1.5 AS weight, 1609459200000 AS " \
    "created_ms, 1 AS preemptible, '[\"default\"]' AS pools_json "                                              \
    "UNION ALL SELECT 2, 'vision-b', NULL, 500, 2.0, 1609545600000, 0, '[\"default\",\"h100\"]' "               \
    "UNION ALL SELECT 3, 'Speech', '50% off', 0, 0.0, 1612137600000, 1, '[]' "                                  \
    "UNION ALL SELECT 4, 'speech_x', 'a,b', 300, 2.0, 1612137600001, 0, '[\"a100\"]' "                          \
    "UNION ALL SELECT 5, 'o''hara', 'back\\slash', 8000, 3.0, 1640995200000, 0, '[\"h100\"]') a"

static const struct list_source SOURCE = {
    .columns = "a.id",
    .from = ROWS,
    .id = "a.id",
    .order = "a.id",
    .fields = FIELDS,
    .field_count = COUNT(FIELDS),
};

static const char *const FIELD_NAMES[] = {"name",      "note",        "gpus",     "weight",
                                          "createdAt", "preemptible", "nodepool", "unlisted"};
static const struct parameter FILTER_BY = {
    .name = "filterBy",
    .place = PARAMETER_QUERY,
    .is_list = true,
    .filter_fields = FIELD_NAMES,
    .filter_field_count = COUNT(FIELD_NAMES),
    .filter_operators = 0xff,
};

struct list_case {
    const char *name;
    const char *filter_by; // NULL: none
    const char *search;
    const char *sort_by;
    bool is_descending;
    int64_t offset;
    int64_t limit;    // 0: 50
    const char *want; // ids in order, "+" where there is a next page; or the error's message
};

static const struct list_case CASES[] = {
    {.name = "everything in the list's own order", .want = "1 2 3 4 5"},
    {.name = "text is equal, with case", .filter_by = "name==Speech", .want = "3"},
    {.name = "text differs", .filter_by = "name!=Speech", .want = "1 2 4 5"},
    {.name = "a text that is not there differs, too", .filter_by = "note!=first", .want = "2 3 4 5"},
    {.name = "contains, without case", .filter_by = "name=@SPEECH", .want = "3 4"},
    {.name = "lacks", .filter_by = "name!@vision", .want = "3 4 5"},
    {.name = "a text that is not there lacks everything", .filter_by = "note!@first", .want = "2 3 4 5"},
    {.name = "begins", .filter_by = "name=^vision", .want = "1 2"},
    {.name = "ends", .filter_by = "name=$-b", .want = "2"},
    {.name = "text in order", .filter_by = "name>=speech", .want = "4 1 2", .sort_by = "name"},
    {.name = "a per cent sign is only itself", .filter_by = "note=@0% o", .want = "3"},
    {.name = "a per cent sign matches nothing else", .filter_by = "name=@%", .want = ""},
    {.name = "an underscore is only itself", .filter_by = "name=@h_x", .want = "4"},
    {.name = "an underscore matches nothing else", .filter_by = "name=@n_a", .want = ""},
    {.name = "a backslash is only itself", .filter_by = "note=@k\\s", .want = "5"},
    {.name = "a quote is only itself", .filter_by = "name==o'hara", .want = "5"},
    {.name = "a statement is only a text", .filter_by = "name==x' OR '1'='1", .want = ""},
    {.name = "a comma in a value is kept", .filter_by = "note==a,b", .want = "4"},
    {.name = "two conditions both hold", .filter_by = "name=^vision,gpus>=1", .want = "1"},
    {.name = "the same field twice", .filter_by = "gpus>=0.3,gpus<=2", .want = "1 2 4"},
    {.name = "one of several values", .filter_by = "name==Speech,name==vision-a", .want = "1 3"},
    {.name = "several values among other conditions",
     .filter_by = "gpus==0.5,name=^vision,gpus==8,gpus==2,preemptible==true",
     .want = "1"},
    {.name = "none of several values", .filter_by = "name!=Speech,name!=vision-a", .want = "2 4 5"},
    {.name = "a set has all of several", .filter_by = "nodepool==default,nodepool==h100", .want = "2"},
    {.name = "GPUs are compared in their unit", .filter_by = "gpus==0.3", .want = "4"},
    {.name = "a number that differs", .filter_by = "gpus!=0", .want = "1 2 4 5"},
    {.name = "an exponent is a number", .filter_by = "gpus>=2e0", .want = "1 5"},
    {.name = "a negative number", .filter_by = "gpus>=-1", .want = "1 2 3 4 5"},
    {.name = "a real column", .filter_by = "weight==1.5", .want = "1"},
    {.name = "times are compared as times", .filter_by = "createdAt>=2021-02-01T00:00:00Z", .want = "3 4 5"},
    {.name = "a time with an offset", .filter_by = "createdAt<=2021-01-01T01:00:00+01:00", .want = "1"},
    {.name = "a date alone", .filter_by = "createdAt==2021-02-01", .want = "3"},
    {.name = "true", .filter_by = "preemptible==true", .want = "1 3"},
    {.name = "true as Python and Go write it", .filter_by = "preemptible==True,preemptible==1", .want = "1 3"},
    {.name = "not true", .filter_by = "preemptible!=true", .want = "2 4 5"},
    {.name = "a set has it", .filter_by = "nodepool==h100", .want = "2 5"},
    {.name = "a set has it not", .filter_by = "nodepool!=h100", .want = "1 3 4"},
    {.name = "a set has one that contains it", .filter_by = "nodepool=@100", .want = "2 4 5"},
    {.name = "a set has none that contains it", .filter_by = "nodepool!@100", .want = "1 3"},
    {.name = "a set has one that begins so", .filter_by = "nodepool=^def", .want = "1 2"},
    {.name = "search looks into all texts", .search = "s", .want = "1 2 3 4 5"},
    {.name = "search for a part", .search = "slash", .want = "5"},
    {.name = "search for a wildcard", .search = "%", .want = "3"},
    {.name = "an empty search is none", .search = "", .want = "1 2 3 4 5"},
    {.name = "search and filter", .search = "vision", .filter_by = "gpus<=1", .want = "2"},
    {.name = "ascending, ties by id", .sort_by = "weight", .want = "3 1 2 4 5"},
    {.name = "descending, ties by id downwards", .sort_by = "weight", .is_descending = true, .want = "5 4 2 1 3"},
    {.name = "a first page", .limit = 2, .want = "1 2+"},
    {.name = "a page in between", .limit = 2, .offset = 2, .want = "3 4+"},
    {.name = "a last page that is short", .limit = 2, .offset = 4, .want = "5"},
    {.name = "a last page that is full", .limit = 5, .want = "1 2 3 4 5"},
    {.name = "behind the end", .offset = 100, .want = ""},
    {.name = "pages count what matches", .limit = 1, .filter_by = "name=^vision", .want = "1+"},

    {.name = "unknown field", .filter_by = "colour==red", .want = "!filterBy"},
    {.name = "a field that the list lacks", .filter_by = "unlisted==1", .want = "!filterBy: no field unlisted"},
    {.name = "no operator", .filter_by = "name", .want = "!filterBy"},
    {.name = "half an operator", .filter_by = "name=x", .want = "!filterBy"},
    {.name = "an operator of another language", .filter_by = "name<>x", .want = "!filterBy"},
    {.name = "no field", .filter_by = "==x", .want = "!filterBy"},
    {.name = "no value", .filter_by = "name==", .want = "!filterBy"},
    {.name = "only a comma", .filter_by = ",", .want = "!filterBy"},
    {.name = "a field in capitals", .filter_by = "NAME==x", .want = "!filterBy"},
    {.name = "a blank before the operator", .filter_by = "name ==x", .want = "!filterBy"},
    {.name = "a statement as the field", .filter_by = "a.id==1", .want = "!filterBy"},
    {.name = "a text for a number",
     .filter_by = "gpus==two",
     .want = "!filterBy: gpus is compared with a number, got two"},
    {.name = "not a number", .filter_by = "gpus==nan", .want = "!filterBy: gpus is compared with a number, got nan"},
    {.name = "infinite", .filter_by = "gpus<=inf", .want = "!filterBy: gpus is compared with a number, got inf"},
    {.name = "beyond a double",
     .filter_by = "gpus<=1e999",
     .want = "!filterBy: gpus is compared with a number, got 1e999"},
    {.name = "hexadecimal", .filter_by = "gpus==0x10", .want = "!filterBy: gpus is compared with a number, got 0x10"},
    {.name = "a number with a unit",
     .filter_by = "gpus==2Gi",
     .want = "!filterBy: gpus is compared with a number, got 2Gi"},
    {.name = "two numbers", .filter_by = "gpus==1 2", .want = "!filterBy: gpus is compared with a number, got 1 2"},
    {.name = "only a sign", .filter_by = "gpus==-", .want = "!filterBy: gpus is compared with a number, got -"},
    {.name = "only an exponent", .filter_by = "gpus==e5", .want = "!filterBy: gpus is compared with a number, got e5"},
    {.name = "a number that contains",
     .filter_by = "gpus=@1",
     .want = "!filterBy: gpus takes the operators == != <= >=, got =@"},
    {.name = "a number that begins",
     .filter_by = "gpus=^1",
     .want = "!filterBy: gpus takes the operators == != <= >=, got =^"},
    {.name = "a number that lacks",
     .filter_by = "weight!@1",
     .want = "!filterBy: weight takes the operators == != <= >=, got !@"},
    {.name = "a number for a time",
     .filter_by = "createdAt>=5",
     .want = "!filterBy: createdAt is compared with an ISO 8601 time, got 5"},
    {.name = "a month that is not there",
     .filter_by = "createdAt>=2021-13-01T00:00:00Z",
     .want = "!filterBy: createdAt is compared with an ISO 8601 time, got 2021-13-01T00:00:00Z"},
    {.name = "a time that ends",
     .filter_by = "createdAt=$Z",
     .want = "!filterBy: createdAt takes the operators == != <= >=, got =$"},
    {.name = "yes is not true",
     .filter_by = "preemptible==yes",
     .want = "!filterBy: preemptible is true or false, got yes"},
    {.name = "a boolean as another number",
     .filter_by = "preemptible==2",
     .want = "!filterBy: preemptible is true or false, got 2"},
    {.name = "a boolean in order",
     .filter_by = "preemptible<=true",
     .want = "!filterBy: preemptible takes the operators == !=, got <="},
    {.name = "a set in order",
     .filter_by = "nodepool>=a",
     .want = "!filterBy: nodepool takes the operators == != =@ !@ =^ =$, got >="},
    {.name = "the second condition is wrong",
     .filter_by = "name==x,gpus==y",
     .want = "!filterBy: gpus is compared with a number, got y"},
    {.name = "sorted by what the list lacks", .sort_by = "colour", .want = "!sortBy: no field colour"},
    {.name = "sorted by a statement", .sort_by = "a.id; DROP TABLE x", .want = "!sortBy: no field a.id; DROP TABLE x"},
    {.name = "sorted by nothing", .sort_by = "", .want = "!sortBy: no field "},
    {.name = "a negative limit", .limit = -1, .want = "!limit: 1 to 500, got -1"},
    {.name = "more than a page may hold", .limit = 501, .want = "!limit: 1 to 500, got 501"},
    {.name = "a negative offset", .offset = -1, .want = "!offset: 0 to 2147483647, got -1"},
    {.name = "an offset beyond its bound", .offset = 2147483648, .want = "!offset: 0 to 2147483647, got 2147483648"},
    {.name = "too many conditions",
     .filter_by = "gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1,"
                  "gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1,"
                  "gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1,gpus>=1",
     .want = "!filterBy: at most 32 conditions, got 33"},
};

static int build(const struct list_case *row, struct arena *arena, struct list_query *query, struct error *err)
{
    struct filter *filters = NULL;
    size_t count = 0, capacity = 0;
    if (row->filter_by && filters_parse(&FILTER_BY, row->filter_by, arena, &filters, &count, &capacity, err) < 0)
        return -1;
    struct list_request request = {
        .filters = filters,
        .filter_count = count,
        .search = row->search,
        .sort_by = row->sort_by,
        .is_descending = row->is_descending,
        .offset = row->offset,
        .limit = row->limit ? row->limit : 50,
    };
    return list_query_build(query, &SOURCE, &request, arena, err);
}

static void read_ids(struct list_query *query, struct db_conn *conn, struct buffer *out, struct error *err)
{
    buffer_text(out, "");
    if (list_query_open(query, conn, err) < 0)
        return;
    while (list_query_step(query, err) == 1)
        buffer_printf(out, "%s%" PRId64, out->length ? " " : "", (int64_t)db_column_int(query->stmt, 0));
    if (query->has_next)
        buffer_text(out, "+");
    list_query_close(query);
}

static void check_case(const struct list_case *row, struct db_conn *conn)
{
    struct arena arena;
    struct list_query query;
    struct error err = {0};
    struct buffer got;
    arena_init(&arena);
    buffer_init(&got, 0);
    if (build(row, &arena, &query, &err) == 0)
        read_ids(&query, conn, &got, &err);
    if (row->want[0] == '!') {
        check_int(err.code, ERROR_INVALID, "%s", row->name);
        check_true(strncmp(err.message, row->want + 1, strlen(row->want + 1)) == 0, "%s: got \"%s\"", row->name,
                   err.message);
    } else {
        check_int(err.code, ERROR_NONE, "%s: %s", row->name, err.message);
        check_text(got.data, row->want, "%s", row->name);
    }
    buffer_done(&got);
    arena_done(&arena);
}

// The count is of all that matches, whatever the page; the scope's condition counts as well.
static void check_count(struct db_conn *conn)
{
    struct arena arena;
    struct list_query query;
    struct error err = {0};
    int64_t count = -1;
    static const struct list_case PAGE = {.filter_by = "name=@e", .limit = 1, .offset = 3};
    arena_init(&arena);
    check_int(build(&PAGE, &arena, &query, &err), 0, "count: build");
    list_query_where_int(&query, "a.gpu_milli <= ?", 200);
    check_int(list_query_count(&query, conn, &count, &err), 0, "count: %s", err.message);
    check_int(count, 1, "count");
    arena_done(&arena);
}

static void check_next(struct db_conn *conn)
{
    struct arena arena;
    struct list_query query;
    struct error err = {0};
    struct buffer out, ids;
    struct json_writer json;
    static const struct list_case PAGE = {.limit = 2, .offset = 2};
    arena_init(&arena);
    buffer_init(&out, 0);
    buffer_init(&ids, 0);
    check_int(build(&PAGE, &arena, &query, &err), 0, "next: build");
    read_ids(&query, conn, &ids, &err);
    json_writer_init(&json, &out, false);
    json_begin_object(&json);
    list_query_write_next(&query, &json);
    json_end_object(&json);
    check_text(out.data, "{\"next\":4}", "next is the next page's offset");
    buffer_done(&out);
    buffer_done(&ids);
    arena_done(&arena);
}

int main(void)
{
    char folder[] = "/tmp/list-query-XXXXXX", path[64];
    struct error err = {0};
    struct db *db = NULL;
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof(path), "%s/test.db", folder);
    struct db_options options = {.path = path, .reader_count = 1};
    check_int(db_open(&options, &db, &err), 0, "open: %s", err.message);
    struct db_conn *conn = db_acquire(db);
    for (size_t i = 0; i < COUNT(CASES); i++)
        check_case(&CASES[i], conn);
    check_count(conn);
    check_next(conn);
    db_give_back(db, conn);
    db_close(db);
    char command[80];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    return system(command) == 0 ? check_finish() : 1;
}
