// The Pod: where it may go, who it runs as, and its container (kube_container.h) with its volumes (kube_volumes.h).
#include "backends/kubernetes/manifests/kube_container.h"
#include "backends/kubernetes/manifests/kube_manifest.h"
#include "backends/kubernetes/manifests/kube_names.h"
#include "backends/kubernetes/manifests/kube_volumes.h"
#include "base/arena.h"
#include "base/error.h"
#include "model/names.h"
#include "model/placement_spec.h"
#include "model/priority.h"
#include "model/workload_type.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    MS_PER_S = 1000
};

// Both spellings of a node's type: the scheduler takes either, and the kubelet must not refuse what it chose.
static const char *const NODE_TYPE_LABELS[] = {NODE_TYPE_LABEL, "run-ai/node-type"};

// Labels or annotations of the specification; ours, which are set later, win.
static void add_pairs(json_t *out, const json_t *list)
{
    const json_t *item;
    for (size_t i = 0; (item = kube_spec_next(list, &i));) {
        const char *name = kube_spec_text(item, "name"), *value = kube_spec_text(item, "value");
        if (name)
            json_object_set_new(out, name, json_string(value ? value : ""));
    }
}

// What evicts pods to save nodes has to leave these alone.
static void keep_in_place(json_t *annotations)
{
    json_object_set_new(annotations, "karpenter.sh/do-not-disrupt", json_string("true"));
    json_object_set_new(annotations, "cluster-autoscaler.kubernetes.io/safe-to-evict", json_string("false"));
}

static json_t *metadata(const struct kube_site *site, const struct backend_pod *pod, const json_t *spec,
                        struct arena *arena)
{
    json_t *object = kube_metadata(site, pod, kube_manifest_pod_name(pod, arena), arena);
    json_t *labels = json_object(), *annotations = json_object();
    const char *preemptibility = kube_spec_text(spec, "preemptibility");
    add_pairs(labels, json_object_get(spec, "labels"));
    json_object_update(labels, json_object_get(object, "labels"));
    json_object_set_new(labels, KUBE_ROLE_LABEL, json_string(pod->role));
    json_object_set_new(labels, KUBE_INDEX_LABEL, json_sprintf("%" PRId64, pod->index));
    if (preemptibility && strcmp(preemptibility, "non-preemptible") == 0)
        keep_in_place(annotations);
    add_pairs(annotations, json_object_get(spec, "annotations"));
    json_object_update(annotations, json_object_get(object, "annotations"));
    json_object_set_new(annotations, KUBE_POD_ANNOTATION, json_string(pod->uuid));
    json_object_set_new(annotations, KUBE_ATTEMPT_ANNOTATION, json_sprintf("%" PRId64, pod->attempt));
    if (pod->submitted_by)
        json_object_set_new(annotations, KUBE_SUBMITTER_ANNOTATION, json_string(pod->submitted_by));
    if (pod->record)
        json_object_set_new(annotations, KUBE_RECORD_ANNOTATION, json_string(pod->record));
    json_object_set_new(object, "labels", labels);
    json_object_set_new(object, "annotations", annotations);
    return object;
}

static json_t *tolerations(const json_t *spec, bool has_gpus)
{
    json_t *list = json_array();
    const json_t *item;
    if (has_gpus)
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s}", "key", KUBE_GPU_RESOURCE, "operator", "Exists", "effect", "NoSchedule"));
    for (size_t i = 0; (item = kube_spec_next(json_object_get(spec, "tolerations"), &i));) {
        const char *effect = kube_spec_text(item, "effect"), *operator= kube_spec_text(item, "operator");
        bool is_any = effect && strcmp(effect, "Any") == 0;
        json_t *made = json_pack("{s:s*, s:s*, s:s*, s:s*}", "key", kube_spec_text(item, "key"), "operator", operator,
                                 "value", kube_spec_text(item, "value"), "effect", is_any ? NULL : effect);
        if (json_is_integer(json_object_get(item, "seconds")))
            json_object_set(made, "tolerationSeconds", json_object_get(item, "seconds"));
        json_array_append_new(list, made);
    }
    return list;
}

// A term holds where all its expressions do: a copy of it with the node's type under one of its labels.
static void add_term(json_t *terms, const json_t *term, const char *type, const char *label)
{
    json_t *made = term ? json_deep_copy(term) : json_object();
    json_t *expressions = json_object_get(made, "matchExpressions");
    if (!json_is_array(expressions)) {
        expressions = json_array();
        json_object_set_new(made, "matchExpressions", expressions);
    }
    if (type)
        json_array_append_new(expressions,
                              json_pack("{s:s, s:s, s:[s]}", "key", label, "operator", "In", "values", type));
    json_array_append_new(terms, made);
}

static json_t *node_terms(const json_t *spec)
{
    const json_t *theirs = json_object_get(json_object_get(spec, "nodeAffinityRequired"), "nodeSelectorTerms");
    const char *type = kube_spec_text(spec, "nodeType");
    json_t *terms = json_array();
    size_t count = json_array_size(theirs);
    for (size_t i = 0; i < (count ? count : type != NULL); i++)
        for (size_t label = 0; label < (type ? sizeof(NODE_TYPE_LABELS) / sizeof(NODE_TYPE_LABELS[0]) : 1); label++)
            add_term(terms, json_array_get(theirs, i), type, NODE_TYPE_LABELS[label]);
    return terms;
}

static void set_affinity(json_t *out, const json_t *spec)
{
    json_t *terms = node_terms(spec);
    if (json_array_size(terms) > 0)
        json_object_set_new(out, "affinity",
                            json_pack("{s:{s:{s:O}}}", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
                                      "nodeSelectorTerms", terms));
    json_decref(terms);
}

// Numbers parted by commas or blanks.
static json_t *groups_of(const char *text)
{
    json_t *list = json_array();
    for (char *end; text && *text; text = end + strspn(end, ", ")) {
        long long group = strtoll(text, &end, 10);
        if (end == text)
            break;
        json_array_append_new(list, json_integer(group));
    }
    return list;
}

static void set_security(json_t *out, const json_t *security)
{
    json_t *context = json_object(), *groups = groups_of(kube_spec_text(security, "supplementalGroups"));
    json_t *group = json_object_get(security, "runAsGid");
    if (json_array_size(groups) > 0)
        json_object_set(context, "supplementalGroups", groups);
    if (json_is_integer(group)) { // so that it may write to its volumes
        json_object_set(context, "fsGroup", group);
        json_object_set_new(context, "fsGroupChangePolicy", json_string("OnRootMismatch"));
    }
    if (json_object_size(context) > 0)
        json_object_set(out, "securityContext", context);
    if (json_is_true(json_object_get(security, "hostIpc")))
        json_object_set_new(out, "hostIPC", json_true());
    if (json_is_true(json_object_get(security, "hostNetwork"))) {
        json_object_set_new(out, "hostNetwork", json_true());
        json_object_set_new(out, "dnsPolicy", json_string("ClusterFirstWithHostNet"));
    }
    json_decref(groups);
    json_decref(context);
}

static void set_pull_secrets(json_t *out, const struct kube_site *site, const json_t *spec)
{
    json_t *list = json_array();
    const json_t *item;
    for (size_t i = 0; (item = kube_spec_next(json_object_get(spec, "imagePullSecrets"), &i));)
        if (kube_spec_text(item, "name"))
            json_array_append_new(list, json_pack("{s:s}", "name", kube_spec_text(item, "name")));
    if (site->image_pull_secret)
        json_array_append_new(list, json_pack("{s:s}", "name", site->image_pull_secret));
    if (json_array_size(list) > 0)
        json_object_set(out, "imagePullSecrets", list);
    json_decref(list);
}

// Where a training ends, another attempt passes through the queue; what serves is started again where it is.
static const char *restart_policy(const struct backend_pod *pod, const json_t *spec)
{
    const char *asked = kube_spec_text(spec, "restartPolicy");
    bool serves = kube_is_inference(pod) || workload_type_is(pod->workload_type, WORKLOAD_TYPE_WORKSPACE);
    if (asked && (serves || strcmp(asked, "Always") != 0))
        return asked;
    return serves ? "Always" : asked ? "OnFailure" : "Never"; // a training ends where its command does
}

static json_t *pod_spec(const struct kube_site *site, const struct backend_pod *pod, const json_t *spec, bool has_gpus)
{
    const char *class_prefix = site->priority_class_prefix;
    const char *priority = kube_spec_text(spec, "priorityClass");
    const struct priority_class *class = priority ? priority_find(priority) : NULL;
    json_t *out = json_pack("{s:s, s:s, s:I, s:b, s:b, s:o}", "schedulerName",
                            site->scheduler_name ? site->scheduler_name : "prorata", "restartPolicy",
                            restart_policy(pod, spec), "terminationGracePeriodSeconds",
                            (json_int_t)((pod->grace_ms + MS_PER_S - 1) / MS_PER_S), "automountServiceAccountToken", 0,
                            "enableServiceLinks", 0, "tolerations", tolerations(spec, has_gpus));
    if (class && class_prefix && *class_prefix)
        json_object_set_new(out, "priorityClassName", json_sprintf("%s%s", class_prefix, class->name));
    if (has_gpus && site->runtime_class)
        json_object_set_new(out, "runtimeClassName", json_string(site->runtime_class));
    set_affinity(out, spec);
    set_security(out, json_object_get(spec, "security"));
    set_pull_secrets(out, site, spec);
    return out;
}

// They may run for as long as the container itself, and ask for no more than it does.
static void finish_before(json_t *before, const json_t *compute, const json_t *container)
{
    json_t *item, *resources = NULL;
    size_t i;
    json_array_foreach(before, i, item) {
        if (kube_resources_read(compute, false, &resources, NULL) == 0)
            json_object_set_new(item, "resources", resources);
        if (json_object_get(container, "securityContext"))
            json_object_set_new(item, "securityContext", json_deep_copy(json_object_get(container, "securityContext")));
        json_object_del(json_object_get(item, "securityContext"), "readOnlyRootFilesystem");
    }
}

static void add_volumes(json_t *out, json_t *container, const json_t *compute, const struct kube_volumes *volumes)
{
    finish_before(volumes->before, compute, container);
    if (json_array_size(volumes->volumes) > 0)
        json_object_set(out, "volumes", volumes->volumes);
    if (json_array_size(volumes->mounts) > 0)
        json_object_set(container, "volumeMounts", volumes->mounts);
    if (json_array_size(volumes->devices) > 0)
        json_object_set(container, "volumeDevices", volumes->devices);
    if (json_array_size(volumes->before) > 0)
        json_object_set(out, "initContainers", volumes->before);
}

int kube_manifest_pod(const struct kube_site *site, const struct backend_pod *pod, struct arena *arena,
                      json_t **out_object, struct error *err)
{
    json_t *container = NULL, *spec = kube_spec_load(pod, err);
    struct kube_volumes volumes;
    int64_t gpus = 0;
    if (!spec)
        return -1;
    const json_t *compute = json_object_get(spec, "compute");
    if (kube_spec_check(spec, err) < 0 || kube_gpus_read(compute, &gpus, err) < 0 ||
        kube_volumes_read(site, pod, spec, arena, &volumes, err) < 0) {
        json_decref(spec);
        return -1;
    }
    int rc = kube_container(pod, spec, arena, &container, err);
    if (rc == 0) {
        json_t *out = pod_spec(site, pod, spec, gpus > 0 || kube_has_mig(compute));
        if (kube_is_distributed(pod)) {
            json_object_set_new(out, "hostname", json_string(kube_host_name(pod, pod->role, pod->index, arena)));
            json_object_set_new(out, "subdomain",
                                json_string(name_with_suffix(pod->workload_name, "", pod->workload_uuid, arena)));
        }
        add_volumes(out, container, compute, &volumes);
        json_object_set_new(out, "containers", json_pack("[o]", container));
        *out_object = json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", "v1", "kind", "Pod", "metadata",
                                metadata(site, pod, spec, arena), "spec", out);
    }
    kube_volumes_done(&volumes);
    json_decref(spec);
    return rc;
}
