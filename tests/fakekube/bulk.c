#include "tests/fakekube/bulk.h"
#include "base/arena.h"
#include "base/timestamp.h"
#include "base/uuid.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *metadata(const char *name, const char *namespace)
{
    char uuid[UUID_SIZE], time[32];
    uuid_create(uuid);
    json_t *made =
        json_pack("{s:s,s:s,s:s}", "name", name, "uid", uuid, "creationTimestamp", kube_time(timestamp_now_ms(), time));
    if (namespace)
        json_object_set_new(made, "namespace", json_string(namespace));
    return made;
}

static void add_namespace(struct kube *kube, const char *name)
{
    if (store_find(&kube->store, RESOURCE_NAMESPACES, name))
        return;
    json_t *object = json_pack("{s:o,s:{s:[s]},s:{s:s}}", "metadata", metadata(name, NULL), "spec", "finalizers",
                               "kubernetes", "status", "phase", "Active");
    json_object_set_new(json_object_get(object, "metadata"), "labels",
                        json_pack("{s:s}", "kubernetes.io/metadata.name", name));
    store_put(&kube->store, RESOURCE_NAMESPACES, name, object);
    json_decref(object);
}

void bulk_add_namespaces(struct kube *kube)
{
    static const char *const NAMES[] = {"default", "kube-system", "kube-public", "kube-node-lease"};
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++)
        add_namespace(kube, NAMES[i]);
}

static json_t *amounts(int64_t gpus)
{
    json_t *made = json_pack("{s:s,s:s,s:s}", "cpu", "64", "memory", "512Gi", "pods", "110");
    json_object_set_new(made, "ephemeral-storage", json_string("1Ti"));
    if (gpus > 0)
        json_object_set_new(made, "nvidia.com/gpu", json_sprintf("%" PRId64, gpus));
    return made;
}

static void add_node(struct kube *kube, const char *name, int64_t gpus)
{
    char time[32];
    kube_time(timestamp_now_ms(), time);
    json_t *node = json_pack("{s:o,s:{},s:{s:o,s:o,s:[{s:s,s:s,s:s,s:s,s:s}],s:{s:s,s:s,s:s}}}", "metadata",
                             metadata(name, NULL), "spec", "status", "capacity", amounts(gpus), "allocatable",
                             amounts(gpus), "conditions", "type", "Ready", "status", "True", "lastHeartbeatTime", time,
                             "lastTransitionTime", time, "reason", "KubeletReady", "nodeInfo", "kubeletVersion",
                             "v1.37.1", "operatingSystem", "linux", "architecture", "amd64");
    json_object_set_new(json_object_get(node, "metadata"), "labels",
                        json_pack("{s:s,s:s,s:s,s:s}", "kubernetes.io/hostname", name, "kubernetes.io/os", "linux",
                                  "nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.memory", "81559"));
    store_put(&kube->store, RESOURCE_NODES, name, node);
    json_decref(node);
}

static void add_pod(struct kube *kube, int64_t number, int64_t nodes, const char *padding)
{
    char name[40], key[60], node[32], time[32];
    snprintf(name, sizeof(name), "pod-%06" PRId64, number);
    snprintf(key, sizeof(key), "others/%s", name);
    snprintf(node, sizeof(node), "node-%05" PRId64, nodes > 0 ? number % nodes : 0);
    kube_time(timestamp_now_ms(), time);
    json_t *pod = json_pack(
        "{s:o,s:{s:s,s:s,s:s,s:i,s:i,s:[{s:s,s:s,s:[s,s],s:{s:{s:s,s:s,s:s},s:{s:s,s:s,s:s}},s:s,s:s,s:s}]},"
        "s:{s:s,s:s,s:s,s:[{s:s,s:s,s:s}],s:[{s:s,s:b,s:i,s:{s:{s:s}},s:s}]}}",
        "metadata", metadata(name, "others"), "spec", "nodeName", node, "schedulerName", "default-scheduler",
        "restartPolicy", "Always", "priority", 0, "terminationGracePeriodSeconds", 30, "containers", "name", "main",
        "image", "registry.example/others/job:1", "command", "sleep", "infinity", "resources", "requests", "cpu",
        "500m", "memory", "1Gi", "nvidia.com/gpu", "0", "limits", "cpu", "1", "memory", "1Gi", "nvidia.com/gpu", "0",
        "imagePullPolicy", "IfNotPresent", "terminationMessagePath", "/dev/termination-log", "terminationMessagePolicy",
        "File", "status", "phase", "Running", "qosClass", "Burstable", "podIP", "10.99.0.1", "conditions", "type",
        "Ready", "status", "True", "lastTransitionTime", time, "containerStatuses", "name", "main", "ready", 1,
        "restartCount", 0, "state", "running", "startedAt", time, "image", "registry.example/others/job:1");
    json_object_set_new(json_object_get(pod, "metadata"), "labels",
                        json_pack("{s:s,s:s}", "app", "others", "tier", "batch"));
    if (*padding)
        json_object_set_new(json_object_get(pod, "metadata"), "annotations",
                            json_pack("{s:s}", "example.com/notes", padding));
    store_put(&kube->store, RESOURCE_PODS, key, pod);
    json_decref(pod);
}

void bulk_fill(struct kube *kube, int64_t nodes, int64_t gpus, int64_t pods, int64_t pod_bytes)
{
    char name[32];
    size_t length = pod_bytes > 0 ? (size_t)pod_bytes : 0;
    char *padding = memory_alloc(length + 1);
    memset(padding, 'x', length);
    padding[length] = '\0';
    if (pods > 0)
        add_namespace(kube, "others");
    for (int64_t i = 0; i < nodes; i++) {
        snprintf(name, sizeof(name), "node-%05" PRId64, i);
        add_node(kube, name, gpus);
    }
    for (int64_t i = 0; i < pods; i++)
        add_pod(kube, i, nodes, padding);
    free(padding);
}
