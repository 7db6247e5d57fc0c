#include "backends/local/launch.h"

#include "backends/local/distributed.h"
#include "backends/local/pod_folder.h"
#include "backends/local/variables.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/quantity.h"
#include "model/shell_words.h"
#include "supervisor/pod_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    VARIABLES_MAX = 32 + DISTRIBUTED_VARIABLES_MAX, // of ours
    OPTIONS_MAX = 24
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
    const char *list = mig_list(options, mig_instances, arena);
    for (size_t i = 0; i < pod->gpu_index_count; i++) {
        uint32_t index = pod->gpu_indices[i];
        const char *name = index < options->gpu_count ? options->gpus[index] : arena_printf(arena, "%u", index);
        list = arena_printf(arena, "%s%s%s", list, i ? "," : "", name);
    }
    return list;
}

// For pods that share a device by way of NVIDIA's MPS, where its daemon runs; nobody else reads them.
static void set_share(struct variables *variables, const struct local_options *options, const struct backend_pod *pod)
{
    const int64_t portion_milli = pod->gpu_milli / (int64_t)pod->gpu_index_count;
    const char *limits = "";
    for (size_t i = 0; i < pod->gpu_index_count; i++)
        limits = arena_printf(variables->arena, "%s%s%zu=%" PRId64 "M", limits, i ? "," : "", i,
                              options->gpu_memory_mib * portion_milli / 1000);
    variables_set(variables, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
                  arena_printf(variables->arena, "%g", (double)portion_milli / 10));
    if (options->gpu_memory_mib > 0)
        variables_set(variables, "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", limits);
}

static void set_ours(struct variables *variables, const struct local_options *options, const struct backend_pod *pod,
                     uint64_t mig_instances)
{
    const char *devices = list_devices(options, pod, mig_instances, variables->arena);
    variables_set(variables, "PATH", DEFAULT_PATH);
    variables_set(variables, "HOME", options->user_home);
    variables_set(variables, "USER", options->user_name);
    variables_set(variables, "LOGNAME", options->user_name);
    variables_set(variables, "LANG", "C.UTF-8");
    variables_set(variables, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    variables_set(variables, "CUDA_VISIBLE_DEVICES", devices);
    variables_set(variables, "NVIDIA_VISIBLE_DEVICES", devices[0] ? devices : "void");
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
}

static int set_theirs(struct variables *variables, const json_t *spec, struct error *err)
{
    const json_t *variable;
    size_t i;
    json_array_foreach(json_object_get(spec, "environmentVariables"), i, variable)
    {
        const char *name = json_string_value(json_object_get(variable, "name"));
        const char *value = json_string_value(json_object_get(variable, "value"));
        if (!name || json_is_true(json_object_get(variable, "exclude")))
            continue;
        if (!value && (json_is_object(json_object_get(variable, "secret")) ||
                       json_is_object(json_object_get(variable, "configMap"))))
            return error_set(err, ERROR_INVALID,
                             "environmentVariables: %s: secrets and config maps need Kubernetes; give its value", name);
        variables_set(variables, name, value ? value : "");
    }
    return 0;
}

// The command's words and the arguments', as Kubernetes joins them.
static int read_words(const json_t *spec, const struct distributed *distributed, const char *agent, struct arena *arena,
                      struct launch *out, struct error *err)
{
    const char *const *command, *const *arguments;
    size_t command_count, argument_count;
    if (shell_words_split(text_of(spec, "command"), arena, &command, &command_count, err) < 0 ||
        shell_words_split(text_of(spec, "args"), arena, &arguments, &argument_count, err) < 0)
        return -1;
    out->argv = arena_array(arena, command_count + argument_count + 1, sizeof(*out->argv));
    for (size_t i = 0; i < command_count + argument_count; i++)
        out->argv[i] = arena_strdup(arena, i < command_count ? command[i] : arguments[i - command_count]);
    out->argv = distributed_wrap(distributed, agent, out->argv, arena);
    return out->argv[0] ? 0
                        : error_set(err, ERROR_INVALID,
                                    "no command: this machine runs commands, it has no image to take one from");
}

static const char *annotation_of(const json_t *spec, const char *wanted)
{
    const json_t *annotation;
    size_t i;
    json_array_foreach(json_object_get(spec, "annotations"), i, annotation)
    {
        const char *name = json_string_value(json_object_get(annotation, "name"));
        if (name && strcmp(name, wanted) == 0 && !json_is_true(json_object_get(annotation, "exclude")))
            return json_string_value(json_object_get(annotation, "value"));
    }
    return NULL;
}

// What the pod asks for weighs when cores are short: a core is 100, the usual weight.
static int read_bounds(const json_t *compute, struct cgroup_bounds *out, struct error *err)
{
    const char *memory = text_of(compute, "cpuMemoryLimit");
    double cores = json_number_value(json_object_get(compute, "cpuCoreRequest"));
    double most = json_number_value(json_object_get(compute, "cpuCoreLimit"));
    out->cpu_weight = cores * 100 < 1 ? 1 : cores * 100 > 10000 ? 10000 : (int64_t)(cores * 100);
    out->cpu_milli = (int64_t)(most * 1000);
    if (memory[0] && quantity_parse_memory(memory, &out->memory_bytes, err) < 0)
        return error_prefix(err, "compute: cpuMemoryLimit: ");
    return 0;
}

static int read_spec(const struct local_options *options, const struct distributed *distributed,
                     const struct backend_pod *pod, const json_t *spec, struct arena *arena, struct launch *out,
                     struct error *err)
{
    struct variables variables;
    variables_init(&variables, VARIABLES_MAX + json_array_size(json_object_get(spec, "environmentVariables")), arena);
    set_ours(&variables, options, pod, out->mig_instances);
    distributed_set(distributed, &variables);
    if (read_words(spec, distributed, options->mpi_agent, arena, out, err) < 0 || set_theirs(&variables, spec, err) < 0)
        return -1;
    variables_set(&variables, "PRORATA_POD", pod->uuid); // the last word: by it what is left of a pod is found
    out->environment = variables.items;
    const char *folder = text_of(spec, "workingDir");
    out->folder = arena_strdup(arena, folder[0] ? folder : options->user_home);
    out->grace_ms = pod->grace_ms;
    out->pre_stop = arena_strdup(arena, annotation_of(spec, "prorata.io/pre-stop"));
    return read_bounds(json_object_get(spec, "compute"), &out->bounds, err);
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
    }
    int rc = mig_choose(options, pods, json_object_get(spec, "compute"), &out_launch->mig_instances, err);
    if (rc == 0)
        rc = spec ? read_spec(options, &distributed, pod, spec, arena, out_launch, err)
                  : error_set(err, ERROR_INVALID, "the specification cannot be read");
    json_decref(workload_spec);
    json_decref(spec);
    return rc;
}

struct words {
    char *items[OPTIONS_MAX];
    size_t count;
};

static void add_option(struct words *words, const char *name, char *value)
{
    words->items[words->count++] = (char *)name;
    words->items[words->count++] = value;
}

static char **make_arguments(const struct local_options *options, const struct cgroups *cgroups, const char *uuid,
                             const struct launch *launch, struct arena *arena)
{
    struct words words = {.count = 0};
    size_t count = 0;
    while (launch->argv[count])
        count++;
    words.items[words.count++] = arena_strdup(arena, "prorata-supervisor");
    add_option(&words, "--uuid", arena_strdup(arena, uuid));
    add_option(&words, "--folder", arena_strdup(arena, launch->folder));
    add_option(&words, "--log-file-max", arena_printf(arena, "%" PRId64, options->log_file_max));
    add_option(&words, "--log-total-max", arena_printf(arena, "%" PRId64, options->log_total_max));
    char cgroup[CGROUP_PATH_SIZE];
    if (cgroups_create(cgroups, uuid, &launch->bounds, cgroup))
        add_option(&words, "--cgroup", arena_strdup(arena, cgroup));
    if (!cgroups->has_memory && launch->bounds.memory_bytes > 0)
        add_option(&words, "--memory", arena_printf(arena, "%" PRId64, launch->bounds.memory_bytes));
    add_option(&words, "--grace", arena_printf(arena, "%" PRId64, launch->grace_ms));
    if (launch->pre_stop)
        add_option(&words, "--pre-stop", arena_strdup(arena, launch->pre_stop));
    if (options->changes_user) {
        char *user = arena_printf(arena, "%u:", (unsigned)options->user);
        for (int i = 0; i < options->group_count; i++)
            user = arena_printf(arena, "%s%s%u", user, i ? "," : "", (unsigned)options->groups[i]);
        add_option(&words, "--user", user);
    }
    words.items[words.count++] = arena_strdup(arena, "--");
    char **all = arena_array(arena, words.count + count + 1, sizeof(*all));
    memcpy(all, words.items, words.count * sizeof(*all));
    memcpy(all + words.count, launch->argv, count * sizeof(*all));
    return all;
}

// dup2 to 3, 4 and 5 in the child: first out of the way, since a source may be another's target.
static void pass_descriptors(posix_spawn_file_actions_t *actions, const int fds[3])
{
    enum {
        OUT_OF_THE_WAY = 500
    };
    for (int i = 0; i < 3; i++)
        posix_spawn_file_actions_adddup2(actions, fds[i], OUT_OF_THE_WAY + i);
    for (int i = 0; i < 3; i++) {
        posix_spawn_file_actions_adddup2(actions, OUT_OF_THE_WAY + i, POD_STATE_FD + i);
        posix_spawn_file_actions_addclose(actions, OUT_OF_THE_WAY + i);
    }
    posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(actions, STDOUT_FILENO, STDERR_FILENO);
}

// What must be known of the pod after a restart of the server, ahead of the supervisor's records.
static bool write_holdings(const struct local_options *options, const struct launch *launch, int state_fd,
                           struct arena *arena)
{
    const struct ports *ports = &launch->ports;
    return (!ports->count || dprintf(state_fd, "ports %" PRId64 " %" PRId64 " %s\n", ports->first, ports->count,
                                     ports->workload_uuid) > 0) &&
           (!launch->mig_instances ||
            dprintf(state_fd, "mig %s\n", mig_list(options, launch->mig_instances, arena)) > 0);
}

pid_t launch_start(const struct local_options *options, const struct cgroups *cgroups, const char *uuid, int home_fd,
                   int folder_fd, const struct launch *launch, struct error *err)
{
    struct arena arena;
    pid_t pid = -1;
    int state_fd = pod_folder_create_state(folder_fd, err);
    if (state_fd < 0)
        return -1;
    arena_init(&arena);
    if (!write_holdings(options, launch, state_fd, &arena))
        log_write(LOG_WARN, "backends", "pod=%s: what it holds is not written down: %s", uuid, strerror(errno));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    pass_descriptors(&actions, (const int[]){state_fd, folder_fd, home_fd});
    int rc = posix_spawn(&pid, options->supervisor, &actions, NULL,
                         make_arguments(options, cgroups, uuid, launch, &arena), launch->environment);
    arena_done(&arena);
    posix_spawn_file_actions_destroy(&actions);
    close(state_fd); // the lock stays with the supervisor's copy
    if (rc == 0)
        return pid;
    error_set(err, ERROR_UNAVAILABLE, "the supervisor cannot be started: %s", strerror(rc));
    return -1;
}
