#include "backends/kubernetes/watch/kube_queue.h"

#include "base/arena.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct kube_queue {
    pthread_mutex_t lock;
    pthread_cond_t pushed, popped;
    struct kube_record *first, **end;
    size_t bytes, bytes_max;
    bool is_busy;      // one is popped and not done
    bool wants_record; // somebody waits for one
    bool is_closed;
};

struct kube_queue *kube_queue_create(size_t bytes_max)
{
    struct kube_queue *queue = memory_array(1, sizeof(*queue));
    queue->bytes_max = bytes_max;
    queue->end = &queue->first;
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->pushed, NULL);
    pthread_cond_init(&queue->popped, NULL);
    return queue;
}

void kube_queue_destroy(struct kube_queue *queue)
{
    if (!queue)
        return;
    for (struct kube_record *record; (record = queue->first);) {
        queue->first = record->next;
        free(record);
    }
    pthread_cond_destroy(&queue->pushed);
    pthread_cond_destroy(&queue->popped);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

int kube_queue_push(struct kube_queue *queue, enum kube_record_kind kind, const char *text, size_t length)
{
    struct kube_record *record = memory_alloc(sizeof(*record) + length + 1);
    record->next = NULL;
    record->kind = kind;
    record->length = length;
    if (length)
        memcpy(record->text, text, length);
    record->text[length] = '\0';
    pthread_mutex_lock(&queue->lock);
    while (!queue->is_closed && queue->first && queue->bytes + length > queue->bytes_max)
        pthread_cond_wait(&queue->popped, &queue->lock);
    bool is_closed = queue->is_closed;
    if (!is_closed) {
        *queue->end = record;
        queue->end = &record->next;
        queue->bytes += length;
        if (queue->wants_record)
            pthread_cond_signal(&queue->pushed);
    }
    pthread_mutex_unlock(&queue->lock);
    if (is_closed)
        free(record);
    return is_closed ? -1 : 0;
}

struct kube_record *kube_queue_pop(struct kube_queue *queue)
{
    struct kube_record *record = NULL;
    pthread_mutex_lock(&queue->lock);
    if (queue->is_busy && !queue->first)
        pthread_cond_broadcast(&queue->popped);
    queue->is_busy = false;
    queue->wants_record = true;
    while (!queue->is_closed && !queue->first)
        pthread_cond_wait(&queue->pushed, &queue->lock);
    queue->wants_record = false;
    if (!queue->is_closed) {
        bool was_full = queue->bytes >= queue->bytes_max / 2;
        record = queue->first;
        queue->first = record->next;
        if (!queue->first)
            queue->end = &queue->first;
        queue->bytes -= record->length;
        queue->is_busy = true;
        if (was_full)
            pthread_cond_broadcast(&queue->popped);
    }
    pthread_mutex_unlock(&queue->lock);
    return record;
}

int kube_queue_wait_done(struct kube_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    while (!queue->is_closed && (queue->first || queue->is_busy))
        pthread_cond_wait(&queue->popped, &queue->lock);
    bool is_closed = queue->is_closed;
    pthread_mutex_unlock(&queue->lock);
    return is_closed ? -1 : 0;
}

void kube_queue_close(struct kube_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->is_closed = true;
    pthread_cond_broadcast(&queue->pushed);
    pthread_cond_broadcast(&queue->popped);
    pthread_mutex_unlock(&queue->lock);
}

size_t kube_queue_bytes(struct kube_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    size_t bytes = queue->bytes;
    pthread_mutex_unlock(&queue->lock);
    return bytes;
}
