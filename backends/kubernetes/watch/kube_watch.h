// Follows all objects of one kind: lists them in chunks, then watches. One thread only reads lines into a bounded
// queue, a second one parses them, compares by uid and version with what is known, and tells the owner the differences:
// however often the list is read again, what has not changed is not told. docs: kubernetes.md of the design, section 3.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct error;
struct kube_access;
struct kube_watch;

enum kube_event_kind {
    KUBE_ADDED,
    KUBE_CHANGED,
    KUBE_GONE, // object: its last state by the server; NULL where it vanished while nobody looked: kept is all there is
    KUBE_SYNCED // all that a list had has been told
};

// Texts and object are borrowed and end with the call.
struct kube_event {
    enum kube_event_kind kind;
    const char *namespace, *name, *uid, *resource_version; // namespace "": none
    const json_t *object;
    void *kept;    // what keep made of the object; of GONE: of the last one that was seen. Freed after the call
                   // where it is replaced or gone
    void *before;  // CHANGED: what keep made of the object before; NULL else
    bool is_first; // SYNCED: the first since the start or since kube_watch_forget
};

// All called on the watch's own second thread, never at once.
struct kube_watch_ops {
    // What is remembered of an object; may be NULL. NULL as function: nothing is.
    void *(*keep)(void *context, const json_t *object);
    void (*release)(void *context, void *kept); // never with NULL
    void (*tell)(void *context, const struct kube_event *event);
};

// Times in ms; 0: as said here. For tests, mostly.
struct kube_watch_times {
    int64_t chunk;                      // objects of one page: 500
    int64_t life_min_ms, life_max_ms;   // of one watch: 300 s to 600 s, by chance
    int64_t probe_after_ms;             // of silence: 90 s
    int64_t cut_after_ms;               // of silence: 150 s
    int64_t backoff_ms, backoff_max_ms; // 0.8 s, doubling to 30 s
    int64_t too_new_wait_ms;            // after "too large resource version": 1 s
    int64_t queue_bytes;                // of lines that wait for the parser: 16 MiB
    int64_t line_max_bytes;             // 8 MiB
};

struct kube_watch_setup {
    const char *name;                            // for the log: "nodes"
    const char *path;                            // "/api/v1/nodes"
    const char *label_selector, *field_selector; // NULL: none. Not escaped
    const char *kind;                            // "Node": what lists and events must be of
    struct kube_watch_ops ops;
    void *context;
    struct kube_watch_times times;
};

struct kube_watch_counts {
    int64_t objects;                    // known now
    int64_t lists, watches;             // begun
    int64_t events, bookmarks, ignored; // ignored: old, doubled, of unknown type or kind
    int64_t cuts;                       // watches that ended without a word before their time
    int64_t expired;                    // 410
    int64_t too_new;                    // the server was behind what we had seen
    int64_t failures;                   // all other bad ends
    int64_t queue_bytes;                // waiting now
};

struct kube_watch_state {
    bool is_synced;            // the picture is whole, and a watch follows or will go on from it
    bool is_connected;         // the last answer was good
    int64_t heard_ms;          // wall clock, when bytes last came; 0: never
    char problem[256];         // "": none
    char resource_version[64]; // how far it is
    struct kube_watch_counts counts;
};

// Starts both threads. setup's texts are copied; access and context must outlive it.
int kube_watch_create(struct kube_access *access, const struct kube_watch_setup *setup, struct kube_watch **out_watch,
                      struct error *err);
// Ends both threads within a second, whatever the server does. What is kept is released; nothing is told.
void kube_watch_destroy(struct kube_watch *watch); // NULL is fine
// Throws away all that is known, without telling, and lists again: everything comes as ADDED, then SYNCED. Any thread.
void kube_watch_forget(struct kube_watch *watch);
void kube_watch_read_state(struct kube_watch *watch, struct kube_watch_state *out_state); // any thread
