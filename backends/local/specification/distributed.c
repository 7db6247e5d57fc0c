#include "backends/local/specification/distributed.h"

#include "backends/backend.h"
#include "backends/local/specification/variables.h"
#include "base/arena.h"
#include "model/workload_type.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

static const char LOOPBACK[] = "127.0.0.1";

static int64_t integer_of(const json_t *spec, const char *key)
{
    return json_integer_value(json_object_get(spec, key));
}

struct distributed distributed_read(const struct backend_pod *pod, const struct json_t *workload_spec)
{
    if (!workload_type_is(pod->workload_type, WORKLOAD_TYPE_DISTRIBUTED))
        return (struct distributed){0};
    const char *framework = json_string_value(json_object_get(workload_spec, "distributedFramework"));
    struct distributed out = {
        .framework = framework ? framework : "PyTorch",
        .role = pod->role,
        .workload_name = pod->workload_name,
        .workload_uuid = pod->workload_uuid,
        .pods = pod->workload_pods,
        .workers = integer_of(workload_spec, "maxReplicas"),
        .least_workers = integer_of(workload_spec, "minReplicas"),
        .slots = integer_of(workload_spec, "slotsPerWorker"),
        .index = pod->index,
        .gpus = (int64_t)pod->gpu_index_count,
    };
    out.workers = out.workers ? out.workers : integer_of(workload_spec, "numWorkers");
    out.slots = out.slots > 0 ? out.slots : 1;
    out.rank = strcmp(pod->role, "master") == 0 ? 0 : pod->index + (out.pods > out.workers);
    return out;
}

int64_t distributed_ports(const struct distributed *distributed)
{
    return distributed->framework ? distributed->pods : 0;
}

// torchrun takes its options from here, so that `torchrun train.py` is a whole command.
static void set_pytorch(const struct distributed *distributed, struct variables *variables)
{
    struct arena *arena = variables->arena;
    variables_set_number(variables, "PET_NPROC_PER_NODE", distributed->gpus > 0 ? distributed->gpus : 1);
    if (distributed->least_workers > 0) {
        int64_t masters = distributed->pods - distributed->workers;
        variables_set(
            variables, "PET_NNODES",
            arena_printf(arena, "%" PRId64 ":%" PRId64, distributed->least_workers + masters, distributed->pods));
        variables_set(variables, "PET_RDZV_BACKEND", "c10d");
        variables_set(variables, "PET_RDZV_ID", distributed->workload_uuid);
        variables_set(variables, "PET_RDZV_ENDPOINT", arena_printf(arena, "%s:%" PRId64, LOOPBACK, distributed->port));
        return;
    }
    variables_set_number(variables, "PET_NNODES", distributed->pods);
    variables_set_number(variables, "PET_NODE_RANK", distributed->rank);
    variables_set(variables, "PET_MASTER_ADDR", LOOPBACK);
    variables_set_number(variables, "PET_MASTER_PORT", distributed->port);
}

static json_t *list_addresses(const struct distributed *distributed, int64_t first, int64_t count)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < count; i++)
        json_array_append_new(list, json_sprintf("%s:%" PRId64, LOOPBACK, distributed->port + first + i));
    return list;
}

static void set_tensorflow(const struct distributed *distributed, struct variables *variables)
{
    int64_t masters = distributed->pods - distributed->workers;
    json_t *cluster = json_pack("{s:o}", "worker", list_addresses(distributed, masters, distributed->workers));
    if (masters)
        json_object_set_new(cluster, "chief", list_addresses(distributed, 0, masters));
    const char *type = strcmp(distributed->role, "master") == 0 ? "chief" : "worker";
    json_t *config = json_pack("{s:o, s:{s:s, s:I}, s:s}", "cluster", cluster, "task", "type", type, "index",
                               (json_int_t)distributed->index, "environment", "cloud");
    char *text = json_dumps(config, JSON_COMPACT);
    variables_set(variables, "TF_CONFIG", text);
    free(text);
    json_decref(config);
}

static void set_jax(const struct distributed *distributed, struct variables *variables)
{
    variables_set(variables, "COORDINATOR_ADDRESS", LOOPBACK);
    variables_set_number(variables, "COORDINATOR_PORT", distributed->port);
    variables_set(variables, "JAX_COORDINATOR_ADDRESS",
                  arena_printf(variables->arena, "%s:%" PRId64, LOOPBACK, distributed->port));
    variables_set_number(variables, "NUM_PROCESSES", distributed->pods);
    variables_set_number(variables, "PROCESS_ID", distributed->rank);
}

static void set_xgboost(const struct distributed *distributed, struct variables *variables)
{
    const char *addresses = "";
    for (int64_t i = 0; i < distributed->workers; i++)
        addresses = arena_printf(variables->arena, "%s%s%s", addresses, i ? "," : "", LOOPBACK);
    variables_set(variables, "WORKER_ADDRS", addresses);
    variables_set_number(variables, "WORKER_PORT", distributed->port + distributed->rank);
}

static void set_mpi(const struct distributed *distributed, struct variables *variables)
{
    variables_set_number(variables, "RUNAI_MPI_NUM_WORKERS", distributed->workers);
}

static const struct {
    const char *framework;
    void (*set)(const struct distributed *distributed, struct variables *variables);
} FRAMEWORKS[] = {
    {"PyTorch", set_pytorch}, {"TF", set_tensorflow}, {"JAX", set_jax}, {"XGBoost", set_xgboost}, {"MPI", set_mpi}};

void distributed_set(const struct distributed *distributed, struct variables *variables)
{
    if (!distributed->framework)
        return;
    variables_set(variables, "MASTER_ADDR", LOOPBACK);
    variables_set_number(variables, "MASTER_PORT", distributed->port);
    variables_set_number(variables, "WORLD_SIZE", distributed->pods);
    variables_set_number(variables, "RANK", distributed->rank);
    variables_set_number(variables, "LOCAL_RANK", 0); // the devices that a pod sees are its own
    variables_set_number(variables, "LOCAL_WORLD_SIZE", 1);
    variables_set(variables, "PYTHONUNBUFFERED", "1");
    // All are on this machine, whatever its name resolves to.
    variables_set(variables, "GLOO_SOCKET_IFNAME", "lo");
    variables_set(variables, "NCCL_SOCKET_IFNAME", "lo");
    for (size_t i = 0; i < sizeof(FRAMEWORKS) / sizeof(FRAMEWORKS[0]); i++)
        if (strcmp(distributed->framework, FRAMEWORKS[i].framework) == 0)
            FRAMEWORKS[i].set(distributed, variables);
}

// A host's name is its pod's, as the environment of each pod says it.
static char *list_hosts(const struct distributed *distributed, struct arena *arena)
{
    char *list = arena_strdup(arena, "");
    for (int64_t i = 0; i < distributed->workers; i++)
        list = arena_printf(arena, "%s%s%s-worker-%" PRId64 ":%" PRId64, list, i ? "," : "", distributed->workload_name,
                            i, distributed->slots);
    return list;
}

bool distributed_reaches_all(const struct distributed *distributed)
{
    return distributed->framework && strcmp(distributed->framework, "MPI") == 0 &&
           strcmp(distributed->role, "master") == 0;
}

char **distributed_wrap(const struct distributed *distributed, const char *agent, char **words, struct arena *arena)
{
    if (!distributed->framework || strcmp(distributed->framework, "MPI") != 0)
        return words;
    size_t count = 0, before = 0;
    while (words[count])
        count++;
    bool is_master = strcmp(distributed->role, "master") == 0;
    if (is_master == (count == 0))
        return words;
    char **wrapped = arena_array(arena, count + 4, sizeof(*wrapped));
    wrapped[before++] = arena_strdup(arena, agent);
    wrapped[before++] = arena_strdup(arena, is_master ? "--launch" : "--wait");
    if (is_master)
        wrapped[before++] = list_hosts(distributed, arena);
    memcpy(wrapped + before, words, count * sizeof(*words));
    return wrapped;
}
