// Nodes, pods, taints and effective requests, as the API's JSON has them. Cases write JSON with ' for ".
#include "backends/kubernetes/objects/kube_node.h"
#include "backends/kubernetes/objects/kube_node_terms.h"
#include "backends/kubernetes/objects/kube_pod.h"
#include "backends/kubernetes/objects/kube_requests.h"
#include "base/arena.h"
#include "base/quantity.h"
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

static json_t *json_of(const char *text)
{
    char *copy = memory_strdup(text);
    json_error_t problem;
    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    json_t *value = json_loads(copy, 0, &problem);
    check_true(value != NULL, "%s: %s", text, value ? "" : problem.text);
    free(copy);
    return value;
}

struct request_case {
    const char *what, *pod;
    int64_t cpu_milli, memory_bytes, gpus;
};

static const struct request_case REQUESTS[] = {
    {"containers are summed",
     "{'spec':{'containers':[{'name':'a','resources':{'requests':{'cpu':'500m','memory':'1Ki',"
     "'nvidia.com/gpu':'2'}}},{'name':'b','resources':{'requests':{'cpu':'1'}}}]}}",
     1500, 1024, 2},
    {"more than anybody has counts as the most that is believed, and their sum too",
     "{'spec':{'containers':[{'name':'a','resources':{'requests':{'cpu':'1e18','memory':'9E','nvidia.com/"
     "gpu':'1e30'}}},"
     "{'name':'b','resources':{'requests':{'cpu':'-3','memory':'9E','nvidia.com/gpu':'9E'}}}]}}",
     QUANTITY_CPU_MILLI_MAX, QUANTITY_AMOUNT_MAX, QUANTITY_AMOUNT_MAX},
    {"nothing asked", "{'spec':{'containers':[{'name':'a'}]}}", 0, 0, 0},
    {"the greediest init container",
     "{'spec':{'containers':[{'name':'a','resources':{'requests':{'cpu':'1'}}}],"
     "'initContainers':[{'name':'i','resources':{'requests':{'cpu':'3'}}},"
     "{'name':'k','resources':{'requests':{'cpu':'2','memory':'7'}}}]}}",
     3000, 7, 0},
    {"a sidecar runs beside the containers",
     "{'spec':{'containers':[{'name':'a','resources':{'requests':{'cpu':'1'}}}],"
     "'initContainers':[{'name':'s','restartPolicy':'Always','resources':{'requests':{'cpu':'1'}}}]}}",
     2000, 0, 0},
    {"a sidecar counts with the init containers behind it alone",
     "{'spec':{'containers':[{'name':'a','resources':{'requests':{'cpu':'1'}}}],'initContainers':["
     "{'name':'i','resources':{'requests':{'cpu':'4'}}},"
     "{'name':'s','restartPolicy':'Always','resources':{'requests':{'cpu':'2'}}},"
     "{'name':'k','resources':{'requests':{'cpu':'3'}}}]}}",
     5000, 0, 0},
    {"overhead is added",
     "{'spec':{'overhead':{'cpu':'250m','memory':'10'},"
     "'containers':[{'name':'a','resources':{'requests':{'cpu':'1'}}}]}}",
     1250, 10, 0},
    {"the pod's own amounts stand for the sum of CPU and memory, not of devices",
     "{'spec':{'resources':{'requests':{'cpu':'2','memory':'5','nvidia.com/gpu':'9'}},'overhead':{'cpu':'1'},"
     "'containers':[{'name':'a','resources':{'requests':{'cpu':'7','nvidia.com/gpu':'1'}}}]}}",
     3000, 5, 1},
    {"a size that is still given counts while it shrinks",
     "{'spec':{'containers':[{'name':'a','resources':{'requests':{'cpu':'1','memory':'9'}}}]},'status':{"
     "'containerStatuses':[{'name':'a','allocatedResources':{'cpu':'3'},'resources':{'requests':{'memory':'20'}}}]}}",
     3000, 20, 0},
    {"rubbish is nothing", "{'spec':{'containers':[7,{'name':'a','resources':{'requests':{'cpu':'x','memory':[]}}}]}}",
     0, 0, 0},
    {"no object", "{'spec':'x'}", 0, 0, 0},
};

static void check_requests(void)
{
    for (size_t i = 0; i < COUNT(REQUESTS); i++) {
        struct arena arena;
        struct kube_amounts got;
        arena_init(&arena);
        json_t *pod = json_of(REQUESTS[i].pod);
        kube_requests_read(pod, &arena, &got);
        check_int(got.cpu_milli, REQUESTS[i].cpu_milli, "%s: CPU", REQUESTS[i].what);
        check_int(got.memory_bytes, REQUESTS[i].memory_bytes, "%s: memory", REQUESTS[i].what);
        check_int(kube_amounts_get(&got, KUBE_GPU), REQUESTS[i].gpus, "%s: GPUs", REQUESTS[i].what);
        check_int(got.pods, 1, "%s: pods", REQUESTS[i].what);
        struct kube_holding *holding = kube_holding_create(pod);
        check_int(holding->amounts->cpu_milli, REQUESTS[i].cpu_milli, "%s: CPU as kept", REQUESTS[i].what);
        check_int(kube_amounts_get(holding->amounts, KUBE_GPU), REQUESTS[i].gpus, "%s: GPUs kept", REQUESTS[i].what);
        check_text(holding->node_name, "", "%s: node as kept", REQUESTS[i].what);
        free(holding);
        json_decref(pod);
        arena_done(&arena);
    }
}

struct node_case {
    const char *what, *node, *reason;
    bool is_ready, is_shared;
};

static const struct node_case NODES[] = {
    {"ready", "{'metadata':{'name':'n','uid':'u'},'status':{'conditions':[{'type':'Ready','status':'True'}]}}", "",
     true, false},
    {"not ready", "{'metadata':{'name':'n','uid':'u'},'status':{'conditions':[{'type':'Ready','status':'False'}]}}",
     "NodeNotReady", false, false},
    {"unknown", "{'metadata':{'name':'n','uid':'u'},'status':{'conditions':[{'type':'Ready','status':'Unknown'}]}}",
     "NodeUnknown", false, false},
    {"says nothing", "{'metadata':{'name':'n','uid':'u'}}", "NodeUnknown", false, false},
    {"under pressure",
     "{'metadata':{'name':'n','uid':'u'},'status':{'conditions':[{'type':'DiskPressure','status':"
     "'True','message':'full'},{'type':'Ready','status':'True'}]}}",
     "DiskPressure", false, false},
    {"time-sliced",
     "{'metadata':{'name':'n','uid':'u','labels':{'nvidia.com/gpu.replicas':'4'}},'status':"
     "{'conditions':[{'type':'Ready','status':'True'}]}}",
     "", true, true},
    {"shared by name",
     "{'metadata':{'name':'n','uid':'u','labels':{'nvidia.com/gpu.product':'A100-SHARED'}},'status':"
     "{'conditions':[{'type':'Ready','status':'True'}]}}",
     "", true, true},
};

static void check_nodes(void)
{
    struct arena arena;
    struct kube_node node;
    arena_init(&arena);
    for (size_t i = 0; i < COUNT(NODES); i++) {
        json_t *object = json_of(NODES[i].node);
        check_int(kube_node_read(object, &arena, &node), 0, "%s: read", NODES[i].what);
        check_text(node.reason, NODES[i].reason, "%s: reason", NODES[i].what);
        check_int(node.is_ready, NODES[i].is_ready, "%s: ready", NODES[i].what);
        check_int(node.gpus.is_shared, NODES[i].is_shared, "%s: shared", NODES[i].what);
        json_decref(object);
    }
    json_t *whole =
        json_of("{'metadata':{'name':'g1','uid':'u1','resourceVersion':'7','labels':{'nvidia.com/gpu.product':"
                "'NVIDIA-H100-80GB-HBM3','nvidia.com/gpu.memory':'81559','nvidia.com/gpu.count':'8','zone':'a',"
                "'nvidia.com/cuda.driver.major':'550','nvidia.com/cuda.driver.minor':'54'}},"
                "'spec':{'unschedulable':true,'taints':[{'key':'nvidia.com/gpu','effect':'NoSchedule'},"
                "{'key':'node.kubernetes.io/out-of-service','value':'nodeshutdown','effect':'NoExecute'}]},"
                "'status':{'allocatable':{'cpu':'63500m','memory':'256Gi','nvidia.com/gpu':'0','pods':'110'},"
                "'addresses':[{'type':'Hostname','address':'g1'},{'type':'InternalIP','address':'10.0.0.7'}],"
                "'conditions':[{'type':'Ready','status':'True','lastTransitionTime':'1970-01-01T00:01:00Z'}]}}");
    check_int(kube_node_read(whole, &arena, &node), 0, "a whole node");
    check_int(node.allocatable.cpu_milli, 63500, "its CPU");
    check_int(node.allocatable.pods, 110, "its pods");
    check_int(kube_amounts_has(&node.allocatable, KUBE_GPU), 1, "it names GPUs");
    check_int(kube_amounts_get(&node.allocatable, KUBE_GPU), 0, "and has none to give");
    check_int(kube_amounts_has(&node.allocatable, "amd.com/gpu"), 0, "it names no other");
    check_int(node.is_cordoned, 1, "it is cordoned");
    check_int(node.is_out_of_service, 1, "it is out of service");
    check_int((int64_t)node.taint_count, 2, "its taints");
    check_int(node.gpus.memory_mib, 81559, "memory of a GPU");
    check_int(node.gpus.count, 8, "its GPUs");
    check_text(node.gpus.driver, "550.54", "its driver");
    check_text(node.address, "10.0.0.7", "its address");
    check_text(kube_meta_label(&node.meta, "zone"), "a", "its label");
    check_int(node.ready_since_ms, 60000, "ready since");
    json_decref(whole);
    json_t *huge = json_of(
        "{'metadata':{'name':'h','uid':'u','labels':{'nvidia.com/gpu.memory':'1000000000000'}},"
        "'status':{'allocatable':{'cpu':'1000000000000000000','memory':'9E','pods':'-5'},'capacity':{'pods':'9E'}}}");
    check_int(kube_node_read(huge, &arena, &node), 0, "a node that tells what no machine has");
    check_int(node.allocatable.cpu_milli, QUANTITY_CPU_MILLI_MAX, "a million cores at most");
    check_int(node.allocatable.memory_bytes, QUANTITY_AMOUNT_MAX, "64 TiB at most");
    check_int(node.allocatable.pods, 0, "no fewer pods than none");
    check_int(node.capacity.pods, QUANTITY_PODS_MAX, "a million pods at most");
    check_int(node.gpus.memory_mib, QUANTITY_GPU_MEMORY_MIB_MAX, "1 TiB of a device at most");
    json_decref(huge);
    json_t *nameless = json_of("{'metadata':{'name':'n'}}");
    check_int(kube_node_read(nameless, &arena, &node), -1, "a node without a uid");
    check_int(kube_node_read(NULL, &arena, &node), -1, "no node");
    json_decref(nameless);
    arena_done(&arena);
}

struct pod_case {
    const char *what, *spec, *status;
    enum kube_pod_life life;
    const char *reason;
    int64_t exit_code; // -1: none
};

static const struct pod_case PODS[] = {
    {"not bound", "{}", "{'phase':'Pending'}", KUBE_POD_UNBOUND, "", -1},
    {"bound", "{'nodeName':'a'}", "{'phase':'Pending'}", KUBE_POD_STARTING, "", -1},
    {"pulls", "{'nodeName':'a','containers':[{'name':'m'}]}",
     "{'phase':'Pending','containerStatuses':[{'name':'m','state':{'waiting':{'reason':'ImagePullBackOff'}}}]}",
     KUBE_POD_STARTING, "ImagePullBackOff", -1},
    {"an init container waits", "{'nodeName':'a','containers':[{'name':'m'}]}",
     "{'phase':'Pending','containerStatuses':[{'name':'m','state':{'waiting':{'reason':'PodInitializing'}}}],"
     "'initContainerStatuses':[{'name':'i','state':{'waiting':{'reason':'ErrImagePull'}}}]}",
     KUBE_POD_STARTING, "ErrImagePull", -1},
    {"runs", "{'nodeName':'a','containers':[{'name':'m'}]}",
     "{'phase':'Running','containerStatuses':[{'name':'m','state':{'running':{'startedAt':'1970-01-01T00:00:09Z'}}}]}",
     KUBE_POD_RUNNING, "", -1},
    {"done", "{'nodeName':'a','containers':[{'name':'m'}]}",
     "{'phase':'Succeeded','containerStatuses':[{'name':'m','state':{'terminated':{'exitCode':0,'reason':'Completed'}}"
     "}]}",
     KUBE_POD_SUCCEEDED, "Completed", 0},
    {"the main container's end counts", "{'nodeName':'a','containers':[{'name':'m'},{'name':'s'}]}",
     "{'phase':'Failed','containerStatuses':[{'name':'s','state':{'terminated':{'exitCode':9}}},"
     "{'name':'m','state':{'terminated':{'exitCode':137,'reason':'OOMKilled'}}}]}",
     KUBE_POD_FAILED, "OOMKilled", 137},
    {"no room", "{'nodeName':'a'}", "{'phase':'Failed','reason':'OutOfnvidia.com/gpu','message':'m'}",
     KUBE_POD_REJECTED, "OutOfnvidia.com/gpu", -1},
    {"the plugin refused", "{'nodeName':'a'}", "{'phase':'Failed','reason':'UnexpectedAdmissionError'}",
     KUBE_POD_REJECTED, "UnexpectedAdmissionError", -1},
    {"rejected with statuses that never ran", "{'nodeName':'a'}",
     "{'phase':'Failed','reason':'OutOfcpu','containerStatuses':[{'name':'m','state':{'terminated':{'exitCode':137,"
     "'reason':'ContainerStatusUnknown','startedAt':null}}}]}",
     KUBE_POD_REJECTED, "OutOfcpu", -1},
    {"evicted while it ran", "{'nodeName':'a','containers':[{'name':'m'}]}",
     "{'phase':'Failed','reason':'Evicted','containerStatuses':[{'name':'m','containerID':'c','state':{'terminated':"
     "{'exitCode':137}}}]}",
     KUBE_POD_FAILED, "Evicted", 137},
    {"shut down after it ran", "{'nodeName':'a'}",
     "{'phase':'Failed','reason':'Terminated','containerStatuses':[{'name':'m','containerID':'c'}]}", KUBE_POD_FAILED,
     "Terminated", -1},
};

static void check_pods(void)
{
    struct arena arena;
    struct kube_pod pod;
    arena_init(&arena);
    for (size_t i = 0; i < COUNT(PODS); i++) {
        char *text = arena_printf(&arena, "{'metadata':{'name':'p','namespace':'s','uid':'u'},'spec':%s,'status':%s}",
                                  PODS[i].spec, PODS[i].status);
        json_t *object = json_of(text);
        check_int(kube_pod_read(object, &arena, &pod), 0, "%s: read", PODS[i].what);
        check_int(pod.life, PODS[i].life, "%s: life", PODS[i].what);
        check_text(pod.reason, PODS[i].reason, "%s: reason", PODS[i].what);
        check_int(pod.has_exit_code ? pod.exit_code : -1, PODS[i].exit_code, "%s: exit code", PODS[i].what);
        check_int(kube_pod_is_over(&pod), PODS[i].life >= KUBE_POD_SUCCEEDED, "%s: over", PODS[i].what);
        json_decref(object);
    }
    json_t *whole = json_of(
        "{'metadata':{'name':'p','namespace':'s','uid':'u','deletionTimestamp':'1970-01-01T00:00:30Z',"
        "'deletionGracePeriodSeconds':30,'finalizers':['x/y'],'annotations':{'prorata.io/pod-id':'i'}},'spec':{"
        "'nodeName':'a','schedulerName':'prorata','schedulingGates':[{'name':'g'}],'containers':[{'name':'m'}]},'"
        "status'"
        ":{'phase':'Running','podIP':'10.0.0.1','conditions':[{'type':'Ready','status':'True'}],'containerStatuses':[{"
        "'name':'m','restartCount':2,'allocatedResourcesStatus':[{'name':'nvidia.com/gpu','resources':[{'resourceID':"
        "'GPU-1','health':'Healthy'},{'resourceID':'GPU-2'}]}]}]}}");
    check_int(kube_pod_read(whole, &arena, &pod), 0, "a whole pod");
    check_int(pod.meta.deletion_ms, 30000, "when it is to be gone");
    check_int(pod.meta.grace_s, 30, "its grace");
    check_int(pod.meta.has_finalizers, 1, "its finalizers");
    check_int(pod.has_gates, 1, "its gates");
    check_int(pod.is_ready, 1, "it is ready");
    check_int(pod.restarts, 2, "its restarts");
    check_text(kube_meta_annotation(&pod.meta, "prorata.io/pod-id"), "i", "its annotation");
    check_int((int64_t)pod.device_count, 2, "its devices");
    check_text(pod.device_count == 2 ? pod.devices[1].id : "", "GPU-2", "its second device");
    json_decref(whole);
    arena_done(&arena);
}

#define TERM(expression) "[{'matchExpressions':[" expression "]}]"

static const struct {
    const char *terms; // for a node with zone=a, slots=8
    bool holds;
} TERMS[] = {
    {"[]", true},
    {TERM("{'key':'zone','operator':'In','values':['b','a']}"), true},
    {TERM("{'key':'zone','operator':'In','values':['b']}"), false},
    {TERM("{'key':'rack','operator':'In','values':['b']}"), false},
    {TERM("{'key':'zone','operator':'NotIn','values':['b']}"), true},
    {TERM("{'key':'rack','operator':'NotIn','values':['b']}"), true},
    {TERM("{'key':'zone','operator':'NotIn','values':['a']}"), false},
    {TERM("{'key':'zone','operator':'Exists'}"), true},
    {TERM("{'key':'rack','operator':'Exists'}"), false},
    {TERM("{'key':'rack','operator':'DoesNotExist'}"), true},
    {TERM("{'key':'slots','operator':'Gt','values':['7']}"), true},
    {TERM("{'key':'slots','operator':'Gt','values':['8']}"), false},
    {TERM("{'key':'slots','operator':'Lt','values':['9']}"), true},
    {TERM("{'key':'zone','operator':'Lt','values':['9']}"), false},
    {TERM("{'key':'zone','operator':'Near','values':['a']}"), false},
    {TERM("{'key':'zone','operator':'Exists'},{'key':'rack','operator':'Exists'}"), false},
    {"[{'matchExpressions':[]}]", false},
    {"[{'matchFields':[{'key':'metadata.name','operator':'In','values':['n']}]}]", false},
    {"[{'matchExpressions':[{'key':'rack','operator':'Exists'}]},"
     "{'matchExpressions':[{'key':'zone','operator':'Exists'}]}]",
     true},
};

static void check_node_terms(void)
{
    struct kube_pair labels[] = {{"zone", "a"}, {"slots", "8"}};
    struct kube_meta node = {.name = "n", .labels = labels, .label_count = 2};
    for (size_t i = 0; i < sizeof(TERMS) / sizeof(TERMS[0]); i++) {
        json_t *terms = json_of(TERMS[i].terms);
        check_true(kube_node_terms_hold(terms, &node) == TERMS[i].holds, "%s", TERMS[i].terms);
        json_decref(terms);
    }
    check_true(kube_node_terms_hold(NULL, &node), "none");
}

int main(void)
{
    check_requests();
    check_nodes();
    check_node_terms();
    check_pods();
    return check_finish();
}
