#include "tests/fakekube/control.h"
#include "base/timestamp.h"
#include "tests/fakekube/bulk.h"
#include <string.h>

static int show_state(struct call *call)
{
    const struct kube *kube = call->kube;
    json_t *counts = json_object();
    for (int i = 0; i < RESOURCE_COUNT; i++)
        if (kube->store.shelves[i].count)
            json_object_set_new(counts, RESOURCES[i].plural, json_integer((json_int_t)kube->store.shelves[i].count));
    return call_answer(call, 200,
                       json_pack("{s:o,s:I,s:I,s:I,s:i,s:O,s:o}", "version", json_sprintf("v%s", kube->version),
                                 "resourceVersion", (json_int_t)kube->store.number, "compacted",
                                 (json_int_t)kube->store.compacted, "requests", (json_int_t)kube->request_count,
                                 "watches", kube->watch_count, "refused", kube->refused, "objects", counts));
}

static int add_faults(struct call *call)
{
    if (!json_is_object(call->body) && !json_is_array(call->body))
        return call_fail(call, 400, "BadRequest", "a fault, or an array of faults");
    if (json_is_array(call->body))
        json_array_extend(call->kube->faults, call->body);
    else
        json_array_append(call->kube->faults, call->body);
    return call_answer(call, 201, json_deep_copy(call->kube->faults));
}

static void let_go(struct kube *kube)
{
    kube->hang_serial++;
    pthread_cond_broadcast(&kube->store.changed);
}

static int clear_faults(struct call *call)
{
    json_t *old = json_deep_copy(call->kube->faults);
    json_array_clear(call->kube->faults);
    let_go(call->kube);
    return call_answer(call, 200, old);
}

static int change_settings(struct call *call)
{
    struct kube *kube = call->kube;
    if (!json_is_object(call->body))
        return call_fail(call, 400, "BadRequest", "an object of settings");
    const char *name;
    json_t *value;
    json_object_foreach(call->body, name, value) {
        if (json_is_null(value))
            json_object_del(kube->settings, name);
        else
            json_object_set(kube->settings, name, value);
    }
    const char *version = json_text_at(kube->settings, "version");
    if (version)
        kube_set_version(kube, version);
    kube->clock_ms = kube_setting_int(kube, "clockMs", 0);
    kube->store.history_max = (size_t)kube_setting_int(kube, "history", (int64_t)kube->store.history_max);
    pthread_cond_broadcast(&kube->store.changed);
    return call_answer(call, 200, json_deep_copy(kube->settings));
}

static int order_watches(struct call *call)
{
    struct watch_order *order = &call->kube->order;
    const char *resource = json_text_at(call->body, "resource"), *how = json_text_at(call->body, "how");
    order->resource = -1;
    for (int i = 0; resource && i < RESOURCE_COUNT && order->resource < 0; i++)
        if (strcmp(RESOURCES[i].plural, resource) == 0)
            order->resource = i;
    snprintf(order->how, sizeof(order->how), "%s", how ? how : "close");
    order->serial++;
    pthread_cond_broadcast(&call->kube->store.changed);
    return call_answer(call, 200, json_pack("{s:i}", "watches", call->kube->watch_count));
}

static int compact(struct call *call)
{
    store_compact(&call->kube->store);
    return show_state(call);
}

static int checkpoint(struct call *call)
{
    store_checkpoint(&call->kube->store);
    return show_state(call);
}

static int restore(struct call *call)
{
    if (store_restore(&call->kube->store) < 0)
        return call_fail(call, 409, "Conflict", "there is no checkpoint");
    return show_state(call);
}

static int fill(struct call *call)
{
    bulk_fill(call->kube, json_integer_value(json_object_get(call->body, "nodes")),
              json_integer_value(json_object_get(call->body, "gpus")),
              json_integer_value(json_object_get(call->body, "pods")),
              json_integer_value(json_object_get(call->body, "podBytes")));
    return show_state(call);
}

static int show_requests(struct call *call)
{
    return call_answer(call, 200, json_deep_copy(call->kube->requests));
}

static int clear_requests(struct call *call)
{
    json_array_clear(call->kube->requests);
    call->kube->request_count = 0;
    return show_state(call);
}

static int show_faults(struct call *call)
{
    return call_answer(call, 200, json_deep_copy(call->kube->faults));
}

static const struct {
    const char *method, *path;
    int (*answer)(struct call *call);
} CONTROLS[] = {
    {"GET", "/fakekube/state", show_state},          {"GET", "/fakekube/faults", show_faults},
    {"POST", "/fakekube/faults", add_faults},        {"DELETE", "/fakekube/faults", clear_faults},
    {"POST", "/fakekube/settings", change_settings}, {"POST", "/fakekube/watches", order_watches},
    {"POST", "/fakekube/compact", compact},          {"POST", "/fakekube/checkpoint", checkpoint},
    {"POST", "/fakekube/restore", restore},          {"POST", "/fakekube/fill", fill},
    {"GET", "/fakekube/requests", show_requests},    {"DELETE", "/fakekube/requests", clear_requests},
};

void control_answer(struct call *call)
{
    store_lock(&call->kube->store);
    call->code = 0;
    for (size_t i = 0; i < sizeof(CONTROLS) / sizeof(*CONTROLS) && !call->code; i++)
        if (strcmp(CONTROLS[i].method, call->method) == 0 && strcmp(CONTROLS[i].path, call->path) == 0)
            CONTROLS[i].answer(call);
    if (!call->code)
        call_fail(call, 404, "NotFound", "no such control");
    store_unlock(&call->kube->store);
}
