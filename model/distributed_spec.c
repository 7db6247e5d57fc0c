#include "model/distributed_spec.h"

#include <string.h>

static const char *const FRAMEWORKS[] = {"PyTorch", "MPI", "TF", "XGBoost", "JAX", NULL};
static const char *const CLEAN_POLICIES[] = {"None", "All", "Running", NULL};
static const char *const LAUNCHER_POLICIES[] = {"AtStartup", "WaitForWorkersReady", NULL};

static int read_framework(const struct fields *spec, struct workload_spec *out)
{
    const char *word = NULL;
    int64_t slots = 1;
    out->framework = FRAMEWORKS[0];
    if (fields_word(spec, "distributedFramework", FRAMEWORKS, &out->framework) < 0 ||
        fields_word(spec, "cleanPodPolicy", CLEAN_POLICIES, &word) < 0 ||
        fields_word(spec, "mpiLauncherCreationPolicy", LAUNCHER_POLICIES, &word) < 0 ||
        fields_integer(spec, "slotsPerWorker", 1, INT32_MAX, &slots) < 0)
        return -1;
    fields_set_default(spec, "distributedFramework", json_string(out->framework));
    if (strcmp(out->framework, "MPI") == 0) {
        fields_set_default(spec, "slotsPerWorker", json_integer(slots));
        fields_set_default(spec, "sshAuthMountPath", json_string("/root/.ssh"));
    }
    return 0;
}

static int read_replicas(const struct fields *spec, struct workload_spec *out)
{
    int64_t count = 0;
    int64_t maximum = WORKLOAD_PODS_MAX - 1; // and a master
    if (fields_integer(spec, "numWorkers", 1, maximum, &count) < 0 ||
        fields_integer(spec, "minReplicas", 1, maximum, &out->min_workers) < 0 ||
        fields_integer(spec, "maxReplicas", 1, maximum, &out->max_workers) < 0)
        return -1;
    const char *elastic = out->min_workers ? "minReplicas" : "maxReplicas";
    if ((out->min_workers || out->max_workers) && strcmp(out->framework, "PyTorch") != 0)
        return fields_fail(spec, elastic, "only with the framework PyTorch");
    if (!count)
        count = out->max_workers;
    if (!count)
        return fields_fail(spec, "numWorkers", "required");
    if (out->min_workers > count)
        return fields_fail(spec, "minReplicas", "at most numWorkers, which is %d", (int)count);
    if (out->max_workers && out->max_workers < count)
        return fields_fail(spec, "maxReplicas", "at least numWorkers, which is %d", (int)count);
    fields_set_default(spec, "numWorkers", json_integer(count));
    out->worker_count = out->max_workers ? out->max_workers : count;
    out->min_pods = out->min_workers ? out->min_workers : count;
    return 0;
}

static int read_master(const struct fields *top, const struct fields *spec, struct workload_spec *out,
                       const struct pod_totals *worker, struct pod_totals *out_master)
{
    bool is_same = false;
    struct fields master;
    if (fields_bool(top, "masterSpecSameAsWorker", &is_same) < 0 || fields_object(top, "masterSpec", &master) < 0)
        return -1;
    if (is_same && master.object)
        return fields_fail(top, "masterSpec", "not together with masterSpecSameAsWorker");
    if (!is_same && !master.object && strcmp(out->framework, "MPI") == 0)
        return fields_fail(top, "masterSpec",
                           "required by MPI for its launcher, unless masterSpecSameAsWorker is true");
    out->has_master = is_same || master.object;
    if (is_same) {
        out->master = out->worker;
        *out_master = *worker;
    } else if (master.object) {
        fields_drop_nulls(&master);
        fields_set_default(&master, "image", json_incref(json_object_get(spec->object, "image")));
        if (pod_spec_read(&master, &out->master, out_master) < 0)
            return -1;
    }
    out->master.role = POD_ROLE_TEXT_MASTER;
    return 0;
}

static int read_shape(const struct fields *spec, struct workload_spec *out)
{
    if (sub_groups_read(spec, out->worker_count, out->has_master, &out->sub_groups) < 0)
        return -1;
    out->sub_groups_json = sub_groups_text(spec);
    if (out->sub_groups.count == 0)
        return 0;
    if (out->min_workers || out->max_workers)
        return fields_fail(spec, out->min_workers ? "minReplicas" : "maxReplicas",
                           "not with subGroups: their minPods and minSubGroups say it");
    out->min_pods = sub_groups_min_pods(&out->sub_groups, spec->arena);
    return 0;
}

int distributed_spec_read(const struct fields *top, const struct fields *spec, struct workload_spec *out,
                          const struct pod_totals *worker, struct pod_totals *out_master)
{
    if (read_framework(spec, out) < 0 || read_replicas(spec, out) < 0 ||
        read_master(top, spec, out, worker, out_master) < 0)
        return -1;
    out->min_pods += out->has_master;
    return read_shape(spec, out);
}
