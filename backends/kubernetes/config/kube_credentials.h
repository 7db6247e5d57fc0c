// What proves to the API server who we are, as it is now: token files and certificates are read again at most once a
// minute, a plugin runs again when what it gave ends. Thread-safe.
#pragma once
#include <stdatomic.h>
#include <stdint.h>

struct error;
struct kube_config;
struct kube_credentials;

// Belongs to who got it: kube_credential_release. Texts are NULL where there is none.
struct kube_credential {
    char *token;
    char *certificate_pem, *key_pem;
    char *ca_pem;       // of the server; NULL: the system's
    int64_t generation; // grows with each change
};

// The config must outlive it. Reads nothing yet.
struct kube_credentials *kube_credentials_create(const struct kube_config *config);
void kube_credentials_destroy(struct kube_credentials *credentials); // NULL is fine
// May run a plugin, of which it waits for 30 s at most; others that ask meanwhile wait with it. Ends early, with
// ERROR_UNAVAILABLE, when *stopping becomes true (NULL: never).
int kube_credentials_get(struct kube_credentials *credentials, const atomic_bool *stopping, struct kube_credential *out,
                         struct error *err);
// The server did not take what had this generation, or its certificate was not good: the next get reads all again.
// Once for each generation, and at most once in 5 s where reading again changed nothing.
void kube_credentials_refuse(struct kube_credentials *credentials, int64_t generation);
void kube_credential_release(struct kube_credential *credential);
