#include "backends/kubernetes/kubernetes.h"

#include "backends/kubernetes/client/kube_access.h"
#include "backends/kubernetes/client/kube_client.h"
#include "backends/kubernetes/config/kube_config.h"
#include "backends/kubernetes/kube_lease.h"
#include "backends/kubernetes/kubernetes_state.h"
#include "backends/kubernetes/metrics/kube_gpu_reader.h"
#include "backends/kubernetes/metrics/kube_usage_reader.h"
#include "backends/kubernetes/streams/kube_sessions.h"
#include "base/condition.h"
#include "base/error.h"
#include "base/timestamp.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ATTEND_MS = 500,
    STACK_BYTES = 1 << 20
};

struct backend_fact *kubernetes_tell(struct kubernetes *kubernetes, enum backend_fact_kind kind, const char *pod_uuid,
                                     int64_t decision)
{
    struct backend_fact *fact = backend_facts_add(&kubernetes->facts, kind, pod_uuid, decision, timestamp_now_ms());
    kubernetes->has_news = true;
    return fact;
}

// With the lock held, which is given up meanwhile.
static void wait_for_work(struct kubernetes *kubernetes)
{
    struct timespec until = condition_after(ATTEND_MS);
    while (!kubernetes->stopping && !kubernetes->has_news && !kubernetes->must_attend &&
           pthread_cond_timedwait(&kubernetes->changed, &kubernetes->lock, &until) != ETIMEDOUT)
        ;
}

// Nodes are told of at most so often: pods of others come and go all the time.
static void tell_nodes(struct kubernetes *kubernetes, int64_t *told_us)
{
    int64_t now_us = timestamp_monotonic_us();
    bool is_whole = kubernetes->has_own && kubernetes->has_others && kubernetes->has_nodes;
    bool is_early = !kubernetes->is_node_news && now_us - *told_us < (int64_t)ATTEND_MS * 1000;
    if (!kubernetes->nodes_changed || !is_whole || is_early)
        return;
    *told_us = now_us;
    kubernetes->nodes_changed = kubernetes->is_node_news = false;
    kubernetes_tell(kubernetes, BACKEND_NODES_CHANGED, "", 0);
}

// Wakes the owner, and looks after what waits for a time.
static void *attend(void *context)
{
    struct kubernetes *kubernetes = context;
    int64_t told_us = 0;
    pthread_mutex_lock(&kubernetes->lock);
    while (!kubernetes->stopping) {
        wait_for_work(kubernetes);
        pod_steps_attend(kubernetes);
        kube_clearing_expire(kubernetes);
        kube_leftovers_look(kubernetes);
        kube_secrets_left_look(kubernetes);
        kube_reports_send(kubernetes);
        tell_nodes(kubernetes, &told_us);
        if (kubernetes->has_news && !kubernetes->stopping) {
            kubernetes->has_news = false;
            pthread_mutex_unlock(&kubernetes->lock);
            kubernetes->wake(kubernetes->wake_context);
            pthread_mutex_lock(&kubernetes->lock);
        }
    }
    pthread_mutex_unlock(&kubernetes->lock);
    return NULL;
}

static void note_lease(void *context)
{
    struct kubernetes *kubernetes = context;
    pthread_mutex_lock(&kubernetes->lock);
    kubernetes->must_attend = true;
    pthread_cond_signal(&kubernetes->changed);
    pthread_mutex_unlock(&kubernetes->lock);
}

static bool may_write(void *context)
{
    struct kubernetes *kubernetes = context;
    struct kube_lease *lease = atomic_load(&kubernetes->lease);
    return lease && kube_lease_is_held(lease);
}

bool kubernetes_may_write(struct kubernetes *kubernetes)
{
    return may_write(kubernetes);
}

static int start_lease(struct kubernetes *kubernetes, struct error *err)
{
    char name[100];
    struct kube_lease *lease;
    snprintf(name, sizeof(name), "prorata-%.80s", kubernetes->instance);
    struct kube_lease_setup setup = {.access = kubernetes->access,
                                     .namespace = kube_access_config(kubernetes->access)->namespace,
                                     .name = name,
                                     .holder = kubernetes->holder,
                                     .changed = note_lease,
                                     .context = kubernetes};
    if (kube_lease_create(&setup, &lease, err) < 0)
        return -1;
    atomic_store(&kubernetes->lease, lease);
    return 0;
}

static int start(void *backend, backend_wake_fn wake, void *wake_context, struct error *err)
{
    struct kubernetes *kubernetes = backend;
    kubernetes->wake = wake;
    kubernetes->wake_context = wake_context;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int rc = pthread_create(&kubernetes->thread, &attributes, attend, kubernetes);
    pthread_attr_destroy(&attributes);
    if (rc != 0)
        return error_set(err, ERROR_INTERNAL, "cannot start the Kubernetes backend's thread: %s", strerror(rc));
    kubernetes->has_thread = true;
    if (start_lease(kubernetes, err) < 0 || machines_watch(kubernetes, err) < 0)
        return -1;
    return gpu_usage_start(kubernetes, err) < 0 ? -1 : load_usage_start(kubernetes, err);
}

// Rows come before the first picture: what the watch tells is compared with them.
static int adopt(void *backend, const struct backend_rows *rows, struct error *err)
{
    struct kubernetes *kubernetes = backend;
    if (ordered_pods_adopt(backend, rows, err) < 0)
        return -1;
    if (kubernetes->own_watch)
        return 0;
    return own_objects_watch(kubernetes, err) < 0 ? -1 : pod_events_watch(kubernetes, err);
}

static int check(void *backend, const struct backend_pod *pod, struct error *err)
{
    struct kubernetes *kubernetes = backend;
    return kube_manifest_check(&kubernetes->site, pod, err);
}

static size_t take_facts(void *backend, struct arena *arena, struct backend_fact **out_facts)
{
    struct kubernetes *kubernetes = backend;
    pthread_mutex_lock(&kubernetes->lock);
    size_t count = backend_facts_take(&kubernetes->facts, arena, out_facts);
    kubernetes->has_news = false;
    pthread_mutex_unlock(&kubernetes->lock);
    return count;
}

static void stop(void *backend)
{
    struct kubernetes *kubernetes = backend;
    pthread_mutex_lock(&kubernetes->lock);
    kubernetes->stopping = true;
    pthread_cond_signal(&kubernetes->changed);
    pthread_mutex_unlock(&kubernetes->lock);
    if (kubernetes->has_thread)
        pthread_join(kubernetes->thread, NULL);
    kubernetes->has_thread = false;
    kube_sessions_destroy(kubernetes->sessions);
    kubernetes->sessions = NULL;
    if (kubernetes->gpu_reader)
        kube_client_stop(kubernetes->client);        // so that the readers wait no longer
    kube_gpu_reader_destroy(kubernetes->gpu_reader); // before the objects that they look at go
    kube_usage_reader_destroy(kubernetes->usage_reader);
    kubernetes->gpu_reader = NULL;
    kubernetes->usage_reader = NULL;
    kube_watch_destroy(kubernetes->own_watch);
    kube_watch_destroy(kubernetes->others_watch);
    kube_watch_destroy(kubernetes->nodes_watch);
    kube_watch_destroy(kubernetes->events_watch);
    kubernetes->own_watch = kubernetes->others_watch = kubernetes->nodes_watch = NULL;
    kubernetes->events_watch = NULL;
    kube_client_destroy(kubernetes->client); // before the lease goes: nothing is sent after
    kubernetes->client = NULL;
    kube_lease_destroy(atomic_exchange(&kubernetes->lease, NULL));
}

static void destroy(void *backend)
{
    struct kubernetes *kubernetes = backend;
    size_t position = 0;
    struct kube_index_slot *place = NULL;
    for (struct refusals *refusals; (refusals = kube_index_next(&kubernetes->refusals, &position, &place));)
        free(refusals);
    kube_index_done(&kubernetes->refusals);
    ordered_pods_done(kubernetes);
    machines_done(kubernetes);
    kube_reports_done(kubernetes);
    kube_leftovers_done(kubernetes);
    kube_index_done(&kubernetes->objects);
    gpu_usage_done(kubernetes);
    kube_index_done(&kubernetes->objects_by_uid);
    kube_access_destroy(kubernetes->access);
    backend_facts_done(&kubernetes->facts);
    free(kubernetes->instance);
    free(kubernetes->holder);
    pthread_mutex_destroy(&kubernetes->lock);
    pthread_cond_destroy(&kubernetes->changed);
    free(kubernetes);
}

static const struct backend_ops OPS = {
    .name = "kubernetes",
    .has_services = true,
    .start = start,
    .adopt = adopt,
    .list_strays = kube_strays_list,
    .clear_unknown = kube_leftovers_clear,
    .apply = ordered_pods_apply,
    .check = check,
    .read_machines = machines_read,
    .take_facts = take_facts,
    .find_problem = kube_figures_find_problem,
    .write_metrics = kube_figures_write,
    .logs = pod_streams_logs,
    .open_session = pod_streams_open,
    .open_port = pod_streams_open_port,
    .list_storage_classes = storage_classes_list,
    .read_devices = gpu_usage_read,
    .stop = stop,
    .destroy = destroy,
};

int kubernetes_create(struct kube_config *config, const struct kubernetes_options *options, struct backend *out_backend,
                      struct error *err)
{
    struct kube_access *access;
    struct kube_client *client;
    if (kube_access_create(config, &access, err) < 0)
        return -1;
    struct kubernetes *kubernetes = memory_array(1, sizeof(*kubernetes));
    struct kube_client_options client_options = {.may_write = may_write, .context = kubernetes};
    if (kube_client_create(access, &client_options, &client, err) < 0) {
        kube_access_destroy(access);
        free(kubernetes);
        return -1;
    }
    kubernetes->access = access;
    kubernetes->client = client;
    kubernetes->sessions = kube_sessions_create(access, options->places);
    kubernetes->vault = options->vault;
    kubernetes->finished_ms = options->finished_ms;
    kubernetes->respects_budgets = options->respects_budgets;
    kubernetes->instance = memory_strdup(options->instance);
    kubernetes->holder = memory_strdup(options->holder);
    kubernetes->site.instance = kubernetes->instance;
    pthread_mutex_init(&kubernetes->lock, NULL);
    condition_init(&kubernetes->changed);
    *out_backend = (struct backend){.ops = &OPS, .self = kubernetes};
    return 0;
}
