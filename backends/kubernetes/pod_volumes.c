// Claims and their volumes, before a pod is bound.
#include "backends/kubernetes/client/kube_path.h"
#include "backends/kubernetes/objects/kube_node_terms.h"
#include "backends/kubernetes/pod_state.h"
#include "backends/kubernetes/pod_steps.h"
#include "base/buffer.h"
#include "base/timestamp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SELECTED_NODE "volume.kubernetes.io/selected-node"

enum {
    SOON_MS = 1000, // between looks at a claim
    LATER_MS = 5000,
    SOON_FOR_MS = 15 * 1000,
    TOLD_AFTER_MS = 5 * 1000,
    GIVEN_UP_AFTER_MS = 10 * 60 * 1000, // as kube-scheduler's bindTimeout
    AVOID_MS = 60 * 1000
};

enum volume_question {
    ASK_CLAIM,
    ASK_VOLUME,
    ASK_CLASS,
    SELECT_NODE
};

struct pod_volumes {
    char **claims; // names
    size_t count, done;
    enum volume_question next;
    bool was_selected; // the claim had the pod's node
    char *name;        // of the volume or the class that is asked for
    char *patch;
    int64_t since_us;
    bool is_told;
};

static void forget_question(struct pod_volumes *volumes)
{
    free(volumes->name);
    free(volumes->patch);
    volumes->name = volumes->patch = NULL;
}

void pod_volumes_done(struct ordered_pod *pod)
{
    struct pod_volumes *volumes = pod->volumes;
    pod->volumes = NULL;
    if (!volumes)
        return;
    forget_question(volumes);
    for (size_t i = 0; i < volumes->count; i++)
        free(volumes->claims[i]);
    free(volumes->claims);
    free(volumes);
}

static void add_claim(struct pod_volumes *volumes, const char *name)
{
    volumes->claims = memory_realloc(volumes->claims, (volumes->count + 1) * sizeof(*volumes->claims));
    volumes->claims[volumes->count++] = memory_strdup(name);
}

// A claim of its own is made by the cluster, under the names of pod and volume.
static void add_claims(struct pod_volumes *volumes, const struct ordered_pod *pod)
{
    json_t *body = json_loads(pod->body, 0, NULL), *volume;
    size_t i;
    json_array_foreach(kube_value_at(body, "spec.volumes"), i, volume) {
        const char *claim = kube_text_at(volume, "persistentVolumeClaim.claimName");
        struct buffer own;
        buffer_init(&own, 0);
        buffer_printf(&own, "%s-%s", pod->name, kube_text_at(volume, "name"));
        if (*claim)
            add_claim(volumes, claim);
        else if (json_object_get(volume, "ephemeral"))
            add_claim(volumes, own.data);
        buffer_done(&own);
    }
    json_decref(body);
}

void pod_volumes_begin(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    pod_volumes_done(pod);
    pod->volumes = memory_array(1, sizeof(*pod->volumes));
    pod->volumes->since_us = timestamp_monotonic_us();
    if (pod->body)
        add_claims(pod->volumes, pod);
    if (pod->volumes->count)
        pod->step = POD_CLAIMS;
    else
        pod_steps_note_created(kubernetes, pod);
}

static const char *claim_of(const struct ordered_pod *pod)
{
    return pod->volumes->claims[pod->volumes->done];
}

void pod_volumes_go_on(struct kubernetes *kubernetes, struct ordered_pod *pod)
{
    struct pod_volumes *volumes = pod->volumes;
    struct kube_call call = {.method = KUBE_GET};
    struct buffer path;
    if (volumes->done == volumes->count) {
        pod_steps_note_created(kubernetes, pod);
        return;
    }
    buffer_init(&path, 0);
    if (volumes->next == ASK_VOLUME)
        kube_path(&path, "/api/v1/persistentvolumes/%s", volumes->name);
    else if (volumes->next == ASK_CLASS)
        kube_path(&path, "/apis/storage.k8s.io/v1/storageclasses/%s", volumes->name);
    else
        kube_path(&path, "/api/v1/namespaces/%s/persistentvolumeclaims/%s", pod->namespace, claim_of(pod));
    if (volumes->next == SELECT_NODE) {
        call.method = KUBE_PATCH;
        call.body = volumes->patch;
        call.content_type = KUBE_MERGE_PATCH;
    }
    call.path = path.data;
    pod_steps_submit(kubernetes, pod, CALL_VOLUME, &call);
    buffer_done(&path);
}

static void ask_next(struct pod_volumes *volumes, enum volume_question question, const char *name)
{
    forget_question(volumes);
    volumes->next = question;
    volumes->name = name ? memory_strdup(name) : NULL;
}

static void take_next_claim(struct pod_volumes *volumes)
{
    volumes->done++;
    volumes->was_selected = false;
    volumes->is_told = false;
    ask_next(volumes, ASK_CLAIM, NULL);
}

static void refuse(struct kubernetes *kubernetes, struct ordered_pod *pod, const char *reason, const char *what)
{
    char message[240];
    snprintf(message, sizeof(message), "claim %.80s %.140s", claim_of(pod), what);
    pod_steps_refuse(kubernetes, pod, reason, message, false);
}

// why: after the claim's name.
static void look_again(struct kubernetes *kubernetes, struct ordered_pod *pod, const char *why)
{
    struct pod_volumes *volumes = pod->volumes;
    char message[240];
    int64_t now_us = timestamp_monotonic_us(), waited_ms = (now_us - volumes->since_us) / 1000;
    ask_next(volumes, ASK_CLAIM, NULL);
    pod->again_us = now_us + (int64_t)(waited_ms < SOON_FOR_MS ? SOON_MS : LATER_MS) * 1000;
    if (waited_ms >= GIVEN_UP_AFTER_MS) {
        pod->avoid_ms = AVOID_MS;
        refuse(kubernetes, pod, "VolumeBinding", why);
    } else if (waited_ms >= TOLD_AFTER_MS && !volumes->is_told) {
        volumes->is_told = true;
        snprintf(message, sizeof(message), "waits: claim %.80s %.140s", claim_of(pod), why);
        backend_fact_say(kubernetes_tell(kubernetes, BACKEND_POD_WARNING, pod->uuid, pod->decision), "VolumeBinding",
                         message);
        kube_reports_waits(kubernetes, pod, message);
    }
}

static bool has_claim(const struct ordered_pod *pod, const char *name)
{
    for (size_t i = 0; pod->volumes && i < pod->volumes->count; i++)
        if (strcmp(pod->volumes->claims[i], name) == 0)
            return true;
    return false;
}

// Another pod is to stand on that node and shares the claim: its volume is made there.
static bool is_of_another(const struct kubernetes *kubernetes, const struct ordered_pod *pod, const char *node_name)
{
    size_t position = 0;
    struct kube_index_slot *place = NULL;
    for (const struct ordered_pod *other; (other = kube_index_next(&kubernetes->pods, &position, &place));)
        if (other != pod && other->node_name && strcmp(other->node_name, node_name) == 0 &&
            strcmp(other->namespace, pod->namespace) == 0 && !pod_is_refused(other) && other->wish == WISH_RUN &&
            has_claim(other, claim_of(pod)))
            return true;
    return false;
}

static void write_patch(struct pod_volumes *volumes, const struct ordered_pod *pod, const json_t *claim)
{
    json_t *patch =
        json_pack("{s:{s:s, s:s, s:{s:s}}}", "metadata", "uid", kube_text_at(claim, "metadata.uid"), "resourceVersion",
                  kube_text_at(claim, "metadata.resourceVersion"), "annotations", SELECTED_NODE, pod->node_name);
    volumes->patch = json_dumps(patch, JSON_COMPACT);
    json_decref(patch);
}

static void take_unbound(struct kubernetes *kubernetes, struct ordered_pod *pod, const json_t *claim)
{
    struct pod_volumes *volumes = pod->volumes;
    const char *class = kube_text_at(claim, "spec.storageClassName");
    const char *selected =
        json_string_value(json_object_get(kube_value_at(claim, "metadata.annotations"), SELECTED_NODE));
    if (!selected && volumes->was_selected) {
        pod->avoid_ms = AVOID_MS;
        refuse(kubernetes, pod, "ProvisioningFailed", "got no volume for this node: its provisioner gave it back");
    } else if (selected && strcmp(selected, pod->node_name) == 0) {
        volumes->was_selected = true;
        look_again(kubernetes, pod, "has no volume yet: its provisioner makes one");
    } else if (selected && is_of_another(kubernetes, pod, selected)) {
        look_again(kubernetes, pod, "has no volume yet: it is made for another pod of the workload");
    } else if (!*class) {
        look_again(kubernetes, pod, "has no volume yet, and no storage class makes one");
    } else {
        ask_next(volumes, ASK_CLASS, class);
        write_patch(volumes, pod, claim);
    }
}

static void take_claim(struct kubernetes *kubernetes, struct ordered_pod *pod, const json_t *claim)
{
    const char *phase = kube_text_at(claim, "status.phase");
    if (strcmp(phase, "Lost") == 0)
        refuse(kubernetes, pod, "ClaimLost", "has lost its volume");
    else if (strcmp(phase, "Bound") == 0)
        ask_next(pod->volumes, ASK_VOLUME, kube_text_at(claim, "spec.volumeName"));
    else
        take_unbound(kubernetes, pod, claim);
}

static void take_class(struct kubernetes *kubernetes, struct ordered_pod *pod, const json_t *class)
{
    if (strcmp(kube_text_at(class, "volumeBindingMode"), "WaitForFirstConsumer") != 0)
        look_again(kubernetes, pod, "has no volume yet: its storage class makes one");
    else if (strcmp(kube_text_at(class, "provisioner"), "kubernetes.io/no-provisioner") == 0)
        refuse(kubernetes, pod, "ClaimUnbound",
               "has no volume, and its storage class makes none: bind it to a volume beforehand");
    else
        pod->volumes->next = SELECT_NODE;
}

// A node that does not reach it is the wrong one, and so are all that its terms leave out.
static void take_volume(struct kubernetes *kubernetes, struct ordered_pod *pod, const json_t *volume)
{
    const json_t *terms = kube_value_at(volume, "spec.nodeAffinity.required.nodeSelectorTerms");
    const struct kube_node *node = machines_find(kubernetes, pod->node_name);
    if (!node || kube_node_terms_hold(terms, &node->meta)) {
        take_next_claim(pod->volumes);
        return;
    }
    pod->avoid_ms = AVOID_MS;
    free(pod->node_terms);
    pod->node_terms = json_dumps(terms, JSON_COMPACT);
    if (strlen(pod->node_terms) >= BACKEND_NODE_TERMS_SIZE) {
        free(pod->node_terms);
        pod->node_terms = NULL;
    }
    refuse(kubernetes, pod, "VolumeNodeAffinity", "has a volume that this node does not reach");
}

void pod_volumes_take(struct kubernetes *kubernetes, struct ordered_pod *pod, const struct kube_answer *answer)
{
    struct pod_volumes *volumes = pod->volumes;
    int code = answer->outcome == KUBE_ANSWERED ? answer->status.code : 0;
    if (pod->step != POD_CLAIMS)
        return;
    if (code == 403) {
        take_next_claim(volumes); // the site gives no such right: whether it is bound its node will tell
    } else if (code == 404) {
        look_again(kubernetes, pod,
                   volumes->next == ASK_CLASS    ? "has a storage class that is not there"
                   : volumes->next == ASK_VOLUME ? "has a volume that is not there"
                                                 : "is not there");
    } else if (!kube_answer_is_good(answer)) {
        look_again(kubernetes, pod, "cannot be looked at");
    } else if (volumes->next == ASK_CLAIM) {
        take_claim(kubernetes, pod, answer->body);
    } else if (volumes->next == ASK_VOLUME) {
        take_volume(kubernetes, pod, answer->body);
    } else if (volumes->next == ASK_CLASS) {
        take_class(kubernetes, pod, answer->body);
    } else {
        volumes->was_selected = true;
        look_again(kubernetes, pod, "has no volume yet: its provisioner makes one");
    }
}
