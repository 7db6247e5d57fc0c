#include "backends/kubernetes/watch/kube_stream.h"

#include "backends/kubernetes/client/kube_answer.h"
#include "base/error.h"
#include "base/timestamp.h"

#include <stdio.h>
#include <string.h>

enum {
    FAILURE_MAX = 64 * 1024,
    RECEIVE_BYTES = 128 * 1024
};

static size_t take_bytes(char *data, size_t size, size_t count, void *context)
{
    struct kube_stream *stream = context;
    size_t length = size * count;
    long code = 0;
    stream->heard_us = timestamp_monotonic_us();
    curl_easy_getinfo(stream->transfer.easy, CURLINFO_RESPONSE_CODE, &code);
    if (code != 200) {
        buffer_append(&stream->failure, data, length);
        return length;
    }
    if (kube_lines_feed(&stream->lines, data, length) == 0) {
        stream->heard_us = timestamp_monotonic_us(); // the taker may have waited
        return length;
    }
    stream->is_refused = true;
    return 0;
}

static size_t take_header(char *text, size_t size, size_t count, void *context)
{
    struct kube_stream *stream = context;
    long code = 0;
    curl_easy_getinfo(stream->transfer.easy, CURLINFO_RESPONSE_CODE, &code);
    if (size * count == 2 && text[0] == '\r' && code == 200) // the line that ends them
        stream->begin(stream->context);
    return size * count;
}

int kube_stream_begin(struct kube_stream *stream, struct kube_access *access, CURLM *multi,
                      const struct kube_stream_request *request, const atomic_bool *stopping)
{
    struct kube_call call = {.path = request->path, .query = request->query};
    struct error problem = {0};
    *stream = (struct kube_stream){.answer = request->answer};
    *stream->answer = (struct kube_answer){.outcome = KUBE_NO_CREDENTIALS, .retry_after_ms = -1};
    stream->began_us = stream->heard_us = timestamp_monotonic_us();
    kube_lines_init(&stream->lines, request->form, request->line_max, request->take, request->context);
    buffer_init(&stream->failure, FAILURE_MAX);
    if (kube_transfer_init(&stream->transfer, access, &call, request->timeout_ms, stopping, &problem) < 0) {
        snprintf(stream->answer->status.message, sizeof(stream->answer->status.message), "%s", problem.message);
        stream->is_done = true;
        return -1;
    }
    CURL *easy = stream->transfer.easy;
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, stream);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, stream);
    if (request->begin) {
        stream->begin = request->begin;
        stream->context = request->context;
        curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
        curl_easy_setopt(easy, CURLOPT_HEADERDATA, stream);
    }
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, stream->problem);
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)RECEIVE_BYTES);
    if (request->form == KUBE_LINES_LIST) // never on a watch: it may come in several members
        curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
    curl_multi_add_handle(multi, easy);
    return 0;
}

static void read_end(struct kube_stream *stream, CURLcode result)
{
    struct kube_answer *answer = stream->answer;
    CURL *easy = stream->transfer.easy;
    long code = 0;
    curl_off_t wait_s = 0, connected_us = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
    curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &wait_s);
    curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &connected_us);
    answer->status.code = (int)code;
    answer->outcome = result == CURLE_OK ? KUBE_ANSWERED : connected_us > 0 ? KUBE_NO_ANSWER : KUBE_NOT_SENT;
    answer->is_certificate_bad = result == CURLE_PEER_FAILED_VERIFICATION || result == CURLE_SSL_CACERT_BADFILE;
    if (wait_s > 0)
        answer->retry_after_ms = (wait_s < 3600 ? (int64_t)wait_s : 3600) * 1000;
    if (result != CURLE_OK) {
        snprintf(answer->status.message, sizeof(answer->status.message), "%s",
                 stream->is_refused ? "an object is too large"
                 : *stream->problem ? stream->problem
                                    : curl_easy_strerror(result));
    } else if (code != 200) {
        size_t length = stream->failure.length;
        answer->is_json = length > 0 && *stream->failure.data == '{';
        answer->text = length ? buffer_take(&stream->failure) : NULL;
        answer->text_length = length;
        kube_answer_read(answer);
    }
}

void kube_stream_take_ended(CURLM *multi, struct kube_access *access)
{
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
        struct kube_stream *stream = NULL;
        CURLcode result = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&stream);
        read_end(stream, result);
        stream->is_done = true;
        if (stream->answer->status.code == 401 || stream->answer->is_certificate_bad)
            kube_access_refuse(access, stream->transfer.generation);
    }
}

void kube_stream_end(struct kube_stream *stream, CURLM *multi)
{
    if (stream->transfer.easy)
        curl_multi_remove_handle(multi, stream->transfer.easy);
    if (!stream->is_done)
        stream->answer->outcome = KUBE_STOPPED;
    kube_transfer_done(&stream->transfer);
    buffer_done(&stream->failure);
    kube_answer_done(stream->answer);
}

void kube_stream_done(struct kube_stream *stream)
{
    kube_lines_done(&stream->lines);
}
