// What pods use: PodMetrics, and pages of the DCGM exporter. Cases write ' for ".
#include "backends/kubernetes/metrics/kube_dcgm.h"
#include "backends/kubernetes/metrics/kube_usage.h"
#include "base/arena.h"
#include "tests/support/check.h"

#include <string.h>

static const char *quoted(struct arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text);
    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    return copy;
}

static void test_usage(void)
{
    struct arena arena;
    struct kube_usage *usages;
    arena_init(&arena);
    json_t *list =
        json_loads(quoted(&arena, "{'items':[{'metadata':{'name':'p','namespace':'n'},'timestamp':"
                                  "'2026-01-01T00:00:01Z','window':'30s','containers':[{'name':'a','usage':{'cpu':"
                                  "'1500m','memory':'2Gi'}},{'name':'b','usage':{'cpu':'250000n','memory':'1Ki'}}]},"
                                  "{'metadata':{}},{'metadata':{'name':'q'},'containers':[{'usage':{'cpu':'x'}}]}]}"),
                   0, NULL);
    check_int((int64_t)kube_usage_read(list, &arena, &usages), 2, "pods with a name");
    check_text(usages[0].namespace, "n", "its namespace");
    check_int(usages[0].cpu_milli, 1501, "containers together, rounded up");
    check_int(usages[0].memory_bytes, 2147484672, "memory");
    check_int(usages[0].time_ms, 1767225601000, "when");
    check_int(usages[0].window_ms, 30000, "over how long");
    check_int(usages[1].cpu_milli, 0, "what is no quantity counts as nothing");
    json_decref(list);
    list = json_loads(quoted(&arena, "{'items':[{'metadata':{'name':'n1'},'usage':{'cpu':'3','memory':'8Gi'}}]}"), 0,
                      NULL);
    check_int((int64_t)kube_usage_read(list, &arena, &usages), 1, "a node");
    check_text(usages[0].namespace, "", "has no namespace");
    check_int(usages[0].cpu_milli, 3000, "CPU of a node");
    check_int(usages[0].memory_bytes, 8589934592, "memory of a node");
    json_decref(list);
    check_int((int64_t)kube_usage_read(NULL, &arena, &usages), 0, "no list");
    arena_done(&arena);
}

#define OF_POD "gpu='3',UUID='GPU-a',device='nvidia3',modelName='NVIDIA H100',Hostname='n1',container='main',"
#define NAMED "namespace='runai-v',pod='llm-0-1'"

struct page_case {
    const char *what, *text, *want; // uuid/instance index model node namespace/pod utilization used/all temperature xid
};

static const struct page_case PAGES[] = {
    {"a device with a pod",
     "# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization\n# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
     "DCGM_FI_DEV_GPU_UTIL{" OF_POD NAMED "} 87\nDCGM_FI_DEV_FB_USED{" OF_POD NAMED
     "} 1024\nDCGM_FI_DEV_FB_FREE{" OF_POD NAMED "} 79000\nDCGM_FI_DEV_GPU_TEMP{" OF_POD NAMED
     "} 61\nDCGM_FI_DEV_XID_ERRORS{" OF_POD NAMED "} 79\n",
     "GPU-a/ 3 NVIDIA H100 n1 runai-v/llm-0-1 87 1024/80024 61 79;"},
    {"a device without one", "DCGM_FI_DEV_GPU_UTIL{gpu='0',UUID='GPU-a',Hostname='n1',pod=''} 0 1700000000000\n",
     "GPU-a/ 0  n1 / 0 -1/-1 -1 0;"},
    {"labels of an old exporter",
     "DCGM_FI_DEV_GPU_UTIL{gpu='0',uuid='GPU-a',pod_name='p',pod_namespace='n',container_name='c'} 5\n",
     "GPU-a/ 0   n/p 5 -1/-1 -1 0;"},
    {"what Prometheus scraped",
     "DCGM_FI_DEV_GPU_UTIL{UUID='GPU-a',pod='dcgm-exporter-x',namespace='gpu-operator',exported_pod='p',"
     "exported_namespace='n'} 5\n",
     "GPU-a/ -1   n/p 5 -1/-1 -1 0;"},
    {"activity counts more than utilization",
     "DCGM_FI_PROF_GR_ENGINE_ACTIVE{UUID='GPU-a'} 0.5\nDCGM_FI_DEV_GPU_UTIL{UUID='GPU-a'} 99\n",
     "GPU-a/ -1   / 50 -1/-1 -1 0;"},
    {"instances of one device",
     "DCGM_FI_DEV_FB_USED{UUID='GPU-a',GPU_I_ID='1'} 10\nDCGM_FI_DEV_FB_USED{UUID='GPU-a',GPU_I_ID='2'} 20\n",
     "GPU-a/1 -1   / -1 10/-1 -1 0;GPU-a/2 -1   / -1 20/-1 -1 0;"},
    {"a quote in a label", "DCGM_FI_DEV_GPU_UTIL{UUID='GPU-a',modelName='x\\'},y'} 1\n",
     "GPU-a/ -1 x\"},y  / 1 -1/-1 -1 0;"},
    {"other series", "DCGM_FI_DEV_SM_CLOCK{UUID='GPU-a'} 1980\nup 1\n", ""},
    {"no device", "DCGM_FI_DEV_GPU_UTIL{gpu='1'} 5\nDCGM_FI_DEV_GPU_UTIL 5\n", ""},
    {"lines that cannot be read",
     "DCGM_FI_DEV_GPU_UTIL{UUID='GPU-a\nDCGM_FI_DEV_GPU_UTIL{UUID=GPU-a} 5\nDCGM_FI_DEV_GPU_UTIL{UUID='GPU-a'}\n"
     "DCGM_FI_DEV_GPU_UTIL{UUID='GPU-a'} NaN\nDCGM_FI_DEV_GPU_UTIL{UUID='GPU-a'} x",
     ""},
    {"beyond any sense", "DCGM_FI_DEV_GPU_UTIL{UUID='GPU-a',gpu='-7'} 1e300\nDCGM_FI_DEV_FB_USED{UUID='GPU-a'} -1",
     "GPU-a/ -1   / 100 0/-1 -1 0;"},
    {"nothing", "", ""},
};

static void test_pages(void)
{
    for (size_t i = 0; i < COUNT(PAGES); i++) {
        struct arena arena;
        struct kube_dcgm_device *devices;
        arena_init(&arena);
        const char *text = quoted(&arena, PAGES[i].text), *told = "";
        size_t count = kube_dcgm_read(text, strlen(text), &arena, &devices);
        for (size_t k = 0; k < count; k++) {
            const struct kube_dcgm_device *device = &devices[k];
            told = arena_printf(&arena, "%s%s/%s %d %s %s %s/%s %g %" PRId64 "/%" PRId64 " %d %" PRId64 ";", told,
                                device->uuid, device->instance, device->index, device->model, device->node,
                                device->namespace, device->pod, device->utilization, device->memory_used_mib,
                                device->memory_mib, device->temperature, device->xid);
        }
        check_text(told, PAGES[i].want, "%s", PAGES[i].what);
        arena_done(&arena);
    }
}

static void test_of_pod(void)
{
    static const struct kube_dcgm_device DEVICES[] = {
        {.namespace = "n", .pod = "p", .utilization = 20, .index = 1, .memory_used_mib = 100},
        {.namespace = "n", .pod = "p", .utilization = 60, .index = 1, .memory_used_mib = 20},
        {.namespace = "n", .pod = "p", .utilization = -1, .index = 2, .memory_used_mib = -1},
        {.namespace = "n", .pod = "p", .utilization = -1, .index = 7, .memory_used_mib = 5},
        {.namespace = "m", .pod = "p", .utilization = 99, .index = 3, .memory_used_mib = 9},
        {.namespace = "m", .pod = "x", .utilization = -1, .index = 3, .memory_used_mib = -1},
    };
    double utilization = 7;
    check_true(kube_dcgm_of_pod(DEVICES, COUNT(DEVICES), "n", "p", &utilization) && (int)utilization == 40,
               "the mean of what is known: %g", utilization);
    check_true(!kube_dcgm_of_pod(DEVICES, COUNT(DEVICES), "n", "q", &utilization), "a pod without devices");
    int32_t mib[4];
    check_true(kube_dcgm_memory_of_pod(DEVICES, COUNT(DEVICES), "n", "p", mib, COUNT(mib)) && mib[0] == -1 &&
                   mib[1] == 120 && mib[2] == -1 && mib[3] == -1,
               "memory by device, of its instances together; not that of devices beyond what is told");
    check_true(!kube_dcgm_memory_of_pod(DEVICES, COUNT(DEVICES), "m", "x", mib, COUNT(mib)), "nobody tells it");
}

int main(void)
{
    test_usage();
    test_pages();
    test_of_pod();
    return check_finish();
}
