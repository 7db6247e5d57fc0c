#include "backends/kubernetes/client/kube_exchange.h"

#include "backends/kubernetes/client/kube_answer.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const int64_t LIMITS_MS[] = {[KUBE_LIMIT_LONG] = 30000, [KUBE_LIMIT_SHORT] = 4000};

static size_t take_bytes(char *data, size_t size, size_t count, void *context)
{
    struct kube_exchange *exchange = context;
    buffer_append(&exchange->received, data, size * count);
    return exchange->received.overflow ? 0 : size * count;
}

static bool is_header(const char *line, size_t length, const char *name)
{
    size_t size = strlen(name);
    return length > size && strncasecmp(line, name, size) == 0;
}

static size_t take_header(char *line, size_t size, size_t count, void *context)
{
    struct kube_exchange *exchange = context;
    struct kube_answer *answer = exchange->answer;
    size_t length = size * count;
    if (is_header(line, length, "warning:") && !*answer->warning) {
        kube_warning_read(line, length, answer->warning);
    } else if (is_header(line, length, "date:")) {
        char value[64];
        snprintf(value, sizeof(value), "%.*s", (int)(length - 5), line + 5);
        time_t date = curl_getdate(value, NULL);
        answer->date_ms = date > 0 ? (int64_t)date * 1000 : 0;
    }
    return length;
}

int kube_exchange_begin(struct kube_exchange *exchange, struct kube_access *access, const struct kube_call *call,
                        const atomic_bool *stopping, struct kube_answer *answer)
{
    struct error problem = {0};
    int attempts = answer->attempts;
    kube_answer_done(answer);
    *answer = (struct kube_answer){.retry_after_ms = -1, .attempts = attempts + 1};
    *exchange = (struct kube_exchange){.answer = answer};
    if (kube_transfer_init(&exchange->transfer, access, call, LIMITS_MS[call->limit], stopping, &problem) < 0) {
        answer->outcome = stopping && atomic_load(stopping) ? KUBE_STOPPED : KUBE_NO_CREDENTIALS;
        snprintf(answer->status.message, sizeof(answer->status.message), "%s", problem.message);
        return -1;
    }
    buffer_init(&exchange->received, call->answer_max ? call->answer_max : KUBE_ANSWER_MAX);
    CURL *easy = exchange->transfer.easy;
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, exchange);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange->problem);
    return 0;
}

// What a transfer that brought no whole answer came to.
static enum kube_outcome outcome_of(CURL *easy, CURLcode result)
{
    curl_off_t sending_us = 0;
    curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &sending_us);
    switch (result) {
    case CURLE_WRITE_ERROR:
    case CURLE_BAD_CONTENT_ENCODING:
        return KUBE_BAD_ANSWER;
    case CURLE_SSL_CERTPROBLEM:
        return KUBE_NO_CREDENTIALS;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_URL_MALFORMAT:
        return KUBE_NOT_SENT;
    default:
        return sending_us > 0 ? KUBE_NO_ANSWER : KUBE_NOT_SENT;
    }
}

static void read_failure(const struct kube_exchange *exchange, CURLcode result)
{
    struct kube_answer *answer = exchange->answer;
    answer->outcome = outcome_of(exchange->transfer.easy, result);
    answer->is_certificate_bad = result == CURLE_PEER_FAILED_VERIFICATION || result == CURLE_SSL_CACERT_BADFILE;
    if (exchange->received.overflow)
        snprintf(answer->status.message, sizeof(answer->status.message), "larger than %zu bytes",
                 exchange->received.maximum);
    else
        snprintf(answer->status.message, sizeof(answer->status.message), "%s",
                 *exchange->problem ? exchange->problem : curl_easy_strerror(result));
}

void kube_exchange_end(struct kube_exchange *exchange, CURLcode result)
{
    struct kube_answer *answer = exchange->answer;
    CURL *easy = exchange->transfer.easy;
    if (result != CURLE_OK) {
        read_failure(exchange, result);
    } else {
        long code = 0;
        curl_off_t wait_s = 0;
        const char *type = NULL;
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
        curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &wait_s);
        curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
        answer->outcome = KUBE_ANSWERED;
        answer->status.code = (int)code;
        if (wait_s > 0)
            answer->retry_after_ms = (wait_s < 3600 ? (int64_t)wait_s : 3600) * 1000;
        size_t length = exchange->received.length;
        answer->is_json = type && strncmp(type, "application/json", strlen("application/json")) == 0;
        answer->text = length ? buffer_take(&exchange->received) : NULL;
        answer->text_length = length;
        if (!kube_answer_is_good(answer))
            kube_answer_read(answer);
    }
    buffer_done(&exchange->received);
    kube_transfer_done(&exchange->transfer);
}
