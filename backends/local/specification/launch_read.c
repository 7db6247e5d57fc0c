// A specification as what is to be started.
#include "backends/local/specification/distributed.h"
#include "backends/local/specification/homes.h"
#include "backends/local/specification/honours.h"
#include "backends/local/specification/launch.h"
#include "backends/local/specification/mig_choice.h"
#include "backends/local/specification/port_choice.h"
#include "backends/local/specification/their_variables.h"
#include "backends/local/specification/variables.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/quantity.h"
#include "model/shell_words.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

enum {
    VARIABLES_MAX = 32 + DISTRIBUTED_VARIABLES_MAX, // of ours
    MACHINE_VARIABLES = 5
};

static const char DEFAULT_PATH[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

static const char *text_of(const json_t *spec, const char *key)
{
    const char *text = json_string_value(json_object_get(spec, key));
    return text ? text : "";
}

static const char *list_devices(const struct local_options *options, const struct backend_pod *pod,
                                uint64_t mig_instances, struct arena *arena)
{
    const char *list = mig_list(options->mig, options->mig_count, mig_instances, arena);
    for (size_t i = 0; i < pod->gpu_index_count; i++) {
        uint32_t index = pod->gpu_indices[i];
        const char *name = index < options->gpu_count ? options->gpus[index] : arena_printf(arena, "%u", index);
        list = arena_printf(arena, "%s%s%s", list, i ? "," : "", name);
    }
    return list;
}

// For pods that share a device through NVIDIA's MPS, where its daemon runs; nobody else reads them.
static void set_share(struct variables *variables, const struct local_options *options, const struct backend_pod *pod)
{
    int64_t portion_milli = pod->gpu_milli / (int64_t)pod->gpu_index_count;
    const char *limits = "";
    for (size_t i = 0; i < pod->gpu_index_count; i++)
        limits = arena_printf(variables->arena, "%s%s%zu=%" PRId64 "M", limits, i ? "," : "", i,
                              options->gpu_memory_mib * portion_milli / 1000);
    variables_set(variables, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
                  arena_printf(variables->arena, "%g", (double)portion_milli / 10));
    if (options->gpu_memory_mib > 0)
        variables_set(variables, "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", limits);
}

// For tools that must know the path which browsers reach them by: the first exposed URL's.
static void set_app_path(struct variables *variables, const char *begin, const struct backend_pod *pod,
                         const json_t *spec)
{
    const json_t *url = json_array_get(json_object_get(spec, "exposedUrls"), 0);
    json_int_t port = json_integer_value(json_object_get(url, "container"));
    const char *path = "/";
    if (begin)
        path = arena_printf(variables->arena, "%s%s/%" JSON_INTEGER_FORMAT "/", begin, pod->workload_uuid, port);
    if (port > 0)
        variables_set(variables, "PRORATA_APP_PATH", path);
}

static bool is_inference(const struct backend_pod *pod)
{
    return pod->workload_type && strcmp(pod->workload_type, "Inference") == 0;
}

// The first MACHINE_VARIABLES are about the machine and the user on it.
static void set_ours(struct variables *variables, const struct local_options *options, const struct backend_pod *pod,
                     const struct launch *launch)
{
    variables_set(variables, "PATH", DEFAULT_PATH);
    variables_set(variables, "HOME", launch->user.home);
    variables_set(variables, "USER", launch->user.name);
    variables_set(variables, "LOGNAME", launch->user.name);
    variables_set(variables, "LANG", "C.UTF-8");
    variables_set(variables, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    variables_set(variables, "CUDA_VISIBLE_DEVICES", launch->devices);
    variables_set(variables, "NVIDIA_VISIBLE_DEVICES", launch->devices[0] ? launch->devices : "void");
    variables_set(variables, "RUNAI_PROJECT", pod->project_name);
    variables_set(variables, "RUNAI_JOB_NAME", pod->workload_name);
    variables_set(variables, "RUNAI_JOB_UUID", pod->workload_uuid);
    variables_set(variables, "RUNAI_NUM_OF_GPUS", arena_printf(variables->arena, "%g", (double)pod->gpu_milli / 1000));
    variables_set(
        variables, "RUNAI_GPU_PORTION",
        arena_printf(variables->arena, "%g",
                     pod->gpu_index_count ? (double)pod->gpu_milli / 1000 / (double)pod->gpu_index_count : 0));
    if (pod->gpu_index_count && pod->gpu_milli < (int64_t)pod->gpu_index_count * 1000)
        set_share(variables, options, pod);
    variables_set(variables, "POD_NAME", pod->name);
    variables_set(variables, "POD_UUID", pod->uuid);
    variables_set(variables, "POD_NAMESPACE", pod->namespace);
    variables_set(variables, "NODE_NAME", options->node_name);
    variables_set_number(variables, "JOB_COMPLETION_INDEX", pod->index);
    if (!is_inference(pod))
        return;
    variables_set_number(variables, "PORT", launch->ports.first);
    variables_set_number(variables, "METRICS_PORT", launch->ports.first + 1);
}

// The words of a text; $(NAME) in them becomes the variable's value, as Kubernetes has it.
static int read_words(const json_t *spec, const char *key, struct variables *variables, char ***out_words,
                      struct error *err)
{
    struct arena *arena = variables->arena;
    const char *const *words;
    size_t count;
    if (shell_words_split(text_of(spec, key), arena, &words, &count, err) < 0)
        return -1;
    char **expanded = arena_array(arena, count + 1, sizeof(*expanded));
    for (size_t i = 0; i < count; i++)
        if (variables_expand(variables, words[i], &expanded[i], err) < 0)
            return error_prefix(err, "%s: ", key);
    *out_words = expanded;
    return 0;
}

static const char *annotation_of(const json_t *spec, const char *wanted)
{
    const json_t *annotation;
    size_t i;
    json_array_foreach(json_object_get(spec, "annotations"), i, annotation) {
        const char *name = json_string_value(json_object_get(annotation, "name"));
        if (name && strcmp(name, wanted) == 0 && !json_is_true(json_object_get(annotation, "exclude")))
            return json_string_value(json_object_get(annotation, "value"));
    }
    return NULL;
}

// What the pod asks for weighs when cores are short: a core is 100, the usual weight.
static int read_bounds(const struct local_options *options, const struct backend_pod *pod, const json_t *compute,
                       struct cgroup_bounds *out, uint64_t mig_instances, struct error *err)
{
    const char *memory = text_of(compute, "cpuMemoryLimit");
    double cores = json_number_value(json_object_get(compute, "cpuCoreRequest"));
    double most = json_number_value(json_object_get(compute, "cpuCoreLimit"));
    out->cpu_weight = cores * 100 < 1 ? 1 : cores * 100 > 10000 ? 10000 : (int64_t)(cores * 100);
    out->cpu_milli = (int64_t)(most * 1000);
    if (memory[0] && quantity_parse_memory(memory, &out->memory_bytes, err) < 0)
        return error_prefix(err, "compute: cpuMemoryLimit: ");
    if (out->memory_bytes > 0)
        return 0;
    const char *request = text_of(compute, "cpuMemoryRequest");
    struct memory_share share = {
        .held = pod->gpu_milli, .all = (int64_t)options->gpu_count * 1000, .machine_bytes = options->memory_bytes};
    if (mig_instances) {
        share.held = __builtin_popcountll(mig_instances);
        share.all = (int64_t)options->mig_count;
    }
    if (request[0] && quantity_parse_memory(request, &share.request_bytes, err) < 0)
        return error_prefix(err, "compute: cpuMemoryRequest: ");
    out->memory_bytes = memory_bound_by_default(&options->memory_default, &share);
    out->is_memory_default = true;
    return 0;
}

static void read_ports(const json_t *spec, struct arena *arena, struct launch *out)
{
    static const char *const KEYS[] = {"ports", "exposedUrls"};
    const json_t *item;
    size_t i, most = json_array_size(json_object_get(spec, KEYS[0])) + json_array_size(json_object_get(spec, KEYS[1]));
    uint16_t *listens = arena_array(arena, most, sizeof(*listens));
    for (size_t key = 0; key < 2; key++)
        json_array_foreach(json_object_get(spec, KEYS[key]), i, item) {
            json_int_t port = json_integer_value(json_object_get(item, "container"));
            if (port > 0 && port < 65536 && !json_is_true(json_object_get(item, "exclude")))
                listens[out->listen_count++] = (uint16_t)port;
        }
    out->listens = listens;
}

static void read_image(const json_t *spec, const struct distributed *distributed, struct arena *arena,
                       struct launch *out)
{
    const json_t *security = json_object_get(spec, "security");
    const char *pull = text_of(spec, "imagePullPolicy");
    out->image = arena_strdup(arena, text_of(spec, "image"));
    out->pull = strcmp(pull, "Always") == 0  ? IMAGE_PULL_ALWAYS
                : strcmp(pull, "Never") == 0 ? IMAGE_PULL_NEVER
                                             : IMAGE_PULL_IF_NOT_PRESENT;
    out->has_large_shm = json_is_true(json_object_get(json_object_get(spec, "compute"), "largeShmRequest"));
    out->is_read_only = json_is_true(json_object_get(security, "readOnlyRootFilesystem"));
    out->is_unconfined = strcmp(text_of(security, "seccompProfileType"), "Unconfined") == 0;
    out->shares_ipc = json_is_true(json_object_get(security, "hostIpc"));
    out->needs_machine = distributed->framework && strcmp(distributed->framework, "MPI") == 0;
}

static void read_folder(const json_t *spec, struct arena *arena, struct launch *out)
{
    const char *folder = text_of(spec, "workingDir");
    out->image_folder = folder[0] ? arena_strdup(arena, folder) : NULL;
    out->folder = folder[0] ? volumes_translate(&out->volumes, out->image_folder, arena) : out->user.home;
}

// By a shell; NULL: nothing to do.
static char **shell_words(const char *script, struct arena *arena)
{
    if (!script)
        return NULL;
    char **words = arena_array(arena, 4, sizeof(*words));
    words[0] = arena_strdup(arena, "/bin/sh");
    words[1] = arena_strdup(arena, "-c");
    words[2] = arena_strdup(arena, script);
    return words;
}

static int read_spec(const struct local_options *options, const struct distributed *distributed,
                     const struct backend_pod *pod, const json_t *spec, struct arena *arena, struct launch *out,
                     struct error *err)
{
    struct variables variables;
    struct secret_source secrets = {options->data, pod->project_name, options->vault};
    struct volume_source source = {options->scratch, pod->uuid, secrets};
    out->devices = list_devices(options, pod, out->mig_instances, arena);
    struct user_claim claim = {pod->project_name, pod->project_number, pod->submitted_by, pod->machine_user};
    if (users_find(&options->users, &claim, pod->gpu_index_count > 0, arena, &out->user, err) < 0 ||
        volumes_read(spec, &source, arena, &out->volumes, err) < 0)
        return -1;
    if (!out->user.home)
        out->user.home = out->home = homes_place(options->homes, pod->workload_uuid, arena);
    variables_init(&variables,
                   VARIABLES_MAX + json_array_size(json_object_get(spec, "environmentVariables")) +
                       volumes_variable_count(&out->volumes),
                   arena);
    set_ours(&variables, options, pod, out);
    set_app_path(&variables, options->app_path, pod, spec);
    distributed_set(distributed, &variables);
    volumes_set(&out->volumes, &variables);
    char *machine[MACHINE_VARIABLES];
    memcpy(machine, variables.items, sizeof(machine));
    struct variable_source from = {secrets, pod, spec};
    if (their_variables_set(&from, &variables, err) < 0 ||
        read_words(spec, "command", &variables, &out->command, err) < 0 ||
        read_words(spec, "args", &variables, &out->arguments, err) < 0)
        return -1;
    variables_set(&variables, "PRORATA_POD", pod->uuid); // the last word: by it what is left of a pod is found
    out->machine_variables = variables_keep_in_front(&variables, machine, MACHINE_VARIABLES);
    out->environment = variables.items;
    read_folder(spec, arena, out);
    read_ports(spec, arena, out);
    read_image(spec, distributed, arena, out);
    out->before = shell_words(volumes_script(&out->volumes, arena), arena);
    out->grace_ms = pod->grace_ms;
    out->pod_count = pod->workload_pods;
    out->pre_stop = shell_words(annotation_of(spec, "prorata.io/pre-stop"), arena);
    return read_bounds(options, pod, json_object_get(spec, "compute"), &out->bounds, out->mig_instances, err);
}

// The words that run on the machine: the agent starts an MPI launcher.
static void join_words(const struct distributed *distributed, const char *agent, struct arena *arena,
                       struct launch *out)
{
    size_t commands = 0, arguments = 0;
    while (out->command[commands])
        commands++;
    while (out->arguments[arguments])
        arguments++;
    out->argv = arena_array(arena, commands + arguments + 1, sizeof(*out->argv));
    memcpy(out->argv, out->command, commands * sizeof(*out->argv));
    memcpy(out->argv + commands, out->arguments, arguments * sizeof(*out->argv));
    out->argv = distributed_wrap(distributed, agent, out->argv, arena);
}

int launch_read(const struct local_options *options, const struct local_pods *pods, const struct backend_pod *pod,
                struct arena *arena, struct launch *out_launch, struct error *err)
{
    *out_launch = (struct launch){0};
    json_t *spec = pod->spec_json ? json_loads(pod->spec_json, 0, NULL) : NULL;
    json_t *workload_spec = pod->workload_spec_json ? json_loads(pod->workload_spec_json, 0, NULL) : json_incref(spec);
    struct distributed distributed = distributed_read(pod, workload_spec);
    if (distributed.framework) {
        out_launch->ports = ports_choose(pods, pod->workload_uuid, distributed_ports(&distributed));
        distributed.port = out_launch->ports.first;
        out_launch->reaches_workload = distributed_reaches_all(&distributed);
    }
    if (is_inference(pod)) // replicas of one machine must not take each other's: each has two of its own
        out_launch->ports = ports_choose(pods, pod->uuid, 2);
    int rc = mig_choose(options, pods, json_object_get(spec, "compute"), &out_launch->mig_instances, err);
    if (rc == 0)
        rc = spec ? read_spec(options, &distributed, pod, spec, arena, out_launch, err)
                  : error_set(err, ERROR_INVALID, "the specification cannot be read");
    if (rc == 0) {
        join_words(&distributed, options->mpi_agent, arena, out_launch);
        out_launch->spec_json = arena_strdup(arena, pod->spec_json);
        out_launch->project = arena_strdup(arena, pod->project_name);
        out_launch->workload = arena_strdup(arena, pod->workload_name);
    }
    json_decref(workload_spec);
    json_decref(spec);
    return rc;
}
