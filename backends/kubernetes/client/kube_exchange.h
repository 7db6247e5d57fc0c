// One try of a call as a transfer of libcurl: sent by whoever drives it, its bytes and headers collected here.
#pragma once
#include "backends/kubernetes/client/kube_access.h"
#include "base/buffer.h"

struct kube_exchange {
    struct kube_transfer transfer;
    struct buffer received;
    struct kube_answer *answer;
    char problem[CURL_ERROR_SIZE];
};

// -1: no credentials; the answer says so. Its address must not change until kube_exchange_end. answer belongs to the
// caller, and is filled by kube_exchange_end.
int kube_exchange_begin(struct kube_exchange *exchange, struct kube_access *access, const struct kube_call *call,
                        const atomic_bool *stopping, struct kube_answer *answer);
// The transfer has ended with this result, or is given up. A failure is read at once; a good answer's bytes are left in
// answer->text for kube_answer_read, which may be called by another thread.
void kube_exchange_end(struct kube_exchange *exchange, CURLcode result);
