#include "tests/fakekube/resources.h"
#include <stdio.h>
#include <string.h>

const struct resource RESOURCES[RESOURCE_COUNT] = {
    {"", "v1", "pods", "Pod", true, true, false, false, true},
    {"", "v1", "nodes", "Node", false, true, false, false, false},
    {"", "v1", "namespaces", "Namespace", false, true, false, false, true},
    {"", "v1", "events", "Event", true, false, true, false, false},
    {"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", true, true, false, true, false},
    {"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", false, false, false, false, false},
    {"coordination.k8s.io", "v1", "leases", "Lease", true, false, true, true, false},
    {"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", true, true, false, false, true},
    {"", "v1", "persistentvolumes", "PersistentVolume", false, true, false, false, true},
    {"", "v1", "configmaps", "ConfigMap", true, false, false, false, false},
    {"", "v1", "secrets", "Secret", true, false, false, false, false},
    {"", "v1", "services", "Service", true, true, true, false, true},
    {"", "v1", "serviceaccounts", "ServiceAccount", true, false, false, false, true},
    {"", "v1", "limitranges", "LimitRange", true, false, true, false, false},
    {"", "v1", "resourcequotas", "ResourceQuota", true, true, false, false, true},
    {"storage.k8s.io", "v1", "storageclasses", "StorageClass", false, false, false, false, true},
    {"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", false, false, false, false, false},
    {"networking.k8s.io", "v1", "ingresses", "Ingress", true, true, false, false, false},
    {"resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", true, true, false, false, true},
    {"resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate", true, false, false, false, true},
    {"resource.k8s.io", "v1", "resourceslices", "ResourceSlice", false, false, false, false, true},
    {"resource.k8s.io", "v1", "deviceclasses", "DeviceClass", false, false, false, false, true},
    {"metrics.k8s.io", "v1beta1", "pods", "PodMetrics", true, false, true, false, false},
    {"metrics.k8s.io", "v1beta1", "nodes", "NodeMetrics", false, false, true, false, false},
    {"apps", "v1", "deployments", "Deployment", true, true, false, false, false},
};

int resource_find(const char *group, const char *version, const char *plural)
{
    if (strcmp(group, "events.k8s.io") == 0)
        group = "";
    for (int i = 0; i < RESOURCE_COUNT; i++)
        if (strcmp(RESOURCES[i].group, group) == 0 && strcmp(RESOURCES[i].version, version) == 0 &&
            strcmp(RESOURCES[i].plural, plural) == 0)
            return i;
    return -1;
}

const char *resource_api_version(const struct resource *resource, char out[80])
{
    snprintf(out, 80, "%s%s%s", resource->group, *resource->group ? "/" : "", resource->version);
    return out;
}

json_t *json_at(const json_t *value, const char *path)
{
    char key[128];
    while (value && *path) {
        size_t length = strcspn(path, ".");
        if (length >= sizeof(key))
            return NULL;
        memcpy(key, path, length);
        key[length] = '\0';
        value = json_object_get(value, key);
        path += length + (path[length] == '.');
    }
    return (json_t *)value;
}

const char *json_text_at(const json_t *value, const char *path)
{
    return json_string_value(json_at(value, path));
}

json_t *json_object_made(json_t *value, const char *key)
{
    json_t *found = json_object_get(value, key);
    if (!json_is_object(found)) {
        found = json_object();
        json_object_set_new(value, key, found);
    }
    return found;
}

static const char *const POD_FIELDS[] = {"spec.nodeName",
                                         "spec.restartPolicy",
                                         "spec.schedulerName",
                                         "spec.serviceAccountName",
                                         "spec.hostNetwork",
                                         "status.phase",
                                         "status.podIP",
                                         "status.nominatedNodeName",
                                         NULL};
static const char *const NODE_FIELDS[] = {"spec.unschedulable", NULL};
static const char *const NAMESPACE_FIELDS[] = {"status.phase", NULL};
static const char *const EVENT_FIELDS[] = {"involvedObject.kind",
                                           "involvedObject.namespace",
                                           "involvedObject.name",
                                           "involvedObject.uid",
                                           "involvedObject.apiVersion",
                                           "involvedObject.resourceVersion",
                                           "involvedObject.fieldPath",
                                           "reason",
                                           "reportingComponent",
                                           "source",
                                           "type",
                                           NULL};
static const char *const NO_FIELDS[] = {NULL};
static const char *const META_FIELDS[] = {"metadata.name", "metadata.namespace", NULL};

static const char *const *own_fields(int resource)
{
    switch (resource) {
    case RESOURCE_PODS:
        return POD_FIELDS;
    case RESOURCE_NODES:
        return NODE_FIELDS;
    case RESOURCE_NAMESPACES:
        return NAMESPACE_FIELDS;
    case RESOURCE_EVENTS:
        return EVENT_FIELDS;
    default:
        return NO_FIELDS;
    }
}

static void take_fields(json_t *fields, const json_t *value, const char *const *names)
{
    for (; *names; names++) {
        json_t *found = json_at(value, strcmp(*names, "source") == 0 ? "source.component" : *names);
        if (json_is_boolean(found))
            json_object_set_new(fields, *names, json_string(json_is_true(found) ? "true" : "false"));
        else if (json_is_string(found))
            json_object_set(fields, *names, found);
        else if (strcmp(*names, "spec.unschedulable") == 0 || strcmp(*names, "spec.hostNetwork") == 0)
            json_object_set_new(fields, *names, json_string("false"));
    }
}

json_t *resource_fields(int resource, const json_t *value)
{
    json_t *fields = json_object();
    take_fields(fields, value, META_FIELDS);
    take_fields(fields, value, own_fields(resource));
    return fields;
}

static bool is_among(const char *const *names, const char *path)
{
    for (; *names; names++)
        if (strcmp(*names, path) == 0)
            return true;
    return false;
}

bool resource_has_field(int resource, const char *path)
{
    if (strcmp(path, "metadata.namespace") == 0 && !RESOURCES[resource].is_namespaced)
        return false;
    return is_among(META_FIELDS, path) || is_among(own_fields(resource), path);
}
