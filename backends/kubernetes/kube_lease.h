// Who may write into the cluster: the holder of a Lease. Two servers with copies of one database have the same pods;
// only one of them acts. Constants and rules are those of client-go's leader election: times that others wrote are
// never compared, only how long a record stays as it is by the clock of this machine, which runs on while it sleeps.
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct error;
struct kube_access;
struct kube_lease;

struct kube_lease_setup {
    struct kube_access *access;     // outlives the lease
    const char *namespace, *name;   // of the Lease
    const char *holder;             // who we are: the same after a restart, so that it is taken up again at once
    void (*changed)(void *context); // it is held now, or not any more; any thread
    void *context;
};

// Starts a thread that takes the lease as soon as nobody holds it, and renews it. Texts are copied.
int kube_lease_create(const struct kube_lease_setup *setup, struct kube_lease **out_lease, struct error *err);
// Gives it back, so that another need not wait; takes 4 s at most.
void kube_lease_destroy(struct kube_lease *lease); // NULL is fine
// Whether we may write now. False 10 s after the last renewal was sent, and for as long as another's packets may still
// be on their way. Any thread.
bool kube_lease_is_held(const struct kube_lease *lease);
// The number of holders before: what is done under another is of another time.
int64_t kube_lease_term(const struct kube_lease *lease);
