// From specifications to objects of Kubernetes. Cases write JSON with ' for ".
#include "backends/kubernetes/manifests/kube_manifest.h"
#include "backends/kubernetes/objects/kube_pod.h"
#include "base/arena.h"
#include "base/error.h"
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

static const struct kube_site SITE = {
    .instance = "7f3a9c21", .priority_class_prefix = "prorata-", .git_image = "git:1"};

static char *quoted(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text);
    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    return copy;
}

static struct backend_pod pod_of(struct arena *arena, const char *type, const char *role, const char *spec)
{
    bool is_distributed = strcmp(type, "Distributed") == 0;
    return (struct backend_pod){
        .uuid = "11111111-2222-3333-4444-555555555555",
        .name = is_distributed ? arena_printf(arena, "llm-%s-3", role) : "llm-3-2",
        .role = role,
        .index = 3,
        .attempt = 2,
        .workload_uuid = "99999999-2222-3333-4444-555555555555",
        .workload_name = "llm",
        .workload_type = type,
        .submitted_by = "ann@example.com",
        .workload_pods = is_distributed ? 5 : 1,
        .project_name = "vision",
        .namespace = "runai-vision",
        .spec_json = quoted(arena, spec),
        .grace_ms = 30500,
    };
}

// By keys and numbers of items, parted by blanks.
static const json_t *value_at(const json_t *object, const char *path)
{
    char key[128];
    while (object && *path) {
        size_t length = strcspn(path, " ");
        memcpy(key, path, length);
        key[length] = '\0';
        object = json_is_array(object) ? json_array_get(object, (size_t)atoi(key)) : json_object_get(object, key);
        path += length + (path[length] == ' ');
    }
    return object;
}

// want NULL: nothing is there.
static void check_value(const char *what, const json_t *object, const char *path, const char *want, struct arena *arena)
{
    char *text = json_dumps(value_at(object, path), JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS);
    check_text(text ? text : "none", want ? quoted(arena, want) : "none", "%s: %s", what, path);
    free(text);
}

struct pod_case {
    const char *what, *type, *role, *spec, *path, *want;
};

static const struct pod_case PODS[] = {
    {"a name holds the attempt", "Training", "worker", "{'image':'a'}", "metadata name", "'llm-3-2'"},
    {"of distributed work too", "Distributed", "worker", "{'image':'a'}", "metadata name", "'llm-worker-3-a2'"},
    {"the namespace is the project's", "Training", "worker", "{'image':'a'}", "metadata namespace", "'runai-vision'"},
    {"labels", "Training", "worker", "{'image':'a','labels':[{'name':'team','value':'x'}]}", "metadata labels",
     "{'prorata.io/index':'3','prorata.io/instance':'7f3a9c21','prorata.io/project':'vision','prorata.io/role':"
     "'worker','prorata.io/workload':'99999999-2222-3333-4444-555555555555','team':'x'}"},
    {"annotations", "Training", "worker",
     "{'image':'a','annotations':[{'name':'note','value':'y'},{'name':'off','value':'z','exclude':true}]}",
     "metadata annotations",
     "{'note':'y','prorata.io/attempt':'2','prorata.io/pod-id':'11111111-2222-3333-4444-555555555555',"
     "'prorata.io/submitted-by':'ann@example.com','prorata.io/workload-name':'llm'}"},
    {"what is not preemptible stays where it is", "Training", "worker",
     "{'image':'a','preemptibility':'non-preemptible'}", "metadata annotations karpenter.sh/do-not-disrupt", "'true'"},
    {"our scheduler", "Training", "worker", "{'image':'a'}", "spec schedulerName", "'prorata'"},
    {"nobody's token", "Training", "worker", "{'image':'a'}", "spec automountServiceAccountToken", "false"},
    {"no variables of services", "Training", "worker", "{'image':'a'}", "spec enableServiceLinks", "false"},
    {"grace is rounded up", "Training", "worker", "{'image':'a'}", "spec terminationGracePeriodSeconds", "31"},
    {"a training runs once", "Training", "worker", "{'image':'a'}", "spec restartPolicy", "'Never'"},
    {"a workspace is started again", "Workspace", "worker", "{'image':'a'}", "spec restartPolicy", "'Always'"},
    {"an inference too", "Inference", "worker", "{'image':'a'}", "spec restartPolicy", "'Always'"},
    {"a training as it asks", "Training", "worker", "{'image':'a','restartPolicy':'OnFailure'}", "spec restartPolicy",
     "'OnFailure'"},
    {"a training that always starts again would never end", "Training", "worker",
     "{'image':'a','restartPolicy':'Always'}", "spec restartPolicy", "'OnFailure'"},
    {"a class of ours", "Training", "worker", "{'image':'a','priorityClass':'train'}", "spec priorityClassName",
     "'prorata-low'"},
    {"words", "Training", "worker", "{'image':'a','command':'sh -c a\\\\ b'}", "spec containers 0 command",
     "['sh','-c','a b']"},
    {"words of a command", "Training", "worker", "{'image':'a','command':'python  train.py','args':'--x $(Y)'}",
     "spec containers 0 args", "['--x','$(Y)']"},
    {"CPU and memory", "Training", "worker",
     "{'image':'a','compute':{'cpuCoreRequest':1.5,'cpuCoreLimit':2,'cpuMemoryRequest':'1G','cpuMemoryLimit':'2Gi'}}",
     "spec containers 0 resources",
     "{'limits':{'cpu':'2000m','memory':'2Gi'},'requests':{'cpu':'1500m','memory':'1000000000'}}"},
    {"nothing is asked in words", "Training", "worker", "{'image':'a'}", "spec containers 0 resources",
     "{'limits':{},'requests':{'cpu':'0','memory':'0'}}"},
    {"whole GPUs", "Training", "worker", "{'image':'a','compute':{'gpuDevicesRequest':2}}",
     "spec containers 0 resources limits", "{'nvidia.com/gpu':'2'}"},
    {"a portion of 1 is a GPU", "Training", "worker",
     "{'image':'a','compute':{'gpuDevicesRequest':1,'gpuRequestType':'portion','gpuPortionRequest':1}}",
     "spec containers 0 resources limits", "{'nvidia.com/gpu':'1'}"},
    {"extended resources", "Training", "worker",
     "{'image':'a','compute':{'extendedResources':[{'resource':'nvidia.com/mig-1g.5gb','quantity':'2'},{'resource':'a/"
     "b','quantity':'1','exclude':true}]}}",
     "spec containers 0 resources limits", "{'nvidia.com/mig-1g.5gb':'2'}"},
    {"GPU nodes may be tainted", "Training", "worker",
     "{'image':'a','compute':{'gpuDevicesRequest':1},'tolerations':[{'name':'t','key':'k','operator':'Equal','value':"
     "'v','effect':'Any','seconds':5}]}",
     "spec tolerations",
     "[{'effect':'NoSchedule','key':'nvidia.com/gpu','operator':'Exists'},{'key':'k','operator':'Equal',"
     "'tolerationSeconds':5,'value':'v'}]"},
    {"a type of nodes, under both labels", "Training", "worker", "{'image':'a','nodeType':'dgx'}",
     "spec affinity nodeAffinity requiredDuringSchedulingIgnoredDuringExecution nodeSelectorTerms",
     "[{'matchExpressions':[{'key':'run.ai/type','operator':'In','values':['dgx']}]},{'matchExpressions':[{'key':"
     "'run-ai/node-type','operator':'In','values':['dgx']}]}]"},
    {"who it runs as", "Training", "worker",
     "{'image':'a','security':{'runAsUid':1000,'runAsGid':100,'runAsNonRoot':true,'capabilities':['SYS_PTRACE'],"
     "'allowPrivilegeEscalation':false,'readOnlyRootFilesystem':true,'seccompProfileType':'RuntimeDefault'}}",
     "spec containers 0 securityContext",
     "{'allowPrivilegeEscalation':false,'capabilities':{'add':['SYS_PTRACE']},'readOnlyRootFilesystem':true,"
     "'runAsGroup':100,'runAsNonRoot':true,'runAsUser':1000,'seccompProfile':{'type':'RuntimeDefault'}}"},
    {"the pod's groups", "Training", "worker", "{'image':'a','security':{'runAsGid':100,'supplementalGroups':'5, 6'}}",
     "spec securityContext", "{'fsGroup':100,'fsGroupChangePolicy':'OnRootMismatch','supplementalGroups':[5,6]}"},
    {"the machine's network", "Training", "worker", "{'image':'a','security':{'hostNetwork':true,'hostIpc':true}}",
     "spec dnsPolicy", "'ClusterFirstWithHostNet'"},
    {"secrets to pull with", "Training", "worker", "{'image':'a','imagePullSecrets':[{'name':'p'}]}",
     "spec imagePullSecrets", "[{'name':'p'}]"},
    {"a hook before the stop", "Training", "worker",
     "{'image':'a','annotations':[{'name':'prorata.io/pre-stop','value':'sync'}]}",
     "spec containers 0 lifecycle preStop exec command", "['/bin/sh','-c','sync']"},
    {"a probe", "Workspace", "worker",
     "{'image':'a','probes':{'readiness':{'periodSeconds':3,'handler':{'httpGet':{'path':'/x','port':80}}}}}",
     "spec containers 0 readinessProbe", "{'httpGet':{'path':'/x','port':80},'periodSeconds':3}"},
    {"an inference is ready when its port answers", "Inference", "worker",
     "{'image':'a','servingPort':{'container':8000}}", "spec containers 0 readinessProbe",
     "{'tcpSocket':{'port':8000}}"},
    {"a host's name outlives attempts", "Distributed", "worker", "{'image':'a'}", "spec hostname", "'llm-worker-3'"},
    {"and is resolved in its workload's domain", "Distributed", "worker", "{'image':'a'}", "spec subdomain", "'llm'"},
    {"shared memory", "Training", "worker", "{'image':'a','compute':{'largeShmRequest':true}}", "spec volumes",
     "[{'emptyDir':{'medium':'Memory'},'name':'v0'}]"},
    {"a folder of the machine", "Training", "worker",
     "{'image':'a','storage':{'hostPath':[{'path':'/data','readOnly':true,'mountPropagation':'HostToContainer'}]}}",
     "spec containers 0 volumeMounts",
     "[{'mountPath':'/data','mountPropagation':'HostToContainer','name':'v0','readOnly':true}]"},
    {"NFS", "Training", "worker", "{'image':'a','storage':{'nfs':[{'path':'/export','server':'s','mountPath':'/m'}]}}",
     "spec volumes", "[{'name':'v0','nfs':{'path':'/export','readOnly':false,'server':'s'}}]"},
    {"a claim that exists", "Training", "worker",
     "{'image':'a','storage':{'pvc':[{'path':'/m','existingPvc':true,'claimName':'c'}]}}", "spec volumes",
     "[{'name':'v0','persistentVolumeClaim':{'claimName':'c','readOnly':false}}]"},
    {"a claim that ends with the pod", "Training", "worker",
     "{'image':'a','storage':{'pvc':[{'path':'/m','ephemeral':true,'claimInfo':{'size':'1Gi','storageClass':'s'}}]}}",
     "spec volumes",
     "[{'ephemeral':{'volumeClaimTemplate':{'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':"
     "'1Gi'}},'storageClassName':'s'}}},'name':'v0'}]"},
    {"files of a config map", "Training", "worker",
     "{'image':'a','storage':{'configMapVolume':[{'configMap':'c','mountPath':'/m/k','subPath':'k','defaultMode':"
     "'0644'}]}}",
     "spec volumes", "[{'configMap':{'defaultMode':420,'name':'c'},'name':'v0'}]"},
    {"files of a secret", "Training", "worker",
     "{'image':'a','storage':{'secretVolume':[{'secret':'c','mountPath':'/m'}]}}", "spec volumes",
     "[{'name':'v0','secret':{'secretName':'c'}}]"},
    {"a repository", "Training", "worker",
     "{'image':'a','storage':{'git':[{'repository':'https://x/y','branch':'b','path':'/src','secretRef':{'name':'s'}}]}"
     "}",
     "spec initContainers 0 env",
     "[{'name':'GIT_REPOSITORY','value':'https://x/y'},{'name':'GIT_BRANCH','value':'b'},{'name':'GIT_USER',"
     "'valueFrom':{'secretKeyRef':{'key':'username','name':'s'}}},{'name':'GIT_PASSWORD','valueFrom':{'secretKeyRef':"
     "{'key':'password','name':'s'}}}]"},
    {"is seen as a folder of its volume", "Training", "worker",
     "{'image':'a','storage':{'git':[{'repository':'https://x/y','path':'/src'}]}}", "spec containers 0 volumeMounts",
     "[{'mountPath':'/src','name':'v0','subPath':'repository'}]"},
};

static void test_pods(void)
{
    for (size_t i = 0; i < COUNT(PODS); i++) {
        const struct pod_case *row = &PODS[i];
        struct arena arena;
        struct error err = {0};
        json_t *object = NULL;
        arena_init(&arena);
        struct backend_pod pod = pod_of(&arena, row->type, row->role, row->spec);
        int rc = kube_manifest_pod(&SITE, &pod, &arena, &object, &err);
        check_true(rc == 0, "%s: %s", row->what, err.message);
        if (rc == 0)
            check_value(row->what, object, row->path, row->want, &arena);
        json_decref(object);
        arena_done(&arena);
    }
}

struct list_case {
    const char *what, *type, *role, *spec, *path, *want;
};

static const struct list_case SERVICES[] = {
    {"a training without ports needs none", "Training", "worker", "{'image':'a'}", "", "[]"},
    {"ports of one type are one service", "Workspace", "worker",
     "{'image':'a','ports':[{'container':80,'external':8080},{'container':81,'serviceType':'ClusterIP'}],"
     "'exposedUrls':[{'container':81},{'container':82}]}",
     "0 spec ports",
     "[{'name':'port-8080','port':8080,'protocol':'TCP','targetPort':80},{'name':'port-81','port':81,'protocol':"
     "'TCP','targetPort':81},{'name':'port-82','port':82,'protocol':'TCP','targetPort':82}]"},
    {"ports of nodes are another", "Workspace", "worker",
     "{'image':'a','ports':[{'container':80},{'container':81,'serviceType':'NodePort','external':30081}]}",
     "1 metadata name", "'llm-node-port'"},
    {"with the port that was asked for", "Workspace", "worker",
     "{'image':'a','ports':[{'container':81,'serviceType':'NodePort','external':30081}]}", "0 spec ports",
     "[{'name':'port-81','nodePort':30081,'port':81,'protocol':'TCP','targetPort':81}]"},
    {"what lies outside is a third", "Workspace", "worker",
     "{'image':'a','ports':[{'container':81,'serviceType':'LoadBalancer','external':443}]}", "0 spec type",
     "'LoadBalancer'"},
    {"pods of distributed work get names before they are ready", "Distributed", "master", "{'image':'a'}", "0 spec",
     "{'clusterIP':'None','ports':[{'name':'port-23456','port':23456,'protocol':'TCP','targetPort':23456}],"
     "'publishNotReadyAddresses':true,'selector':{'prorata.io/instance':'7f3a9c21','prorata.io/workload':"
     "'99999999-2222-3333-4444-555555555555'}}"},
    {"and a role's ports are its own", "Distributed", "master", "{'image':'a','ports':[{'container':80}]}",
     "1 metadata name", "'llm-master-ports'"},
    {"an inference answers at the port of http too", "Inference", "worker",
     "{'image':'a','servingPort':{'container':8000,'protocol':'grpc'}}", "0 spec ports",
     "[{'appProtocol':'kubernetes.io/h2c','name':'port-80','port':80,'protocol':'TCP','targetPort':8000},{'name':"
     "'port-8000','port':8000,'protocol':'TCP','targetPort':8000}]"},
    {"and outside where it asks to", "Inference", "worker",
     "{'image':'a','servingPort':{'container':8000},'ports':[{'container':8000,'serviceType':'LoadBalancer'}]}",
     "1 metadata name", "'llm-load-balancer'"},
};

static const struct list_case CLAIMS[] = {
    {"what exists, or ends with its pod, is not made", "Training", "worker",
     "{'image':'a','storage':{'pvc':[{'path':'/a','existingPvc':true,'claimName':'c'},{'path':'/b','ephemeral':true,"
     "'claimInfo':{'size':'1Gi'}}]}}",
     "", "[]"},
    {"a claim that outlives its pods", "Training", "worker",
     "{'image':'a','storage':{'pvc':[{'path':'/a','claimInfo':{'size':'1Gi','accessModes':{'readWriteMany':true},"
     "'volumeMode':'Filesystem'}}]}}",
     "0 spec",
     "{'accessModes':['ReadWriteMany'],'resources':{'requests':{'storage':'1Gi'}},'volumeMode':'Filesystem'}"},
    {"its name is its workload's", "Training", "worker",
     "{'image':'a','storage':{'pvc':[{'path':'/a','claimInfo':{'size':'1Gi'}}]}}", "0 metadata name", "'llm-claim-0'"},
};

typedef int (*list_fn)(const struct kube_site *site, const struct backend_pod *pod, struct arena *arena,
                       json_t **out_list, struct error *err);

static void test_lists(const struct list_case *cases, size_t count, list_fn make)
{
    for (size_t i = 0; i < count; i++) {
        struct arena arena;
        struct error err = {0};
        json_t *list = NULL;
        arena_init(&arena);
        struct backend_pod pod = pod_of(&arena, cases[i].type, cases[i].role, cases[i].spec);
        check_int(make(&SITE, &pod, &arena, &list, &err), 0, "%s", cases[i].what);
        check_value(cases[i].what, list, cases[i].path, cases[i].want, &arena);
        json_decref(list);
        arena_done(&arena);
    }
}

// spec, want_message: "" is taken
static const char *const CHECKS[][2] = {
    {"{'image':'a'}", ""},
    {"{'image':'a','compute':{'gpuDevicesRequest':2}}", ""},
    {"{'image':'a','compute':{'gpuRequestType':'portion','gpuPortionRequest':0.5}}",
     "spec.compute.gpuPortionRequest: this cluster gives whole GPUs alone; ask for gpuDevicesRequest without a "
     "portion"},
    {"{'image':'a','compute':{'gpuMemoryRequest':'5G'}}",
     "spec.compute.gpuMemoryRequest: this cluster gives whole GPUs alone; ask for gpuDevicesRequest without a portion"},
    {"{'image':'a','compute':{'extendedResources':[{'resource':'nvidia.com/gpu','quantity':'1'}]}}",
     "spec.compute.extendedResources[0].resource: ask for GPUs by gpuDevicesRequest"},
    {"{'image':'a','command':'echo \\\\'}", "spec.command: a backslash at the end"},
    {"{'image':'a','distributedFramework':'MPI'}",
     "spec.distributedFramework: this cluster starts no MPI launchers; use PyTorch, TF, JAX or XGBoost"},
    {"{'image':'a','labels':[{'name':'prorata.io/instance','value':'x'}]}",
     "spec.labels[0].name: labels of prorata.io/ are the server's own"},
    {"{'image':'a','environmentVariables':[{'name':'A','podFieldRef':{'path':'metadata.labels[\\u0027x\\u0027]'}}]}",
     ""},
    {"{'image':'a','environmentVariables':[{'name':'A','podFieldRef':{'path':'status.phase'}}]}",
     "spec.environmentVariables[0].podFieldRef: status.phase: Kubernetes tells no pod of it"},
    {"{'image':'a','environmentVariables':[{'name':'A','userCredential':{'name':'c','key':'k'}}]}",
     "spec.environmentVariables[0].userCredential: credentials of users do not reach the cluster; use secret"},
    {"{'image':'a','storage':{'s3':[{'bucket':'b','exclude':true},{'bucket':'b'}]}}",
     "spec.storage.s3[1].bucket: a pod mounts no bucket; use a claim whose storage class does"},
    {"{'image':'a','storage':{'hostPath':[{'path':'data'}]}}",
     "spec.storage.hostPath[0].path: expected an absolute path without colons, got data"},
    {"{'image':'a','storage':{'nfs':[{'path':'/a'}]}}", "spec.storage.nfs[0].server: expected a name or an address"},
    {"{'image':'a','storage':{'git':[{'repository':'--upload-pack=x'}]}}",
     "spec.storage.git[0].repository: expected an address"},
    {"{'image':'a','storage':{'pvc':[{'path':'/a'}]}}",
     "spec.storage.pvc[0].claimInfo.size: required of a claim that is to be made"},
    {"{'image':'a','storage':{'secretVolume':[{'mountPath':'/a'}]}}",
     "spec.storage.secretVolume[0].secret: expected a name"},
    {"no JSON", "spec: it cannot be read"},
};

static void test_checks(void)
{
    for (size_t i = 0; i < COUNT(CHECKS); i++) {
        struct arena arena;
        struct error err = {0};
        arena_init(&arena);
        struct backend_pod pod = {.spec_json = quoted(&arena, CHECKS[i][0])};
        int rc = kube_manifest_check(&SITE, &pod, &err);
        check_text(rc < 0 ? err.message : "", CHECKS[i][1], "%s", CHECKS[i][0]);
        arena_done(&arena);
    }
    struct error err = {0};
    struct kube_site bare = {.instance = "x"};
    struct backend_pod pod = {.spec_json = "{\"image\":\"a\",\"storage\":{\"git\":[{\"repository\":\"https://x\"}]}}"};
    check_int(kube_manifest_check(&bare, &pod, &err), -1, "no image to clone with");
    check_text(err.message, "spec.storage.git[0].repository: this cluster names no image that clones repositories",
               "no image to clone with");
}

// The value of a variable; "" where there is none.
static const char *variable_of(const json_t *object, const char *name)
{
    const json_t *item;
    size_t i;
    json_array_foreach(value_at(object, "spec containers 0 env"), i, item)
        if (strcmp(json_string_value(json_object_get(item, "name")), name) == 0) {
            const char *value = json_string_value(json_object_get(item, "value"));
            return value ? value : "of something";
        }
    return "";
}

struct variable_case {
    const char *what, *type, *role, *spec, *name, *want;
};

static const struct variable_case VARIABLES[] = {
    {"theirs win", "Training", "worker", "{'environmentVariables':[{'name':'RUNAI_PROJECT','value':'x'}]}",
     "RUNAI_PROJECT", "x"},
    {"the later of theirs counts", "Training", "worker",
     "{'environmentVariables':[{'name':'A','value':'x'},{'name':'A','value':'y'}]}", "A", "y"},
    {"what is excluded does not", "Training", "worker",
     "{'environmentVariables':[{'name':'A','value':'x','exclude':true}]}", "A", ""},
    {"a key of a secret", "Training", "worker",
     "{'environmentVariables':[{'name':'A','secret':{'name':'s','key':'k'}}]}", "A", "of something"},
    {"without GPUs no image takes all", "Training", "worker",
     "{'environmentVariables':[{'name':'NVIDIA_VISIBLE_DEVICES','value':'all'}]}", "NVIDIA_VISIBLE_DEVICES", "void"},
    {"with GPUs the device plugin says which", "Training", "worker", "{'compute':{'gpuDevicesRequest':1}}",
     "NVIDIA_VISIBLE_DEVICES", ""},
    {"the master has a name", "Distributed", "worker", "{'numWorkers':4}", "MASTER_ADDR", "llm-master-0.llm"},
    {"without a master it is the first worker", "Distributed", "worker", "{'numWorkers':5}", "MASTER_ADDR",
     "llm-worker-0.llm"},
    {"all pods count", "Distributed", "worker", "{'numWorkers':4}", "WORLD_SIZE", "5"},
    {"the master is the first", "Distributed", "worker", "{'numWorkers':4}", "RANK", "4"},
    {"without one the workers begin", "Distributed", "worker", "{'numWorkers':5}", "RANK", "3"},
    {"torchrun starts a process for each GPU", "Distributed", "worker",
     "{'numWorkers':4,'compute':{'gpuDevicesRequest':8}}", "PET_NPROC_PER_NODE", "8"},
    {"elastic workers meet", "Distributed", "worker", "{'maxReplicas':4,'minReplicas':2}", "PET_NNODES", "3:5"},
    {"TensorFlow's cluster", "Distributed", "master", "{'numWorkers':4,'distributedFramework':'TF'}", "TF_CONFIG",
     "{\"cluster\":{\"worker\":[\"llm-worker-0.llm:23456\",\"llm-worker-1.llm:23456\",\"llm-worker-2.llm:23456\","
     "\"llm-worker-3.llm:23456\"],\"chief\":[\"llm-master-0.llm:23456\"]},\"task\":{\"type\":\"chief\",\"index\":3},"
     "\"environment\":\"cloud\"}"},
    {"JAX", "Distributed", "worker", "{'numWorkers':4,'distributedFramework':'JAX'}", "JAX_COORDINATOR_ADDRESS",
     "llm-master-0.llm:23456"},
    {"XGBoost", "Distributed", "worker", "{'numWorkers':2,'distributedFramework':'XGBoost'}", "WORKER_ADDRS",
     "llm-worker-0.llm,llm-worker-1.llm"},
    {"where an inference serves", "Inference", "worker", "{'servingPort':{'container':8000}}", "PORT", "8000"},
};

static void test_variables(void)
{
    for (size_t i = 0; i < COUNT(VARIABLES); i++) {
        const struct variable_case *row = &VARIABLES[i];
        struct arena arena;
        struct error err = {0};
        json_t *object = NULL;
        arena_init(&arena);
        struct backend_pod pod = pod_of(&arena, row->type, row->role, row->spec);
        check_int(kube_manifest_pod(&SITE, &pod, &arena, &object, &err), 0, "%s", row->what);
        check_text(variable_of(object, row->name), row->want, "%s", row->what);
        json_decref(object);
        arena_done(&arena);
    }
}

static void check_object(const char *what, json_t *object, const char *want, struct arena *arena)
{
    check_value(what, object, "", want, arena);
    json_decref(object);
}

static void test_objects(void)
{
    struct arena arena;
    arena_init(&arena);
    struct kube_target target = {"runai-vision", "llm-3-2", "u-1"};
    check_object("a binding", kube_manifest_binding(&target, "node-1", 7, 1700000000123),
                 "{'apiVersion':'v1','kind':'Binding','metadata':{'annotations':{'prorata.io/bound-at':"
                 "'2023-11-14T22:13:20Z','prorata.io/term':'7'},'name':'llm-3-2','namespace':'runai-vision','uid':'u-1'"
                 "},'target':{'apiVersion':'v1','kind':'Node','name':'node-1'}}",
                 &arena);
    check_object("a deletion", kube_manifest_delete("u-1", 30),
                 "{'apiVersion':'v1','gracePeriodSeconds':30,'kind':'DeleteOptions','preconditions':{'uid':'u-1'}}",
                 &arena);
    check_object("with the pod's own grace", kube_manifest_delete(NULL, -1),
                 "{'apiVersion':'v1','kind':'DeleteOptions'}", &arena);
    check_object("a namespace", kube_manifest_namespace(&SITE, "vision", "runai-vision"),
                 "{'apiVersion':'v1','kind':'Namespace','metadata':{'labels':{'pod-security.kubernetes.io/enforce':"
                 "'baseline','pod-security.kubernetes.io/warn':'restricted','prorata.io/instance':'7f3a9c21',"
                 "'prorata.io/project':'vision','runai/queue':'vision'},'name':'runai-vision'}}",
                 &arena);
    struct kube_condition condition = {"PodScheduled", "False", "Unschedulable", "no room", 1700000000000};
    check_object("a condition", kube_manifest_condition(&target, "12", &condition),
                 "{'metadata':{'resourceVersion':'12','uid':'u-1'},'status':{'conditions':[{'lastTransitionTime':'2023-"
                 "11-14T22:13:20Z','message':'no room','reason':"
                 "'Unschedulable','status':'False','type':'PodScheduled'}]}}",
                 &arena);
    char *message = arena_alloc(&arena, 2000);
    memset(message, 'x', 1023);
    strcpy(message + 1023, "\xc3\xa9");
    struct kube_event_text text = {target, true, "Rejected", "Binding", message, 1700000000000, 3};
    json_t *event = kube_manifest_event(&SITE, &text, &arena);
    check_int((int64_t)strlen(json_string_value(json_object_get(event, "message"))), 1023, "no half of a character");
    check_value("an event's name", event, "metadata name", "'llm-3-2.17979cfe362a0003'", &arena);
    json_decref(event);
    struct backend_pod pod = pod_of(&arena, "Training", "worker", "{}");
    struct backend_secret_key key = {"k", "a\0b", 3};
    json_t *secret = kube_manifest_secret(&SITE, &pod, "s", &key, 1, &arena);
    check_value("a secret's bytes", secret, "data", "{'k':'YQBi'}", &arena);
    check_value("a secret's kind", secret, "type", "'Opaque'", &arena);
    json_decref(secret);
    key.name = ".dockerconfigjson";
    secret = kube_manifest_secret(&SITE, &pod, "s", &key, 1, &arena);
    check_value("a registry's kind", secret, "type", "'kubernetes.io/dockerconfigjson'", &arena);
    check_object("a change of what is ours alone", kube_manifest_secret_change(secret),
                 "[{'op':'test','path':'/metadata/labels/prorata.io~1instance','value':'7f3a9c21'},{'op':'test','path':"
                 "'/type','value':'kubernetes.io/dockerconfigjson'},{'op':'replace','path':'/data','value':"
                 "{'.dockerconfigjson':'YQBi'}}]",
                 &arena);
    json_decref(secret);
    pod = pod_of(
        &arena, "Training", "worker",
        "{'environmentVariables':[{'name':'A','secret':{'name':'s'}},{'name':'B','secret':{'name':'s'}}],"
        "'storage':{'secretVolume':[{'secret':'t'}],'git':[{'secretRef':{'name':'g'}}]},'imagePullSecrets':[{'name':"
        "'p'},{'name':'s'}]}");
    const char *const *names;
    check_int((int64_t)kube_manifest_secret_names(&pod, &arena, &names), 4, "each secret once");
    check_text(names[2], "g", "a repository's too");
    check_text(names[3], "p", "and a registry's");
    pod = pod_of(&arena, "Workspace", "worker", "{'exposedUrls':[{'container':1,'url':'https://x'}]}");
    check_int((int64_t)kube_manifest_notes(&pod, &arena, &names), 1, "one note");
    check_text(names[0], "spec.exposedUrls[0].url is shown, and the cluster's Ingress must lead there", "its words");
    arena_done(&arena);
}

static void test_long_names(void)
{
    struct arena arena;
    arena_init(&arena);
    struct backend_pod pod = pod_of(&arena, "Distributed", "worker", "{'numWorkers':4}");
    struct error err = {0};
    json_t *object = NULL;
    pod.workload_name = "a23456789-123456789-123456789-123456789-1-3456789-123456789-123";
    check_text(kube_manifest_pod_name(&pod, &arena), "a23456789-123456789-123456789-123456789-1-99999999-worker-3-a2",
               "a long name is cut before a hyphen, and keeps its end");
    check_int(kube_manifest_pod(&SITE, &pod, &arena, &object, &err), 0, "long names");
    check_text(variable_of(object, "MASTER_ADDR"),
               "a23456789-123456789-123456789-123456789-1-345-99999999-master-0."
               "a23456789-123456789-123456789-123456789-1-3456789-123456789-123",
               "the others know it by the same name");
    json_decref(object);
    pod.namespace = "";
    check_text(kube_manifest_namespace_of(&SITE, &pod, &arena), "runai-vision", "a namespace by its project");
    arena_done(&arena);
}

int main(void)
{
    test_pods();
    test_lists(SERVICES, COUNT(SERVICES), kube_manifest_services);
    test_lists(CLAIMS, COUNT(CLAIMS), kube_manifest_claims);
    test_checks();
    test_variables();
    test_objects();
    test_long_names();
    return check_finish();
}
