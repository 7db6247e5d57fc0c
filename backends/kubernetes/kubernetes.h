// The Kubernetes backend: pods that this server creates when they are planned, and binds to the nodes that the plan
// names. No operator, no resource of our own, no webhook. Nothing is stored here: rows say what should be, the cluster
// says what is, and annotations on the pods say whose they are.
//
// What an order does: START makes what a pod needs, creates it, and binds it once all pods of its gang exist. STOP
// deletes it by its uid; its devices are free when it is gone or its phase is terminal, and not before. A name holds
// the attempt, so that it never means two pods; calls are repeatable, and an answer that is lost is asked for.
#pragma once
#include "backends/backend.h"

struct kube_config;
struct place_book; // base/places.h

struct kubernetes_options {
    const struct backend_vault *vault; // outlives the backend; NULL: none
    struct place_book *places;         // outlives the backend; NULL: there are no figures
    int64_t finished_ms;               // how long a pod that has ended stays, with its log
    bool respects_budgets;             // work that gives way is evicted: a PodDisruptionBudget may hold it
    const char *holder;   // who we are to the lease: the same after a restart, another for a copy of the database
    const char *instance; // the label prorata.io/instance of what is ours: the cluster's uuid
};

// Takes config over, also where it fails. Texts of options are copied. Nothing is asked of the cluster yet.
int kubernetes_create(struct kube_config *config, const struct kubernetes_options *options, struct backend *out_backend,
                      struct error *err);
