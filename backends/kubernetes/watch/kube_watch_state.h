// How patient a watch is, and how it goes with it.
#pragma once
#include <stdbool.h>
#include <stdint.h>

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
