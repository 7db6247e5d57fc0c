// What a watch tells its owner, and what the owner does for it.
#pragma once
#include <jansson.h>
#include <stdbool.h>

enum kube_event_kind {
    KUBE_ADDED,
    KUBE_CHANGED,
    KUBE_GONE, // object: its last state by the server; NULL where it vanished while nobody looked: kept is all there is
    KUBE_SYNCED // all that a list had has been told
};

// Texts and object are borrowed and end with the call. Of an object metadata.managedFields is empty.
struct kube_event {
    enum kube_event_kind kind;
    const char *namespace, *name, *uid, *resource_version; // namespace "": none
    const json_t *object;
    void *kept;    // what keep made of the object; of GONE: of the last one that was seen. Freed after the call
                   // where it is replaced or gone
    void *before;  // CHANGED: what keep made of the object before; NULL else
    bool is_first; // SYNCED: the first since the start
};

// All called on the watch's own second thread, never at once.
struct kube_watch_ops {
    // What is remembered of an object; may be NULL. NULL as function: nothing is.
    void *(*keep)(void *context, const json_t *object);
    void (*release)(void *context, void *kept); // never with NULL
    void (*tell)(void *context, const struct kube_event *event);
};
