// How long a whole picture of a cluster takes, and what it costs: bench_kube_picture KUBECONFIG [SECONDS]. Nodes, and
// pods of others as holdings; after SECONDS (5) of watching a second line says what standing still costs.
#include "backends/kubernetes/client/kube_access.h"
#include "backends/kubernetes/config/kube_config.h"
#include "backends/kubernetes/objects/kube_node.h"
#include "backends/kubernetes/objects/kube_requests.h"
#include "backends/kubernetes/watch/kube_watch.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

struct counting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int synced;
};

static void *keep_pod(void *context, const json_t *object)
{
    (void)context;
    return kube_holding_create(object);
}

static void free_pod(void *context, void *kept)
{
    (void)context;
    free(kept);
}

struct kept_node {
    struct arena arena;
    struct kube_node node;
};

static void *keep_node(void *context, const json_t *object)
{
    (void)context;
    struct kept_node *kept = memory_array(1, sizeof(*kept));
    arena_init(&kept->arena);
    kube_node_read(object, &kept->arena, &kept->node);
    return kept;
}

static void free_node(void *context, void *kept)
{
    (void)context;
    arena_done(&((struct kept_node *)kept)->arena);
    free(kept);
}

static void listen_for_sync(void *context, const struct kube_event *event)
{
    struct counting *counting = context;
    if (event->kind != KUBE_SYNCED)
        return;
    pthread_mutex_lock(&counting->lock);
    counting->synced++;
    pthread_cond_signal(&counting->changed);
    pthread_mutex_unlock(&counting->lock);
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int64_t resident_mib(const char *key)
{
    char line[200];
    int64_t kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, key, strlen(key)) == 0)
            kib = atoll(line + strlen(key));
    if (file)
        fclose(file);
    return kib / 1024;
}

int main(int count, char **words)
{
    struct counting counting = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    struct kube_config_source source = {.kubeconfig = count > 1 ? words[1] : NULL};
    struct kube_config *config = NULL;
    struct kube_access *access = NULL;
    struct kube_watch *watches[2] = {NULL, NULL};
    struct error err = {0};
    struct kube_watch_setup setups[] = {
        {.name = "nodes",
         .path = "/api/v1/nodes",
         .kind = "Node",
         .unread_array = "images",
         .ops = {.keep = keep_node, .release = free_node, .tell = listen_for_sync},
         .context = &counting},
        {.name = "pods of others",
         .path = "/api/v1/pods",
         .label_selector = "prorata.io/instance!=bench",
         .field_selector = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed",
         .kind = "Pod",
         .ops = {.keep = keep_pod, .release = free_pod, .tell = listen_for_sync},
         .context = &counting},
    };
    if (kube_config_load(&source, &config, &err) < 0 || kube_access_create(config, &access, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    int64_t from_us = timestamp_monotonic_us();
    for (int i = 0; i < 2; i++)
        if (kube_watch_create(access, &setups[i], &watches[i], &err) < 0)
            return 1;
    pthread_mutex_lock(&counting.lock);
    while (counting.synced < 2)
        pthread_cond_wait(&counting.changed, &counting.lock);
    pthread_mutex_unlock(&counting.lock);
    double cpu = cpu_seconds();
    struct kube_watch_state nodes, pods;
    kube_watch_read_state(watches[0], &nodes);
    kube_watch_read_state(watches[1], &pods);
    printf("%" PRId64 " nodes, %" PRId64 " pods: %.2f s, %.2f CPU-s, %" PRId64 " MiB at most, %" PRId64 " MiB after\n",
           nodes.counts.objects, pods.counts.objects, (double)(timestamp_monotonic_us() - from_us) / 1e6, cpu,
           resident_mib("VmHWM:"), resident_mib("VmRSS:"));
    int seconds = count > 2 ? atoi(words[2]) : 5;
    sleep((unsigned)seconds);
    printf("standing still: %.3f %% of a core, %" PRId64 " MiB\n",
           (cpu_seconds() - cpu) / (seconds ? seconds : 1) * 100, resident_mib("VmRSS:"));
    for (int i = 0; i < 2; i++)
        kube_watch_destroy(watches[i]);
    kube_access_destroy(access);
    return 0;
}
