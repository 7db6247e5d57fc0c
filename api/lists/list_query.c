#include "api/lists/list_query.h"
#include "api/http/exchange.h"
#include "api/http/request.h"
#include "api/http/validate.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json_writer.h"
#include "base/timestamp.h"
#include "db/db.h"
#include "db/scopes.h"
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const OPERATOR_TEXT[] = {
    [FILTER_EQUAL] = "==",    [FILTER_NOT_EQUAL] = "!=", [FILTER_LESS_EQUAL] = "<=", [FILTER_GREATER_EQUAL] = ">=",
    [FILTER_CONTAINS] = "=@", [FILTER_LACKS] = "!@",     [FILTER_BEGINS] = "=^",     [FILTER_ENDS] = "=$",
};

static const struct list_field *find_field(const struct list_source *source, const char *name)
{
    for (size_t i = 0; i < source->field_count; i++)
        if (strcmp(source->fields[i].name, name) == 0)
            return &source->fields[i];
    return NULL;
}

static void add_bind(struct list_query *query, struct list_bind bind)
{
    assert(query->bind_count < LIST_BIND_MAX);
    query->binds[query->bind_count++] = bind;
}

static void add_text(struct list_query *query, const char *text)
{
    add_bind(query, (struct list_bind){.kind = LIST_BIND_TEXT, .text = text});
}

static void add_condition(struct list_query *query, const char *condition)
{
    query->where = query->where[0] ? arena_printf(query->arena, "%s AND %s", query->where, condition)
                                   : arena_strdup(query->arena, condition);
}

// The text as a LIKE pattern with its own wildcards escaped by a backslash.
static const char *like_pattern(struct arena *arena, const char *before, const char *text, const char *after)
{
    char *escaped = arena_alloc(arena, 2 * strlen(text) + 1);
    char *out = escaped;
    for (const char *in = text; *in; in++) {
        if (*in == '%' || *in == '_' || *in == '\\')
            *out++ = '\\';
        *out++ = *in;
    }
    return arena_printf(arena, "%s%s%s", before, escaped, after);
}

static int refuse_operator(const struct list_field *field, const struct filter *filter, struct error *err)
{
    static const char *const ALLOWED[] = {
        [LIST_TEXT] = "",      [LIST_NUMBER] = "== != <= >=",    [LIST_TIME] = "== != <= >=",
        [LIST_BOOL] = "== !=", [LIST_SET] = "== != =@ !@ =^ =$",
    };
    return error_set(err, ERROR_INVALID, "filterBy: %s takes the operators %s, got %s", field->name,
                     ALLOWED[field->type], OPERATOR_TEXT[filter->op]);
}

static const char *comparison(enum filter_operator op)
{
    switch (op) {
    case FILTER_EQUAL:
        return "=";
    case FILTER_NOT_EQUAL:
        return "IS NOT"; // true of NULL, which "<>" is not
    case FILTER_LESS_EQUAL:
        return "<=";
    case FILTER_GREATER_EQUAL:
        return ">=";
    default:
        return NULL;
    }
}

static const char *filter_pattern(struct arena *arena, const struct filter *filter)
{
    if (filter->op == FILTER_BEGINS)
        return like_pattern(arena, "", filter->value, "%");
    if (filter->op == FILTER_ENDS)
        return like_pattern(arena, "%", filter->value, "");
    return like_pattern(arena, "%", filter->value, "%");
}

static void filter_text(struct list_query *query, const struct list_field *field, const struct filter *filter)
{
    const char *compare = comparison(filter->op);
    if (compare) {
        add_condition(query, arena_printf(query->arena, "(%s) %s ?", field->sql, compare));
        add_text(query, filter->value);
        return;
    }
    const char *not = filter->op == FILTER_LACKS ? "NOT " : "";
    add_condition(query, arena_printf(query->arena, "coalesce(%s, '') %sLIKE ? ESCAPE '\\'", field->sql, not ));
    add_text(query, filter_pattern(query->arena, filter));
}

static int filter_set(struct list_query *query, const struct list_field *field, const struct filter *filter,
                      struct error *err)
{
    if (filter->op == FILTER_LESS_EQUAL || filter->op == FILTER_GREATER_EQUAL)
        return refuse_operator(field, filter, err);
    bool is_exact = filter->op == FILTER_EQUAL || filter->op == FILTER_NOT_EQUAL;
    bool is_negative = filter->op == FILTER_NOT_EQUAL || filter->op == FILTER_LACKS;
    add_condition(query,
                  arena_printf(query->arena, "%sEXISTS (SELECT 1 FROM json_each(%s) AS each WHERE each.value %s)",
                               is_negative ? "NOT " : "", field->sql, is_exact ? "= ?" : "LIKE ? ESCAPE '\\'"));
    add_text(query, is_exact ? filter->value : filter_pattern(query->arena, filter));
    return 0;
}

static int parse_number(const struct list_field *field, const struct filter *filter, struct list_bind *out_bind,
                        struct error *err)
{
    // strtod alone would take blanks, hexadecimal, inf and nan.
    bool is_plain = filter->value[strspn(filter->value, "0123456789+-.eE")] == '\0';
    char *end = NULL;
    double number = is_plain ? strtod(filter->value, &end) : 0;
    if (!is_plain || end == filter->value || *end || !isfinite(number))
        return error_set(err, ERROR_INVALID, "filterBy: %s is compared with a number, got %.60s", field->name,
                         filter->value);
    double scaled = number * (double)(field->scale ? field->scale : 1);
    // What is a whole number in the column's unit is compared as one: 0.3 * 1000 is not quite 300.
    double nearest = nearbyint(scaled);
    if (fabs(nearest) < 9e15 && fabs(scaled - nearest) < 1e-6)
        *out_bind = (struct list_bind){.kind = LIST_BIND_INT, .integer = (int64_t)nearest};
    else
        *out_bind = (struct list_bind){.kind = LIST_BIND_REAL, .real = scaled};
    return 0;
}

static int parse_bool(const struct list_field *field, const struct filter *filter, struct list_bind *out_bind,
                      struct error *err)
{
    bool is_true;
    if (validate_boolean(filter->value, &is_true) < 0)
        return error_set(err, ERROR_INVALID, "filterBy: %s is true or false, got %.60s", field->name, filter->value);
    *out_bind = (struct list_bind){.kind = LIST_BIND_INT, .integer = is_true};
    return 0;
}

static int parse_time(const struct list_field *field, const struct filter *filter, struct list_bind *out_bind,
                      struct error *err)
{
    int64_t time_ms;
    if (timestamp_parse(filter->value, &time_ms, NULL) < 0) {
        error_set(err, ERROR_INVALID, "filterBy: %s is compared with an ISO 8601 time, got %.60s", field->name,
                  filter->value);
        return strchr(filter->value, ' ') ? error_details(err, "A + in a query is a blank: write %%2B") : -1;
    }
    *out_bind = (struct list_bind){.kind = LIST_BIND_INT, .integer = time_ms};
    return 0;
}

static int filter_amount(struct list_query *query, const struct list_field *field, const struct filter *filter,
                         struct error *err)
{
    const char *compare = comparison(filter->op);
    bool is_order = filter->op == FILTER_LESS_EQUAL || filter->op == FILTER_GREATER_EQUAL;
    if (!compare || (field->type == LIST_BOOL && is_order))
        return refuse_operator(field, filter, err);
    struct list_bind bind;
    int rc = field->type == LIST_TIME   ? parse_time(field, filter, &bind, err)
             : field->type == LIST_BOOL ? parse_bool(field, filter, &bind, err)
                                        : parse_number(field, filter, &bind, err);
    if (rc < 0)
        return -1;
    add_condition(query, arena_printf(query->arena, "(%s) %s ?", field->sql, compare));
    add_bind(query, bind);
    return 0;
}

static int add_filter(struct list_query *query, const struct filter *filter, struct error *err)
{
    const struct list_field *field = find_field(query->source, filter->field);
    if (!field)
        return error_set(err, ERROR_INVALID, "filterBy: no field %.60s", filter->field);
    switch (field->type) {
    case LIST_TEXT:
        filter_text(query, field, filter);
        return 0;
    case LIST_SET:
        return filter_set(query, field, filter, err);
    default:
        return filter_amount(query, field, filter, err);
    }
}

static bool is_of_same(const struct list_query *query, const struct filter *filter, const struct filter *other)
{
    const struct list_field *field = find_field(query->source, filter->field);
    return filter->op == FILTER_EQUAL && other->op == FILTER_EQUAL && field && field->type != LIST_SET &&
           strcmp(filter->field, other->field) == 0;
}

// Adds the filter at index; one that asks for a value of a field takes those with it that ask for others of it, as a
// row has only one.
static int add_filter_at(struct list_query *query, size_t index, struct error *err)
{
    const struct filter *filters = query->request.filters;
    for (size_t i = 0; i < index; i++)
        if (is_of_same(query, &filters[index], &filters[i]))
            return 0; // taken along
    char *before = query->where;
    const char *any = NULL;
    bool is_any = false;
    for (size_t i = index; i < query->request.filter_count; i++) {
        if (i != index && !is_of_same(query, &filters[index], &filters[i]))
            continue;
        query->where = arena_strdup(query->arena, "");
        if (add_filter(query, &filters[i], err) < 0)
            return -1;
        is_any = any != NULL;
        any = is_any ? arena_printf(query->arena, "%s OR %s", any, query->where) : query->where;
    }
    query->where = before;
    add_condition(query, is_any ? arena_printf(query->arena, "(%s)", any) : any);
    return 0;
}

// 0: no row has the pattern in this field; 1: some may; -1: error.
static int may_have(const struct list_query *query, struct db_conn *conn, const struct list_field *field,
                    const char *pattern, struct error *err)
{
    sqlite3_stmt *stmt = NULL;
    if (!field->is_searched)
        return 0;
    if (!query->source->words || !conn)
        return 1;
    if (db_prepare(conn, query->source->words, &stmt, err) < 0)
        return -1;
    db_bind_text(stmt, 1, field->name);
    db_bind_text(stmt, 2, pattern);
    int rc = db_step(conn, stmt, err);
    if (rc == 1)
        rc = db_column_is_null(stmt, 0) || db_column_int(stmt, 0) != 0;
    db_release(conn, stmt);
    return rc;
}

int list_query_add_search(struct list_query *query, struct db_conn *conn, struct error *err)
{
    const char *search = query->request.search;
    if (!search || !*search || query->has_search)
        return 0;
    query->has_search = true;
    const char *pattern = like_pattern(query->arena, "%", search, "%"), *any = "";
    for (size_t i = 0; i < query->source->field_count; i++) {
        const struct list_field *field = &query->source->fields[i];
        int rc = may_have(query, conn, field, pattern, err);
        if (rc < 0)
            return -1;
        if (rc == 0)
            continue;
        any = arena_printf(query->arena, "%s%s%s LIKE ? ESCAPE '\\'", any, any[0] ? " OR " : "", field->sql);
        add_text(query, pattern);
    }
    add_condition(query, any[0] ? arena_printf(query->arena, "(%s)", any) : "0");
    return 0;
}

int list_query_build(struct list_query *query, const struct list_source *source, const struct list_request *request,
                     struct arena *arena, struct error *err)
{
    *query = (struct list_query){.source = source, .arena = arena, .request = *request};
    query->where = arena_strdup(arena, source->where ? source->where : "");
    query->binds = arena_array(arena, LIST_BIND_MAX, sizeof(*query->binds));
    if (request->offset < 0 || request->offset > INT32_MAX)
        return error_set(err, ERROR_INVALID, "offset: 0 to %d, got %" PRId64, INT32_MAX, request->offset);
    if (request->limit < 1 || request->limit > LIST_LIMIT_MAX)
        return error_set(err, ERROR_INVALID, "limit: 1 to %d, got %" PRId64, LIST_LIMIT_MAX, request->limit);
    if (request->filter_count > LIST_FILTER_MAX)
        return error_set(err, ERROR_INVALID, "filterBy: at most %d conditions, got %zu", LIST_FILTER_MAX,
                         request->filter_count);
    if (request->sort_by && !(query->sort = find_field(source, request->sort_by)))
        return error_set(err, ERROR_INVALID, "sortBy: no field %.60s", request->sort_by);
    for (size_t i = 0; i < request->filter_count; i++)
        if (add_filter_at(query, i, err) < 0)
            return -1;
    return 0;
}

int list_query_init(struct list_query *query, const struct list_source *source, const struct request *req,
                    struct error *err)
{
    const char *order = request_query(req, "sortOrder");
    struct list_request request = {
        .filters = req->filters,
        .filter_count = req->filter_count,
        .search = request_query(req, "search"),
        .sort_by = request_query(req, "sortBy"),
        .is_descending = order && strcmp(order, "desc") == 0,
        .offset = request_query_integer(req, "offset", 0),
        .limit = request_query_integer(req, "limit", LIST_LIMIT_MAX),
    };
    int rc = list_query_build(query, source, &request, req->arena, err);
    query->answer = &req->exchange->body;
    return rc;
}

void list_query_take_all(struct list_query *query)
{
    query->request.offset = 0;
    query->request.limit = INT32_MAX;
    query->answer = NULL;
}

void list_query_where(struct list_query *query, const char *sql)
{
    add_condition(query, sql);
}

void list_query_where_text(struct list_query *query, const char *sql, const char *value)
{
    add_condition(query, sql);
    add_text(query, value);
}

void list_query_where_texts(struct list_query *query, const char *sql, const char *const *values, size_t count)
{
    add_condition(query, sql);
    for (size_t i = 0; i < count; i++)
        add_text(query, values[i]);
}

void list_query_where_int(struct list_query *query, const char *sql, int64_t value)
{
    add_condition(query, sql);
    add_bind(query, (struct list_bind){.kind = LIST_BIND_INT, .integer = value});
}

void list_query_where_any_scope(struct list_query *query, const struct list_scope *scopes, size_t count)
{
    struct buffer condition;
    buffer_init(&condition, 0);
    for (size_t i = 0; i < count; i++) {
        buffer_text(&condition, i ? " OR " : "(");
        buffer_text(&condition, scopes[i].before);
        scope_filter_sql(scopes[i].filter, &condition, scopes[i].cluster_column, scopes[i].department_column,
                         scopes[i].project_column);
        buffer_text(&condition, scopes[i].after);
    }
    buffer_char(&condition, ')');
    add_condition(query, condition.data);
    buffer_done(&condition);
    for (size_t i = 0; i < count; i++) {
        const char *lists[3];
        if (scopes[i].filter->is_all)
            continue;
        scope_filter_lists(scopes[i].filter, query->arena, lists);
        for (size_t k = 0; k < 3; k++)
            add_text(query, lists[k]);
    }
}

void list_query_where_scope(struct list_query *query, const struct scope_filter *filter, const char *cluster_column,
                            const char *department_column, const char *project_column)
{
    const struct list_scope scope = {"", "", filter, cluster_column, department_column, project_column};
    if (!filter->is_all)
        list_query_where_any_scope(query, &scope, 1);
}

// A list's own order walks an index until the page is full, which is soon over, unless few rows are picked by their
// texts: then it goes past all the others' wide rows.
static bool picks_few(const struct list_query *query)
{
    if (query->request.search && *query->request.search)
        return true;
    for (size_t i = 0; i < query->request.filter_count; i++)
        if (query->request.filters[i].op == FILTER_EQUAL && strcmp(query->request.filters[i].field, "name") == 0)
            return true;
    return false;
}

static const char *order_of(const struct list_query *query)
{
    const char *direction = query->request.is_descending ? "DESC" : "ASC", *id = query->source->id;
    if (!query->sort) // with + it is no index's order
        return query->source->late && picks_few(query) ? arena_printf(query->arena, "+%s", query->source->order)
                                                       : query->source->order;
    if (strcmp(query->sort->sql, "NULL") == 0) // nothing is known of it: all are alike
        return arena_printf(query->arena, "%s %s", id, direction);
    return arena_printf(query->arena, "%s %s, %s %s", query->sort->sql, direction, id, direction);
}

const char *list_query_sql(const struct list_query *query)
{
    const struct list_source *source = query->source;
    const char *order = order_of(query);
    const char *page = arena_printf(query->arena, "FROM %s%s%s%s%s ORDER BY %s LIMIT ? OFFSET ?", source->from,
                                    query->where[0] ? " WHERE " : "", query->where, source->group ? " GROUP BY " : "",
                                    source->group ? source->group : "", order);
    if (!source->late)
        return arena_printf(query->arena, "SELECT %s %s", source->columns, page);
    // The page's ids come in their order, and rows are read one by one: a sort of them would hold them all.
    return arena_printf(query->arena, "SELECT %s FROM (SELECT %s AS id %s) AS page CROSS JOIN %s ON %s = page.id",
                        source->columns, source->id, page, source->late, source->id);
}

static void bind_conditions(const struct list_query *query, sqlite3_stmt *stmt)
{
    for (size_t i = 0; i < query->bind_count; i++) {
        const struct list_bind *bind = &query->binds[i];
        int index = (int)i + 1;
        if (bind->kind == LIST_BIND_TEXT)
            db_bind_text(stmt, index, bind->text);
        else if (bind->kind == LIST_BIND_INT)
            db_bind_int(stmt, index, bind->integer);
        else
            db_bind_real(stmt, index, bind->real);
    }
}

int list_query_open(struct list_query *query, struct db_conn *conn, struct error *err)
{
    if (list_query_add_search(query, conn, err) < 0 ||
        db_prepare_once(conn, list_query_sql(query), &query->stmt, err) < 0)
        return -1;
    query->conn = conn;
    bind_conditions(query, query->stmt);
    db_bind_int(query->stmt, (int)query->bind_count + 1, query->request.limit + 1);
    db_bind_int(query->stmt, (int)query->bind_count + 2, query->request.offset);
    return 0;
}

int list_query_step(struct list_query *query, struct error *err)
{
    int rc = db_step(query->conn, query->stmt, err);
    if (rc != 1)
        return rc;
    bool is_long = query->answer && query->answer->length > LIST_PAGE_BYTES;
    if (query->row_count == query->request.limit || is_long) {
        query->has_next = true;
        return 0;
    }
    query->row_count++;
    return 1;
}

void list_query_close(struct list_query *query)
{
    if (query->stmt)
        db_release(query->conn, query->stmt);
    query->stmt = NULL;
}

void list_query_write_next(const struct list_query *query, struct json_writer *json)
{
    if (query->has_next)
        json_int(json, "next", query->request.offset + query->row_count);
}

int list_query_count(struct list_query *query, struct db_conn *conn, int64_t *out_count, struct error *err)
{
    int rc = -1;
    sqlite3_stmt *stmt = NULL;
    if (list_query_add_search(query, conn, err) < 0)
        return -1;
    const char *sql = arena_printf(query->arena, "SELECT %s FROM %s%s%s",
                                   query->source->counted ? query->source->counted : "count(*)", query->source->from,
                                   query->where[0] ? " WHERE " : "", query->where);
    if (db_prepare_once(conn, sql, &stmt, err) < 0)
        goto done;
    bind_conditions(query, stmt);
    if (db_step(conn, stmt, err) < 0)
        goto done;
    *out_count = db_column_int(stmt, 0);
    rc = 0;
done:
    db_release(conn, stmt);
    return rc;
}
