#include "reconciler/serving/page_reader.h"

#include "base/arena.h"
#include "base/condition.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "reconciler/serving/metrics_page.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct page {
    struct page_target target;
    struct metrics_page before; // of the round before
    int64_t before_us;          // 0: there was none
    struct page_reading reading;
    // Of the present round, the thread's.
    CURL *transfer;
    char *text;
    size_t length;
};

struct page_reader {
    int64_t interval_ms;
    page_wake_fn wake;
    void *context;
    pthread_t thread;
    pthread_mutex_t lock; // of all below
    pthread_cond_t changed;
    bool has_thread, stopping;
    struct page_target *targets; // as set last
    size_t target_count;
    struct page *pages; // as read last; their number and order are the thread's to change
    size_t page_count;
    int64_t round;
};

static size_t take_bytes(char *data, size_t size, size_t count, void *context)
{
    struct page *page = context;
    size_t bytes = size * count;
    if (bytes > METRICS_PAGE_MAX - page->length)
        return 0; // ends the transfer
    page->text = memory_realloc(page->text, page->length + bytes + 1);
    memcpy(page->text + page->length, data, bytes);
    page->length += bytes;
    return bytes;
}

static CURL *make_transfer(struct page *page)
{
    CURL *transfer = curl_easy_init();
    if (!transfer)
        return NULL;
    curl_easy_setopt(transfer, CURLOPT_URL, page->target.url);
    curl_easy_setopt(transfer, CURLOPT_PROTOCOLS_STR, "http");
    curl_easy_setopt(transfer, CURLOPT_PROXY, "");
    curl_easy_setopt(transfer, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(transfer, CURLOPT_TIMEOUT_MS, (long)PAGE_TIMEOUT_MS);
    curl_easy_setopt(transfer, CURLOPT_CONNECTTIMEOUT_MS, 1000L);
    curl_easy_setopt(transfer, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(transfer, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(transfer, CURLOPT_WRITEDATA, page);
    curl_easy_setopt(transfer, CURLOPT_PRIVATE, page);
    return transfer;
}

static double growth(double now, double before, int64_t elapsed_us)
{
    return (now - before) / ((double)elapsed_us / 1e6);
}

// A counter that fell began again: the next round knows its growth.
static void work_out(struct page *page, const struct metrics_page *now, int64_t now_us)
{
    const struct metrics_page *before = &page->before;
    struct page_reading *reading = &page->reading;
    int64_t elapsed_us = page->before_us ? now_us - page->before_us : 0;
    *reading = (struct page_reading){.has_concurrency = now->has_concurrency, .concurrency = now->concurrency};
    if (elapsed_us > 0 && now->has_requests && before->has_requests && now->requests >= before->requests) {
        reading->has_throughput = true;
        reading->throughput = growth(now->requests, before->requests, elapsed_us);
    }
    if (elapsed_us > 0 && now->has_latency && before->has_latency && now->latency_count >= before->latency_count &&
        now->latency_ms_sum >= before->latency_ms_sum) {
        double requests = now->latency_count - before->latency_count;
        reading->has_latency = true;
        reading->latency_ms = requests > 0 ? (now->latency_ms_sum - before->latency_ms_sum) / requests : 0;
    }
    size_t length = strlen(page->target.metric);
    bool is_counter = length > 6 && strcmp(page->target.metric + length - 6, "_total") == 0;
    if (now->has_own && !is_counter) {
        reading->has_own = true;
        reading->own = now->own;
    } else if (now->has_own && elapsed_us > 0 && before->has_own && now->own >= before->own) {
        reading->has_own = true;
        reading->own = growth(now->own, before->own, elapsed_us);
    }
    page->before = *now;
    page->before_us = now_us;
}

static void end_transfer(struct page *page, bool is_whole, int64_t now_us)
{
    struct metrics_page now;
    if (is_whole && page->text) {
        metrics_page_read(page->text, page->length, page->target.metric[0] ? page->target.metric : NULL, &now);
        work_out(page, &now, now_us);
    } else {
        page->reading = (struct page_reading){0};
        page->before_us = 0;
    }
    free(page->text);
    page->text = NULL;
    page->length = 0;
}

// What has come whole is read at once, so that few pages are in memory together.
static void take_ended(CURLM *all)
{
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(all, &left));) {
        struct page *page = NULL;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&page);
        end_transfer(page, message->data.result == CURLE_OK, timestamp_monotonic_us());
    }
}

static void read_pages(struct page *pages, size_t count)
{
    CURLM *all = curl_multi_init();
    int running = 0;
    if (!all)
        return;
    curl_multi_setopt(all, CURLMOPT_MAX_TOTAL_CONNECTIONS, 64L);
    for (size_t i = 0; i < count; i++) {
        pages[i].transfer = make_transfer(&pages[i]);
        if (pages[i].transfer)
            curl_multi_add_handle(all, pages[i].transfer);
    }
    do {
        if (curl_multi_perform(all, &running) != CURLM_OK ||
            (running && curl_multi_poll(all, NULL, 0, 200, NULL) != CURLM_OK))
            break;
        take_ended(all);
    } while (running);
    for (size_t i = 0; i < count; i++) {
        if (!pages[i].transfer)
            continue;
        curl_multi_remove_handle(all, pages[i].transfer);
        curl_easy_cleanup(pages[i].transfer);
        pages[i].transfer = NULL;
        free(pages[i].text); // of one that did not end
        pages[i].text = NULL;
        pages[i].length = 0;
    }
    curl_multi_cleanup(all);
}

static const struct page *find_page(const struct page *pages, size_t count, const char *pod_uuid)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(pages[i].target.pod_uuid, pod_uuid) == 0)
            return &pages[i];
    return NULL;
}

// The targets as pages, with what was read of them before. Under the lock.
static struct page *take_targets(const struct page_reader *reader)
{
    struct page *pages = memory_array(reader->target_count, sizeof(*pages));
    for (size_t i = 0; i < reader->target_count; i++) {
        const struct page *old = find_page(reader->pages, reader->page_count, reader->targets[i].pod_uuid);
        if (old)
            pages[i] = *old;
        pages[i].target = reader->targets[i];
    }
    return pages;
}

static void wait_for_round(struct page_reader *reader, int64_t due_us)
{
    while (!reader->stopping && (reader->target_count == 0 || timestamp_monotonic_us() < due_us)) {
        struct timespec until = {.tv_sec = due_us / 1000000, .tv_nsec = due_us % 1000000 * 1000};
        if (reader->target_count == 0)
            pthread_cond_wait(&reader->changed, &reader->lock);
        else
            (void)pthread_cond_timedwait(&reader->changed, &reader->lock, &until);
    }
}

static void *run(void *context)
{
    struct page_reader *reader = context;
    int64_t due_us = 0;
    pthread_mutex_lock(&reader->lock);
    for (;;) {
        wait_for_round(reader, due_us);
        if (reader->stopping)
            break;
        due_us = timestamp_monotonic_us() + reader->interval_ms * 1000;
        size_t count = reader->target_count;
        struct page *pages = take_targets(reader);
        pthread_mutex_unlock(&reader->lock);
        read_pages(pages, count);
        pthread_mutex_lock(&reader->lock);
        reader->round++;
        for (size_t i = 0; i < count; i++)
            pages[i].reading.round = reader->round;
        free(reader->pages);
        reader->pages = pages;
        reader->page_count = count;
        pthread_mutex_unlock(&reader->lock);
        reader->wake(reader->context);
        pthread_mutex_lock(&reader->lock);
    }
    pthread_mutex_unlock(&reader->lock);
    return NULL;
}

struct page_reader *page_reader_create(int64_t interval_ms, page_wake_fn wake, void *context)
{
    struct page_reader *reader = memory_array(1, sizeof(*reader));
    reader->interval_ms = interval_ms;
    reader->wake = wake;
    reader->context = context;
    pthread_mutex_init(&reader->lock, NULL);
    condition_init(&reader->changed);
    return reader;
}

void page_reader_destroy(struct page_reader *reader)
{
    if (!reader)
        return;
    pthread_mutex_lock(&reader->lock);
    reader->stopping = true;
    pthread_cond_broadcast(&reader->changed);
    pthread_mutex_unlock(&reader->lock);
    if (reader->has_thread)
        pthread_join(reader->thread, NULL);
    free(reader->targets);
    free(reader->pages);
    pthread_mutex_destroy(&reader->lock);
    pthread_cond_destroy(&reader->changed);
    free(reader);
}

int64_t page_reader_interval(const struct page_reader *reader)
{
    return reader->interval_ms;
}

void page_reader_set(struct page_reader *reader, const struct page_target *targets, size_t count)
{
    pthread_mutex_lock(&reader->lock);
    bool wakes = reader->target_count == 0 && count > 0;
    reader->targets = memory_realloc(reader->targets, (count + 1) * sizeof(*targets));
    if (count)
        memcpy(reader->targets, targets, count * sizeof(*targets));
    reader->target_count = count;
    if (count && !reader->has_thread) {
        reader->has_thread = pthread_create(&reader->thread, NULL, run, reader) == 0;
        if (!reader->has_thread)
            log_write(LOG_WARN, "reconciler", "no thread reads the metrics of replicas: their numbers stay");
    } else if (wakes) {
        pthread_cond_broadcast(&reader->changed);
    }
    pthread_mutex_unlock(&reader->lock);
}

bool page_reader_get(struct page_reader *reader, const char *pod_uuid, struct page_reading *out)
{
    pthread_mutex_lock(&reader->lock);
    const struct page *page = find_page(reader->pages, reader->page_count, pod_uuid);
    bool is_read = page && page->reading.round == reader->round;
    if (is_read)
        *out = page->reading;
    pthread_mutex_unlock(&reader->lock);
    return is_read;
}
