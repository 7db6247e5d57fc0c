// The picture that a watch has of its objects: takes records, keeps what is known, tells the owner the differences. No
// thread, no network.
#pragma once
#include "backends/kubernetes/client/kube_call.h"
#include "backends/kubernetes/watch/kube_event.h"
#include "backends/kubernetes/watch/kube_queue.h"
#include "backends/kubernetes/watch/kube_store.h"

enum {
    KUBE_VERSION_SIZE = 64
};

struct kube_picture {
    const char *kind;
    struct kube_watch_ops ops;
    void *context;
    struct kube_store store;
    int64_t round;                    // of lists
    bool has_synced;                  // since the start
    char position[KUBE_VERSION_SIZE]; // up to which it is told; "": no list has ended yet
    bool has_error;                   // an ERROR event came: what it said
    struct kube_status error;
    int64_t events, bookmarks, ignored; // since the start
};

void kube_picture_init(struct kube_picture *picture, const char *kind, const struct kube_watch_ops *ops, void *context);
void kube_picture_done(struct kube_picture *picture);
void kube_picture_take(struct kube_picture *picture, enum kube_record_kind kind, const char *text, size_t length);
