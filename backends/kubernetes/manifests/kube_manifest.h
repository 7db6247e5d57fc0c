// What is sent to the cluster: pods, services, claims, namespaces, bindings, deletions, conditions, events. Pure: from
// a pod as rows know it to JSON, and nothing is asked of the cluster. The same input gives the same object, so that a
// create that is sent twice names the same object twice.
//
// Objects are the caller's (json_decref); texts are the arena's. Every name and label that other rooms look for stands
// here.
#pragma once
#include "backends/backend.h"
#include "backends/kubernetes/manifests/kube_site.h"
#include <jansson.h>

#define KUBE_INSTANCE_LABEL "prorata.io/instance"
#define KUBE_WORKLOAD_LABEL "prorata.io/workload" // its uuid
#define KUBE_PROJECT_LABEL "prorata.io/project"
#define KUBE_ROLE_LABEL "prorata.io/role"
#define KUBE_INDEX_LABEL "prorata.io/index"
#define KUBE_POD_ANNOTATION "prorata.io/pod-id" // the row's uuid: whose the object is
#define KUBE_ATTEMPT_ANNOTATION "prorata.io/attempt"
#define KUBE_WORKLOAD_ANNOTATION "prorata.io/workload-name"
#define KUBE_SUBMITTER_ANNOTATION "prorata.io/submitted-by"
#define KUBE_RECORD_ANNOTATION "prorata.io/record" // backend_pod.record
#define KUBE_TERM_ANNOTATION "prorata.io/term"
#define KUBE_BOUND_ANNOTATION "prorata.io/bound-at"
#define KUBE_MAIN_CONTAINER "main"
#define KUBE_GPU_RESOURCE "nvidia.com/gpu"

// Names. A pod's holds its attempt, so that no name ever means two pods; what is longer than a DNS label is cut, and
// keeps a part of the workload's uuid.
const char *kube_manifest_pod_name(const struct backend_pod *pod, struct arena *arena);
const char *kube_manifest_namespace_of(const struct kube_site *site, const struct backend_pod *pod,
                                       struct arena *arena);

// Whether a specification can be expressed at all: what backend_ops.check asks. pod needs spec_json alone.
// ERROR_INVALID names the field and says what to do.
int kube_manifest_check(const struct kube_site *site, const struct backend_pod *pod, struct error *err);
// What will not be as the specification has it, though the pod runs: a sentence each, for BACKEND_POD_WARNING.
size_t kube_manifest_notes(const struct backend_pod *pod, struct arena *arena, const char *const **out_notes);

// The Pod, without a node: that is the binding's. ERROR_INVALID: what kube_manifest_check refuses.
int kube_manifest_pod(const struct kube_site *site, const struct backend_pod *pod, struct arena *arena,
                      json_t **out_object, struct error *err);
// What must be there before the workload's first pod is created, in this order; each is the same for every pod of one
// role of the workload, and may be there already (409). A list of Services: the one that gives pods of distributed work
// their names, those of ports, that of an inference. An empty list: it needs none.
int kube_manifest_services(const struct kube_site *site, const struct backend_pod *pod, struct arena *arena,
                           json_t **out_list, struct error *err);
// Likewise of PersistentVolumeClaims: those that the specification wants made.
int kube_manifest_claims(const struct kube_site *site, const struct backend_pod *pod, struct arena *arena,
                         json_t **out_list, struct error *err);
// Names of the secrets that the pod reads or its image is pulled with, each once; the server may keep a credential that
// stands for one (backend_vault). Returns how many. None where the specification cannot be read.
size_t kube_manifest_secret_names(const struct backend_pod *pod, struct arena *arena, const char *const **out_names);
// A Secret of that name in the pod's namespace, of the kind that its keys call for. The caller wipes nothing: jansson
// keeps the values until it is freed.
json_t *kube_manifest_secret(const struct kube_site *site, const struct backend_pod *pod, const char *name,
                             const struct backend_secret_key *keys, size_t count, struct arena *arena);
// Of one that is there already: a patch of type KUBE_JSON_PATCH that gives it the data of this one, and that the server
// refuses (422) where it is not ours or of another kind.
json_t *kube_manifest_secret_change(const json_t *secret);
// Likewise a patch that changes nothing: the answer has the secret's uid, and it is refused (422) where it is not ours.
json_t *kube_manifest_secret_look(const struct kube_site *site);

json_t *kube_manifest_namespace(const struct kube_site *site, const char *project_name, const char *name);

// A pod as the cluster knows it. The uid is the guard against acting on another of the same name.
struct kube_target {
    const char *namespace, *name, *uid;
};

// POST .../pods/NAME/binding. term: whose leadership it was decided under; 0: none.
json_t *kube_manifest_binding(const struct kube_target *pod, const char *node_name, int64_t term, int64_t now_ms);
// DELETE's body. grace_s negative: the pod's own. uid NULL: whichever it is.
json_t *kube_manifest_delete(const char *uid, int64_t grace_s);
// POST .../pods/NAME/eviction: a delete that disruption budgets may refuse.
json_t *kube_manifest_eviction(const struct kube_target *pod, int64_t grace_s);

// PATCH .../pods/NAME/status, of type KUBE_STRATEGIC_PATCH. version: the server refuses it (409) of any other; NULL: it
// may be any.
struct kube_condition {
    const char *type, *status; // PodScheduled False, DisruptionTarget True
    const char *reason;        // one word: Unschedulable, PreemptionByScheduler
    const char *message;       // a sentence
    int64_t time_ms;
};
json_t *kube_manifest_condition(const struct kube_target *pod, const char *version,
                                const struct kube_condition *condition);

// POST .../events. A message is cut at 1024 bytes, between characters.
struct kube_event_text {
    struct kube_target pod;
    bool is_warning;
    const char *reason, *action; // words: Scheduled, Binding
    const char *message;
    int64_t time_ms, serial; // together never the same twice of a pod
};
json_t *kube_manifest_event(const struct kube_site *site, const struct kube_event_text *text, struct arena *arena);
