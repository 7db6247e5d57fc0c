// Follows all objects of one kind: lists them in chunks, then watches. One thread only reads lines into a bounded
// queue, a second one parses them, compares by uid and version with what is known, and tells the owner the differences:
// however often the list is read again, what has not changed is not told.
#pragma once
#include "backends/kubernetes/watch/kube_event.h"
#include "backends/kubernetes/watch/kube_watch_state.h"

struct error;
struct kube_access;
struct kube_watch;

struct kube_watch_setup {
    const char *name;                            // for the log: "nodes"
    const char *path;                            // "/api/v1/nodes"
    const char *label_selector, *field_selector; // NULL: none. Not escaped
    const char *kind;                            // "Node": what lists and events must be of
    const char *unread_array; // a key whose array the owner does not need ("images" of nodes); NULL: none
    struct kube_watch_ops ops;
    void *context;
    struct kube_watch_times times;
};

// Starts both threads. setup's texts are copied; access and context must outlive it.
int kube_watch_create(struct kube_access *access, const struct kube_watch_setup *setup, struct kube_watch **out_watch,
                      struct error *err);
// Ends both threads within a second, whatever the server does. What is kept is released; nothing is told.
void kube_watch_destroy(struct kube_watch *watch);                                        // NULL is fine
void kube_watch_read_state(struct kube_watch *watch, struct kube_watch_state *out_state); // any thread
