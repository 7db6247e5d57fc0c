// The flags of submit, and the field of the specification that each one sets.
#include "cli/submit/submit.h"

#include "cli/command.h"

// Of today, and up to version 2.20 (model/priority.c).
#define PRIORITY_WORDS \
    "very-low, low, medium-low, medium, medium-high, high, very-high; or train, interactive, build, inference"

#define HEADING(of_, sentence_)                   \
    {                                             \
        "", NULL, 0, FLAG_HEADING, of_, sentence_ \
    }

// Of both generations.
#define WHAT_FLAGS                                                                                                  \
    HEADING("", "What runs"), {"image", NULL, 'i', FLAG_TEXT, "IMAGE", "the container's image"},                    \
        {"name", NULL, 0, FLAG_TEXT, "NAME", "the name, where it does not stand behind the command"},               \
        {"environment-variable",                                                                                    \
         "environment",                                                                                             \
         'e',                                                                                                       \
         FLAG_LIST,                                                                                                 \
         "NAME=VALUE",                                                                                              \
         "an environment variable; NAME alone: an environment"},                                                    \
        {"env-secret", NULL, 0, FLAG_LIST, "NAME=SECRET,key=KEY", "an environment variable from a secret"},         \
        {"env-config-map", NULL, 0, FLAG_LIST, "NAME=MAP,key=KEY", "an environment variable from a config map"},    \
        {"env-pod-field-ref", NULL, 0, FLAG_LIST, "NAME=FIELD", "an environment variable from a field of the pod"}, \
        {"working-dir", NULL, 0, FLAG_TEXT, "DIR", "the working directory"},                                        \
        {"create-home-dir", NULL, 0, FLAG_SWITCH, "", "a home directory of its own"},                               \
        {"stdin", NULL, 0, FLAG_SWITCH, "", "keep standard input open"},                                            \
        {"tty", NULL, 't', FLAG_SWITCH, "", "with a terminal"},                                                     \
        {"image-pull-policy", NULL, 0, FLAG_TEXT, "POLICY", "Always, IfNotPresent or Never"},                       \
        {"image-pull-secret", NULL, 0, FLAG_LIST, "NAME", "the secret that the image's registry asks for"},         \
        {"label", NULL, 0, FLAG_LIST, "K=V", "a label"},                                                            \
    {                                                                                                               \
        "annotation", NULL, 0, FLAG_LIST, "K=V", "an annotation"                                                    \
    }

#define ASSET_FLAGS                                                                                         \
    HEADING("", "Made from"), {"template", NULL, 0, FLAG_TEXT, "NAME", "this template; flags go above it"}, \
        {"compute", NULL, 0, FLAG_TEXT, "NAME", "this compute resource"},                                   \
    {                                                                                                       \
        "datasource", NULL, 0, FLAG_LIST, "NAME", "this data source"                                        \
    }

#define PLACE_FLAGS                                                                                          \
    HEADING("", "Where and when"),                                                                           \
        {"node-pools", "node-pool", 0, FLAG_LIST, "NAME", "node pools in order of preference: a,b"},         \
        {"node-type", NULL, 0, FLAG_TEXT, "TYPE", "nodes of this type"},                                     \
        {"toleration", NULL, 0, FLAG_LIST, "key=,value=,operator=,effect=,seconds=", "a taint to tolerate"}, \
        {"priority", NULL, 0, FLAG_TEXT, "CLASS", PRIORITY_WORDS},                                           \
    {                                                                                                        \
        "preemptibility", NULL, 0, FLAG_TEXT, "P", "preemptible or non-preemptible"                          \
    }

#define RUN_FLAGS                                                                                               \
    HEADING("", "Pods, tries and the end"), {"parallelism", NULL, 0, FLAG_TEXT, "N", "pods at once"},           \
        {"begin", NULL, 0, FLAG_TEXT, "TIME", "no sooner than then: now+2h, 22:00, 2026-01-31T22:00"},          \
        {"hold", NULL, 0, FLAG_SWITCH, NULL, "it waits, suspended, until it is resumed"},                       \
        {"after", NULL, 0, FLAG_LIST, "NAME[:ok|any|failed]", "when that workload has ended so; ok by itself"}, \
    {                                                                                                           \
        "backoff-limit", "backoffLimit", 0, FLAG_TEXT, "N", "retries before it fails (default 0)"               \
    }

#define DATA_FLAGS                                                                                                   \
    HEADING("", "Data"),                                                                                             \
        {"host-path", NULL, 0, FLAG_LIST, "path=,mount=,mount-propagation=,readwrite", "a folder of the node"},      \
        {"nfs", NULL, 0, FLAG_LIST, "server=,path=,mountpath=,readwrite", "a folder of a file server"},              \
        {"existing-pvc", NULL, 0, FLAG_LIST, "claimname=,path=,ro", "an existing volume claim"},                     \
        {"new-pvc",                                                                                                  \
         NULL,                                                                                                       \
         0,                                                                                                          \
         FLAG_LIST,                                                                                                  \
         "claimname=,storageclass=,size=,path=,accessmode-rwo,accessmode-rom,accessmode-rwm,ro,ephemeral",           \
         "a volume that is made for it"},                                                                            \
        {"git-sync", NULL, 0, FLAG_LIST, "name=,repository=,branch=,rev=,path=,secret=", "a repository"},            \
        {"s3", NULL, 0, FLAG_LIST, "name=,bucket=,path=,url=,accesskey=", "a bucket"},                               \
        {"configmap-map-volume", NULL, 0, FLAG_LIST, "name=,path=,subpath=,default-mode=", "a config map as files"}, \
        {"secret-volume", NULL, 0, FLAG_LIST, "name=,path=,default-mode=", "a secret as files"},                     \
    {                                                                                                                \
        "empty-dir-volume", NULL, 0, FLAG_LIST, "name=,path=,medium=,size-limit=", "a folder that is empty at first" \
    }

#define SECURITY_FLAGS                                                                                                \
    HEADING("", "Who it runs as, and what it may"),                                                                   \
        {"run-as-user", NULL, 0, FLAG_SWITCH, "", "as the user and group who calls this command"},                    \
        {"run-as-uid", NULL, 0, FLAG_TEXT, "ID", "the user that it runs as"},                                         \
        {"run-as-gid", NULL, 0, FLAG_TEXT, "ID", "the group that it runs as"},                                        \
        {"supplemental-groups", NULL, 0, FLAG_TEXT, "ID,ID", "more groups"},                                          \
        {"user-group-source", NULL, 0, FLAG_TEXT, "SOURCE", "user and groups: fromTheImage, fromIdpToken or custom"}, \
        {"run-as-non-root", NULL, 0, FLAG_SWITCH, "", "never as root"},                                               \
        {"read-only-root-filesystem", NULL, 0, FLAG_SWITCH, "", "the image's files cannot be changed"},               \
        {"capability", NULL, 0, FLAG_LIST, "NAME", "a capability of Linux"},                                          \
        {"seccomp-profile", NULL, 0, FLAG_TEXT, "TYPE", "RuntimeDefault, Unconfined or Localhost"},                   \
        {"allow-privilege-escalation", NULL, 0, FLAG_SWITCH, "", "a process may get more rights than its parent"},    \
        {"host-ipc", NULL, 0, FLAG_SWITCH, "", "shares memory with the node's processes"},                            \
        {"host-network", NULL, 0, FLAG_SWITCH, "", "the node's network"},                                             \
    {                                                                                                                 \
        "privileged", NULL, 0, FLAG_SWITCH, "", "all that the node may"                                               \
    }

#define ANSWER_FLAGS                                                                                                 \
    HEADING("", "What this command does"),                                                                           \
        {"watch", NULL, 0, FLAG_SWITCH, "", "wait, with the reason, until it runs; exit status 1: it failed"},       \
        {"dry-run", NULL, 0, FLAG_SWITCH, "", "print what would be sent, and send nothing"},                         \
        {"what-if", NULL, 0, FLAG_SWITCH, "", "say what would happen, and submit nothing; exit status 3: it waits"}, \
        {"json", NULL, 0, FLAG_SWITCH, "", "with --what-if: as JSON"},                                               \
        {"yaml", NULL, 0, FLAG_SWITCH, "", "with --what-if: as YAML"},                                               \
    {                                                                                                                \
        "attach", NULL, 0, FLAG_SWITCH, "", "accepted; use logs --follow"                                            \
    }

const struct flag SUBMIT_FLAGS[] = {
    WHAT_FLAGS,
    {"command", NULL, 'c', FLAG_SWITCH, "", "the words after -- are the command; without it, arguments"},
    {"name-prefix", NULL, 0, FLAG_TEXT, "P", "a name that begins so"},
    {"category", NULL, 0, FLAG_TEXT, "NAME", "Build, Train or Deploy"},
    HEADING("", "GPUs, cores and memory of a pod"),
    {"gpu-devices-request", "gpu-devices", 'g', FLAG_TEXT, "N", "GPUs: 2, or a part of one: 0.5"},
    {"gpu-request-type", NULL, 0, FLAG_TEXT, "TYPE", "portion or memory"},
    {"gpu-portion-request", NULL, 0, FLAG_TEXT, "F", "a part of a GPU: 0.5"},
    {"gpu-portion-limit", NULL, 0, FLAG_TEXT, "F", "at most so much of it"},
    {"gpu-memory-request", NULL, 0, FLAG_TEXT, "SIZE", "an amount of GPU memory: 20G"},
    {"gpu-memory-limit", NULL, 0, FLAG_TEXT, "SIZE", "at most so much of it"},
    {"cpu-core-request", NULL, 0, FLAG_TEXT, "F", "cores: 0.5"},
    {"cpu-core-limit", NULL, 0, FLAG_TEXT, "F", "at most so many"},
    {"cpu-memory-request", NULL, 0, FLAG_TEXT, "SIZE", "memory: 500M, 16Gi"},
    {"cpu-memory-limit", NULL, 0, FLAG_TEXT, "SIZE", "at most so much"},
    {"extended-resource", NULL, 0, FLAG_LIST, "NAME=N", "another resource"},
    {"large-shm", NULL, 0, FLAG_SWITCH, "", "a large shared memory"},
    ASSET_FLAGS,
    PLACE_FLAGS,
    {"preemptible", NULL, 0, FLAG_SWITCH, "", "of a workspace: preemptible (older spelling)"},
    {"exclude-node", NULL, 0, FLAG_LIST, "NODE", "not on this node"},
    {"required-pod-topology-key", NULL, 0, FLAG_TEXT, "KEY", "all pods on nodes of one value of this label"},
    {"preferred-pod-topology-key", NULL, 0, FLAG_TEXT, "KEY", "the same, where that can be"},
    {"topology", NULL, 0, FLAG_TEXT, "name=,required=,preferred=", "one domain of a level of a network topology"},
    DATA_FLAGS,
    HEADING("", "Ports"),
    {"port", NULL, 0, FLAG_LIST, "container=,external=,service-type=", "a port"},
    {"external-url", NULL, 0, FLAG_LIST, "container=,url=,name=,tool-type=,authorization-type=,authusers=,authgroups=",
     "an address from outside; authusers= for each of several"},
    RUN_FLAGS,
    {"runs", NULL, 0, FLAG_TEXT, "N", "pods that must end well"},
    {"backoff-limit-per-index", NULL, 0, FLAG_TEXT, "0", "a run that fails is not tried again, and ends no other"},
    {"restart-policy", NULL, 0, FLAG_TEXT, "P", "Always, OnFailure or Never"},
    {"auto-deletion-time-after-completion", NULL, 0, FLAG_TEXT, "TIME", "delete it so long after its end: 24h"},
    {"termination-grace-period", NULL, 0, FLAG_TEXT, "TIME", "time to stop: 30s"},
    {"terminate-after-preemption", NULL, 0, FLAG_SWITCH, "", "it ends when it gives its place to others"},
    HEADING("Distributed", "Workers and master"),
    {"workers", NULL, 0, FLAG_TEXT, "N", "workers of a distributed training"},
    {"framework", NULL, 'f', FLAG_TEXT, "NAME", "PyTorch, MPI, TF, XGBoost or JAX"},
    {"slots-per-worker", NULL, 0, FLAG_TEXT, "N", "slots of a worker (MPI)"},
    {"clean-pod-policy", NULL, 0, FLAG_TEXT, "P", "None, All or Running"},
    {"sub-group", NULL, 0, FLAG_LIST, "name=,workers=,...",
     "a part of the gang: name=,parent=,workers=,master,min-pods=,min-sub-groups=,topology=,required=,preferred="},
    {"min-sub-groups", NULL, 0, FLAG_TEXT, "N", "so many of the sub-groups without a parent are needed"},
    {"no-master", NULL, 0, FLAG_SWITCH, "", "workers only"},
    {"master-gpu-devices-request", NULL, 0, FLAG_TEXT, "N", "GPUs of the master"},
    {"master-gpu-request-type", NULL, 0, FLAG_TEXT, "TYPE", "portion or memory"},
    {"master-gpu-portion-request", NULL, 0, FLAG_TEXT, "F", "a part of a GPU"},
    {"master-gpu-portion-limit", NULL, 0, FLAG_TEXT, "F", "at most so much of it"},
    {"master-gpu-memory-request", NULL, 0, FLAG_TEXT, "SIZE", "an amount of GPU memory"},
    {"master-gpu-memory-limit", NULL, 0, FLAG_TEXT, "SIZE", "at most so much of it"},
    {"master-cpu-core-request", NULL, 0, FLAG_TEXT, "F", "cores of the master"},
    {"master-cpu-core-limit", NULL, 0, FLAG_TEXT, "F", "at most so many"},
    {"master-cpu-memory-request", NULL, 0, FLAG_TEXT, "SIZE", "memory of the master"},
    {"master-cpu-memory-limit", NULL, 0, FLAG_TEXT, "SIZE", "at most so much"},
    {"master-extended-resource", NULL, 0, FLAG_LIST, "NAME=N", "another resource of the master"},
    {"master-environment-variable", NULL, 0, FLAG_LIST, "NAME=VALUE", "besides those of the workers"},
    {"master-command", NULL, 0, FLAG_TEXT, "CMD", "the master's command"},
    {"master-args", NULL, 0, FLAG_TEXT, "ARGS", "the master's arguments"},
    HEADING("", "Replicas"),
    {"min-replicas", NULL, 0, FLAG_TEXT, "N", "at least so many workers (PyTorch), or replicas of an inference"},
    {"max-replicas", NULL, 0, FLAG_TEXT, "N", "at most so many workers (PyTorch), or replicas of an inference"},
    HEADING("Inference", "Serving"),
    {"serving-port", NULL, 0, FLAG_TEXT,
     "container=,protocol=,authorization-type=,authorized-users=A:B,authorized-groups=A:B,cluster-local=",
     "where an inference answers"},
    {"initial-replicas", NULL, 0, FLAG_TEXT, "N", "replicas at first, and while no metric is shown"},
    {"activation-replicas", NULL, 0, FLAG_TEXT, "N", "replicas at the first call after there were none"},
    {"metric", NULL, 0, FLAG_TEXT, "NAME",
     "what replicas are counted by: concurrency, throughput, latency, or a series"},
    {"metric-threshold", NULL, 0, FLAG_TEXT, "N", "of the metric, for one replica"},
    {"metric-threshold-percentage", NULL, 0, FLAG_TEXT, "F", "the part of it that is aimed at (default 70)"},
    {"concurrency-hard-limit", NULL, 0, FLAG_TEXT, "N", "kept and shown; nothing limits requests"},
    {"scale-to-zero-retention", NULL, 0, FLAG_TEXT, "TIME", "without a call, before the last replica goes"},
    {"scale-down-delay", NULL, 0, FLAG_TEXT, "TIME", "how long less must be enough before replicas go"},
    {"scale-to-zero-retention-seconds", NULL, 0, FLAG_TEXT, "N", "the same in seconds"},
    {"scale-down-delay-seconds", NULL, 0, FLAG_TEXT, "N", "the same in seconds"},
    {"initialization-timeout", NULL, 0, FLAG_TEXT, "TIME", "the longest that a caller waits for a replica"},
    SECURITY_FLAGS,
    ANSWER_FLAGS,
    {"pod-running-timeout", NULL, 0, FLAG_TEXT, "TIME", "accepted; --watch waits as long as it takes"},
    {"wait-for-submit", NULL, 0, FLAG_TEXT, "TIME", "accepted; the answer comes when it is stored"},
    {0},
};

const struct flag OLD_SUBMIT_FLAGS[] = {
    WHAT_FLAGS,
    {"command", NULL, 0, FLAG_OPTIONAL, "[CMD]", "the command; without a value the words after --"},
    {"args", NULL, 0, FLAG_TEXT, "ARGS", "arguments"},
    {"interactive", NULL, 0, FLAG_SWITCH, "", "a workspace instead of a training"},
    {"jupyter", NULL, 0, FLAG_SWITCH, "", "a notebook on port 8888"},
    {"job-name-prefix", NULL, 0, FLAG_TEXT, "P", "a name that begins so"},
    HEADING("", "GPUs, cores and memory of a pod"),
    {"gpu", NULL, 'g', FLAG_TEXT, "N", "GPUs: 2, or a part: 0.5"},
    {"gpu-memory", NULL, 0, FLAG_TEXT, "SIZE", "an amount of GPU memory: 20G"},
    {"cpu", NULL, 0, FLAG_TEXT, "F", "cores"},
    {"cpu-limit", NULL, 0, FLAG_TEXT, "F", "at most so many cores"},
    {"memory", NULL, 0, FLAG_TEXT, "SIZE", "memory: 500M, 16Gi"},
    {"memory-limit", NULL, 0, FLAG_TEXT, "SIZE", "at most so much memory"},
    {"extended-resource", NULL, 0, FLAG_LIST, "NAME=N", "another resource"},
    {"large-shm", NULL, 0, FLAG_SWITCH, "", "a large shared memory"},
    ASSET_FLAGS,
    PLACE_FLAGS,
    {"preemptible", NULL, 0, FLAG_SWITCH, "", "may be preempted"},
    DATA_FLAGS,
    {"pvc", NULL, 0, FLAG_LIST, "NAME:PATH[:ro]", "an existing volume claim; CLASS:SIZE:PATH[:ro] makes one"},
    {"volume", NULL, 'v', FLAG_LIST, "SRC:DST[:ro]", "a folder of the node"},
    HEADING("", "Ports"),
    {"service-type", NULL, 's', FLAG_TEXT, "T", "portforward, nodeport, loadbalancer or ingress"},
    {"port", NULL, 0, FLAG_LIST, "[EXTERNAL:]CONTAINER", "a port"},
    RUN_FLAGS,
    {"completions", NULL, 0, FLAG_TEXT, "N", "runs that must end well"},
    {"ttl-after-finish", NULL, 0, FLAG_TEXT, "TIME", "delete it so long after its end"},
    {"processes", "workers", 0, FLAG_TEXT, "N", "workers of submit-dist and submit-mpi"},
    SECURITY_FLAGS,
    ANSWER_FLAGS,
    {0},
};

const struct spec_field SPEC_FIELDS[] = {
    {"image", "image", FIELD_TEXT},
    {"environment-variable", "environmentVariables", FIELD_NAMED},
    {"large-shm", "compute.largeShmRequest", FIELD_SWITCH},
    {"parallelism", "parallelism", FIELD_INTEGER},
    {"runs", "completions", FIELD_INTEGER},
    {"backoff-limit-per-index", "backoffLimitPerIndex", FIELD_INTEGER},
    {"completions", "completions", FIELD_INTEGER},
    {"backoff-limit", "backoffLimit", FIELD_INTEGER},
    {"working-dir", "workingDir", FIELD_TEXT},
    {"create-home-dir", "createHomeDir", FIELD_SWITCH},
    {"stdin", "stdin", FIELD_SWITCH},
    {"tty", "tty", FIELD_SWITCH},
    {"image-pull-policy", "imagePullPolicy", FIELD_TEXT},
    {"node-type", "nodeType", FIELD_TEXT},
    {"node-pools", "nodePools", FIELD_TEXTS},
    {"priority", "priorityClass", FIELD_TEXT},
    {"preemptibility", "preemptibility", FIELD_TEXT},
    {"label", "labels", FIELD_NAMED},
    {"annotation", "annotations", FIELD_NAMED},
    {"gpu-request-type", "compute.gpuRequestType", FIELD_TEXT},
    {"gpu-portion-request", "compute.gpuPortionRequest", FIELD_NUMBER},
    {"gpu-portion-limit", "compute.gpuPortionLimit", FIELD_NUMBER},
    {"gpu-memory-request", "compute.gpuMemoryRequest", FIELD_TEXT},
    {"gpu-memory-limit", "compute.gpuMemoryLimit", FIELD_TEXT},
    {"gpu-memory", "compute.gpuMemoryRequest", FIELD_TEXT},
    {"cpu-core-request", "compute.cpuCoreRequest", FIELD_NUMBER},
    {"cpu-core-limit", "compute.cpuCoreLimit", FIELD_NUMBER},
    {"cpu-memory-request", "compute.cpuMemoryRequest", FIELD_TEXT},
    {"cpu-memory-limit", "compute.cpuMemoryLimit", FIELD_TEXT},
    {"cpu", "compute.cpuCoreRequest", FIELD_NUMBER},
    {"cpu-limit", "compute.cpuCoreLimit", FIELD_NUMBER},
    {"memory", "compute.cpuMemoryRequest", FIELD_TEXT},
    {"memory-limit", "compute.cpuMemoryLimit", FIELD_TEXT},
    {"restart-policy", "restartPolicy", FIELD_TEXT},
    {"begin", "startAt", FIELD_START},
    {"after", "after", FIELD_AFTER},
    {"auto-deletion-time-after-completion", "autoDeletionTimeAfterCompletionSeconds", FIELD_SECONDS},
    {"ttl-after-finish", "autoDeletionTimeAfterCompletionSeconds", FIELD_SECONDS},
    {"termination-grace-period", "terminationGracePeriodSeconds", FIELD_SECONDS},
    {"category", "category", FIELD_TEXT},
    {"terminate-after-preemption", "terminateAfterPreemption", FIELD_SWITCH},
    {"run-as-uid", "security.runAsUid", FIELD_INTEGER},
    {"run-as-gid", "security.runAsGid", FIELD_INTEGER},
    {"supplemental-groups", "security.supplementalGroups", FIELD_TEXT},
    {"user-group-source", "security.uidGidSource", FIELD_TEXT},
    {"run-as-non-root", "security.runAsNonRoot", FIELD_SWITCH},
    {"read-only-root-filesystem", "security.readOnlyRootFilesystem", FIELD_SWITCH},
    {"capability", "security.capabilities", FIELD_TEXTS},
    {"seccomp-profile", "security.seccompProfileType", FIELD_TEXT},
    {"allow-privilege-escalation", "security.allowPrivilegeEscalation", FIELD_SWITCH},
    {"host-ipc", "security.hostIpc", FIELD_SWITCH},
    {"host-network", "security.hostNetwork", FIELD_SWITCH},
    {"privileged", "security.privileged", FIELD_SWITCH},
    {"workers", "numWorkers", FIELD_INTEGER},
    {"initial-replicas", "autoscaling.initialReplicas", FIELD_INTEGER},
    {"activation-replicas", "autoscaling.activationReplicas", FIELD_INTEGER},
    {"metric", "autoscaling.metric", FIELD_TEXT},
    {"metric-threshold", "autoscaling.metricThreshold", FIELD_INTEGER},
    {"metric-threshold-percentage", "autoscaling.metricThresholdPercentage", FIELD_NUMBER},
    {"concurrency-hard-limit", "autoscaling.concurrencyHardLimit", FIELD_INTEGER},
    {"scale-to-zero-retention-seconds", "autoscaling.scaleToZeroRetentionSeconds", FIELD_INTEGER},
    {"scale-down-delay-seconds", "autoscaling.scaleDownDelaySeconds", FIELD_INTEGER},
    {"scale-to-zero-retention", "autoscaling.scaleToZeroRetentionSeconds", FIELD_SECONDS},
    {"scale-down-delay", "autoscaling.scaleDownDelaySeconds", FIELD_SECONDS},
    {"initialization-timeout", "servingConfiguration.initializationTimeoutSeconds", FIELD_SECONDS},
    {"processes", "numWorkers", FIELD_INTEGER},
    {"min-replicas", "minReplicas", FIELD_INTEGER},
    {"max-replicas", "maxReplicas", FIELD_INTEGER},
    {"min-sub-groups", "minSubGroups", FIELD_INTEGER},
    {"slots-per-worker", "slotsPerWorker", FIELD_INTEGER},
    {"clean-pod-policy", "cleanPodPolicy", FIELD_TEXT},
    {"framework", "distributedFramework", FIELD_TEXT},
    {0},
};

const struct spec_field MASTER_FIELDS[] = {
    {"master-command", "command", FIELD_TEXT},
    {"master-args", "args", FIELD_TEXT},
    {"master-gpu-request-type", "compute.gpuRequestType", FIELD_TEXT},
    {"master-gpu-portion-request", "compute.gpuPortionRequest", FIELD_NUMBER},
    {"master-gpu-portion-limit", "compute.gpuPortionLimit", FIELD_NUMBER},
    {"master-gpu-memory-request", "compute.gpuMemoryRequest", FIELD_TEXT},
    {"master-gpu-memory-limit", "compute.gpuMemoryLimit", FIELD_TEXT},
    {"master-cpu-core-request", "compute.cpuCoreRequest", FIELD_NUMBER},
    {"master-cpu-core-limit", "compute.cpuCoreLimit", FIELD_NUMBER},
    {"master-cpu-memory-request", "compute.cpuMemoryRequest", FIELD_TEXT},
    {"master-cpu-memory-limit", "compute.cpuMemoryLimit", FIELD_TEXT},
    {0},
};
