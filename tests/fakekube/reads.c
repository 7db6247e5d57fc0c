#include "tests/fakekube/reads.h"
#include "tests/fakekube/faults.h"
#include <ctype.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void add_wrong_option(json_t *causes, const char *reason, const char *field, const char *message)
{
    json_array_append_new(causes, json_pack("{s:s,s:s,s:s}", "reason", reason, "message", message, "field", field));
}

// Takes the causes. 0 without one.
static int fail_wrong_options(struct call *call, json_t *causes)
{
    if (json_array_size(causes) == 0) {
        json_decref(causes);
        return 0;
    }
    const json_t *first = json_array_get(causes, 0);
    call_fail(call, 422, "Invalid", "ListOptions.meta.k8s.io \"\" is invalid: %s: %s", json_text_at(first, "field"),
              json_text_at(first, "message"));
    call_set_details(call, "group", json_string("meta.k8s.io"));
    call_set_details(call, "kind", json_string("ListOptions"));
    call_set_details(call, "causes", causes);
    return -1;
}

int fail_options(struct call *call, const char *field, const char *detail)
{
    json_t *causes = json_array();
    add_wrong_option(causes, "FieldValueForbidden", field, arena_printf(&call->arena, "Forbidden: %s", detail));
    return fail_wrong_options(call, causes);
}

int fail_watch_options(struct call *call)
{
    static const char FIELD[] = "resourceVersionMatch";
    json_t *causes = json_array();
    add_wrong_option(causes, "FieldValueForbidden", FIELD, "Forbidden: resourceVersionMatch is forbidden for watch");
    if (!*call_query(call, "resourceVersion"))
        add_wrong_option(causes, "FieldValueForbidden", FIELD,
                         "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided");
    return fail_wrong_options(call, causes);
}

int filter_read(struct call *call, struct filter *out_filter)
{
    char wrong[200];
    *out_filter = (struct filter){0};
    if (*call->namespace)
        snprintf(out_filter->prefix, sizeof(out_filter->prefix), "%s/", call->namespace);
    if (selector_read_labels(call_query(call, "labelSelector"), &out_filter->labels, wrong) < 0 ||
        selector_read_fields(call_query(call, "fieldSelector"), call->resource, &out_filter->fields, wrong) < 0) {
        call_fail(call, 400, "BadRequest", "%s", wrong);
        json_object_del(call->value, "details");
        return -1;
    }
    return 0;
}

void filter_done(struct filter *filter)
{
    selector_done(&filter->labels);
    selector_done(&filter->fields);
}

bool filter_passes(const struct filter *filter, const struct revision *revision)
{
    return strncmp(revision->key, filter->prefix, strlen(filter->prefix)) == 0 &&
           selector_matches(&filter->labels, revision->labels) &&
           selector_matches_fields(&filter->fields, revision->fields);
}

int64_t read_version(struct call *call)
{
    const char *text = call_query(call, "resourceVersion");
    if (!*text || strcmp(text, "0") == 0)
        return -1;
    if (text[strspn(text, "0123456789")] == '\0')
        return strtoll(text, NULL, 10);
    bool is_old = call->kube->traits.is_old_cache;
    call_fail(call, is_old ? 500 : 400, is_old ? "" : "BadRequest",
              "resourceVersion: Invalid value: \"%s\": strconv.ParseUint: invalid syntax", text);
    return -2;
}

int fail_too_large(struct call *call, int64_t version)
{
    struct kube *kube = call->kube;
    int64_t wait_ms = kube_setting_int(kube, "tooLargeMs", 3000);
    int64_t newest = kube->store.number;
    store_unlock(&kube->store);
    nanosleep(&(struct timespec){.tv_sec = wait_ms / 1000, .tv_nsec = wait_ms % 1000 * 1000000}, NULL);
    store_lock(&kube->store);
    call_fail(call, 504, "Timeout", "Too large resource version: %" PRId64 ", current: %" PRId64, version, newest);
    json_object_del(call->value, "details");
    call_add_cause(call, "ResourceVersionTooLarge", "Too large resource version", NULL);
    if (!kube->traits.is_old_cache) {
        call_set_details(call, "retryAfterSeconds", json_integer(1));
        buffer_text(&call->headers, "Retry-After: 1\r\n");
    }
    return -1;
}

int get_object(struct call *call)
{
    const struct revision *found = store_find(&call->kube->store, call->resource, call_key(call));
    return found ? call_answer_revision(call, 200, found) : call_fail_not_found(call);
}

// Where a list goes on: the version of its first page and the last key that was given.
struct page {
    int64_t limit;   // 0: all
    int64_t version; // the state to show; -1: the present, whatever it is called (an inconsistent rest)
    char start[600]; // the last key of the page before
};

static char *write_token(struct call *call, int64_t version, const char *start)
{
    json_t *token = json_pack("{s:s,s:I,s:s}", "v", "meta.k8s.io/v1", "rv", (json_int_t)version, "start", start);
    char *text = json_dumps(token, JSON_COMPACT);
    size_t size = sodium_base64_encoded_len(strlen(text), sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    char *out = arena_alloc(&call->arena, size);
    sodium_bin2base64(out, size, (unsigned char *)text, strlen(text), sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    free(text);
    json_decref(token);
    return out;
}

static int read_token(struct call *call, const char *token, struct page *page)
{
    unsigned char text[1200];
    size_t length = 0;
    json_t *value = NULL;
    if (sodium_base642bin(text, sizeof(text), token, strlen(token), NULL, &length, NULL,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) == 0)
        value = json_loadb((char *)text, length, 0, NULL);
    const char *start = json_text_at(value, "start");
    if (!start) {
        json_decref(value);
        return call_fail(call, 400, "BadRequest", "continue key is not valid: illegal base64 data");
    }
    page->version = json_integer_value(json_object_get(value, "rv"));
    snprintf(page->start, sizeof(page->start), "%s", start);
    json_decref(value);
    return 0;
}

static int check_match(struct call *call, const char *match, bool has_version, bool has_token)
{
    static const char FIELD[] = "resourceVersionMatch";
    json_t *causes = json_array();
    bool is_exact = strcmp(match, "Exact") == 0;
    if (*match && !has_version)
        add_wrong_option(causes, "FieldValueForbidden", FIELD,
                         "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (*match && has_token)
        add_wrong_option(causes, "FieldValueForbidden", FIELD,
                         "Forbidden: resourceVersionMatch is forbidden when continue is provided");
    if (*match && !is_exact && strcmp(match, "NotOlderThan") != 0)
        add_wrong_option(causes, "FieldValueNotSupported", FIELD,
                         "Unsupported value: supported values: \"Exact\", \"NotOlderThan\", \"\"");
    if (is_exact && strcmp(call_query(call, "resourceVersion"), "0") == 0)
        add_wrong_option(causes, "FieldValueForbidden", FIELD,
                         "Forbidden: resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    return fail_wrong_options(call, causes);
}

static int choose_exact(struct call *call, struct page *page, int64_t version)
{
    if (version > call->kube->store.number && call->kube->traits.is_exact_future_a_504)
        return fail_too_large(call, version);
    if (version > call->kube->store.number)
        return call_fail(call, 500, "", "etcdserver: mvcc: required revision is a future revision");
    page->version = version;
    return 0;
}

static int choose_page(struct call *call, struct page *page)
{
    const char *token = call_query(call, "continue"), *match = call_query(call, "resourceVersionMatch");
    bool has_version = *call_query(call, "resourceVersion") != '\0';
    int64_t now = call->kube->store.number;
    *page = (struct page){.limit = strtoll(call_query(call, "limit"), NULL, 10), .version = now};
    if (check_match(call, match, has_version, *token != '\0') < 0)
        return -1;
    if (*token && has_version && strcmp(call_query(call, "resourceVersion"), "0") != 0)
        return call_fail(call, 400, "BadRequest", "specifying resource version is not allowed when using continue");
    if (*token)
        return read_token(call, token, page);
    int64_t version = read_version(call);
    if (version == -2)
        return -1;
    if (has_version && version == -1)
        page->limit = 0; // resourceVersion=0 is served from the cache, which knows no pages
    if (fault_number(call, "staleList") >= 0) {
        const struct store *store = &call->kube->store;
        size_t back = (size_t)fault_number(call, "staleList");
        if (back < store->history_count)
            page->version = store->history[store->history_count - 1 - back].number;
        return 0;
    }
    if (version < 0)
        return 0;
    if (strcmp(match, "Exact") == 0 || (!*match && page->limit > 0))
        return choose_exact(call, page, version);
    return version > now ? fail_too_large(call, version) : 0;
}

static int fail_expired(struct call *call, const struct page *page)
{
    if (!*page->start)
        call_fail(call, 410, "Expired", "The resourceVersion for the provided list is too old.");
    else
        call_fail(call, 410, "Expired",
                  "The provided continue parameter is too old to display a consistent list result. You can start a new "
                  "list without the continue parameter, or use the continue token in this response to retrieve the "
                  "remainder of the results.");
    json_object_del(call->value, "details");
    if (*page->start)
        json_object_set_new(json_object_get(call->value, "metadata"), "continue",
                            json_string(write_token(call, -1, page->start)));
    return -1;
}

static void write_page(struct call *call, const struct filter *filter, const struct page *page,
                       const struct shelf *shelf)
{
    char version[80];
    int64_t number = page->version < 0 ? call->kube->store.number : page->version;
    bool has_selector = filter->labels.count || filter->fields.count;
    struct buffer items;
    buffer_init(&items, 0);
    const char *from = *page->start ? page->start : filter->prefix;
    size_t place = shelf_seek(shelf, from), last = place;
    place += *page->start && place < shelf->count && strcmp(shelf->items[place]->key, page->start) == 0;
    int64_t count = 0, rest = 0;
    for (; place < shelf->count; place++) {
        const struct revision *item = shelf->items[place];
        if (strncmp(item->key, filter->prefix, strlen(filter->prefix)) != 0)
            break;
        if (!filter_passes(filter, item))
            continue;
        if (page->limit > 0 && count == page->limit) {
            rest++;
            continue;
        }
        if (count++)
            buffer_char(&items, ',');
        buffer_append(&items, item->text, item->length);
        last = place;
    }
    buffer_printf(&call->text,
                  "{\"kind\":\"%sList\",\"apiVersion\":\"%s\",\"metadata\":{\"resourceVersion\":\"%" PRId64 "\"",
                  call_resource(call)->kind, resource_api_version(call_resource(call), version), number);
    if (rest)
        buffer_printf(&call->text, ",\"continue\":\"%s\"", write_token(call, number, shelf->items[last]->key));
    if (rest && !has_selector)
        buffer_printf(&call->text, ",\"remainingItemCount\":%" PRId64, rest);
    buffer_text(&call->text, "},\"items\":[");
    if (items.length)
        buffer_append(&call->text, items.data, items.length);
    buffer_text(&call->text, "]}");
    buffer_done(&items);
    call->code = 200;
    call->text_type = "application/json";
}

int list_objects(struct call *call)
{
    struct filter filter;
    struct page page;
    struct shelf shelf = {0};
    int rc = filter_read(call, &filter);
    if (rc == 0)
        rc = choose_page(call, &page);
    if (rc == 0) {
        int64_t at = page.version < 0 ? call->kube->store.number : page.version;
        rc = store_state_at(&call->kube->store, call->resource, at, &shelf);
        if (rc < 0)
            fail_expired(call, &page);
        else
            write_page(call, &filter, &page, &shelf);
    }
    shelf_done(&shelf);
    filter_done(&filter);
    return rc;
}
