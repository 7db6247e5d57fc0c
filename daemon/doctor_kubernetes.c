// What a Kubernetes cluster lets this server do.
#include "backends/kubernetes/client/kube_access.h"
#include "backends/kubernetes/client/kube_client.h"
#include "backends/kubernetes/config/kube_config.h"
#include "backends/kubernetes/objects/kube_node.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "daemon/doctor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    OLDEST_MINOR = 20,
    NEWEST_MINOR = 37, // that was tried
    SKEW_MAX_S = 60
};

// What the server does in a cluster. is_needed: not without it.
struct right {
    const char *group, *resource, *under, *verbs; // of the API; verbs are parted by blanks
    bool is_ours;                                 // in our own namespace alone
    bool is_needed;
    const char *what_for;
};

static const struct right RIGHTS[] = {
    {"", "nodes", "", "list watch", false, true, "to know the nodes"},
    {"", "pods", "", "get list watch create delete patch", false, true, "to run pods"},
    {"", "pods", "binding", "create", false, true, "to give pods their nodes"},
    {"", "namespaces", "", "create", false, false, "to make the namespaces of projects"},
    {"", "events", "", "list watch create", false, false, "to tell what the cluster says of pods, and it what is done"},
    {"", "services", "", "list create delete", false, false, "for distributed work and ports"},
    {"", "persistentvolumeclaims", "", "get create patch", false, false, "for volumes of workloads"},
    {"", "persistentvolumes", "", "get", false, false, "to know which nodes reach a volume"},
    {"", "secrets", "", "create patch delete", false, false, "for credentials that the server keeps"},
    {"", "pods", "status", "patch", false, false, "to tell why a pod waits"},
    {"", "pods", "log", "get", false, false, "to show logs"},
    {"", "pods", "exec", "create get", false, false, "for shells in pods"},
    {"", "pods", "proxy", "get", false, false, "to read the GPUs that DCGM's exporters measure"},
    {"", "pods", "eviction", "create", false, false, "for --kube-respect-budgets"},
    {"storage.k8s.io", "storageclasses", "", "get list", false, false, "to know how volumes are made"},
    {"metrics.k8s.io", "nodes", "", "list", false, false, "to know the CPU and memory that nodes use"},
    {"metrics.k8s.io", "pods", "", "list", false, false, "to know the CPU and memory that pods use"},
    {"coordination.k8s.io", "leases", "", "get create update", true, true, "so that one server alone acts"},
};

struct visit {
    struct findings *findings;
    struct kube_client *client;
    const char *namespace;
    struct kube_answer answer; // large for a stack
};

static void add(struct visit *visit, enum finding_level level, const char *says, const char *advice)
{
    findings_add(visit->findings, level, "kubernetes", says, advice);
}

// The answer is the visit's until the next call.
static int ask(struct visit *visit, enum kube_method method, const char *path, const char *query, const char *body,
               struct error *err)
{
    struct kube_call call = {.method = method, .path = path, .query = query, .body = body, .is_repeatable = true};
    kube_answer_done(&visit->answer);
    return kube_client_call(visit->client, &call, &visit->answer, err);
}

static bool look_at_version(struct visit *visit, const char *server)
{
    struct arena *arena = visit->findings->arena;
    struct error err = {0};
    if (ask(visit, KUBE_GET, "/version", NULL, NULL, &err) < 0) {
        add(visit, FINDING_PROBLEM, arena_printf(arena, "%s does not answer: %s", server, err.message),
            "--kubeconfig FILE says where the cluster is and who we are there");
        return false;
    }
    const char *version = arena_strdup(arena, kube_text_at(visit->answer.body, "gitVersion"));
    int minor = atoi(kube_text_at(visit->answer.body, "minor"));
    bool is_first = strcmp(kube_text_at(visit->answer.body, "major"), "1") == 0;
    bool is_old = is_first && minor < OLDEST_MINOR, is_new = !is_first || minor > NEWEST_MINOR;
    add(visit,
        is_old   ? FINDING_PROBLEM
        : is_new ? FINDING_NOTE
                 : FINDING_GOOD,
        arena_printf(arena, "%s is Kubernetes %s", server, version),
        is_old   ? "1.20 or newer is needed"
        : is_new ? "this server was tried with 1.37 and older"
                 : NULL);
    int64_t skew_s = visit->answer.date_ms ? (visit->answer.date_ms - timestamp_now_ms()) / 1000 : 0;
    if (skew_s > SKEW_MAX_S || skew_s < -SKEW_MAX_S)
        add(visit, FINDING_NOTE, arena_printf(arena, "its clock and this machine's differ by %" PRId64 " s", skew_s),
            "times of pods are the cluster's: let both clocks follow NTP");
    return true;
}

// 1: allowed, 0: not, -1: nobody knows.
static int is_allowed(struct visit *visit, const struct right *right, const char *verb, struct error *err)
{
    json_t *attributes = json_pack("{s:s, s:s, s:s, s:s}", "group", right->group, "resource", right->resource, "verb",
                                   verb, "subresource", right->under);
    if (right->is_ours)
        json_object_set_new(attributes, "namespace", json_string(visit->namespace));
    json_t *review = json_pack("{s:s, s:s, s:{s:o}}", "apiVersion", "authorization.k8s.io/v1", "kind",
                               "SelfSubjectAccessReview", "spec", "resourceAttributes", attributes);
    char *body = json_dumps(review, JSON_COMPACT);
    int rc = ask(visit, KUBE_POST, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", NULL, body, err);
    free(body);
    json_decref(review);
    return rc < 0 ? -1 : json_is_true(kube_value_at(visit->answer.body, "status.allowed"));
}

static void look_at_rights(struct visit *visit)
{
    struct arena *arena = visit->findings->arena;
    size_t missing = 0;
    for (size_t i = 0; i < sizeof(RIGHTS) / sizeof(RIGHTS[0]); i++) {
        const struct right *right = &RIGHTS[i];
        const char *lacks = "";
        char *rest = arena_strdup(arena, right->verbs);
        for (char *verb; (verb = strsep(&rest, " "));) {
            struct error err = {0};
            int allowed = is_allowed(visit, right, verb, &err);
            if (allowed < 0) {
                add(visit, FINDING_NOTE, arena_printf(arena, "rights cannot be asked for: %s", err.message), NULL);
                return;
            }
            if (!allowed)
                lacks = arena_printf(arena, "%s%s%s", lacks, *lacks ? ", " : "", verb);
        }
        if (!*lacks)
            continue;
        missing++;
        add(visit, right->is_needed ? FINDING_PROBLEM : FINDING_NOTE,
            arena_printf(arena, "may not %s %s%s%s, %s", lacks, right->resource, *right->under ? "/" : "", right->under,
                         right->what_for),
            "the cluster role that comes with this server has all rights that it uses");
    }
    if (!missing)
        add(visit, FINDING_GOOD, "has all rights that it uses", NULL);
}

static void look_at_nodes(struct visit *visit)
{
    struct arena *arena = visit->findings->arena;
    struct error err = {0};
    const json_t *item;
    size_t i, nodes = 0, with_gpus = 0, without_memory = 0;
    int64_t gpus = 0;
    if (ask(visit, KUBE_GET, "/api/v1/nodes", NULL, NULL, &err) < 0)
        return; // the rights say why
    json_array_foreach(json_object_get(visit->answer.body, "items"), i, item) {
        struct kube_node node;
        if (kube_node_read(item, arena, &node) < 0)
            continue;
        int64_t here = kube_amounts_get(&node.allocatable, KUBE_GPU);
        nodes++;
        gpus += here;
        with_gpus += here > 0;
        without_memory += here > 0 && node.gpus.memory_mib == 0;
    }
    if (gpus == 0)
        add(visit, FINDING_NOTE, arena_printf(arena, "%zu nodes, none of which offers nvidia.com/gpu", nodes),
            "NVIDIA's device plugin, or its GPU operator, makes GPUs known");
    else
        add(visit, FINDING_GOOD,
            arena_printf(arena, "%zu nodes, %zu of them with %" PRId64 " GPUs", nodes, with_gpus, gpus), NULL);
    if (without_memory)
        add(visit, FINDING_NOTE, arena_printf(arena, "%zu nodes do not say which GPUs they have", without_memory),
            "NVIDIA's GPU feature discovery labels them with product and memory");
}

static void look_at_storage(struct visit *visit)
{
    struct error err = {0};
    const json_t *item;
    size_t i, defaults = 0;
    if (ask(visit, KUBE_GET, "/apis/storage.k8s.io/v1/storageclasses", NULL, NULL, &err) < 0)
        return;
    json_array_foreach(json_object_get(visit->answer.body, "items"), i, item) {
        const json_t *annotations = json_object_get(json_object_get(item, "metadata"), "annotations");
        const char *is_default =
            json_string_value(json_object_get(annotations, "storageclass.kubernetes.io/is-default-class"));
        defaults += is_default && strcmp(is_default, "true") == 0;
    }
    if (!defaults)
        add(visit, FINDING_NOTE, "no storage class is the default one", "volumes have to name their storage class");
}

void doctor_look_at_kubernetes(const struct settings *settings, struct findings *findings)
{
    struct kube_config_source source = {.kubeconfig = settings->kubeconfig, .context = settings->kube_context};
    struct visit *visit = arena_alloc(findings->arena, sizeof(*visit));
    struct kube_config *config;
    struct kube_access *access;
    struct error err = {0};
    visit->findings = findings;
    if (kube_config_load(&source, &config, &err) < 0 || kube_access_create(config, &access, &err) < 0) {
        add(visit, FINDING_PROBLEM, arena_strdup(findings->arena, err.message),
            "--kubeconfig FILE says where the cluster is and who we are there");
        return;
    }
    visit->namespace = kube_access_config(access)->namespace;
    if (kube_client_create(access, NULL, &visit->client, &err) == 0 &&
        look_at_version(visit, arena_strdup(findings->arena, kube_access_config(access)->server))) {
        look_at_rights(visit);
        look_at_nodes(visit);
        look_at_storage(visit);
    }
    kube_answer_done(&visit->answer);
    kube_client_destroy(visit->client);
    kube_access_destroy(access);
}
