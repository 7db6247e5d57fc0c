#include "backends/kubernetes/client/kube_client.h"

#include "backends/kubernetes/client/kube_answer.h"
#include "backends/kubernetes/client/kube_exchange.h"
#include "backends/kubernetes/client/kube_pace.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
    WRITES_MAX = 32,
    READS_MAX = 16,
    WRITES_PER_SECOND = 1000,
    STACK_BYTES = 1 << 20,
    ROUND_MS = 1000
};

struct job {
    struct job *next;
    struct kube_call call; // with texts of its own
    kube_done_fn done;
    void *context;
    struct kube_exchange exchange;
    struct kube_answer answer;
    int64_t until_us, due_us;
    bool is_write, is_renewed, is_read_by_caller;
};

struct job_list {
    struct job *first, **end;
};

struct kube_client {
    struct kube_access *access;
    struct kube_client_options options;
    CURLM *multi;
    pthread_t thread;
    atomic_bool stopping, ending;
    pthread_mutex_t lock; // of submitted and counts
    struct job_list submitted;
    struct kube_client_counts counts;
    // The thread's own.
    struct job_list writes, reads; // that wait for room
    struct job *delayed;           // by when they are due
    struct job *flying;
    int writes_flying, reads_flying;
    struct kube_pace pace;
};

static void list_init(struct job_list *list)
{
    list->first = NULL;
    list->end = &list->first;
}

static void list_append(struct job_list *list, struct job *job)
{
    job->next = NULL;
    *list->end = job;
    list->end = &job->next;
}

static struct job *list_take(struct job_list *list)
{
    struct job *job = list->first;
    if (job) {
        list->first = job->next;
        if (!list->first)
            list->end = &list->first;
    }
    return job;
}

static char *copy_or_null(const char *text)
{
    return text ? memory_strdup(text) : NULL;
}

static struct job *job_create(const struct kube_call *call, kube_done_fn done, void *context)
{
    struct job *job = memory_array(1, sizeof(*job));
    int64_t try_for_ms = call->try_for_ms < 0 ? KUBE_TRY_FOR_MS : call->try_for_ms;
    job->call = *call;
    job->call.path = copy_or_null(call->path);
    job->call.query = copy_or_null(call->query);
    job->call.body = copy_or_null(call->body);
    job->call.content_type = copy_or_null(call->content_type);
    job->is_write = call->method != KUBE_GET;
    job->call.is_repeatable = call->is_repeatable || !job->is_write;
    job->until_us = timestamp_monotonic_us() + try_for_ms * 1000;
    job->answer = (struct kube_answer){.outcome = KUBE_STOPPED, .retry_after_ms = -1};
    job->done = done;
    job->context = context;
    return job;
}

static void job_destroy(struct job *job)
{
    kube_answer_done(&job->answer);
    free((char *)job->call.path);
    free((char *)job->call.query);
    free((char *)job->call.body);
    free((char *)job->call.content_type);
    free(job);
}

static void count_end(struct kube_client *client, const struct kube_answer *answer)
{
    pthread_mutex_lock(&client->lock);
    client->counts.open--;
    client->counts.answered += answer->outcome == KUBE_ANSWERED;
    client->counts.failed += !kube_answer_is_good(answer);
    pthread_mutex_unlock(&client->lock);
}

static void finish(struct kube_client *client, struct job *job)
{
    if (!job->is_read_by_caller && kube_answer_is_good(&job->answer))
        kube_answer_read(&job->answer);
    count_end(client, &job->answer);
    job->done(job->context, &job->answer);
    job_destroy(job);
}

static void delay(struct kube_client *client, struct job *job, int64_t due_us)
{
    struct job **at = &client->delayed;
    while (*at && (*at)->due_us <= due_us)
        at = &(*at)->next;
    job->due_us = due_us;
    job->next = *at;
    *at = job;
}

static uint32_t chance(void)
{
    uint32_t number = 0;
    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
        return (uint32_t)timestamp_monotonic_us();
    return number;
}

// Done, or sent again later.
static void judge(struct kube_client *client, struct job *job)
{
    struct kube_try attempt = {
        .answer = &job->answer, .is_repeatable = job->call.is_repeatable, .is_renewed = job->is_renewed};
    int64_t now_us = timestamp_monotonic_us(), wait_ms = kube_try_again_after(&attempt, chance());
    bool was_refused = job->answer.outcome == KUBE_ANSWERED && job->answer.status.code == 429;
    if (was_refused && job->is_write)
        kube_pace_slow(&client->pace, now_us);
    bool wants_credentials = kube_try_wants_credentials(&attempt);
    bool is_last = wait_ms < 0 || (!wants_credentials && now_us + wait_ms * 1000 > job->until_us);
    job->is_renewed |= wants_credentials;
    pthread_mutex_lock(&client->lock);
    client->counts.refused_429 += was_refused;
    client->counts.sent_again += !is_last;
    pthread_mutex_unlock(&client->lock);
    if (is_last || atomic_load(&client->stopping))
        finish(client, job);
    else
        delay(client, job, now_us + wait_ms * 1000);
}

static void send_job(struct kube_client *client, struct job *job)
{
    if (job->is_write && client->options.may_write && !client->options.may_write(client->options.context)) {
        kube_answer_done(&job->answer);
        job->answer = (struct kube_answer){.outcome = KUBE_NOT_SENT, .retry_after_ms = -1};
        finish(client, job);
        return;
    }
    if (kube_exchange_begin(&job->exchange, client->access, &job->call, &client->stopping, &job->answer) < 0) {
        finish(client, job);
        return;
    }
    pthread_mutex_lock(&client->lock);
    client->counts.sent++;
    pthread_mutex_unlock(&client->lock);
    curl_easy_setopt(job->exchange.transfer.easy, CURLOPT_PRIVATE, job);
    if (curl_multi_add_handle(client->multi, job->exchange.transfer.easy) != CURLM_OK) {
        kube_exchange_end(&job->exchange, CURLE_OUT_OF_MEMORY);
        finish(client, job);
        return;
    }
    *(job->is_write ? &client->writes_flying : &client->reads_flying) += 1;
    job->next = client->flying;
    client->flying = job;
}

// Sends what there is room for. Returns how long until more may go, in ms.
static int64_t send_waiting(struct kube_client *client)
{
    struct job *job;
    int64_t now_us = timestamp_monotonic_us();
    while ((job = client->delayed) && job->due_us <= now_us) {
        client->delayed = job->next;
        list_append(job->is_write ? &client->writes : &client->reads, job);
    }
    while (client->reads_flying < client->options.reads_max && (job = list_take(&client->reads)))
        send_job(client, job);
    while (client->writes.first && client->writes_flying < client->options.writes_max) {
        if (!kube_pace_take(&client->pace, timestamp_monotonic_us()))
            return kube_pace_wait_ms(&client->pace);
        send_job(client, list_take(&client->writes));
    }
    if (!client->delayed)
        return ROUND_MS;
    int64_t wait_ms = (client->delayed->due_us - now_us) / 1000 + 1;
    return wait_ms < ROUND_MS ? wait_ms : ROUND_MS;
}

static void land(struct kube_client *client, struct job *job, CURLcode result)
{
    struct job **at = &client->flying;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    *(job->is_write ? &client->writes_flying : &client->reads_flying) -= 1;
    curl_multi_remove_handle(client->multi, job->exchange.transfer.easy);
    int64_t generation = job->exchange.transfer.generation;
    kube_exchange_end(&job->exchange, result);
    if ((job->answer.outcome == KUBE_ANSWERED && job->answer.status.code == 401) || job->answer.is_certificate_bad)
        kube_access_refuse(client->access, generation);
}

static void take_ended(struct kube_client *client)
{
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(client->multi, &left));) {
        struct job *job = NULL;
        CURLcode result = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&job);
        land(client, job, result);
        judge(client, job);
    }
}

static void take_submitted(struct kube_client *client)
{
    struct job *job;
    pthread_mutex_lock(&client->lock);
    while ((job = list_take(&client->submitted)))
        list_append(job->is_write ? &client->writes : &client->reads, job);
    client->counts.writes_per_second = client->pace.rate;
    pthread_mutex_unlock(&client->lock);
}

static void finish_stopped(struct kube_client *client, struct job *job)
{
    kube_answer_done(&job->answer);
    job->answer = (struct kube_answer){.outcome = KUBE_STOPPED, .retry_after_ms = -1, .attempts = job->answer.attempts};
    finish(client, job);
}

static void give_up_all(struct kube_client *client)
{
    struct job *job;
    while ((job = client->flying)) {
        land(client, job, CURLE_ABORTED_BY_CALLBACK);
        finish_stopped(client, job);
    }
    while ((job = client->delayed)) {
        client->delayed = job->next;
        finish_stopped(client, job);
    }
    while ((job = list_take(&client->writes)) || (job = list_take(&client->reads)))
        finish_stopped(client, job);
}

static void *run(void *context)
{
    struct kube_client *client = context;
    while (!atomic_load(&client->ending)) {
        int running;
        int64_t wait_ms = ROUND_MS;
        take_submitted(client);
        curl_multi_perform(client->multi, &running);
        take_ended(client);
        if (atomic_load(&client->stopping))
            give_up_all(client);
        else
            wait_ms = send_waiting(client);
        curl_multi_poll(client->multi, NULL, 0, (int)wait_ms, NULL);
    }
    take_submitted(client);
    give_up_all(client);
    return NULL;
}

static int start(struct kube_client *client)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int rc = pthread_create(&client->thread, &attributes, run, client);
    pthread_attr_destroy(&attributes);
    return rc == 0 ? 0 : -1;
}

int kube_client_create(struct kube_access *access, const struct kube_client_options *options,
                       struct kube_client **out_client, struct error *err)
{
    struct kube_client *client = memory_array(1, sizeof(*client));
    if (options)
        client->options = *options;
    struct kube_client_options *own = &client->options;
    own->writes_max = own->writes_max ? own->writes_max : WRITES_MAX;
    own->reads_max = own->reads_max ? own->reads_max : READS_MAX;
    own->writes_per_second = own->writes_per_second > 0 ? own->writes_per_second : WRITES_PER_SECOND;
    client->access = access;
    client->multi = curl_multi_init();
    list_init(&client->submitted);
    list_init(&client->writes);
    list_init(&client->reads);
    kube_pace_init(&client->pace, own->writes_per_second, timestamp_monotonic_us());
    pthread_mutex_init(&client->lock, NULL);
    if (client->multi)
        curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)(own->writes_max + own->reads_max));
    if (!client->multi || start(client) < 0) {
        curl_multi_cleanup(client->multi);
        pthread_mutex_destroy(&client->lock);
        free(client);
        return error_set(err, ERROR_UNAVAILABLE, "no thread for calls to Kubernetes");
    }
    *out_client = client;
    return 0;
}

void kube_client_stop(struct kube_client *client)
{
    atomic_store(&client->stopping, true);
    curl_multi_wakeup(client->multi);
}

void kube_client_destroy(struct kube_client *client)
{
    if (!client)
        return;
    atomic_store(&client->stopping, true);
    atomic_store(&client->ending, true);
    curl_multi_wakeup(client->multi);
    pthread_join(client->thread, NULL);
    curl_multi_cleanup(client->multi);
    pthread_mutex_destroy(&client->lock);
    free(client);
}

static void submit(struct kube_client *client, struct job *job)
{
    pthread_mutex_lock(&client->lock);
    list_append(&client->submitted, job);
    client->counts.open++;
    pthread_mutex_unlock(&client->lock);
    curl_multi_wakeup(client->multi);
}

void kube_client_submit(struct kube_client *client, const struct kube_call *call, kube_done_fn done, void *context)
{
    submit(client, job_create(call, done, context));
}

// Where a caller waits.
struct waiting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_done;
    struct kube_answer *answer;
};

static void end_waiting(void *context, struct kube_answer *answer)
{
    struct waiting *waiting = context;
    pthread_mutex_lock(&waiting->lock);
    *waiting->answer = *answer;
    answer->body = NULL;
    answer->text = NULL;
    waiting->is_done = true;
    pthread_cond_signal(&waiting->changed);
    pthread_mutex_unlock(&waiting->lock);
}

static enum error_code code_of(const struct kube_answer *answer)
{
    if (answer->outcome != KUBE_ANSWERED)
        return ERROR_UNAVAILABLE;
    switch (answer->status.code) {
    case 400:
    case 422:
        return ERROR_INVALID;
    case 401:
        return ERROR_UNAUTHORIZED;
    case 403:
        return ERROR_FORBIDDEN;
    case 404:
        return ERROR_NOT_FOUND;
    case 409:
        return ERROR_CONFLICT;
    case 429:
        return ERROR_TOO_MANY;
    default:
        return ERROR_UNAVAILABLE;
    }
}

int kube_client_call(struct kube_client *client, const struct kube_call *call, struct kube_answer *out_answer,
                     struct error *err)
{
    struct waiting waiting = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    char text[KUBE_MESSAGE_SIZE];
    waiting.answer = out_answer;
    struct job *job = job_create(call, end_waiting, &waiting);
    job->is_read_by_caller = true;
    submit(client, job);
    pthread_mutex_lock(&waiting.lock);
    while (!waiting.is_done)
        pthread_cond_wait(&waiting.changed, &waiting.lock);
    pthread_mutex_unlock(&waiting.lock);
    pthread_mutex_destroy(&waiting.lock);
    pthread_cond_destroy(&waiting.changed);
    if (kube_answer_is_good(out_answer))
        kube_answer_read(out_answer);
    if (kube_answer_is_good(out_answer))
        return 0;
    return error_set(err, code_of(out_answer), "Kubernetes: %s: %s", call->path,
                     kube_answer_text(out_answer, text, sizeof(text)));
}

void kube_client_read_counts(struct kube_client *client, struct kube_client_counts *out_counts)
{
    pthread_mutex_lock(&client->lock);
    *out_counts = client->counts;
    pthread_mutex_unlock(&client->lock);
}
