// Records on their way from the thread that reads to the one that parses; bounded by bytes, so that a flood waits in
// the server's buffers and not in ours.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kube_queue;

enum kube_record_kind {
    KUBE_RECORD_LIST,   // a list begins
    KUBE_RECORD_ITEM,   // one of its items
    KUBE_RECORD_LISTED, // it has ended; the text is its version
    KUBE_RECORD_EVENT   // a line of a watch
};

struct kube_record {
    struct kube_record *next;
    enum kube_record_kind kind;
    size_t length;
    char text[]; // ends in '\0'
};

struct kube_queue *kube_queue_create(size_t bytes_max);
void kube_queue_destroy(struct kube_queue *queue); // NULL is fine
// Waits for room. -1: the queue is closed.
int kube_queue_push(struct kube_queue *queue, enum kube_record_kind kind, const char *text, size_t length);
// Waits for a record, and owns it: free(). NULL: the queue is closed. The one before counts as done.
struct kube_record *kube_queue_pop(struct kube_queue *queue);
// Waits until all that was pushed is done. -1: the queue is closed.
int kube_queue_wait_done(struct kube_queue *queue);
void kube_queue_close(struct kube_queue *queue);
size_t kube_queue_bytes(struct kube_queue *queue);
