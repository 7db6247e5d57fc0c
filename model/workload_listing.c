#include "model/workload_listing.h"

#include "base/arena.h"
#include "base/json_writer.h"
#include "base/quantity.h"
#include "model/scope.h"
#include "model/service_names.h"
#include "model/submission.h"

#include <inttypes.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void write_identity(struct json_writer *json, const struct workload_listing *listing, struct arena *arena)
{
    const struct workload_spec *spec = listing->spec;
    json_int(json, "tenantId", TENANT_ID);
    json_text(json, "type", workload_type_text(spec->type));
    json_text(json, "name", listing->name);
    json_text(json, "id", listing->uuid);
    json_text(json, "source", listing->is_by_cli ? "CLI" : "Control-plane");
    json_text(json, "sourceApi", "WorkloadsV2");
    json_int(json, "priority", spec->priority);
    json_text(json, "priorityClassName", spec->priority_class);
    json_bool(json, "preemptible", spec->is_preemptible);
    json_text(json, "category", spec->category);
    json_text(json, "submittedBy", listing->created_by);
    json_text(json, "clusterId", listing->cluster_uuid);
    json_text(json, "projectName", listing->project_name);
    json_text(json, "projectId", arena_printf(arena, "%" PRId64, listing->project_id));
    json_text(json, "departmentName", listing->department_name);
    json_text(json, "departmentId", arena_printf(arena, "%" PRId64, listing->department_id));
    json_text(json, "namespace", listing->namespace_name);
    json_time(json, "createdAt", listing->created_ms);
    if (spec->framework[0])
        json_text(json, "distributedFramework", spec->framework);
}

static void write_text_if_any(struct json_writer *json, const char *key, const char *text)
{
    if (text)
        json_text(json, key, text);
}

static void write_cores(struct json_writer *json, const char *key, int64_t milli, const json_t *limit)
{
    json_key(json, key);
    json_begin_object(json);
    json_milli(json, "request", milli);
    if (json_is_number(limit))
        json_number(json, "limit", json_number_value(limit));
    json_end_object(json);
}

static void write_memory(struct json_writer *json, const char *key, const char *request, const char *limit)
{
    if (!request && !limit)
        return;
    json_key(json, key);
    json_begin_object(json);
    write_text_if_any(json, "request", request);
    write_text_if_any(json, "limit", limit);
    json_end_object(json);
}

static void write_extended(struct json_writer *json, const json_t *compute)
{
    const json_t *list = json_object_get(compute, "extendedResources");
    if (json_array_size(list) == 0)
        return;
    json_key(json, "extendedResources");
    json_begin_array(json);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (!json_is_object(item) || json_is_true(json_object_get(item, "exclude")))
            continue;
        json_begin_object(json);
        json_text(json, "resource", text_of(item, "resource"));
        json_text(json, "quantity", text_of(item, "quantity"));
        json_end_object(json);
    }
    json_end_array(json);
}

// Limits are shown of one pod only: they are no sum.
static void write_requests(struct json_writer *json, const struct workload_listing *listing)
{
    const struct workload_spec *spec = listing->spec;
    const json_t *compute = json_object_get(listing->spec_json, "compute");
    const struct pod_request *pod = &spec->worker;
    char memory[QUANTITY_TEXT_SIZE];
    json_key(json, "podsRequestedResources");
    json_begin_object(json);
    write_text_if_any(json, "gpuRequestType", spec->gpu_request_type);
    json_key(json, "gpu");
    json_begin_object(json);
    json_milli(json, "request",
               pod->gpu_memory_mib ? 0 : pod->gpu_devices * (pod->gpu_portion_milli ? pod->gpu_portion_milli : 1000));
    if (json_is_number(json_object_get(compute, "gpuPortionLimit")))
        json_number(json, "limit",
                    (double)pod->gpu_devices * json_number_value(json_object_get(compute, "gpuPortionLimit")));
    json_end_object(json);
    write_memory(json, "gpuMemory", text_of(compute, "gpuMemoryRequest"), text_of(compute, "gpuMemoryLimit"));
    write_cores(json, "cpu", pod->cpu_milli, json_object_get(compute, "cpuCoreLimit"));
    write_memory(json, "cpuMemory", text_of(compute, "cpuMemoryRequest"), text_of(compute, "cpuMemoryLimit"));
    write_extended(json, compute);
    json_end_object(json);

    json_key(json, "workloadRequestedResources");
    json_begin_object(json);
    write_text_if_any(json, "gpuRequestType", spec->gpu_request_type);
    write_cores(json, "gpu", spec->gpu_milli, NULL);
    if (pod->gpu_memory_mib) {
        int64_t mib = pod->gpu_memory_mib * spec->worker_count + (spec->has_master ? spec->master.gpu_memory_mib : 0);
        write_memory(json, "gpuMemory", quantity_format_memory(mib * 1024 * 1024, memory), NULL);
    }
    write_cores(json, "cpu", spec->cpu_milli, NULL);
    write_memory(json, "cpuMemory", quantity_format_memory(spec->memory_bytes, memory), NULL);
    write_extended(json, compute);
    json_end_object(json);
}

static void write_pods(struct json_writer *json, const struct workload_spec *spec)
{
    json_key(json, "requestedPods");
    json_begin_object(json);
    json_int(json, "number", spec->pods_wanted);
    if (spec->min_workers || spec->max_workers) {
        bool scales = spec->type == WORKLOAD_TYPE_INFERENCE;
        json_int(json, "min", scales ? spec->min_workers : spec->min_pods);
        json_int(json, "max", scales ? spec->max_workers : spec->pods_wanted);
    }
    if (spec->type == WORKLOAD_TYPE_TRAINING) {
        json_int(json, "parallelism", spec->parallelism);
        json_int(json, "completions", spec->completions);
    }
    json_end_object(json);
}

static void write_images(struct json_writer *json, const struct workload_listing *listing)
{
    const char *image = text_of(listing->spec_json, "image");
    const char *master = text_of(listing->master_spec_json, "image");
    json_key(json, "images");
    json_begin_array(json);
    json_value_text(json, image);
    if (master && strcmp(master, image) != 0)
        json_value_text(json, master);
    json_end_array(json);
}

// Where it has no address, the name and port of its Service, as any cluster resolves them, whatever its domain.
static const char *serving_url(const struct workload_listing *listing, struct arena *arena)
{
    const struct serving *serving = &listing->spec->serving;
    if (serving->address)
        return arena_printf(arena, "%s://%s", serving->protocol, serving->address);
    return arena_printf(arena, "%s://%s.%s.svc:%d", serving->protocol, listing->name, listing->namespace_name,
                        SERVING_SERVICE_PORT);
}

static void write_serving_connection(struct json_writer *json, const struct workload_listing *listing,
                                     struct arena *arena)
{
    const json_t *port = json_object_get(listing->spec_json, "servingPort");
    const char *access = text_of(port, "authorizationType");
    json_begin_object(json);
    json_text(json, "name", "serving");
    json_text(json, "toolType", "");
    json_text(json, "connectionType", "ServingPort");
    json_text(json, "url", serving_url(listing, arena));
    if (access && strncmp(access, "authorized", strlen("authorized")) == 0)
        access = "authorizedUsersOrGroups";
    write_text_if_any(json, "authorizationType", access);
    json_int(json, "containerPort", listing->spec->serving.port);
    json_end_object(json);
}

static void write_urls(struct json_writer *json, const struct workload_listing *listing, struct arena *arena)
{
    const json_t *list = json_object_get(listing->spec_json, "exposedUrls");
    json_key(json, "urls");
    json_begin_array(json);
    if (listing->spec->type == WORKLOAD_TYPE_INFERENCE)
        json_value_text(json, serving_url(listing, arena));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *url = text_of(json_array_get(list, i), "url");
        if (url && !json_is_true(json_object_get(json_array_get(list, i), "exclude")))
            json_value_text(json, url);
    }
    json_end_array(json);
}

// NULL: nowhere but at the node of its pod.
static const char *port_url(const struct workload_listing *listing, const json_t *item, struct arena *arena)
{
    if (text_of(item, "url") || !listing->has_services)
        return text_of(item, "url");
    enum service_type type = service_type_parse(text_of(item, "serviceType"));
    const char *role = listing->spec->type == WORKLOAD_TYPE_DISTRIBUTED ? POD_ROLE_TEXT_WORKER : NULL;
    int64_t port = service_port(type, (int64_t)json_number_value(json_object_get(item, "container")),
                                (int64_t)json_number_value(json_object_get(item, "external")));
    return arena_printf(arena, "%s.%s.svc:%" PRId64, service_name(listing->name, listing->uuid, role, type, arena),
                        listing->namespace_name, port);
}

static void write_connections(struct json_writer *json, const struct workload_listing *listing, const char *key,
                              const char *type, struct arena *arena)
{
    const json_t *list = json_object_get(listing->spec_json, key);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (!json_is_object(item) || json_is_true(json_object_get(item, "exclude")))
            continue;
        const char *service = text_of(item, "serviceType"), *tool = text_of(item, "toolType");
        const char *name = text_of(item, "toolName"), *access = text_of(item, "authorizationType");
        json_begin_object(json);
        json_text(json, "name", name ? name : text_of(item, "name") ? text_of(item, "name") : "");
        json_text(json, "toolType", tool ? tool : "");
        json_text(json, "connectionType", service ? service : type);
        write_text_if_any(json, "url", port_url(listing, item, arena));
        if (access)
            json_text(json, "authorizationType",
                      strcmp(access, "authenticatedUsers") == 0 ? access : "authorizedUsersOrGroups");
        json_int(json, "containerPort", (int64_t)json_number_value(json_object_get(item, "container")));
        json_end_object(json);
    }
}

static void write_variables(struct json_writer *json, const json_t *spec)
{
    const json_t *list = json_object_get(spec, "environmentVariables");
    json_key(json, "environmentVariables");
    json_begin_object(json);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (json_is_true(json_object_get(item, "exclude")) || !text_of(item, "name") || !text_of(item, "value"))
            continue;
        bool is_repeated = false; // the last one of a name counts
        for (size_t j = i + 1; j < json_array_size(list) && !is_repeated; j++) {
            const char *other = text_of(json_array_get(list, j), "name");
            is_repeated = other && strcmp(other, text_of(item, "name")) == 0;
        }
        if (!is_repeated)
            json_text(json, text_of(item, "name"), text_of(item, "value"));
    }
    json_end_object(json);
}

const char *workload_listing_text(const struct workload_listing *listing, struct arena *arena)
{
    struct buffer out;
    struct json_writer json;
    buffer_init(&out, 0);
    json_writer_init(&json, &out, false);
    json_begin_object(&json);
    write_identity(&json, listing, arena);
    write_requests(&json, listing);
    write_pods(&json, listing->spec);
    json_key(&json, "requestedNodePools");
    json_begin_array(&json);
    for (size_t i = 0; i < listing->node_pool_count; i++)
        json_value_text(&json, listing->node_pools[i]);
    json_end_array(&json);
    write_images(&json, listing);
    write_urls(&json, listing, arena);
    json_key(&json, "externalConnections");
    json_begin_array(&json);
    if (listing->spec->type == WORKLOAD_TYPE_INFERENCE)
        write_serving_connection(&json, listing, arena);
    write_connections(&json, listing, "exposedUrls", "ExternalUrl", arena);
    write_connections(&json, listing, "ports", service_type_text(SERVICE_CLUSTER_IP), arena);
    json_end_array(&json);
    write_variables(&json, listing->spec_json);
    write_text_if_any(&json, "command", text_of(listing->spec_json, "command"));
    write_text_if_any(&json, "arguments", text_of(listing->spec_json, "args"));
    const char *text = arena_strndup(arena, out.data + 1, out.length - 1); // without the brace
    buffer_done(&out);
    return text;
}
