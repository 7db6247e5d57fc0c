#include "backends/kubernetes/streams/kube_logs.h"

#include "backends/kubernetes/client/kube_access.h"
#include "backends/kubernetes/client/kube_answer.h"
#include "backends/kubernetes/client/kube_path.h"
#include "backends/kubernetes/manifests/kube_manifest.h"
#include "backends/kubernetes/streams/kube_log_lines.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    READ_MS = 30000,
    FAILURE_MAX = 64 * 1024,
    NUMBER_SIZE = 24,
    MESSAGE_SHOWN = 120
};

struct reading {
    struct kube_transfer transfer;
    struct kube_log_lines lines;
    struct buffer failure; // what a refusal says
    bool is_good;          // 200
};

static size_t take_bytes(char *data, size_t size, size_t count, void *context)
{
    struct reading *reading = context;
    long code = 0;
    curl_easy_getinfo(reading->transfer.easy, CURLINFO_RESPONSE_CODE, &code);
    reading->is_good = code == 200;
    if (!reading->is_good) {
        buffer_append(&reading->failure, data, size * count);
        return size * count;
    }
    return kube_log_lines_feed(&reading->lines, data, size * count) ? size * count : 0;
}

// Asked by whole seconds, whatever the server takes: kubelets are asked by whole seconds.
static void set_query(struct buffer *query, const struct backend_log_request *request)
{
    char tail[NUMBER_SIZE], since[TIMESTAMP_SIZE];
    int64_t since_ms = request->since_ms, from_ms = kube_log_position_ms(request->position);
    since_ms = since_ms > from_ms ? since_ms : from_ms;
    kube_query(query, "container", KUBE_MAIN_CONTAINER);
    kube_query(query, "timestamps", "true");
    if (since_ms > 0) {
        timestamp_format(since_ms / 1000 * 1000, since);
        memcpy(since + strlen("2006-01-02T15:04:05"), "Z", 2);
        kube_query(query, "sinceTime", since);
    }
    // A tail of nothing is the place where the log goes on.
    snprintf(tail, sizeof(tail), "%" PRId64, request->tail > 0 ? request->tail : 1);
    if (request->tail >= 0 && request->position == 0)
        kube_query(query, "tailLines", tail);
}

// The pod itself, and not its node: a 404 that names a node means that the node is gone.
static bool is_pod_gone(const struct kube_log_source *source, const struct kube_status *status)
{
    return status->code == 404 && strcmp(status->name, source->name) == 0;
}

static int fail(const struct kube_log_source *source, const struct kube_answer *answer, bool is_following,
                bool *out_ended, struct error *err)
{
    const struct kube_status *status = &answer->status;
    // It waits to start, or has no node: there is nothing yet.
    if (status->code == 204 || (status->code == 400 && strcmp(status->reason, "BadRequest") == 0)) {
        *out_ended = source->is_over;
        return 0;
    }
    if (is_pod_gone(source, status)) {
        *out_ended = true;
        return 0;
    }
    if (status->code == 403 || status->code == 401)
        return error_set(err, ERROR_FORBIDDEN, "the cluster does not let the server read logs: %.*s", MESSAGE_SHOWN,
                         status->message);
    if (is_following) {
        *out_ended = false;
        return 0;
    }
    return error_set(err, ERROR_UNAVAILABLE, "the cluster gives no log: %.*s", MESSAGE_SHOWN, status->message);
}

// What the transfer came to, where it gave no line.
static void read_failure(struct reading *reading, CURLcode result, const char *problem, struct kube_answer *answer)
{
    long code = 0;
    curl_easy_getinfo(reading->transfer.easy, CURLINFO_RESPONSE_CODE, &code);
    answer->status.code = (int)code;
    if (result != CURLE_OK) {
        snprintf(answer->status.message, sizeof(answer->status.message), "%s",
                 *problem ? problem : curl_easy_strerror(result));
        return;
    }
    answer->text_length = reading->failure.length;
    answer->text = answer->text_length ? buffer_take(&reading->failure) : NULL;
    answer->is_json = true;
    kube_answer_read(answer);
    if (code == 401)
        answer->status.code = 401;
}

static int perform(const struct kube_log_source *source, struct reading *reading, const struct kube_call *call,
                   struct kube_answer *answer, struct error *err)
{
    char problem[CURL_ERROR_SIZE] = "";
    if (kube_transfer_init(&reading->transfer, source->access, call, READ_MS, NULL, err) < 0)
        return -1;
    CURL *easy = reading->transfer.easy;
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, reading);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, problem);
    CURLcode result = curl_easy_perform(easy);
    long code = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
    // Lines count even where the rest of them did not come.
    reading->is_good =
        code == 200 && (result == CURLE_OK || reading->lines.position != reading->lines.from || reading->lines.is_full);
    if (!reading->is_good)
        read_failure(reading, result, problem, answer);
    if (code == 401)
        kube_access_refuse(source->access, reading->transfer.generation);
    kube_log_lines_finish(&reading->lines, source->is_over && result == CURLE_OK);
    kube_transfer_done(&reading->transfer);
    return 0;
}

int kube_logs_read(const struct kube_log_source *source, const struct backend_log_request *request, struct buffer *out,
                   int64_t *out_position, bool *out_ended, struct error *err)
{
    struct buffer path, query, nothing;
    struct reading reading = {0};
    struct kube_answer answer = {0};
    bool is_place = request->tail == 0 && request->position == 0;
    buffer_init(&path, 0);
    buffer_init(&query, 0);
    buffer_init(&nothing, 0);
    buffer_init(&reading.failure, FAILURE_MAX);
    kube_path(&path, "/api/v1/namespaces/%s/pods/%s/log", source->namespace, source->name);
    set_query(&query, request);
    kube_log_lines_init(&reading.lines, request->position, is_place ? &nothing : out);
    reading.lines.since_us = request->since_ms * 1000;
    reading.lines.has_times = request->timestamps;
    reading.lines.max_bytes = request->max_bytes;
    struct kube_call call = {.method = KUBE_GET, .path = path.data, .query = query.data};
    int rc = perform(source, &reading, &call, &answer, err);
    *out_position = reading.lines.position;
    *out_ended = source->is_over && !reading.lines.is_full;
    if (rc == 0 && !reading.is_good)
        rc = fail(source, &answer, request->position > 0, out_ended, err);
    kube_answer_done(&answer);
    buffer_done(&reading.failure);
    buffer_done(&nothing);
    buffer_done(&query);
    buffer_done(&path);
    return rc;
}
