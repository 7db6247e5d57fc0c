// Services: names for the pods of distributed work, and the ports of a workload.
#include "backends/kubernetes/manifests/kube_environment.h"
#include "backends/kubernetes/manifests/kube_manifest.h"
#include "backends/kubernetes/manifests/kube_names.h"
#include "base/arena.h"

#include <inttypes.h>
#include <string.h>

enum {
    HTTP_PORT = 80,
    PORT_MAX = 65535
};

// Services differ in who may reach their ports, so each type has its own.
static const struct {
    const char *type, *suffix;
} TYPES[] = {{"ClusterIP", ""}, {"NodePort", "-node-port"}, {"LoadBalancer", "-load-balancer"}};

struct site_pod {
    const struct kube_site *site;
    const struct backend_pod *pod;
    const json_t *spec;
    struct arena *arena;
};

static json_t *service(const struct site_pod *of, const char *suffix, json_t *spec)
{
    const struct backend_pod *pod = of->pod;
    const char *name = kube_name(pod->workload_name, suffix, pod->workload_uuid, of->arena);
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

static void add_item(json_t *list, const json_t *item, const char *type)
{
    json_int_t target = json_integer_value(json_object_get(item, "container")),
               outside = json_integer_value(json_object_get(item, "external"));
    bool is_node_port = strcmp(type, "NodePort") == 0;
    json_t *made = add_port(list, outside && !is_node_port ? outside : target, target);
    if (made && is_node_port && outside)
        json_object_set_new(made, "nodePort", json_integer(outside));
}

static json_t *list_ports(const json_t *spec, const char *type, bool with_urls)
{
    json_t *list = json_array();
    const json_t *item;
    for (size_t i = 0; (item = kube_spec_next(json_object_get(spec, "ports"), &i));) {
        const char *wanted = kube_spec_text(item, "serviceType");
        if (strcmp(wanted ? wanted : TYPES[0].type, type) == 0)
            add_item(list, item, type);
    }
    for (size_t i = 0; with_urls && (item = kube_spec_next(json_object_get(spec, "exposedUrls"), &i));)
        add_item(list, item, type);
    return list;
}

// Of distributed work the plain name gives pods their names, and a master may have ports of its own.
static json_t *service_of_ports(const struct site_pod *of, size_t type, json_t *ports)
{
    json_t *spec = json_pack("{s:s, s:O}", "type", TYPES[type].type, "ports", ports);
    if (!kube_is_distributed(of->pod))
        return service(of, TYPES[type].suffix, spec);
    const char *role = of->pod->role;
    json_t *made = service(of, arena_printf(of->arena, "-%s-ports%s", role, TYPES[type].suffix), spec);
    json_object_set_new(json_object_get(spec, "selector"), KUBE_ROLE_LABEL, json_string(role));
    return made;
}

static void add_of_ports(const struct site_pod *of, json_t *list)
{
    for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++) {
        json_t *ports = list_ports(of->spec, TYPES[i].type, i == 0);
        if (json_array_size(ports) > 0)
            json_array_append_new(list, service_of_ports(of, i, ports));
        json_decref(ports);
    }
}

// Answers before its pods are ready: they find each other while they start.
static void add_of_names(const struct site_pod *of, json_t *list)
{
    json_t *ports = json_array();
    add_port(ports, KUBE_MASTER_PORT, KUBE_MASTER_PORT);
    json_array_append_new(list, service(of, "",
                                        json_pack("{s:s, s:b, s:o}", "clusterIP", "None", "publishNotReadyAddresses", 1,
                                                  "ports", ports)));
}

// At the port of http, as callers expect it, and at the container's own.
static void add_of_inference(const struct site_pod *of, json_t *list)
{
    const json_t *serving = json_object_get(of->spec, "servingPort");
    json_int_t target = json_integer_value(json_object_get(serving, "container"));
    const char *protocol = kube_spec_text(serving, "protocol");
    json_t *ports = list_ports(of->spec, TYPES[0].type, true);
    json_t *made = add_port(ports, HTTP_PORT, target);
    if (made && protocol && strcmp(protocol, "grpc") == 0)
        json_object_set_new(made, "appProtocol", json_string("kubernetes.io/h2c"));
    add_port(ports, target, target);
    if (json_array_size(ports) > 0)
        json_array_append_new(list, service(of, "", json_pack("{s:s, s:O}", "type", "ClusterIP", "ports", ports)));
    json_decref(ports);
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
    if (kube_is_inference(pod))
        add_of_inference(&of, list);
    else
        add_of_ports(&of, list);
    json_decref(spec);
    *out_list = list;
    return 0;
}
