// Calls to the API server. A thread sends them: at most 32 writes and 16 reads at once, on kept connections; writes at
// a capped rate, halved by each 429 and recovering by a tenth a second. What may pass (429, 5xx, no connection) is sent
// again, after Retry-After or a random wait; 401 once, with fresh credentials. Thread-safe.
#pragma once
#include "backends/kubernetes/client/kube_call.h"

struct error;
struct kube_access;
struct kube_client;

struct kube_client_options {
    int writes_max, reads_max; // at once; 0: 32 and 16
    double writes_per_second;  // 0: 1,000
    // Asked right before each write is sent; false: it is done with KUBE_NOT_SENT. NULL: all may be.
    bool (*may_write)(void *context);
    void *context;
};

// Called once for each submitted call, on the client's thread: return soon, and never wait for another call there.
// The answer ends with it; what is taken out of it (body) is set to NULL.
typedef void (*kube_done_fn)(void *context, struct kube_answer *answer);

struct kube_client_counts {
    int64_t sent, answered, sent_again, refused_429, failed; // since the start
    int64_t open;                                            // submitted and not done
    double writes_per_second;                                // the cap as it is now
};

// access must outlive it. options NULL: the usual ones.
int kube_client_create(struct kube_access *access, const struct kube_client_options *options,
                       struct kube_client **out_client, struct error *err);
// Stops, and destroys: what is still open is done with KUBE_STOPPED. Takes no longer than the callbacks do.
void kube_client_destroy(struct kube_client *client);
// From now on nothing is sent; open calls are done with KUBE_STOPPED, later ones at once.
void kube_client_stop(struct kube_client *client);

// Waits for the answer. Never from a callback. The caller frees it: kube_answer_done. 0: the answer is good; -1: it is
// not, or there is none: err says so, out_answer has the details and is to be freed as well.
int kube_client_call(struct kube_client *client, const struct kube_call *call, struct kube_answer *out_answer,
                     struct error *err);
void kube_client_submit(struct kube_client *client, const struct kube_call *call, kube_done_fn done, void *context);
void kube_client_read_counts(struct kube_client *client, struct kube_client_counts *out_counts);
