// Services: names for the pods of distributed work, and the ports of a workload.
#include "backends/kubernetes/manifests/kube_environment.h"
#include "backends/kubernetes/manifests/kube_manifest.h"
#include "backends/kubernetes/manifests/kube_names.h"
#include "base/arena.h"
#include "model/service_names.h"
#include "model/serving.h"

#include <inttypes.h>
#include <string.h>

enum {
    PORT_MAX = 65535
};

struct site_pod {
    const struct kube_site *site;
    const struct backend_pod *pod;
    const json_t *spec;
    struct arena *arena;
};

// role: whose ports they are; NULL: nobody's own.
static json_t *service(const struct site_pod *of, const char *role, enum service_type type, json_t *spec)
{
    const struct backend_pod *pod = of->pod;
    const char *name = service_name(pod->workload_name, pod->workload_uuid, role, type, of->arena);
    json_object_set_new(spec, "selector", kube_selector(of->site, pod));
    return json_pack("{s:s, s:s, s:o, s:o}", "apiVersion", "v1", "kind", "Service", "metadata",
                     kube_metadata(of->site, pod, name, of->arena), "spec", spec);
}

// One Service has a port once.
static json_t *add_port(json_t *list, json_int_t port, json_int_t target)
{
    if (port < 1 || port > PORT_MAX || target < 1 || target > PORT_MAX)
        return NULL;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_integer_value(json_object_get(json_array_get(list, i), "port")) == port)
            return NULL;
    json_t *made = json_pack("{s:o, s:I, s:I, s:s}", "name", json_sprintf("port-%" JSON_INTEGER_FORMAT, port), "port",
                             port, "targetPort", target, "protocol", "TCP");
    json_array_append_new(list, made);
    return made;
}

static void add_item(json_t *list, const json_t *item, enum service_type type)
{
    json_int_t target = (int64_t)json_number_value(json_object_get(item, "container")),
               outside = (int64_t)json_number_value(json_object_get(item, "external"));
    json_t *made = add_port(list, service_port(type, target, outside), target);
    if (made && type == SERVICE_NODE_PORT && outside)
        json_object_set_new(made, "nodePort", json_integer(outside));
}

static void add_ports(json_t *list, const json_t *spec, enum service_type type)
{
    const json_t *item;
    for (size_t i = 0; (item = kube_spec_next(json_object_get(spec, "ports"), &i));)
        if (service_type_parse(kube_spec_text(item, "serviceType")) == type)
            add_item(list, item, type);
    for (size_t i = 0; type == SERVICE_CLUSTER_IP && (item = kube_spec_next(json_object_get(spec, "exposedUrls"), &i));)
        add_item(list, item, type);
}

static void add_of_type(const struct site_pod *of, enum service_type type, json_t *ports, json_t *list)
{
    const char *role = kube_is_distributed(of->pod) ? of->pod->role : NULL;
    add_ports(ports, of->spec, type);
    if (json_array_size(ports) > 0) {
        json_t *spec = json_pack("{s:s, s:O}", "type", service_type_text(type), "ports", ports);
        json_array_append_new(list, service(of, role, type, spec));
        if (role)
            json_object_set_new(json_object_get(spec, "selector"), KUBE_ROLE_LABEL, json_string(role));
    }
    json_decref(ports);
}

// Answers before its pods are ready: they find each other while they start.
static void add_of_names(const struct site_pod *of, json_t *list)
{
    json_t *ports = json_array();
    add_port(ports, KUBE_MASTER_PORT, KUBE_MASTER_PORT);
    json_array_append_new(list, service(of, NULL, SERVICE_CLUSTER_IP,
                                        json_pack("{s:s, s:b, s:o}", "clusterIP", "None", "publishNotReadyAddresses", 1,
                                                  "ports", ports)));
}

// An inference's is at the port that its address names, whatever ports it asks for, and at the container's own.
static json_t *ports_of_inference(const struct site_pod *of)
{
    const json_t *serving = json_object_get(of->spec, "servingPort");
    json_int_t target = json_integer_value(json_object_get(serving, "container"));
    const char *protocol = kube_spec_text(serving, "protocol");
    json_t *ports = json_array(), *made = add_port(ports, SERVING_SERVICE_PORT, target);
    if (made && protocol && strcmp(protocol, "grpc") == 0)
        json_object_set_new(made, "appProtocol", json_string("kubernetes.io/h2c"));
    add_port(ports, target, target);
    return ports;
}

int kube_manifest_services(const struct kube_site *site, const struct backend_pod *pod, struct arena *arena,
                           json_t **out_list, struct error *err)
{
    json_t *spec = kube_spec_load(pod, err);
    if (!spec)
        return -1;
    json_t *list = json_array();
    struct site_pod of = {site, pod, spec, arena};
    if (kube_is_distributed(pod))
        add_of_names(&of, list);
    for (int type = 0; type < SERVICE_TYPE_COUNT; type++) {
        bool serves = type == SERVICE_CLUSTER_IP && kube_is_inference(pod);
        add_of_type(&of, (enum service_type)type, serves ? ports_of_inference(&of) : json_array(), list);
    }
    json_decref(spec);
    *out_list = list;
    return 0;
}
