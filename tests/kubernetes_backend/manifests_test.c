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

int main(void)
{
    test_pods();
    return check_finish();
}
