// Specifications: what is taken, with the numbers that follow, and what is refused, with the path.
#include "base/arena.h"
#include "base/error.h"
#include "model/workload_spec.h"
#include "tests/support/check.h"

#include <string.h>

#define T WORKLOAD_TYPE_TRAINING
#define W WORKLOAD_TYPE_WORKSPACE
#define D WORKLOAD_TYPE_DISTRIBUTED
#define I WORKLOAD_TYPE_INFERENCE

struct good_case {
    const char *name;
    enum workload_type type;
    const char *body;
    int64_t gpu_milli, pods, gang, priority;
    bool is_preemptible;
};

static const struct good_case GOOD[] = {
    {"an image is enough", T, "{\"spec\":{\"image\":\"a\"}}", 0, 1, 1, 40, true},
    {"a workspace is not preemptible", W, "{\"spec\":{\"image\":\"a\"}}", 0, 1, 1, 125, false},
    {"whole devices", T, "{\"spec\":{\"image\":\"a\",\"compute\":{\"gpuDevicesRequest\":2}}}", 2000, 1, 1, 40, true},
    {"whole devices written as a real", T, "{\"spec\":{\"image\":\"a\",\"compute\":{\"gpuDevicesRequest\":2.0}}}", 2000,
     1, 1, 40, true},
    {"a portion", T,
     "{\"spec\":{\"image\":\"a\",\"compute\":{\"gpuDevicesRequest\":1,\"gpuRequestType\":\"portion\","
     "\"gpuPortionRequest\":0.25}}}",
     250, 1, 1, 40, true},
    {"a portion of one is a device", T,
     "{\"spec\":{\"image\":\"a\",\"compute\":{\"gpuDevicesRequest\":1,\"gpuRequestType\":\"portion\","
     "\"gpuPortionRequest\":1}}}",
     1000, 1, 1, 40, true},
    {"a portion of each of two devices", T,
     "{\"spec\":{\"image\":\"a\",\"compute\":{\"gpuDevicesRequest\":2,\"gpuRequestType\":\"portion\","
     "\"gpuPortionRequest\":0.5}}}",
     1000, 1, 1, 40, true},
    {"an old specification: a portion alone", T, "{\"spec\":{\"image\":\"a\",\"compute\":{\"gpuPortionRequest\":0.5}}}",
     500, 1, 1, 40, true},
    {"an amount of memory", T,
     "{\"spec\":{\"image\":\"a\",\"compute\":{\"gpuDevicesRequest\":1,\"gpuRequestType\":\"memory\","
     "\"gpuMemoryRequest\":\"8G\",\"gpuMemoryLimit\":\"9G\"}}}",
     0, 1, 1, 40, true},
    {"an old priority: build", T, "{\"spec\":{\"image\":\"a\",\"priorityClass\":\"build\"}}", 0, 1, 1, 125, false},
    {"an old priority: train", W, "{\"spec\":{\"image\":\"a\",\"priorityClass\":\"train\"}}", 0, 1, 1, 40, true},
    {"an old priority: interactive-preemptible", W,
     "{\"spec\":{\"image\":\"a\",\"priorityClass\":\"interactive-preemptible\"}}", 0, 1, 1, 90, true},
    {"preemptibility counts more than priority", T,
     "{\"spec\":{\"image\":\"a\",\"priorityClass\":\"very-high\",\"preemptibility\":\"preemptible\"}}", 0, 1, 1, 150,
     true},
    {"non-preemptible with a low priority", T,
     "{\"spec\":{\"image\":\"a\",\"priorityClass\":\"low\",\"preemptibility\":\"non-preemptible\"}}", 0, 1, 1, 40,
     false},
    {"nulls are absent", T, "{\"spec\":{\"image\":\"a\",\"compute\":null,\"priorityClass\":null,\"nodePools\":null}}",
     0, 1, 1, 40, true},
    {"runs at once", T, "{\"spec\":{\"image\":\"a\",\"parallelism\":3,\"compute\":{\"gpuDevicesRequest\":1}}}", 3000, 3,
     1, 40, true},
    {"no more at once than are wanted", T, "{\"spec\":{\"image\":\"a\",\"parallelism\":3,\"completions\":2}}", 0, 2, 1,
     40, true},
    {"unknown fields are left alone", T, "{\"spec\":{\"image\":\"a\",\"fromTheFuture\":[1]},\"environment\":{}}", 0, 1,
     1, 40, true},
    {"an inference is deployed and not preempted", I, "{\"spec\":{\"image\":\"a\"}}", 0, 1, 1, 150, false},
    {"an inference begins with its minimum", I,
     "{\"spec\":{\"image\":\"a\",\"compute\":{\"gpuDevicesRequest\":1},\"autoscaling\":{\"minReplicas\":2,"
     "\"maxReplicas\":5,\"metric\":\"latency\",\"metricThreshold\":9}}}",
     2000, 2, 1, 150, false},
    {"an inference begins with what it says", I,
     "{\"spec\":{\"image\":\"a\",\"autoscaling\":{\"maxReplicas\":5,\"initialReplicas\":4,\"metric\":\"m:x\","
     "\"metricThreshold\":9}}}",
     0, 4, 1, 150, false},
    {"an inference may begin with no replica", I,
     "{\"spec\":{\"image\":\"a\",\"compute\":{\"gpuDevicesRequest\":1},\"autoscaling\":{\"minReplicas\":0,"
     "\"initialReplicas\":0}}}",
     0, 0, 1, 150, false},
    {"workers without a master", D,
     "{\"spec\":{\"image\":\"a\",\"numWorkers\":4,\"compute\":{\"gpuDevicesRequest\":2}}}", 8000, 4, 4, 40, true},
    {"a master like the workers", D,
     "{\"spec\":{\"image\":\"a\",\"numWorkers\":4,\"compute\":{\"gpuDevicesRequest\":2}},\"masterSpecSameAsWorker\":"
     "true}",
     10000, 5, 5, 40, true},
    {"a master of its own, with the workers' image", D,
     "{\"spec\":{\"image\":\"a\",\"numWorkers\":2,\"distributedFramework\":\"MPI\",\"compute\":{\"gpuDevicesRequest\":"
     "1}},\"masterSpec\":{}}",
     2000, 3, 3, 40, true},
    {"elastic workers", D,
     "{\"spec\":{\"image\":\"a\",\"numWorkers\":4,\"minReplicas\":2,\"maxReplicas\":6,\"compute\":{"
     "\"gpuDevicesRequest\":1}},\"masterSpecSameAsWorker\":true}",
     7000, 7, 3, 40, true},
    {"elastic workers by their maximum alone", D, "{\"spec\":{\"image\":\"a\",\"maxReplicas\":3}}", 0, 3, 3, 40, true},
    {"the finest portion", T, "{\"spec\":{\"image\":\"a\",\"compute\":{\"gpuPortionRequest\":0.01}}}", 10, 1, 1, 40,
     true},
    {"MIG instances count as GPUs", T,
     "{\"spec\":{\"image\":\"a\",\"compute\":{\"extendedResources\":[{\"resource\":\"nvidia.com/"
     "mig-2g.20gb\",\"quantity\":\"3\"}]}}}",
     6000, 1, 1, 40, true},
    {"simulated lives", T,
     "{\"spec\":{\"image\":\"a\",\"annotations\":[{\"name\":\"prorata.io/"
     "sim-duration\",\"value\":\"90s\"},{\"name\":\"prorata.io/"
     "sim-exit-code\",\"value\":\"255\"},{\"name\":\"prorata.io/sim-gpu-utilization\",\"value\":\"12.5\"}]}}",
     0, 1, 1, 40, true},
    {"what is excluded is not looked at", T,
     "{\"spec\":{\"image\":\"a\",\"tolerations\":[{\"exclude\":true}],\"environmentVariables\":[{\"name\":\"A\","
     "\"exclude\":true}]}}",
     0, 1, 1, 40, true},
    {"a request that no cluster has", T,
     "{\"spec\":{\"image\":\"a\",\"compute\":{\"gpuDevicesRequest\":4096,\"cpuMemoryRequest\":\"900T\"}}}", 4096000, 1,
     1, 40, true},
};

struct bad_case {
    const char *name;
    enum workload_type type;
    const char *body;
    const char *want; // how the message begins
};

#define SPEC(members) "{\"spec\":{\"image\":\"a\"," members "}}"
#define COMPUTE(members) SPEC("\"compute\":{" members "}")

static const struct bad_case BAD[] = {
    {"no specification", T, "{}", "spec: required"},
    {"a specification of null", T, "{\"spec\":null}", "spec: required"},
    {"a specification of text", T, "{\"spec\":\"x\"}", "spec: an object"},
    {"no image", T, "{\"spec\":{}}", "spec.image: required"},
    {"an empty image", T, "{\"spec\":{\"image\":\"\"}}", "spec.image: not empty"},
    {"an image with a blank", T, "{\"spec\":{\"image\":\"a b\"}}", "spec.image: no blanks"},
    {"a negative number of devices", T, COMPUTE("\"gpuDevicesRequest\":-1"),
     "spec.compute.gpuDevicesRequest: at least 0"},
    {"half a device", T, COMPUTE("\"gpuDevicesRequest\":0.5"), "spec.compute.gpuDevicesRequest: a whole number"},
    {"devices as text", T, COMPUTE("\"gpuDevicesRequest\":\"1\""), "spec.compute.gpuDevicesRequest: a whole number"},
    {"too many devices", T, COMPUTE("\"gpuDevicesRequest\":100001"), "spec.compute.gpuDevicesRequest: at most 100000"},
    {"an unknown type of request", T, COMPUTE("\"gpuRequestType\":\"migProfile\""),
     "spec.compute.gpuRequestType: one of portion, memory"},
    {"portion without its amount", T, COMPUTE("\"gpuRequestType\":\"portion\""),
     "spec.compute.gpuPortionRequest: required"},
    {"memory without its amount", T, COMPUTE("\"gpuRequestType\":\"memory\""),
     "spec.compute.gpuMemoryRequest: required"},
    {"a portion above one", T, COMPUTE("\"gpuPortionRequest\":1.5"), "spec.compute.gpuPortionRequest: at most 1"},
    {"a portion of nothing", T, COMPUTE("\"gpuPortionRequest\":0"), "spec.compute.gpuPortionRequest: above 0"},
    {"a portion too fine", T, COMPUTE("\"gpuPortionRequest\":0.005"), "spec.compute.gpuPortionRequest: "},
    {"a portion's limit below it", T, COMPUTE("\"gpuPortionRequest\":0.5,\"gpuPortionLimit\":0.4"),
     "spec.compute.gpuPortionLimit: not below"},
    {"portion of no device", T, COMPUTE("\"gpuPortionRequest\":0.5,\"gpuDevicesRequest\":0"),
     "spec.compute.gpuDevicesRequest: at least 1"},
    {"portion and memory", T, COMPUTE("\"gpuPortionRequest\":0.5,\"gpuMemoryRequest\":\"1G\""),
     "spec.compute.gpuMemoryRequest: only"},
    {"memory of two devices", T,
     COMPUTE("\"gpuDevicesRequest\":2,\"gpuRequestType\":\"memory\",\"gpuMemoryRequest\":\"1G\""),
     "spec.compute.gpuDevicesRequest: an amount of memory"},
    {"memory's limit below it", T, COMPUTE("\"gpuMemoryRequest\":\"2G\",\"gpuMemoryLimit\":\"1G\""),
     "spec.compute.gpuMemoryLimit: not below"},
    {"memory in an unknown unit", T, COMPUTE("\"cpuMemoryRequest\":\"1X\""), "spec.compute.cpuMemoryRequest: "},
    {"more memory than a pod may ask for", T, COMPUTE("\"cpuMemoryRequest\":\"9000Ti\""),
     "spec.compute.cpuMemoryRequest: at most 8Pi"},
    {"negative cores", T, COMPUTE("\"cpuCoreRequest\":-0.1"), "spec.compute.cpuCoreRequest: at least 0"},
    {"a limit of cores below the request", T, COMPUTE("\"cpuCoreRequest\":2,\"cpuCoreLimit\":1"),
     "spec.compute.cpuCoreLimit: not below"},
    {"GPUs by their resource's name", T,
     COMPUTE("\"extendedResources\":[{\"resource\":\"nvidia.com/gpu\",\"quantity\":\"1\"}]"),
     "spec.compute.extendedResources[0].resource: whole GPUs"},
    {"an extended resource without a domain", T,
     COMPUTE("\"extendedResources\":[{\"resource\":\"nic\",\"quantity\":\"1\"}]"),
     "spec.compute.extendedResources[0].resource: a name with a domain"},
    {"an extended resource twice", T,
     COMPUTE(
         "\"extendedResources\":[{\"resource\":\"a/b\",\"quantity\":\"1\"},{\"resource\":\"a/b\",\"quantity\":\"1\"}]"),
     "spec.compute.extendedResources[1].resource: duplicate: a/b"},
    {"MIG and devices", T,
     COMPUTE("\"gpuDevicesRequest\":1,\"extendedResources\":[{\"resource\":\"nvidia.com/"
             "mig-1g.10gb\",\"quantity\":\"1\"}]"),
     "spec.compute.extendedResources: MIG"},
    {"MIG instances of more GPUs than a pod may ask for", T,
     COMPUTE("\"extendedResources\":[{\"resource\":\"nvidia.com/mig-7g.80gb\",\"quantity\":\"20000\"}]"),
     "spec.compute.extendedResources[0].quantity: MIG instances of at most 100000 GPUs"},
    {"an unknown priority", T, SPEC("\"priorityClass\":\"urgent\""), "spec.priorityClass: one of"},
    {"an unknown preemptibility", T, SPEC("\"preemptibility\":\"maybe\""), "spec.preemptibility: one of"},
    {"an unknown category", T, SPEC("\"category\":\"Play\""), "spec.category: one of Build, Train, Deploy"},
    {"a negative backoff", T, SPEC("\"backoffLimit\":-1"), "spec.backoffLimit: at least 0"},
    {"a grace above the system's", T, SPEC("\"terminationGracePeriodSeconds\":301"),
     "spec.terminationGracePeriodSeconds: at most 300"},
    {"no runs", T, SPEC("\"completions\":0"), "spec.completions: at least 1"},
    {"none at once", T, SPEC("\"parallelism\":0"), "spec.parallelism: at least 1"},
    {"too many at once", T, SPEC("\"parallelism\":10001"), "spec.parallelism: at most 10000"},
    {"a pool twice", T, SPEC("\"nodePools\":[\"a\",\"a\"]"), "spec.nodePools: duplicate: a"},
    {"a pool that is a number", T, SPEC("\"nodePools\":[1]"), "spec.nodePools[0]: text"},
    {"an open quote", T, SPEC("\"command\":\"sh -c 'x\""), "spec.command: the quote"},
    {"a variable with two sources", T,
     SPEC("\"environmentVariables\":[{\"name\":\"A\",\"value\":\"1\",\"secret\":{}}]"),
     "spec.environmentVariables[0].value: exactly one"},
    {"a variable without a name", T, SPEC("\"environmentVariables\":[{\"value\":\"1\"}]"),
     "spec.environmentVariables[0].name: required"},
    {"a label's value", T, SPEC("\"labels\":[{\"name\":\"a\",\"value\":\"-x\"}]"), "spec.labels[0].value: at most 63"},
    {"a simulated life misspelt", T, SPEC("\"annotations\":[{\"name\":\"prorata.io/sim-durations\",\"value\":\"1s\"}]"),
     "spec.annotations[0].name: behind prorata.io/sim-"},
    {"a simulated exit code", T, SPEC("\"annotations\":[{\"name\":\"prorata.io/sim-exit-code\",\"value\":\"256\"}]"),
     "spec.annotations[0].value: prorata.io/sim-exit-code is 0 to 255"},
    {"a toleration without a key", T, SPEC("\"tolerations\":[{\"value\":\"x\"}]"), "spec.tolerations[0].key: required"},
    {"an expression without values", T,
     SPEC("\"nodeAffinityRequired\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]"
          "}]}"),
     "spec.nodeAffinityRequired.nodeSelectorTerms[0].matchExpressions[0].values: at least one"},
    {"greater than a word", T,
     SPEC("\"nodeAffinityRequired\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Gt\","
          "\"values\":[\"x\"]}]}]}"),
     "spec.nodeAffinityRequired.nodeSelectorTerms[0].matchExpressions[0].values[0]: a whole number"},
    {"affinity without a key", T, SPEC("\"podAffinity\":{\"type\":\"Required\"}"), "spec.podAffinity.key: required"},
    {"a port out of range", T, SPEC("\"ports\":[{\"container\":70000}]"), "spec.ports[0].container: at most 65535"},
    {"users and groups", T,
     SPEC("\"exposedUrls\":[{\"container\":80,\"authorizedUsers\":[\"a\"],\"authorizedGroups\":[\"b\"]}]"),
     "spec.exposedUrls[0].authorizedGroups: "},
    {"no workers", D, "{\"spec\":{\"image\":\"a\"}}", "spec.numWorkers: required"},
    {"elastic outside PyTorch", D, SPEC("\"numWorkers\":2,\"minReplicas\":1,\"distributedFramework\":\"TF\""),
     "spec.minReplicas: only with the framework PyTorch"},
    {"a minimum above the workers", D, SPEC("\"numWorkers\":2,\"minReplicas\":3"),
     "spec.minReplicas: at most numWorkers"},
    {"a maximum below the workers", D, SPEC("\"numWorkers\":2,\"maxReplicas\":1"),
     "spec.maxReplicas: at least numWorkers"},
    {"an unknown framework", D, SPEC("\"numWorkers\":2,\"distributedFramework\":\"Ray\""),
     "spec.distributedFramework: one of"},
    {"MPI without a launcher", D, SPEC("\"numWorkers\":2,\"distributedFramework\":\"MPI\""),
     "masterSpec: required by MPI"},
    {"two masters", D,
     "{\"spec\":{\"image\":\"a\",\"numWorkers\":2},\"masterSpecSameAsWorker\":true,\"masterSpec\":{\"image\":\"b\"}}",
     "masterSpec: not together"},
    {"a bad master", D,
     "{\"spec\":{\"image\":\"a\",\"numWorkers\":2},\"masterSpec\":{\"compute\":{\"gpuPortionRequest\":2}}}",
     "masterSpec.compute.gpuPortionRequest: at most 1"},
};

static int read_body(const char *body, enum workload_type type, struct arena *arena, struct workload_spec *out,
                     json_t **out_body, struct error *err)
{
    *out_body = json_loads(body, 0, NULL);
    check_true(*out_body != NULL, "JSON of %s", body);
    return workload_spec_read(*out_body, type, arena, out, err);
}

static void check_good(const struct good_case *row, struct arena *arena)
{
    struct error err = {0};
    struct workload_spec spec;
    json_t *body;
    int rc = read_body(row->body, row->type, arena, &spec, &body, &err);
    check_int(rc, 0, "%s: %s", row->name, err.message);
    if (rc == 0) {
        check_int(spec.gpu_milli, row->gpu_milli, "%s: GPUs", row->name);
        check_int(spec.pods_wanted, row->pods, "%s: pods", row->name);
        check_int(spec.min_pods, row->gang, "%s: gang", row->name);
        check_int(spec.priority, row->priority, "%s: priority", row->name);
        check_int(spec.is_preemptible, row->is_preemptible, "%s: preemptible", row->name);
        // What was completed reads the same again.
        struct workload_spec again;
        check_int(workload_spec_read(body, row->type, arena, &again, &err), 0, "%s, again: %s", row->name, err.message);
        check_int(again.gpu_milli, spec.gpu_milli, "%s, again: GPUs", row->name);
        check_int(again.is_preemptible, spec.is_preemptible, "%s, again: preemptible", row->name);
    }
    json_decref(body);
}

static void check_bad(const struct bad_case *row, struct arena *arena)
{
    struct error err = {0};
    struct workload_spec spec;
    json_t *body;
    check_int(read_body(row->body, row->type, arena, &spec, &body, &err), -1, "%s", row->name);
    check_int(err.code, ERROR_INVALID, "%s: code", row->name);
    check_true(strncmp(err.message, row->want, strlen(row->want)) == 0, "%s: want %s, got %s", row->name, row->want,
               err.message);
    json_decref(body);
}

static void check_defaults(struct arena *arena)
{
    struct error err = {0};
    struct workload_spec spec;
    json_t *body;
    check_int(read_body(SPEC("\"compute\":{\"cpuCoreRequest\":0.1},\"tty\":null"), T, arena, &spec, &body, &err), 0,
              "defaults");
    check_text(workload_spec_text(json_object_get(body, "spec"), arena),
               "{\"image\":\"a\",\"compute\":{\"cpuCoreRequest\":0.1,\"gpuDevicesRequest\":0},\"category\":\"Train\","
               "\"priorityClass\":\"low\",\"preemptibility\":\"preemptible\",\"imagePullPolicy\":\"IfNotPresent\","
               "\"backoffLimit\":6,\"terminationGracePeriodSeconds\":30,"
               "\"autoDeletionTimeAfterCompletionSeconds\":2592000,\"terminateAfterPreemption\":false,"
               "\"parallelism\":1,\"completions\":1}",
               "a specification is answered as asked, with defaults");
    json_decref(body);
}

static void check_constraints(struct arena *arena)
{
    struct error err = {0};
    struct workload_spec spec;
    json_t *body;
    static const char BODY[] =
        SPEC("\"nodeType\":\"dgx\",\"podAffinity\":{\"type\":\"Required\",\"key\":\"rack\"},"
             "\"nodeAffinityRequired\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":"
             "\"In\",\"values\":[\"a\",\"b\"]}]}]},"
             "\"tolerations\":[{\"key\":\"k\",\"operator\":\"Equal\",\"value\":\"v\",\"effect\":\"NoSchedule\"},"
             "{\"operator\":\"Exists\",\"effect\":\"Any\"}],"
             "\"compute\":{\"extendedResources\":[{\"resource\":\"example.com/nic\",\"quantity\":\"2\"}]}");
    check_int(read_body(BODY, T, arena, &spec, &body, &err), 0, "constraints: %s", err.message);
    check_text(spec.worker.constraints_json,
               "{\"extended\":{\"example.com/nic\":2},\"nodeAffinity\":[{\"matchExpressions\":[{\"key\":\"zone\","
               "\"operator\":\"In\",\"values\":[\"a\",\"b\"]}]}],\"nodeSelector\":{\"run.ai/type\":[\"dgx\"]},"
               "\"podAffinity\":{\"key\":\"rack\",\"type\":\"Required\"},\"tolerations\":[{\"effect\":\"NoSchedule\","
               "\"key\":\"k\",\"operator\":\"Equal\",\"value\":\"v\"},{\"operator\":\"Exists\"}]}",
               "constraints stand in the snapshot's form");
    json_decref(body);
}

int main(void)
{
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < COUNT(GOOD); i++)
        check_good(&GOOD[i], &arena);
    for (size_t i = 0; i < COUNT(BAD); i++)
        check_bad(&BAD[i], &arena);
    check_defaults(&arena);
    check_constraints(&arena);
    arena_done(&arena);
    return check_finish();
}
