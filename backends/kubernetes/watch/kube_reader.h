// The thread of a watch that reads: lists page by page, watches, asks; whatever comes goes into the queue as it is.
#pragma once
#include "backends/kubernetes/watch/kube_next.h"
#include "backends/kubernetes/watch/kube_picture.h"
#include "backends/kubernetes/watch/kube_queue.h"
#include "backends/kubernetes/watch/kube_watch_state.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>

// What both threads of a watch share.
struct kube_watch {
    struct kube_access *access;
    char *name, *path, *kind, *list_kind;
    char *label_selector, *field_selector, *unread_array; // NULL: none
    struct kube_watch_times times;
    struct kube_queue *queue;
    CURLM *multi;
    atomic_bool stopping;
    pthread_t reader, parser;
    struct kube_picture picture;   // the parser's; the reader looks while nothing is in the queue
    pthread_mutex_t lock;          // of what is below
    struct kube_watch_state state; // all but what is picture's
};

void *kube_reader_run(void *watch);
