// The stand-in as a whole: the store, how it behaves, its faults, its kubelets.
#pragma once
#include "tests/fakekube/store.h"
#include <stdatomic.h>

struct kubelet;

// What the server's version decides (docs of each: README.md).
struct traits {
    int minor;
    bool does_honour_uid;       // of bindings
    bool does_honour_gates;     // refuses to bind a gated pod
    bool does_copy_zone;        // a node's zone and region go to the pod
    bool does_stream_lists;     // sendInitialEvents is on
    bool has_stream_lists;      // sendInitialEvents is known
    bool is_exact_future_a_504; // else 500
    bool has_policy_v1;
    bool is_old_cache; // 504 without Retry-After; a version that is no number is a 500
};

// A command to open watches: those opened before it obey once.
struct watch_order {
    int serial;
    int resource; // -1: all
    char how[16]; // close, reset, midLine, error, silent, duplicate, old
};

struct kube {
    struct store store;
    char version[32]; // "1.37.1"
    struct traits traits;
    json_t *faults;   // array; under the store's lock, as all below
    json_t *settings; // object
    json_t *requests; // array of what was asked; the newest REQUESTS_MAX
    json_t *refused;  // array: what the rules of a user did not allow
    int64_t request_count;
    struct watch_order order;
    int watch_count;
    int hang_serial;         // grows to let go of requests that hang
    struct kubelet *kubelet; // NULL: none
    atomic_bool stops;
    atomic_llong clock_ms; // settings.clockMs, read without the lock
};

// Reads "1.26.15".
void kube_set_version(struct kube *kube, const char *version);
bool kube_setting_is(const struct kube *kube, const char *name); // true or not
int64_t kube_setting_int(const struct kube *kube, const char *name, int64_t without);
// The server's clock: settings.clockMs is how far it is ahead.
int64_t kube_now_ms(const struct kube *kube);
// RFC 3339 in seconds, as metadata has it; out has room for 32 bytes.
const char *kube_time(int64_t time_ms, char out[32]);
