// From bytes to an answer, and what is done about it.
#pragma once
#include "backends/kubernetes/client/kube_call.h"

// Reads the bytes of an answer whose status.code is set, which are in its text: a JSON body, a text, or what a failure
// says.
void kube_answer_read(struct kube_answer *answer);
// What a Status object says; of any other JSON nothing but its message, if it has one.
void kube_status_read(const json_t *object, struct kube_status *out_status);
// The text in a Warning header's value.
void kube_warning_read(const char *value, size_t length, char out[KUBE_CAUSE_SIZE]);

enum {
    KUBE_TRIES_MAX = 10
};

struct kube_try {
    const struct kube_answer *answer; // of this try; attempts counts it
    bool is_repeatable;
    bool is_renewed; // credentials have been, for this call
};

// How long to wait in ms before the call is sent again; -1: it is not. chance is a random number.
int64_t kube_try_again_after(const struct kube_try *attempt, uint32_t chance);
// Whether credentials are to be read again before.
bool kube_try_wants_credentials(const struct kube_try *attempt);
