// What this machine offers to pods.
#include "backends/local/cgroups/cgroups.h"
#include "backends/local/cgroups/device_filter.h"
#include "backends/local/devices/nvml.h"
#include "backends/local/images/images.h"
#include "backends/local/images/program.h"
#include "backends/local/images/runtimes.h"
#include "backends/local/machine.h"
#include "backends/local/pods/log_files.h"
#include "backends/local/pods/log_table.h"
#include "backends/local/pods/pod_folder.h"
#include "backends/local/specification/volumes.h"
#include "backends/local/users/users.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/quantity.h"
#include "daemon/doctor.h"
#include "daemon/local_backend.h"
#include "daemon/local_users.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    PATH_SIZE = 1024,
    FILES_WANTED = 8192,    // connections, readers of the database, a descriptor for each pod
    PROCESSES_WANTED = 4096 // a supervisor and a command for each pod
};

static void look_at_gpu(const struct machine *machine, size_t index, struct findings *findings)
{
    struct nvml_gpu gpu;
    struct nvml_sample *sample = arena_alloc(findings->arena, sizeof(*sample));
    struct error err = {0};
    if (nvml_describe(machine->nvml, index, findings->arena, &gpu, &err) < 0) {
        findings_add(findings, FINDING_NOTE, "gpus",
                     arena_printf(findings->arena, "GPU %zu: does not answer: %s", index, err.message),
                     "pods are not placed on it; look at `nvidia-smi` and the kernel's log");
        return;
    }
    nvml_look(machine->nvml, index, sample);
    const char *about =
        arena_printf(findings->arena, "GPU %zu: %s, %s, %" PRId64 " MiB", index, gpu.name, gpu.uuid, gpu.memory_mib);
    if (!sample->is_healthy)
        findings_add(findings, FINDING_NOTE, "gpus",
                     arena_printf(findings->arena, "%s: not healthy: %s", about, sample->reason),
                     "pods are not placed on it; look at `nvidia-smi -q` and the kernel's log");
    else if (sample->process_count > 0)
        findings_add(findings, FINDING_NOTE, "gpus",
                     arena_printf(findings->arena, "%s: %zu processes use it now", about, sample->process_count),
                     "where they are no pods of this server nothing is placed on it, unless --local-foreign ignore");
    else
        findings_add(findings, FINDING_GOOD, "gpus", about, NULL);
}

// Whether pods are held to their GPUs, as holding.c does it.
static void look_at_holding(const struct machine *machine, struct findings *findings)
{
    struct cgroups_view view;
    struct error err = {0};
    cgroups_look(&view);
    if (!machine->nvml || machine->gpu_count + machine->mig_count == 0)
        return;
    bool has_v1 = view.has_v1[CGROUPS_V1_DEVICES];
    const char *reason = geteuid() != 0                  ? "the server is not root"
                         : has_v1                        ? NULL
                         : !view.is_writable             ? "no cgroup can be made here"
                         : device_filter_check(&err) < 0 ? err.message
                                                         : NULL;
    if (!reason)
        findings_add(findings, FINDING_GOOD, "gpus", "GPUs are held: a pod can open its own, and no other", NULL);
    else
        findings_add(findings, FINDING_NOTE, "gpus",
                     arena_printf(findings->arena,
                                  "GPUs are only asked for (CUDA_VISIBLE_DEVICES): a pod can open those of others: %s",
                                  reason),
                     "run the server as root, outside of containers");
}

static void look_at_gpus(const struct settings *settings, struct findings *findings)
{
    struct arena *arena = findings->arena;
    struct machine machine;
    struct error err = {0};
    struct machine_wishes wishes = {.pretended_gpus = settings->local_gpus, .nvml = settings->local_nvml};
    if (quantity_parse_cpu(settings->local_reserved_cpu, &wishes.reserved_cpu_milli, &err) < 0 ||
        quantity_parse_memory(settings->local_reserved_memory, &wishes.reserved_memory_bytes, &err) < 0 ||
        machine_look(&wishes, arena, &machine, &err) < 0) {
        findings_add(findings, FINDING_PROBLEM, "machine", arena_strdup(arena, err.message), NULL);
        return;
    }
    findings_add(findings, FINDING_GOOD, "machine",
                 arena_printf(arena, "%s: %g cores and %" PRId64 " MiB of memory for pods", machine.name,
                              (double)machine.cpu_milli / 1000, machine.memory_bytes >> 20),
                 NULL);
    if (machine.has_pretended_gpus)
        findings_add(findings, FINDING_NOTE, "gpus", arena_printf(arena, "%zu GPUs are pretended", machine.gpu_count),
                     "for tests and teaching; without --local-gpus the driver is asked");
    else if (!machine.nvml)
        findings_add(findings, FINDING_NOTE, "gpus",
                     arena_printf(arena, "no NVIDIA driver answers (%s): a node without GPUs",
                                  settings->local_nvml ? settings->local_nvml : "libnvidia-ml.so.1"),
                     "install NVIDIA's driver, or name its library with --local-nvml FILE, or pretend some with "
                     "--local-gpus N");
    for (size_t i = 0; machine.nvml && i < machine.gpu_count; i++)
        look_at_gpu(&machine, i, findings);
    look_at_holding(&machine, findings);
    nvml_close(machine.nvml);
}

static void look_at_users(const struct settings *settings, struct findings *findings)
{
    struct arena *arena = findings->arena;
    struct user_rules rules;
    struct error err = {0};
    if (local_users_look(settings, arena, &rules, &err) < 0 || users_check(&rules, arena, &err) < 0) {
        findings_add(findings, FINDING_PROBLEM, "users", arena_strdup(arena, err.message),
                     "name users of this machine that are not root, or another --local-uid-range");
        return;
    }
    const char *danger = local_users_danger(settings, &rules, arena), *shared = users_shared(&rules, arena);
    if (geteuid() != 0)
        findings_add(findings, FINDING_NOTE, "users", arena_printf(arena, "the server is not root: %s", danger),
                     "run the server as root: then the pods of each project have a user of its own");
    else if (danger)
        findings_add(findings, FINDING_NOTE, "users", arena_printf(arena, "the server is root: %s", danger),
                     "serve with --local-uid-range " UID_RANGE_DEFAULT " and without --local-user");
    else
        findings_add(findings, FINDING_GOOD, "users",
                     arena_printf(arena,
                                  "the server is root: pods of each project run as a user of its own, of %" PRId64
                                  "+%" PRId64 "%s, never as root",
                                  rules.range.first, rules.range.count,
                                  rules.map_file ? ", or as their project or subject is mapped" : ""),
                     NULL);
    const char *no_groups = local_users_without_groups(settings, &rules, arena);
    if (no_groups)
        findings_add(findings, FINDING_NOTE, "users",
                     arena_printf(arena, "pods have no group of their own: %s", no_groups),
                     "name groups that nobody is in: --local-gid-range " GID_RANGE_DEFAULT);
    if (geteuid() == 0 && shared)
        findings_add(findings, FINDING_NOTE, "users",
                     arena_printf(arena, "--local-user-map lets projects share a user: %s", shared),
                     "their pods can read and end each other");
}

static void look_at_scratch(const struct settings *settings, struct findings *findings)
{
    struct error err = {0};
    const char *above, *path;
    const char *folder = settings->data ? settings->data : "";
    char *data = realpath(folder, NULL);
    local_backend_scratch(settings, data ? data : folder, findings->arena, &above, &path);
    free(data);
    const char *homes = arena_printf(findings->arena, "%s-homes", path);
    if (volumes_check_scratch(above, path, &err) < 0 || volumes_check_scratch(above, homes, &err) < 0)
        findings_add(findings, FINDING_PROBLEM, "scratch",
                     arena_printf(findings->arena, "--local-scratch: %s", err.message),
                     "name a folder of root's or the server's own, or move away what is in the way");
    else
        findings_add(findings, FINDING_GOOD, "scratch",
                     arena_printf(findings->arena, "volumes of pods are in %s", path), NULL);
}

static int64_t measure_logs(const char *path)
{
    struct log_size size;
    int64_t bytes = 0;
    DIR *home = opendir(path);
    for (const char *uuid; home && (uuid = pod_folder_next(home));) {
        int folder_fd = pod_folder_find(dirfd(home), uuid);
        if (folder_fd < 0)
            continue;
        log_files_measure(folder_fd, &size);
        bytes += size.bytes;
        close(folder_fd);
    }
    if (home)
        closedir(home);
    return bytes;
}

static void look_at_logs(const struct settings *settings, struct findings *findings)
{
    struct arena *arena = findings->arena;
    const char *data = settings->data ? settings->data : ".";
    struct log_bounds bounds;
    struct error err = {0};
    char pod[QUANTITY_TEXT_SIZE], project[QUANTITY_TEXT_SIZE], total[QUANTITY_TEXT_SIZE];
    if (local_backend_log_bounds(settings, data, &bounds, &err) < 0) {
        findings_add(findings, FINDING_PROBLEM, "logs", arena_strdup(arena, err.message), NULL);
        return;
    }
    int64_t bytes = measure_logs(arena_printf(arena, "%s/pods", data));
    quantity_format_memory(bounds.pod_bytes, pod);
    quantity_format_memory(bounds.project_bytes, project);
    quantity_format_memory(bounds.total_bytes, total);
    findings_add(findings, bounds.total_bytes ? FINDING_GOOD : FINDING_NOTE, "logs",
                 arena_printf(arena,
                              "logs of pods take %" PRId64 " MiB; bounds: %s a pod, %s a project, %s in all, %g days",
                              bytes >> 20, pod, bounds.project_bytes ? project : "none",
                              bounds.total_bytes ? total : "none", settings->local_log_days),
                 bounds.total_bytes ? NULL : "without --local-log-total logs may fill the disk down to its reserve");
}

static void look_at_runtimes(const struct settings *settings, struct findings *findings)
{
    struct arena *arena = findings->arena;
    struct runtime runtimes[RUNTIME_KIND_COUNT];
    runtimes_look(-1, arena, runtimes);
    for (int i = 0; i < RUNTIME_KIND_COUNT; i++)
        if (runtimes[i].path)
            findings_add(findings, runtimes[i].answers ? FINDING_GOOD : FINDING_NOTE, "images",
                         arena_printf(arena, "%s (%s) %s: %s", runtimes[i].name, runtimes[i].path,
                                      runtimes[i].answers ? "answers" : "does not answer", runtimes[i].says),
                         runtimes[i].answers ? NULL : "start its service, or let this user reach it");
    if (!runtimes_choose(runtimes))
        findings_add(findings, settings->local_images == IMAGES_REQUIRED ? FINDING_PROBLEM : FINDING_NOTE, "images",
                     settings->local_images == IMAGES_REQUIRED
                         ? "no container runtime answers, and --local-images requires one"
                         : "no container runtime answers: commands run on the machine itself, images are not used",
                     "install podman, docker or apptainer");
}

static void look_at_helpers(struct findings *findings)
{
    struct arena *arena = findings->arena;
    struct error err = {0};
    char path[PATH_SIZE];
    const char *supervisor = local_backend_find_supervisor(arena, &err);
    if (supervisor)
        findings_add(findings, FINDING_GOOD, "supervisor", supervisor, NULL);
    else
        findings_add(findings, FINDING_PROBLEM, "supervisor", arena_strdup(arena, err.message), "install it again");
    if (program_find("git", path, sizeof(path)))
        findings_add(findings, FINDING_GOOD, "git", arena_strdup(arena, path), NULL);
    else
        findings_add(findings, FINDING_NOTE, "git", "git is not installed: workloads with git storage fail",
                     "install git");
    const char *pipes = getenv("CUDA_MPS_PIPE_DIRECTORY");
    const char *control = arena_printf(arena, "%s/control", pipes ? pipes : "/tmp/nvidia-mps");
    bool has_mps = program_find("nvidia-cuda-mps-control", path, sizeof(path)) != NULL;
    if (has_mps && access(control, F_OK) == 0)
        findings_add(findings, FINDING_GOOD, "mps", arena_printf(arena, "CUDA MPS runs (%s)", control), NULL);
    else
        findings_add(findings, FINDING_NOTE, "mps",
                     has_mps ? "CUDA MPS is installed, and its daemon does not run: parts of a GPU take turns"
                             : "CUDA MPS is not installed: parts of a GPU take turns",
                     has_mps ? "start it: nvidia-cuda-mps-control -d" : NULL);
}

static void look_at_limit(__rlimit_resource_t resource, const char *what, rlim_t wanted, const char *advice,
                          struct findings *findings)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) < 0)
        return;
    if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= wanted)
        findings_add(findings, FINDING_GOOD, "limits",
                     limit.rlim_cur == RLIM_INFINITY
                         ? arena_printf(findings->arena, "%s: no limit", what)
                         : arena_printf(findings->arena, "%s: %" PRIu64, what, limit.rlim_cur),
                     NULL);
    else
        findings_add(findings, FINDING_NOTE, "limits",
                     arena_printf(findings->arena, "%s: %" PRIu64 ", and %" PRIu64 " are good for 2,000 pods", what,
                                  limit.rlim_cur, wanted),
                     advice);
}

void doctor_look_at_machine(const struct settings *settings, struct findings *findings)
{
    look_at_gpus(settings, findings);
    doctor_look_at_bounds(settings, findings);
    look_at_users(settings, findings);
    look_at_scratch(settings, findings);
    look_at_logs(settings, findings);
    look_at_helpers(findings);
    look_at_runtimes(settings, findings);
    look_at_limit(RLIMIT_NOFILE, "open files", FILES_WANTED, "ulimit -n 8192, or LimitNOFILE=8192 in the systemd unit",
                  findings);
    look_at_limit(RLIMIT_NPROC, "processes", PROCESSES_WANTED, "ulimit -u 4096, or LimitNPROC=4096 in the systemd unit",
                  findings);
}
