// A way to one API server: address, trust and credentials, from which transfers of libcurl are made. HTTP/1.1, TLS
// always verified, no redirects. Thread-safe; made once, shared by clients and watches.
#pragma once
#include "backends/kubernetes/client/kube_call.h"
#include "backends/kubernetes/config/kube_credentials.h"

#include <curl/curl.h>
#include <stdatomic.h>

struct error;
struct kube_access;
struct kube_config;

// Takes config over, also where it fails.
int kube_access_create(struct kube_config *config, struct kube_access **out_access, struct error *err);
void kube_access_destroy(struct kube_access *access); // NULL is fine; after all who use it
const struct kube_config *kube_access_config(const struct kube_access *access);

// A transfer that is ready but for where its bytes go. Owns what it needs; kube_transfer_done frees all.
struct kube_transfer {
    CURL *easy; // NULL: none
    struct curl_slist *headers, *connect_to;
    int64_t generation; // of the credential it carries
};

// err says why no credentials can be had. timeout_ms 0: no bound on the whole. Ends early when *stopping becomes true.
// The call's texts may end before the transfer.
int kube_transfer_init(struct kube_transfer *transfer, struct kube_access *access, const struct kube_call *call,
                       int64_t timeout_ms, const atomic_bool *stopping, struct error *err);
void kube_transfer_done(struct kube_transfer *transfer);
// The server answered 401, or showed a certificate that is not trusted: the next transfer has fresh credentials.
void kube_access_refuse(struct kube_access *access, int64_t generation);
