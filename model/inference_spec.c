#include "model/inference_spec.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum {
    DELAY_SECONDS_MAX = 3600,
    PATH_MAX_BYTES = 512,
    USERS_MAX = 1000
};

static const char *const PROTOCOLS[] = {"http", "grpc", NULL};
static const char *const ACCESS_WORDS[] = {"public",           "authenticatedUsers",      "authorizedUsers",
                                           "authorizedGroups", "authorizedUsersOrGroups", NULL};

static int read_object(const struct fields *spec, const char *key, struct fields *out)
{
    fields_set_default(spec, key, json_object());
    if (fields_object(spec, key, out) < 0)
        return -1;
    fields_drop_nulls(out);
    return 0;
}

// Whom the port asks for is named exactly where it asks for somebody.
static int check_access(const struct fields *port, const char *access)
{
    size_t users, groups;
    if (fields_count(port, "authorizedUsers", USERS_MAX, &users) < 0 ||
        fields_count(port, "authorizedGroups", USERS_MAX, &groups) < 0)
        return -1;
    bool takes_users = strcmp(access, "authorizedUsers") == 0 || strcmp(access, "authorizedUsersOrGroups") == 0;
    bool takes_groups = strcmp(access, "authorizedGroups") == 0 || strcmp(access, "authorizedUsersOrGroups") == 0;
    if (users > 0 && !takes_users)
        return fields_fail(port, "authorizedUsers", "only with authorizationType authorizedUsers, got %s", access);
    if (groups > 0 && !takes_groups)
        return fields_fail(port, "authorizedGroups", "only with authorizationType authorizedGroups, got %s", access);
    if ((takes_users || takes_groups) && users + groups == 0)
        return fields_fail(port, takes_users ? "authorizedUsers" : "authorizedGroups", "required by %s", access);
    return 0;
}

static int read_port(const struct fields *spec, struct serving *serving)
{
    struct fields port;
    const char *access = ACCESS_WORDS[0];
    bool is_local = false;
    serving->port = SERVING_PORT_DEFAULT;
    serving->protocol = PROTOCOLS[0];
    if (read_object(spec, "servingPort", &port) < 0 ||
        fields_integer(&port, "container", 1, 65535, &serving->port) < 0 ||
        fields_word(&port, "protocol", PROTOCOLS, &serving->protocol) < 0 ||
        fields_word(&port, "authorizationType", ACCESS_WORDS, &access) < 0 ||
        fields_bool(&port, "clusterLocalAccessOnly", &is_local) < 0 || check_access(&port, access) < 0)
        return -1;
    fields_set_default(&port, "container", json_integer(serving->port));
    fields_set_default(&port, "protocol", json_string(serving->protocol));
    fields_set_default(&port, "authorizationType", json_string(access));
    return 0;
}

static bool is_metric_name(const char *text)
{
    static const char GOOD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_:0123456789";
    return !(text[0] >= '0' && text[0] <= '9') && text[strspn(text, GOOD)] == '\0';
}

static int read_metric(const struct fields *scaling, struct serving *serving)
{
    int64_t threshold = 0, hard_limit;
    double percentage = SERVING_PERCENTAGE_DEFAULT;
    if (fields_text(scaling, "metric", &serving->metric) < 0 ||
        fields_integer(scaling, "metricThreshold", 1, INT32_MAX, &threshold) < 0 ||
        fields_number(scaling, "metricThresholdPercentage", &percentage) < 0 ||
        fields_integer(scaling, "concurrencyHardLimit", 0, INT32_MAX, &hard_limit) < 0)
        return -1;
    if (serving->metric && !is_metric_name(serving->metric))
        return fields_fail(scaling, "metric", "letters, digits, _ and :, got %.60s", serving->metric);
    if (percentage < 1 || percentage > 100)
        return fields_fail(scaling, "metricThresholdPercentage", "1 to 100, got %g", percentage);
    if (serving->metric && !threshold)
        return fields_fail(scaling, "metricThreshold", "required with a metric");
    if (!serving->metric && threshold)
        return fields_fail(scaling, "metric", "required with metricThreshold");
    if (!serving->metric && serving->max_replicas > 1 && serving_scales(serving))
        return fields_fail(scaling, "metric", "required where maxReplicas, %d, is above minReplicas, %d",
                           (int)serving->max_replicas, (int)serving->min_replicas);
    serving->target = (double)threshold * percentage / 100;
    if (serving->metric)
        fields_set_default(scaling, "metricThresholdPercentage", json_real(percentage));
    return 0;
}

static int read_replicas(const struct fields *scaling, struct serving *serving)
{
    serving->min_replicas = 1;
    if (fields_integer(scaling, "minReplicas", 0, SERVING_REPLICAS_MAX, &serving->min_replicas) < 0)
        return -1;
    int64_t least = serving->min_replicas > 0 ? serving->min_replicas : 1;
    serving->max_replicas = serving->initial_replicas = serving->activation_replicas = least;
    if (fields_integer(scaling, "maxReplicas", 1, SERVING_REPLICAS_MAX, &serving->max_replicas) < 0 ||
        fields_integer(scaling, "initialReplicas", 0, SERVING_REPLICAS_MAX, &serving->initial_replicas) < 0 ||
        fields_integer(scaling, "activationReplicas", 1, SERVING_REPLICAS_MAX, &serving->activation_replicas) < 0)
        return -1;
    if (serving->max_replicas < serving->min_replicas)
        return fields_fail(scaling, "maxReplicas", "at least minReplicas, %d, got %d", (int)serving->min_replicas,
                           (int)serving->max_replicas);
    if (serving->initial_replicas < serving->min_replicas || serving->initial_replicas > serving->max_replicas)
        return fields_fail(scaling, "initialReplicas", "from minReplicas, %d, to maxReplicas, %d, got %d",
                           (int)serving->min_replicas, (int)serving->max_replicas, (int)serving->initial_replicas);
    if (serving->activation_replicas > serving->max_replicas)
        return fields_fail(scaling, "activationReplicas", "at most maxReplicas, %d, got %d", (int)serving->max_replicas,
                           (int)serving->activation_replicas);
    fields_set_default(scaling, "minReplicas", json_integer(serving->min_replicas));
    fields_set_default(scaling, "maxReplicas", json_integer(serving->max_replicas));
    fields_set_default(scaling, "initialReplicas", json_integer(serving->initial_replicas));
    return 0;
}

static int read_delays(const struct fields *scaling, struct serving *serving)
{
    int64_t retention = 0, delay = 0, timeout;
    if (fields_integer(scaling, "scaleToZeroRetentionSeconds", 0, DELAY_SECONDS_MAX, &retention) < 0 ||
        fields_integer(scaling, "scaleDownDelaySeconds", 0, DELAY_SECONDS_MAX, &delay) < 0 ||
        fields_integer(scaling, "initializationTimeoutSeconds", 1, INT32_MAX, &timeout) < 0)
        return -1;
    serving->retention_ms = retention * 1000;
    serving->scale_down_delay_ms = delay * 1000;
    return 0;
}

static int read_page(const struct fields *spec, struct serving *serving)
{
    const json_t *list = json_object_get(spec->object, "annotations");
    serving->page_path = "/metrics";
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(item, "name"));
        const char *value = json_string_value(json_object_get(item, "value"));
        if (!name || !value || json_is_true(json_object_get(item, "exclude")))
            continue;
        const char *key = arena_printf(spec->arena, "annotations[%zu].value", i);
        if (strcmp(name, METRICS_PORT_ANNOTATION) == 0) {
            char *end;
            long port = strtol(value, &end, 10);
            if (*end || port < 1 || port > 65535 || value[0] < '0' || value[0] > '9')
                return fields_fail(spec, key, "a port, 1 to 65535, got %.40s", value);
            serving->page_port = port;
        } else if (strcmp(name, METRICS_PATH_ANNOTATION) == 0) {
            if (value[0] != '/' || strlen(value) > PATH_MAX_BYTES)
                return fields_fail(spec, key, "a path that begins with /, at most %d bytes", PATH_MAX_BYTES);
            for (const char *c = value; *c; c++)
                if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f)
                    return fields_fail(spec, key, "a path without blanks and in ASCII");
            serving->page_path = value;
        }
    }
    return 0;
}

static int read_configuration(const struct fields *spec, struct serving *serving)
{
    struct fields configuration;
    int64_t wait = SERVING_WAIT_SECONDS_DEFAULT, seconds;
    if (fields_object(spec, "servingConfiguration", &configuration) < 0 ||
        fields_integer(&configuration, "initializationTimeoutSeconds", 1, INT32_MAX, &wait) < 0 ||
        fields_integer(&configuration, "requestTimeoutSeconds", 1, INT32_MAX, &seconds) < 0)
        return -1;
    serving->wait_ms = wait * 1000;
    return 0;
}

int inference_spec_read(const struct fields *spec, struct workload_spec *out)
{
    struct serving *serving = &out->serving;
    struct fields scaling;
    *serving = (struct serving){.replica = out->worker};
    if (read_port(spec, serving) < 0 || read_object(spec, "autoscaling", &scaling) < 0 ||
        read_replicas(&scaling, serving) < 0 || read_metric(&scaling, serving) < 0 ||
        read_delays(&scaling, serving) < 0 || read_page(spec, serving) < 0 || read_configuration(spec, serving) < 0)
        return -1;
    out->worker_count = serving->initial_replicas;
    out->min_workers = serving->min_replicas;
    out->max_workers = serving->max_replicas;
    return 0;
}
