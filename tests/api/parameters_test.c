// Query parameters as handlers get them: decoded, split, typed, with defaults; and filterBy.
#include "api/http/parameters.h"
#include "api/http/path.h"
#include "api/http/request.h"
#include "api/schema.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "tests/support/check.h"
#include <stdlib.h>
#include <string.h>

static const struct operation *find_operation(const char *id)
{
    for (size_t i = 0; i < OPERATION_COUNT; i++) {
        if (strcmp(OPERATIONS[i].id, id) == 0)
            return &OPERATIONS[i];
    }
    abort();
}

// What the handler of a list would see, in a line.
static void describe(const struct request *req, struct buffer *out)
{
    static const char *const OPERATORS[] = {"==", "!=", "<=", ">=", "=@", "!@", "=^", "=$"};
    for (size_t i = 0; i < req->value_count; i++) {
        const struct parameter_value *value = &req->values[i];
        const char *name = value->parameter->name;
        if (value->is_default || value->parameter->filter_field_count > 0)
            continue;
        buffer_printf(out, "%s=", name);
        for (size_t k = 0; k < value->item_count; k++)
            buffer_printf(out, "%s%s", k ? "," : "", value->items[k]);
        buffer_printf(out, "%s;", value->item_count ? "" : value->text);
    }
    for (size_t i = 0; i < req->filter_count; i++)
        buffer_printf(out, "[%s %s %s]", req->filters[i].field, OPERATORS[req->filters[i].op], req->filters[i].value);
}

// name, operation, query, what is seen, message
static const struct {
    const char *name, *operation, *query, *want, *message;
} CASES[] = {
    {"nothing", "get_workloads", NULL, "", ""},
    {"an empty query", "get_workloads", "", "", ""},
    {"a page", "get_workloads", "offset=10&limit=20", "offset=10;limit=20;", ""},
    {"unknown names are passed over", "get_workloads", "nonsense=1&limit=20&x", "limit=20;", ""},
    {"an empty pair", "get_workloads", "&&limit=20&", "limit=20;", ""},
    {"a search with blanks", "get_workloads", "search=team+a%20b", "search=team a b;", ""},
    {"one condition", "get_workloads", "filterBy=phase==Running", "[phase == Running]", ""},
    {"two, joined", "get_workloads", "filterBy=phase!=Running,name=@train", "[phase != Running][name =@ train]", ""},
    {"two, repeated", "get_workloads", "filterBy=phase!=Running&filterBy=name=^a", "[phase != Running][name =^ a]", ""},
    {"encoded as the Python client does", "get_workloads", "filterBy=name%3D%3Dtest%2Cphase%21%3DRunning",
     "[name == test][phase != Running]", ""},
    {"a comma in a value", "get_workloads", "filterBy=name==a,b,phase==Running", "[name == a,b][phase == Running]", ""},
    {"a comma at the end is the value's", "get_workloads", "filterBy=name==a,", "[name == a,]", ""},
    {"an operator in a value", "get_workloads", "filterBy=name===x", "[name == =x]", ""},
    {"a time with a colon", "get_workloads", "filterBy=createdAt>=2021-01-01T00:00:00Z",
     "[createdAt >= 2021-01-01T00:00:00Z]", ""},
    {"one name is another's beginning", "get_workloads", "filterBy=projectName==a", "[projectName == a]", ""},
    {"an empty filter", "get_workloads", "filterBy=", "", ""},
    {"a list", "get_workload_metrics",
     "metricType=GPU_UTILIZATION,POD_COUNT&start=2026-01-01T00:00:00Z&end=2026-01-02T00:00:00Z",
     "metricType=GPU_UTILIZATION,POD_COUNT;start=2026-01-01T00:00:00Z;end=2026-01-02T00:00:00Z;", ""},
    {"a list, repeated", "get_workload_metrics",
     "metricType=GPU_UTILIZATION&metricType=POD_COUNT&start=2026-01-01T00:00:00Z&end=2026-01-02T00:00:00Z",
     "metricType=GPU_UTILIZATION,POD_COUNT;start=2026-01-01T00:00:00Z;end=2026-01-02T00:00:00Z;", ""},

    {"a blank after the comma", "get_workloads", "filterBy=phase!=Running,%20name=@a", "[phase != Running][name =@ a]",
     ""},
    {"words that are no conditions", "get_workloads", "filterBy=name==a, b,c ==d", "[name == a, b,c ==d]", ""},
    {"a name of an operation of ours that is open", "finish_openid_sign_in", "other=x&code=y", "code=y;", ""},

    {"an unknown field after a comma", "get_workloads", "filterBy=phase==Running,phas==Pending", NULL,
     "filterBy: not a condition on a known field: \"phas==Pending\""},
    {"an unknown field after a comma and a blank", "get_workloads", "filterBy=phase==Running,%20phas==Pending", NULL,
     "filterBy: not a condition on a known field: \"phas==Pending\""},
    {"an operator that there is not", "get_workloads", "filterBy=phase==Running,name=x", NULL,
     "filterBy: not a condition on a known field: \"name=x\""},
    {"no value before a blank", "get_workloads", "filterBy=phase==,%20name==x", NULL, "filterBy: no value for phase"},
    {"a letter is missing", "get_workloads", "limt=1", NULL, "limt: unknown parameter"},
    {"a letter too much", "get_workloads", "limits=1", NULL, "limits: unknown parameter"},
    {"another letter", "get_workloads", "lomit=1", NULL, "lomit: unknown parameter"},
    {"two letters exchanged", "get_workloads", "filetrBy=name==a", NULL, "filetrBy: unknown parameter"},
    {"another spelling", "get_workloads", "sort_by=name", NULL, "sort_by: unknown parameter"},
    {"a name that our own operations do not have", "get_idle_workloads", "nonsense=1", NULL,
     "nonsense: unknown parameter"},
    {"given twice", "get_workloads", "limit=1&limit=2", NULL, "limit: given twice"},
    {"an unknown field", "get_workloads", "filterBy=nonsense==1", NULL,
     "filterBy: not a condition on a known field: \"nonsense==1\""},
    {"an unknown operator", "get_workloads", "filterBy=name~x", NULL,
     "filterBy: not a condition on a known field: \"name~x\""},
    {"no value", "get_workloads", "filterBy=name==", NULL, "filterBy: no value for name"},
    {"no value before another", "get_workloads", "filterBy=name==,phase==x", NULL, "filterBy: no value for name"},
    {"no condition", "get_workloads", "filterBy=name", NULL, "filterBy: not a condition on a known field: \"name\""},
    {"a sort that is not offered", "get_workloads", "sortBy=nonsense", NULL, "sortBy: one of"},
    {"a list with a wrong item", "get_workload_metrics",
     "metricType=POD_COUNT,X&start=2026-01-01T00:00:00Z&end=2026-01-02T00:00:00Z", NULL, "metricType: one of"},
    {"a list with an empty item", "get_workload_metrics",
     "metricType=POD_COUNT,,&start=2026-01-01T00:00:00Z&end=2026-01-02T00:00:00Z", NULL, "metricType: one of"},
    {"what is required", "get_workload_metrics", "metricType=POD_COUNT&start=2026-01-01T00:00:00Z", NULL,
     "end: required"},
    {"too many items", "get_workloads_telemetry", "telemetryType=WORKLOADS_COUNT&groupBy=Type,Phase,Category", NULL,
     "groupBy: at most 2 items"},
    {"broken encoding", "get_workloads", "search=%zz", NULL, "search: broken percent-encoding"},
    {"a NUL", "get_workloads", "search=a%00b", NULL, "search: a NUL byte"},
    {"bad UTF-8", "get_workloads", "search=%ff", NULL, "search: not UTF-8"},
    {"bad UTF-8 in an unknown parameter", "get_workloads", "x=%ff", NULL, "x: not UTF-8"},
};

static void test_queries(void)
{
    for (size_t i = 0; i < COUNT(CASES); i++) {
        struct arena arena;
        struct error err = {0};
        struct buffer seen;
        struct path path = {.segments = {"api", "v1", "workloads", "123e4567-e89b-12d3-a456-426614174000"}, .count = 4};
        arena_init(&arena);
        buffer_init(&seen, 0);
        struct request req = {.operation = find_operation(CASES[i].operation), .arena = &arena};
        int rc = parameters_read(&req, &path, CASES[i].query, &err);
        check_int(rc, CASES[i].want ? 0 : -1, "%s", CASES[i].name);
        if (rc == 0) {
            describe(&req, &seen);
            const char *want = CASES[i].want ? CASES[i].want : "";
            const char *got = seen.data ? seen.data : "";
            if (req.operation->path[strlen("/api/v1/workloads")] == '/' && strncmp(got, "workloadId=", 11) == 0)
                got = strchr(got, ';') + 1;
            check_text(got, want, "%s", CASES[i].name);
        }
        err.message[strlen(CASES[i].message)] = '\0'; // lists of words are long
        check_text(err.message, CASES[i].message, "%s", CASES[i].name);
        buffer_done(&seen);
        arena_done(&arena);
    }
}

static void test_defaults(void)
{
    struct arena arena;
    struct error err = {0};
    struct path path = {.count = 0};
    size_t count = 7;
    arena_init(&arena);
    struct request req = {.operation = find_operation("get_workloads"), .arena = &arena};
    check_int(parameters_read(&req, &path, "deleted=true", &err), 0, "reads");
    check_int(request_query_integer(&req, "limit", -1), 50, "the document's default");
    check_int(request_query_integer(&req, "offset", -1), -1, "no default");
    check_text(request_query(&req, "sortOrder"), "asc", "a word's default");
    check_text(request_query(&req, "search"), NULL, "nothing");
    check_true(request_query_boolean(&req, "deleted"), "given");
    check_true(!request_has_query(&req, "limit"), "a default is not given");
    check_true(request_has_query(&req, "deleted"), "given is given");
    check_true(!request_query_list(&req, "nonsense", &count) && count == 0, "an unknown list is empty");
    arena_done(&arena);
}

int main(void)
{
    test_queries();
    test_defaults();
    return check_finish();
}
