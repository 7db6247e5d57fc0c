// What Kubernetes, or this backend of it, cannot do for a specification, field by field: a table. It is either refused
// at the submission, or said when a pod starts; what no row names is honoured.
#include "backends/kubernetes/manifests/kube_environment.h"
#include "backends/kubernetes/manifests/kube_manifest.h"
#include "backends/kubernetes/manifests/kube_names.h"
#include "backends/spec_find.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/uuid.h"
#include "model/service_names.h"
#include "model/serving.h"
#include "model/workload_type.h"

#include <string.h>

#define NOBODY_CHECKS_CALLERS "nobody checks callers in the cluster: use public, and let the command ask who calls"
#define OURS "prorata.io/"

struct row {
    const char *path;  // of spec_find
    const char *value; // NULL: any
    bool is_refused;
    const char *says;
};

static const struct row ROWS[] = {
    {"distributedFramework", "MPI", true, "this cluster starts no MPI launchers; use PyTorch, TF, JAX or XGBoost"},
    {"security.seccompProfileType", "Localhost", true, "no profile is named; use RuntimeDefault or Unconfined"},
    {"security.uidGidSource", "fromIdpToken", true, "tokens hold no numbers of users; use custom, and runAsUid"},
    {"servingPort.authorizationType", "authenticatedUsers", true, NOBODY_CHECKS_CALLERS},
    {"servingPort.authorizationType", "authorizedUsers", true, NOBODY_CHECKS_CALLERS},
    {"servingPort.authorizationType", "authorizedGroups", true, NOBODY_CHECKS_CALLERS},
    {"servingPort.authorizationType", "authorizedUsersOrGroups", true, NOBODY_CHECKS_CALLERS},
    {"storage.s3[].bucket", NULL, true, "a pod mounts no bucket; use a claim whose storage class does"},
    {"storage.dataVolume[].id", NULL, true, "claims are not shared between namespaces; use pvc"},
    {"storage.pvc[].dataSharing", NULL, true, "claims are not shared between namespaces; make one in each project"},
    {"storage.pvc[].claimInfo.addedAttrValues", NULL, true, "claims take no further attributes; use a storage class"},
    {"environmentVariables[].userCredential", NULL, true, "credentials of users do not reach the cluster; use secret"},
    {"imagePullSecrets[].userCredential", NULL, true, "credentials of users do not reach the cluster; name a secret"},
    {"compute.gpuPortionLimit", NULL, false, "is not kept: pods have whole GPUs"},
    {"compute.gpuMemoryLimit", NULL, false, "is not kept: pods have whole GPUs"},
    {"exposedUrls[].url", NULL, false, "is shown, and the cluster's Ingress must lead there"},
    {"exposedUrls[].authorizationType", NULL, false, "is not checked: the command must ask who calls"},
    {"cleanPodPolicy", "None", false, "is not kept: workers that still run when the master ends are stopped"},
};

static int check_labels(const json_t *spec, struct error *err)
{
    const json_t *item;
    for (size_t i = 0; (item = kube_spec_next(json_object_get(spec, "labels"), &i));) {
        const char *name = kube_spec_text(item, "name");
        if (name && strncmp(name, OURS, strlen(OURS)) == 0)
            return error_set(err, ERROR_INVALID, "spec.labels[%zu].name: labels of " OURS " are the server's own",
                             i - 1);
    }
    return 0;
}

static int check_variables(const json_t *spec, struct error *err)
{
    const json_t *item;
    for (size_t i = 0; (item = kube_spec_next(json_object_get(spec, "environmentVariables"), &i));) {
        const char *path = kube_spec_text(json_object_get(item, "podFieldRef"), "path");
        if (path && !kube_environment_knows(path))
            return error_set(err, ERROR_INVALID,
                             "spec.environmentVariables[%zu].podFieldRef: %.80s: Kubernetes tells no pod of it", i - 1,
                             path);
    }
    return 0;
}

// A Service has a port once, and those of an inference's address are taken.
static int check_ports(const json_t *spec, struct error *err)
{
    static const char *const LISTS[] = {"ports", "exposedUrls"};
    json_int_t serving = json_integer_value(json_object_get(json_object_get(spec, "servingPort"), "container"));
    for (size_t list = 0; serving && list < sizeof(LISTS) / sizeof(LISTS[0]); list++) {
        const json_t *item;
        for (size_t i = 0; (item = kube_spec_next(json_object_get(spec, LISTS[list]), &i));) {
            enum service_type type = service_type_parse(kube_spec_text(item, "serviceType"));
            json_int_t container = (int64_t)json_number_value(json_object_get(item, "container")),
                       outside = (int64_t)json_number_value(json_object_get(item, "external"));
            int64_t port = service_port(type, container, outside);
            if (type == SERVICE_CLUSTER_IP && container != serving && (port == SERVING_SERVICE_PORT || port == serving))
                return error_set(err, ERROR_INVALID, "spec.%s[%zu]: at port %d the inference itself answers",
                                 LISTS[list], i - 1, (int)port);
        }
    }
    return 0;
}

int kube_spec_check(const json_t *spec, struct error *err)
{
    struct arena arena;
    const char *where;
    int rc = 0;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]) && rc == 0; i++)
        if (ROWS[i].is_refused && spec_find(spec, ROWS[i].path, ROWS[i].value, &arena, &where))
            rc = error_set(err, ERROR_INVALID, "%s: %s", where, ROWS[i].says);
    arena_done(&arena);
    if (rc == 0)
        rc = check_labels(spec, err);
    if (rc == 0)
        rc = check_ports(spec, err);
    return rc < 0 ? rc : check_variables(spec, err);
}

size_t kube_manifest_notes(const struct backend_pod *pod, struct arena *arena, const char *const **out_notes)
{
    json_t *spec = kube_spec_load(pod, NULL);
    const char **notes = arena_array(arena, sizeof(ROWS) / sizeof(ROWS[0]), sizeof(*notes)), *where;
    size_t count = 0;
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++)
        if (!ROWS[i].is_refused && spec_find(spec, ROWS[i].path, ROWS[i].value, arena, &where))
            notes[count++] = arena_printf(arena, "%s %s", where, ROWS[i].says);
    json_decref(spec);
    *out_notes = notes;
    return count;
}

// As at a start, with what a submission does not have yet.
int kube_manifest_check(const struct kube_site *site, const struct backend_pod *pod, struct error *err)
{
    static const char NOBODY[UUID_SIZE] = "00000000-0000-0000-0000-000000000000";
    struct backend_pod whole = *pod;
    struct arena arena;
    json_t *object = NULL, *claims = NULL;
    whole.uuid = whole.workload_uuid = NOBODY;
    whole.name = whole.workload_name = whole.role = "pod";
    whole.project_name = pod->project_name ? pod->project_name : "project";
    whole.workload_type = pod->workload_type ? pod->workload_type : workload_type_text(WORKLOAD_TYPE_TRAINING);
    arena_init(&arena);
    int rc = kube_manifest_pod(site, &whole, &arena, &object, err);
    if (rc == 0)
        rc = kube_manifest_claims(site, &whole, &arena, &claims, err);
    json_decref(object);
    json_decref(claims);
    arena_done(&arena);
    return rc;
}
