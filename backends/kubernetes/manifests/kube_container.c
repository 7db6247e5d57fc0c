#include "backends/kubernetes/manifests/kube_container.h"

#include "backends/kubernetes/manifests/kube_environment.h"
#include "backends/kubernetes/manifests/kube_manifest.h"
#include "backends/kubernetes/manifests/kube_names.h"
#include "base/arena.h"
#include "base/error.h"
#include "model/shell_words.h"

#include <string.h>

enum {
    PORT_MAX = 65535
};

static void copy(json_t *out, const char *name, const json_t *from, const char *key, json_type type)
{
    json_t *value = json_object_get(from, key);
    bool is_flag = json_is_boolean(value) && type == JSON_TRUE;
    if (is_flag || (value && json_typeof(value) == type))
        json_object_set(out, name, value);
}

json_t *kube_security(const json_t *security)
{
    json_t *context = json_object();
    const json_t *capabilities = json_object_get(security, "capabilities");
    const char *profile = kube_spec_text(security, "seccompProfileType");
    copy(context, "runAsUser", security, "runAsUid", JSON_INTEGER);
    copy(context, "runAsGroup", security, "runAsGid", JSON_INTEGER);
    copy(context, "runAsNonRoot", security, "runAsNonRoot", JSON_TRUE);
    copy(context, "allowPrivilegeEscalation", security, "allowPrivilegeEscalation", JSON_TRUE);
    copy(context, "privileged", security, "privileged", JSON_TRUE);
    copy(context, "readOnlyRootFilesystem", security, "readOnlyRootFilesystem", JSON_TRUE);
    if (json_array_size(capabilities) > 0)
        json_object_set_new(context, "capabilities", json_pack("{s:O}", "add", capabilities));
    if (profile)
        json_object_set_new(context, "seccompProfile", json_pack("{s:s}", "type", profile));
    return context;
}

static int set_words(json_t *container, const char *name, const json_t *spec, struct arena *arena, struct error *err)
{
    const char *text = kube_spec_text(spec, name);
    const char *const *words;
    size_t count;
    if (!text)
        return 0;
    if (shell_words_split(text, arena, &words, &count, err) < 0)
        return error_prefix(err, "spec.%s: ", name);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_string(words[i]));
    json_object_set_new(container, name, list);
    return 0;
}

static void add_port(json_t *list, const json_t *item)
{
    json_int_t port = json_integer_value(json_object_get(item, "container"));
    if (port < 1 || port > PORT_MAX)
        return;
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_integer_value(json_object_get(json_array_get(list, i), "containerPort")) == port)
            return;
    json_array_append_new(list, json_pack("{s:I, s:s}", "containerPort", port, "protocol", "TCP"));
}

// What it says that it listens on; Kubernetes uses it for nothing but to show it.
static void set_ports(json_t *container, const json_t *spec)
{
    static const char *const LISTS[] = {"ports", "exposedUrls"};
    json_t *list = json_array();
    const json_t *item;
    for (size_t key = 0; key < sizeof(LISTS) / sizeof(LISTS[0]); key++)
        for (size_t i = 0; (item = kube_spec_next(json_object_get(spec, LISTS[key]), &i));)
            add_port(list, item);
    add_port(list, json_object_get(spec, "servingPort"));
    if (json_array_size(list) > 0)
        json_object_set(container, "ports", list);
    json_decref(list);
}

static void set_probe(json_t *container, const json_t *spec, bool is_inference)
{
    static const char *const TIMES[] = {"initialDelaySeconds", "periodSeconds", "timeoutSeconds", "successThreshold",
                                        "failureThreshold"};
    const json_t *readiness = json_object_get(json_object_get(spec, "probes"), "readiness"),
                 *get = json_object_get(json_object_get(readiness, "handler"), "httpGet"),
                 *serving = json_object_get(json_object_get(spec, "servingPort"), "container");
    json_t *probe = json_object();
    for (size_t i = 0; i < sizeof(TIMES) / sizeof(TIMES[0]); i++)
        copy(probe, TIMES[i], readiness, TIMES[i], JSON_INTEGER);
    if (json_is_integer(json_object_get(get, "port"))) {
        json_t *handler = json_object();
        copy(handler, "path", get, "path", JSON_STRING);
        copy(handler, "port", get, "port", JSON_INTEGER);
        copy(handler, "host", get, "host", JSON_STRING);
        copy(handler, "scheme", get, "scheme", JSON_STRING);
        json_object_set_new(probe, "httpGet", handler);
    } else if (is_inference && json_is_integer(serving)) {
        json_object_set_new(probe, "tcpSocket", json_pack("{s:O}", "port", serving));
    }
    if (json_object_get(probe, "httpGet") || json_object_get(probe, "tcpSocket"))
        json_object_set(container, "readinessProbe", probe);
    json_decref(probe);
}

int kube_container(const struct backend_pod *pod, const json_t *spec, struct arena *arena, json_t **out_container,
                   struct error *err)
{
    const json_t *compute = json_object_get(spec, "compute");
    const char *image = kube_spec_text(spec, "image"), *pre_stop = kube_spec_annotation(spec, "prorata.io/pre-stop");
    int64_t gpus = 0;
    json_t *resources = NULL;
    if (kube_gpus_read(compute, &gpus, err) < 0 || kube_resources_read(compute, true, &resources, err) < 0)
        return -1;
    json_t *container = json_pack("{s:s, s:s, s:o, s:s}", "name", KUBE_MAIN_CONTAINER, "image", image ? image : "",
                                  "resources", resources, "terminationMessagePolicy", "FallbackToLogsOnError");
    if (set_words(container, "command", spec, arena, err) < 0 || set_words(container, "args", spec, arena, err) < 0) {
        json_decref(container);
        return -1;
    }
    copy(container, "imagePullPolicy", spec, "imagePullPolicy", JSON_STRING);
    copy(container, "workingDir", spec, "workingDir", JSON_STRING);
    copy(container, "stdin", spec, "stdin", JSON_TRUE);
    copy(container, "tty", spec, "tty", JSON_TRUE);
    json_t *environment = kube_environment(pod, spec, gpus, arena);
    // Images of NVIDIA ask for all devices, and where its runtime is the default they get them.
    if (gpus == 0 && !kube_has_mig(compute))
        kube_environment_set(environment, "NVIDIA_VISIBLE_DEVICES", "void");
    json_object_set_new(container, "env", environment);
    json_t *security = kube_security(json_object_get(spec, "security"));
    if (json_object_size(security) > 0)
        json_object_set(container, "securityContext", security);
    json_decref(security);
    set_ports(container, spec);
    set_probe(container, spec, kube_is_inference(pod));
    if (pre_stop && *pre_stop)
        json_object_set_new(
            container, "lifecycle",
            json_pack("{s:{s:{s:[s, s, s]}}}", "preStop", "exec", "command", "/bin/sh", "-c", pre_stop));
    *out_container = container;
    return 0;
}
