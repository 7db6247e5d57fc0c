#include "tests/fakekube/watches.h"
#include "base/timestamp.h"
#include "tests/fakekube/connection.h"
#include "tests/fakekube/faults.h"
#include "tests/fakekube/reads.h"
#include <stdlib.h>
#include <string.h>

enum {
    ROUND_BYTES = 1 << 20,
    BOOKMARK_MS = 60000,
    LAST_BOOKMARK_MS = 1500 // before the time is up
};

struct watch {
    struct call *call;
    struct filter filter;
    int64_t version; // what was sent, or passed over
    int64_t end_us;
    int64_t bookmark_us; // when the next one is due; INT64_MAX: none asked for
    bool is_last_bookmark_sent;
    int order_serial;
    int epoch;
    int64_t sent;     // events
    bool is_silent;   // sends nothing more
    bool sends_twice; // the next event
    struct buffer out;
    enum connection_end end;
    bool is_over;
};

static void write_line(struct watch *watch, const char *type, const char *text, size_t length)
{
    char version[80];
    const struct resource *resource = call_resource(watch->call);
    buffer_printf(&watch->out, "{\"type\":\"%s\",\"object\":{\"kind\":\"%s\",\"apiVersion\":\"%s\",", type,
                  resource->kind, resource_api_version(resource, version));
    buffer_append(&watch->out, text + 1, length - 1);
    buffer_text(&watch->out, "}\n");
}

static void write_bookmark(struct watch *watch, bool is_initial_end)
{
    char text[200];
    const char *mark = is_initial_end ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "";
    int length =
        snprintf(text, sizeof(text), "{\"metadata\":{\"resourceVersion\":\"%" PRId64 "\"%s}}", watch->version, mark);
    write_line(watch, "BOOKMARK", text, (size_t)length);
}

static void write_error(struct watch *watch, json_t *status)
{
    char *text = json_dumps(status, JSON_COMPACT);
    buffer_printf(&watch->out, "{\"type\":\"ERROR\",\"object\":%s}\n", text);
    free(text);
    json_decref(status);
    watch->is_over = true;
}

// An object that leaves the selection is shown as it was, under the new version.
static void write_left(struct watch *watch, const struct change *change)
{
    char version[24];
    json_t *value = revision_value(change->before);
    snprintf(version, sizeof(version), "%" PRId64, change->number);
    json_object_set_new(json_object_get(value, "metadata"), "resourceVersion", json_string(version));
    char *text = json_dumps(value, JSON_COMPACT);
    write_line(watch, "DELETED", text, strlen(text));
    free(text);
    json_decref(value);
}

static void write_change(struct watch *watch, const struct change *change)
{
    bool was = change->before && filter_passes(&watch->filter, change->before);
    bool is = !change->is_gone && filter_passes(&watch->filter, change->after);
    if (change->resource != watch->call->resource || (!was && !is))
        return;
    for (int i = 0; i <= (watch->sends_twice ? 1 : 0); i++) {
        if (was && !is && !change->is_gone)
            write_left(watch, change);
        else
            write_line(watch, is ? (was ? "MODIFIED" : "ADDED") : "DELETED", change->after->text,
                       change->after->length);
    }
    watch->sends_twice = false;
    watch->sent++;
}

static void end_watch(struct watch *watch, enum connection_end end)
{
    watch->is_over = true;
    watch->end = end;
}

// Half an event, and half a letter at its end.
static void cut_mid_line(struct watch *watch)
{
    buffer_text(&watch->out, "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"name\":\"h\xc3");
    end_watch(watch, CONNECTION_CUT);
}

static void check_faults(struct watch *watch)
{
    const struct call *call = watch->call;
    if (fault_number(call, "closeWatch") >= 0 && watch->sent >= fault_number(call, "closeWatch"))
        end_watch(watch, CONNECTION_ENDS);
    if (fault_number(call, "cutMidLine") >= 0 && watch->sent >= fault_number(call, "cutMidLine"))
        cut_mid_line(watch);
}

static void write_old_changes(struct watch *watch)
{
    struct store *store = &watch->call->kube->store;
    size_t begin = store->history_count > 20 ? store->history_count - 20 : 0;
    for (size_t i = begin; i < store->history_count; i++)
        write_change(watch, &store->history[i]);
}

static void obey(struct watch *watch, const struct watch_order *order)
{
    watch->order_serial = order->serial;
    if (order->resource >= 0 && order->resource != watch->call->resource)
        return;
    if (strcmp(order->how, "close") == 0)
        end_watch(watch, CONNECTION_ENDS);
    else if (strcmp(order->how, "reset") == 0)
        end_watch(watch, CONNECTION_RESET);
    else if (strcmp(order->how, "midLine") == 0)
        cut_mid_line(watch);
    else if (strcmp(order->how, "silent") == 0)
        watch->is_silent = true;
    else if (strcmp(order->how, "duplicate") == 0)
        watch->sends_twice = true;
    else if (strcmp(order->how, "old") == 0)
        write_old_changes(watch);
    else if (strcmp(order->how, "error") == 0)
        write_error(watch, status_value(410, "Expired", "too old resource version"));
}

// Whether the client reads too slowly for the server's taste.
static bool is_too_slow(const struct watch *watch, size_t first)
{
    const struct kube *kube = watch->call->kube;
    int64_t most = kube_setting_int(kube, "slowWatcher", -1);
    size_t waiting = 0;
    for (size_t i = first; most >= 0 && i < kube->store.history_count; i++)
        waiting += kube->store.history[i].resource == watch->call->resource;
    return most >= 0 && waiting > (size_t)most;
}

static void collect(struct watch *watch)
{
    struct store *store = &watch->call->kube->store;
    if (store->epoch != watch->epoch) {
        end_watch(watch, CONNECTION_CUT);
        return;
    }
    if (watch->is_silent)
        return;
    if (watch->version < store->dropped) {
        write_error(watch, status_value(410, "Expired", "too old resource version"));
        return;
    }
    size_t i = store_history_after(store, watch->version);
    if (is_too_slow(watch, i)) {
        end_watch(watch, CONNECTION_CUT);
        return;
    }
    for (; i < store->history_count && watch->out.length < ROUND_BYTES && !watch->is_over; i++) {
        write_change(watch, &store->history[i]);
        watch->version = store->history[i].number;
        check_faults(watch);
    }
}

static void check_time(struct watch *watch, int64_t now_us)
{
    if (now_us >= watch->end_us)
        end_watch(watch, CONNECTION_ENDS);
    if (watch->bookmark_us == INT64_MAX || watch->is_silent || watch->is_over)
        return;
    bool is_last = now_us >= watch->end_us - LAST_BOOKMARK_MS * 1000 && !watch->is_last_bookmark_sent;
    // From a version that is not there yet nothing comes, as on the real server.
    if ((now_us < watch->bookmark_us && !is_last) || watch->version > watch->call->kube->store.number)
        return;
    watch->is_last_bookmark_sent = watch->is_last_bookmark_sent || is_last;
    write_bookmark(watch, false);
    watch->bookmark_us = now_us + kube_setting_int(watch->call->kube, "bookmarkMs", BOOKMARK_MS) * 1000;
}

static void sleep_until_news(struct watch *watch, int64_t now_us)
{
    int64_t until_us = watch->end_us < watch->bookmark_us ? watch->end_us : watch->bookmark_us;
    if (!watch->is_last_bookmark_sent && watch->bookmark_us != INT64_MAX && !watch->is_silent)
        until_us =
            until_us < watch->end_us - LAST_BOOKMARK_MS * 1000 ? until_us : watch->end_us - LAST_BOOKMARK_MS * 1000;
    int64_t longest_us = now_us + 500000; // notices a client that has gone
    if (until_us > longest_us || until_us <= now_us)
        until_us = longest_us;
    struct timespec until = {.tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000};
    pthread_cond_timedwait(&watch->call->kube->store.changed, &watch->call->kube->store.lock, &until);
}

// Sends what was collected; the lock is given back meanwhile.
static void send_out(struct watch *watch)
{
    struct store *store = &watch->call->kube->store;
    store_unlock(store);
    if (watch->out.length && connection_send_chunk(watch->call, watch->out.data, watch->out.length) < 0)
        end_watch(watch, CONNECTION_CUT);
    buffer_clear(&watch->out);
    if (!watch->is_over && connection_is_gone(watch->call))
        end_watch(watch, CONNECTION_CUT);
    store_lock(store);
}

static void write_initial(struct watch *watch, bool has_end)
{
    struct store *store = &watch->call->kube->store;
    const struct shelf *shelf = &store->shelves[watch->call->resource];
    for (size_t i = shelf_seek(shelf, watch->filter.prefix); i < shelf->count; i++)
        if (filter_passes(&watch->filter, shelf->items[i]))
            write_line(watch, "ADDED", shelf->items[i]->text, shelf->items[i]->length);
    watch->version = store->number;
    if (has_end)
        write_bookmark(watch, true);
}

static int check_options(struct call *call, bool *out_is_streaming)
{
    bool wants = *call_query(call, "sendInitialEvents") != '\0';
    const char *match = call_query(call, "resourceVersionMatch");
    const struct traits *traits = &call->kube->traits;
    *out_is_streaming = false;
    if (!wants || !traits->has_stream_lists)
        return *match ? fail_watch_options(call) : 0;
    if (!traits->does_stream_lists)
        return fail_options(call, "sendInitialEvents",
                            "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled");
    if (strcmp(match, "NotOlderThan") != 0)
        return fail_options(call, "resourceVersionMatch",
                            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    *out_is_streaming = call_query_is(call, "sendInitialEvents");
    return 0;
}

static void begin(struct watch *watch, int64_t version, bool is_streaming)
{
    const struct kube *kube = watch->call->kube;
    const struct store *store = &kube->store;
    json_t *error = fault_action(watch->call, "watchError");
    if (error)
        write_error(watch, json_deep_copy(error));
    else if (is_streaming && kube_setting_is(kube, "oldEtcd"))
        write_error(watch, status_value(500, "", "required storage feature RequestWatchProgress is disabled"));
    else if (is_streaming || version < 0)
        write_initial(watch, is_streaming);
    else if (version < store->compacted) {
        char text[100];
        snprintf(text, sizeof(text), "too old resource version: %" PRId64 " (%" PRId64 ")", version, store->compacted);
        write_error(watch, status_value(410, "Expired", text));
    } else {
        watch->version = version;
    }
    watch->is_silent = fault_is(watch->call, "silent");
    watch->sends_twice = fault_is(watch->call, "duplicateEvent");
    check_faults(watch);
}

static void run(struct watch *watch)
{
    struct kube *kube = watch->call->kube;
    while (!watch->is_over && !kube->stops) {
        int64_t now_us = timestamp_monotonic_us();
        if (kube->order.serial != watch->order_serial)
            obey(watch, &kube->order);
        if (!watch->is_over)
            collect(watch);
        if (!watch->is_over)
            check_time(watch, now_us);
        bool is_idle = watch->out.length == 0 && !watch->is_over;
        send_out(watch);
        if (is_idle && !watch->is_over && !kube->stops)
            sleep_until_news(watch, now_us);
    }
}

int watch_serve(struct call *call)
{
    struct kube *kube = call->kube;
    struct watch watch = {.call = call, .bookmark_us = INT64_MAX, .end = CONNECTION_ENDS};
    bool is_streaming = false;
    store_lock(&kube->store);
    int rc = filter_read(call, &watch.filter);
    if (rc == 0)
        rc = check_options(call, &is_streaming);
    int64_t version = rc == 0 ? read_version(call) : -2;
    if (rc == 0 && version != -2) {
        int64_t now_us = timestamp_monotonic_us();
        const char *seconds = call_query(call, "timeoutSeconds");
        watch.end_us = now_us + (*seconds ? strtoll(seconds, NULL, 10) : 1800) * 1000000;
        if (call_query_is(call, "allowWatchBookmarks"))
            watch.bookmark_us = now_us + kube_setting_int(kube, "bookmarkMs", BOOKMARK_MS) * 1000;
        watch.order_serial = kube->order.serial;
        watch.epoch = kube->store.epoch;
        buffer_init(&watch.out, 0);
        kube->watch_count++;
        store_unlock(&kube->store);
        connection_begin_stream(call, "application/json");
        store_lock(&kube->store);
        begin(&watch, version, is_streaming);
        if (watch.is_over)
            send_out(&watch);
        run(&watch);
        kube->watch_count--;
        buffer_done(&watch.out);
    }
    store_unlock(&kube->store);
    filter_done(&watch.filter);
    if (call->is_sent)
        connection_end_stream(call, watch.end);
    return rc;
}
