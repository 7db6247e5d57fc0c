// Which device nodes a pod may open: those of the GPUs and MIG instances that it holds. Kept by the kernel where that
// can be had (device_filter.h, device_list.h); elsewhere a pod is only asked, by CUDA_VISIBLE_DEVICES, to use no
// others.
#include "backends/local/cgroups/device_list.h"
#include "backends/local/local_state.h"
#include "base/error.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    PATH_SIZE = CGROUP_PATH_SIZE + UUID_SIZE + 8
};

static const char CAPS_MINORS[] = "/proc/driver/nvidia-caps/mig-minors";

static int caps_major(void)
{
    return nvidia_nodes_major("/proc/devices", "nvidia-caps");
}

static bool has_minors(const struct nvml *nvml)
{
    bool has = false;
    for (size_t i = 0; i < nvml_count(nvml); i++)
        has = has || nvml_minor(nvml, i) >= 0;
    for (size_t i = 0; i < nvml_mig_count(nvml); i++)
        has = has || nvml_mig(nvml, i).gpu_minor >= 0;
    return has;
}

static int try_filter(const struct local *local, struct error *err)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/probe", local->cgroups.path);
    if (!cgroups_make_folder(path))
        return error_set(err, ERROR_UNAVAILABLE, "%.120s: %s", path, strerror(errno));
    int rc = device_filter_attach(path, &(struct device_rules){.caps_major = -1}, err);
    (void)rmdir(path);
    return rc;
}

static int try_list(struct local *local, struct error *err)
{
    struct cgroups_v1 *v1 = &local->cgroups.v1;
    if (!cgroups_v1_open(v1, CGROUPS_V1_DEVICES, local->options.cgroup_name))
        return error_set(err, ERROR_UNAVAILABLE, "cgroup v1 has no device controller here");
    if (device_list_check(v1->paths[CGROUPS_V1_DEVICES], err) == 0)
        return 0;
    (void)rmdir(v1->paths[CGROUPS_V1_DEVICES]);
    v1->paths[CGROUPS_V1_DEVICES][0] = '\0';
    return -1;
}

// By v2, else by v1. -1: neither; err says why.
static int try_ways(struct local *local, struct error *err)
{
    struct error why_not_v2 = {0}, why_not_v1 = {0};
    if (geteuid() != 0)
        return error_set(err, ERROR_UNAVAILABLE, "the server is not root");
    if (!has_minors(local->options.nvml))
        return error_set(err, ERROR_UNAVAILABLE, "the driver does not tell which device nodes are whose");
    if (!local->cgroups.path[0])
        error_set(&why_not_v2, ERROR_UNAVAILABLE, "cgroup v2 is not mounted, or not this server's");
    else if (try_filter(local, &why_not_v2) == 0)
        return 0;
    local->holding.is_v1 = try_list(local, &why_not_v1) == 0;
    if (local->holding.is_v1)
        return 0;
    return error_set(err, ERROR_UNAVAILABLE, "%.90s; %.90s", why_not_v2.message, why_not_v1.message);
}

void holding_open(struct local *local)
{
    struct error err = {0};
    const struct nvml *nvml = local->options.nvml;
    if (!nvml || nvml_count(nvml) + nvml_mig_count(nvml) == 0)
        return;
    local->holding.is_kept = try_ways(local, &err) == 0;
    if (local->holding.is_kept)
        log_write(LOG_INFO, "backends", "GPUs are held by cgroup %s: a pod can open its own, and no other",
                  local->holding.is_v1 ? "v1" : "v2");
    else
        log_write(LOG_WARN, "backends",
                  "GPUs are only asked for (CUDA_VISIBLE_DEVICES): a pod can open those of others: %s", err.message);
}

static bool is_of_workload(const struct local_pod *pod, const struct local_pod *other)
{
    return other->ports.workload_uuid[0] && strcmp(pod->ports.workload_uuid, other->ports.workload_uuid) == 0;
}

struct reach {
    uint64_t gpus, instances;
};

static struct reach find_reach(const struct local *local, const struct local_pod *pod)
{
    struct reach reach = {pod->gpus, pod->mig_instances};
    if (!pod->reaches_workload)
        return reach;
    for (const struct local_pod *other = NULL; (other = local_pods_next(&local->pods, other));)
        if (other->phase != LOCAL_OVER && is_of_workload(pod, other)) {
            reach.gpus |= other->gpus;
            reach.instances |= other->mig_instances;
        }
    return reach;
}

uint64_t holding_gpus(const struct local *local, const struct local_pod *pod)
{
    return find_reach(local, pod).gpus;
}

static void open_gpu(struct device_rules *rules, int minor)
{
    if (minor >= 0 && minor < NVIDIA_GPU_MINORS)
        rules->opens_gpu[minor] = true;
}

static void open_cap(struct device_rules *rules, int minor)
{
    if (minor >= 0 && rules->cap_count < DEVICE_CAPS_MAX)
        rules->caps[rules->cap_count++] = minor;
}

static void write_rules(const struct local *local, const struct local_pod *pod, struct device_rules *out)
{
    const struct nvml *nvml = local->options.nvml;
    struct reach reach = find_reach(local, pod);
    *out = (struct device_rules){.caps_major = caps_major()};
    for (size_t i = 0; i < nvml_count(nvml); i++)
        if (reach.gpus >> i & 1)
            open_gpu(out, nvml_minor(nvml, i));
    for (size_t i = 0; i < nvml_mig_count(nvml); i++) {
        struct nvml_mig mig = nvml_mig(nvml, i);
        if (!(reach.instances >> i & 1))
            continue;
        open_gpu(out, mig.gpu_minor);
        open_cap(out, nvidia_nodes_instance(CAPS_MINORS, mig.gpu_minor, mig.gpu_instance, -1));
        open_cap(out, nvidia_nodes_instance(CAPS_MINORS, mig.gpu_minor, mig.gpu_instance, mig.compute_instance));
    }
}

static void name_cgroup(const struct local *local, const struct local_pod *pod, char path[PATH_SIZE])
{
    const struct cgroups *cgroups = &local->cgroups;
    snprintf(path, PATH_SIZE, "%s/%s", local->holding.is_v1 ? cgroups->v1.paths[CGROUPS_V1_DEVICES] : cgroups->path,
             pod->uuid);
}

int holding_keep(struct local *local, const struct local_pod *pod, struct error *err)
{
    char path[PATH_SIZE];
    struct device_rules rules;
    if (!local->holding.is_kept)
        return 0;
    name_cgroup(local, pod, path);
    if (!cgroups_make_folder(path))
        return error_set(err, ERROR_UNAVAILABLE, "its devices cannot be held: %.100s: %s", path, strerror(errno));
    write_rules(local, pod, &rules);
    if (local->holding.is_v1 ? device_list_write(path, &rules, CAPS_MINORS, err) == 0
                             : device_filter_attach(path, &rules, err) == 0)
        return 0;
    return error_prefix(err, "its devices cannot be held: ");
}

// One that runs already.
static void keep_again(struct local *local, const struct local_pod *pod)
{
    char path[PATH_SIZE];
    struct error err = {0};
    if ((pod->phase != LOCAL_STARTING && pod->phase != LOCAL_RUNNING) || pod->is_stray)
        return;
    name_cgroup(local, pod, path);
    if (access(path, F_OK) < 0) // of a server that had no cgroups
        return;
    if (holding_keep(local, pod, &err) < 0)
        log_write(LOG_WARN, "backends", "pod=%s: %s", pod->uuid, err.message);
}

void holding_keep_all(struct local *local)
{
    for (const struct local_pod *pod = NULL; (pod = local_pods_next(&local->pods, pod));)
        keep_again(local, pod);
}

void holding_follow(struct local *local, const struct local_pod *pod)
{
    if (!pod->ports.workload_uuid[0])
        return;
    for (const struct local_pod *other = NULL; (other = local_pods_next(&local->pods, other));)
        if (other != pod && other->reaches_workload && is_of_workload(pod, other))
            keep_again(local, other);
}
