// What the pods of a distributed workload have to know to find each other: host names of a headless Service, and the
// variables that torchrun, TensorFlow, JAX and XGBoost read, as Kubeflow's training operator names them.
#include "backends/kubernetes/manifests/kube_environment.h"
#include "backends/kubernetes/manifests/kube_names.h"
#include "base/arena.h"
#include "model/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORKERS_MAX = 4096 // whose names are listed in one variable
};

struct group {
    const struct backend_pod *pod;
    struct arena *arena;
    json_t *list;
    const char *master;           // the address of the pod that the others call
    int64_t pods, workers, least; // the master is one of the pods; least 0: all
    int64_t rank, gpus;
};

static const char *address_of(const struct group *group, const char *role, int64_t index)
{
    return arena_printf(group->arena, "%s.%s", kube_host_name(group->pod, role, index, group->arena),
                        name_with_suffix(group->pod->workload_name, "", group->pod->workload_uuid, group->arena));
}

static const char *with_port(const struct group *group, const char *address)
{
    return arena_printf(group->arena, "%s:%d", address, KUBE_MASTER_PORT);
}

// torchrun takes its options from here, so that `torchrun train.py` is a whole command.
static void set_pytorch(const struct group *group)
{
    json_t *list = group->list;
    kube_environment_set_number(list, "PET_NPROC_PER_NODE", group->gpus > 0 ? group->gpus : 1);
    if (group->least > 0) {
        int64_t masters = group->pods - group->workers;
        kube_environment_set(list, "PET_NNODES",
                             arena_printf(group->arena, "%" PRId64 ":%" PRId64, group->least + masters, group->pods));
        kube_environment_set(list, "PET_RDZV_BACKEND", "c10d");
        kube_environment_set(list, "PET_RDZV_ID", group->pod->workload_uuid);
        kube_environment_set(list, "PET_RDZV_ENDPOINT", with_port(group, group->master));
        return;
    }
    kube_environment_set_number(list, "PET_NNODES", group->pods);
    kube_environment_set_number(list, "PET_NODE_RANK", group->rank);
    kube_environment_set(list, "PET_MASTER_ADDR", group->master);
    kube_environment_set_number(list, "PET_MASTER_PORT", KUBE_MASTER_PORT);
}

static json_t *list_addresses(const struct group *group, const char *role, int64_t count)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < count && i < WORKERS_MAX; i++)
        json_array_append_new(list, json_string(with_port(group, address_of(group, role, i))));
    return list;
}

static void set_tensorflow(const struct group *group)
{
    bool has_master = group->pods > group->workers;
    json_t *cluster = json_pack("{s:o}", "worker", list_addresses(group, "worker", group->workers));
    if (has_master)
        json_object_set_new(cluster, "chief", list_addresses(group, "master", 1));
    const char *type = strcmp(group->pod->role, "master") == 0 ? "chief" : "worker";
    json_t *config = json_pack("{s:o, s:{s:s, s:I}, s:s}", "cluster", cluster, "task", "type", type, "index",
                               (json_int_t)group->pod->index, "environment", "cloud");
    char *text = json_dumps(config, JSON_COMPACT);
    kube_environment_set(group->list, "TF_CONFIG", text);
    free(text);
    json_decref(config);
}

static void set_jax(const struct group *group)
{
    kube_environment_set(group->list, "COORDINATOR_ADDRESS", group->master);
    kube_environment_set_number(group->list, "COORDINATOR_PORT", KUBE_MASTER_PORT);
    kube_environment_set(group->list, "JAX_COORDINATOR_ADDRESS", with_port(group, group->master));
    kube_environment_set_number(group->list, "NUM_PROCESSES", group->pods);
    kube_environment_set_number(group->list, "PROCESS_ID", group->rank);
}

static void set_xgboost(const struct group *group)
{
    json_t *text = json_string("");
    for (int64_t i = 0; i < group->workers && i < WORKERS_MAX; i++) {
        json_t *longer = json_sprintf("%s%s%s", json_string_value(text), i ? "," : "", address_of(group, "worker", i));
        json_decref(text);
        text = longer;
    }
    kube_environment_set(group->list, "WORKER_ADDRS", json_string_value(text));
    kube_environment_set_number(group->list, "WORKER_PORT", KUBE_MASTER_PORT);
    json_decref(text);
}

static const struct {
    const char *framework;
    void (*set)(const struct group *group);
} FRAMEWORKS[] = {{"PyTorch", set_pytorch}, {"TF", set_tensorflow}, {"JAX", set_jax}, {"XGBoost", set_xgboost}};

static int64_t integer_of(const json_t *spec, const char *key)
{
    return json_integer_value(json_object_get(spec, key));
}

void kube_distributed_set(const struct backend_pod *pod, const json_t *spec, int64_t gpus, struct arena *arena,
                          json_t *list)
{
    if (!kube_is_distributed(pod))
        return;
    json_t *own = pod->workload_spec_json ? json_loads(pod->workload_spec_json, 0, NULL) : NULL;
    const json_t *whole = own ? own : spec;
    const char *framework = kube_spec_text(whole, "distributedFramework");
    struct group group = {.pod = pod, .arena = arena, .list = list, .gpus = gpus, .pods = pod->workload_pods};
    group.workers = integer_of(whole, "maxReplicas");
    group.workers = group.workers ? group.workers : integer_of(whole, "numWorkers");
    group.least = integer_of(whole, "minReplicas");
    bool has_master = group.pods > group.workers;
    group.rank = strcmp(pod->role, "master") == 0 ? 0 : pod->index + has_master;
    group.master = address_of(&group, has_master ? "master" : "worker", 0);
    kube_environment_set(list, "MASTER_ADDR", group.master);
    kube_environment_set_number(list, "MASTER_PORT", KUBE_MASTER_PORT);
    kube_environment_set_number(list, "WORLD_SIZE", group.pods);
    kube_environment_set_number(list, "RANK", group.rank);
    kube_environment_set_number(list, "LOCAL_RANK", 0);
    kube_environment_set_number(list, "LOCAL_WORLD_SIZE", 1);
    kube_environment_set(list, "PYTHONUNBUFFERED", "1");
    for (size_t i = 0; i < sizeof(FRAMEWORKS) / sizeof(FRAMEWORKS[0]); i++)
        if (strcmp(framework ? framework : "PyTorch", FRAMEWORKS[i].framework) == 0)
            FRAMEWORKS[i].set(&group);
    json_decref(own);
}
