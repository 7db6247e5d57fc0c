#include "backends/kubernetes/kube_lease.h"

#include "backends/kubernetes/client/kube_client.h"
#include "backends/kubernetes/client/kube_path.h"
#include "backends/kubernetes/objects/kube_meta.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/condition.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    DURATION_S = 15,
    DEADLINE_S = 10,
    PERIOD_MS = 2000,
    US_PER_S = 1000000,
    STACK_BYTES = 1 << 20,
    RECORD_SIZE = 600
};

struct kube_lease {
    struct kube_client *client;
    char *namespace, *name, *holder;
    void (*changed)(void *context);
    void *context;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool is_ending;
    _Atomic int64_t held_until_us, acts_from_us, term; // of boot_us
    // The thread's own.
    struct kube_answer found, done; // large for a stack
    char record[RECORD_SIZE];       // what was read last
    int64_t record_us;              // since when it is like that
    bool was_held, has_complained;
};

// Runs on while the machine sleeps.
static int64_t boot_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * US_PER_S + now.tv_nsec / 1000;
}

bool kube_lease_is_held(const struct kube_lease *lease)
{
    int64_t now_us = boot_us();
    return now_us < atomic_load(&lease->held_until_us) && now_us >= atomic_load(&lease->acts_from_us);
}

int64_t kube_lease_term(const struct kube_lease *lease)
{
    return atomic_load(&lease->term);
}

static void path_of(const struct kube_lease *lease, bool is_one, struct buffer *out)
{
    buffer_init(out, 0);
    kube_path(out, "/apis/coordination.k8s.io/v1/namespaces/%s/leases", lease->namespace);
    if (is_one)
        kube_path(out, "/%s", lease->name);
}

static int call(const struct kube_lease *lease, enum kube_method method, json_t *body, struct kube_answer *answer,
                struct error *err)
{
    struct buffer path;
    char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
    path_of(lease, method != KUBE_POST, &path);
    struct kube_call kube_call = {.method = method, .path = path.data, .body = text, .limit = KUBE_LIMIT_SHORT};
    int rc = kube_client_call(lease->client, &kube_call, answer, err);
    buffer_done(&path);
    free(text);
    return rc;
}

// metav1.MicroTime knows neither more nor fewer digits.
static json_t *micro_time(void)
{
    char text[TIMESTAMP_SIZE];
    timestamp_format(timestamp_now_ms(), text);
    return json_sprintf("%.19s.%.3s000Z", text, text[19] == '.' ? text + 20 : "000");
}

// As it is to be when we hold it. before: NULL where there is none yet.
static json_t *make_record(const struct kube_lease *lease, const json_t *before)
{
    const json_t *spec = json_object_get(before, "spec");
    bool is_ours = strcmp(kube_text_at(before, "spec.holderIdentity"), lease->holder) == 0;
    json_int_t terms = json_integer_value(json_object_get(spec, "leaseTransitions"));
    json_t *acquired = is_ours ? json_incref(json_object_get(spec, "acquireTime")) : NULL;
    json_t *made = json_pack("{s:s, s:i, s:o, s:o, s:I}", "holderIdentity", lease->holder, "leaseDurationSeconds",
                             DURATION_S, "acquireTime", acquired ? acquired : micro_time(), "renewTime", micro_time(),
                             "leaseTransitions", is_ours || !before ? terms : terms + 1);
    return json_pack("{s:s, s:s, s:{s:s, s:s, s:s*}, s:o}", "apiVersion", "coordination.k8s.io/v1", "kind", "Lease",
                     "metadata", "name", lease->name, "namespace", lease->namespace, "resourceVersion",
                     before ? kube_text_at(before, "metadata.resourceVersion") : NULL, "spec", made);
}

// What another holds is free when it stays as it is for as long as it says.
static bool is_free(struct kube_lease *lease, const json_t *before)
{
    const char *holder = kube_text_at(before, "spec.holderIdentity");
    json_int_t seconds = json_integer_value(json_object_get(json_object_get(before, "spec"), "leaseDurationSeconds"));
    char record[RECORD_SIZE];
    snprintf(record, sizeof(record), "%.200s %.100s %.100s", holder, kube_text_at(before, "spec.renewTime"),
             kube_text_at(before, "metadata.resourceVersion"));
    if (strcmp(record, lease->record) != 0) {
        memcpy(lease->record, record, sizeof(record));
        lease->record_us = boot_us();
    }
    if (!*holder || strcmp(holder, lease->holder) == 0)
        return true;
    if (seconds < 1 || seconds > 3600)
        seconds = DURATION_S;
    return boot_us() - lease->record_us > seconds * US_PER_S;
}

// sent_us: when the renewal was sent that was taken.
static void note_held(struct kube_lease *lease, const json_t *before, const json_t *record, int64_t sent_us)
{
    const char *holder = before ? kube_text_at(before, "spec.holderIdentity") : "";
    bool is_taken_over = *holder && strcmp(holder, lease->holder) != 0;
    if (is_taken_over) // what the one before sent last may still arrive
        atomic_store(&lease->acts_from_us, sent_us + (int64_t)DURATION_S * US_PER_S);
    atomic_store(&lease->term,
                 json_integer_value(json_object_get(json_object_get(record, "spec"), "leaseTransitions")));
    atomic_store(&lease->held_until_us, sent_us + (int64_t)DEADLINE_S * US_PER_S);
    lease->has_complained = false;
}

static void complain(struct kube_lease *lease, const char *what)
{
    char text[LOG_TEXT_SIZE];
    if (!lease->has_complained)
        log_write(LOG_WARN, "backends", "nothing is done in the cluster: lease %s/%s: %s", lease->namespace,
                  lease->name, log_text(what, text));
    lease->has_complained = true;
}

static void try_once(struct kube_lease *lease)
{
    struct error err = {0};
    bool is_there = call(lease, KUBE_GET, NULL, &lease->found, &err) == 0;
    bool is_none = !is_there && lease->found.outcome == KUBE_ANSWERED && lease->found.status.code == 404;
    const json_t *before = is_there ? lease->found.body : NULL;
    if (!is_there && !is_none) {
        complain(lease, err.message);
    } else if (is_there && !is_free(lease, before)) {
        char text[300];
        snprintf(text, sizeof(text), "another server holds it: %.200s", kube_text_at(before, "spec.holderIdentity"));
        complain(lease, text);
    } else {
        json_t *record = make_record(lease, before);
        int64_t sent_us = boot_us();
        if (call(lease, is_there ? KUBE_PUT : KUBE_POST, record, &lease->done, &err) == 0)
            note_held(lease, before, record, sent_us);
        else
            complain(lease, err.message);
        json_decref(record);
        kube_answer_done(&lease->done);
    }
    kube_answer_done(&lease->found);
    bool is_held = kube_lease_is_held(lease);
    if (is_held != lease->was_held) {
        log_write(LOG_INFO, "backends",
                  is_held ? "this server acts in the cluster lease=%s/%s term=%" PRId64
                          : "this server does not act in the cluster lease=%s/%s term=%" PRId64,
                  lease->namespace, lease->name, kube_lease_term(lease));
        lease->was_held = is_held;
        lease->changed(lease->context);
    }
}

static void give_back(struct kube_lease *lease)
{
    if (call(lease, KUBE_GET, NULL, &lease->found, NULL) == 0 &&
        strcmp(kube_text_at(lease->found.body, "spec.holderIdentity"), lease->holder) == 0) {
        json_t *record = make_record(lease, lease->found.body), *spec = json_object_get(record, "spec");
        json_object_set_new(spec, "holderIdentity", json_string(""));
        json_object_set_new(spec, "leaseDurationSeconds", json_integer(1));
        call(lease, KUBE_PUT, record, &lease->done, NULL);
        json_decref(record);
        kube_answer_done(&lease->done);
    }
    kube_answer_done(&lease->found);
}

static void *run(void *context)
{
    struct kube_lease *lease = context;
    bool is_ending = false;
    while (!is_ending) {
        try_once(lease);
        struct timespec until = condition_after(PERIOD_MS);
        pthread_mutex_lock(&lease->lock);
        while (!lease->is_ending && pthread_cond_timedwait(&lease->ended, &lease->lock, &until) != ETIMEDOUT)
            ;
        is_ending = lease->is_ending;
        pthread_mutex_unlock(&lease->lock);
    }
    bool is_ours = atomic_load(&lease->held_until_us) > boot_us();
    atomic_store(&lease->held_until_us, 0);
    if (is_ours)
        give_back(lease);
    return NULL;
}

static void release(struct kube_lease *lease)
{
    kube_client_destroy(lease->client);
    pthread_mutex_destroy(&lease->lock);
    pthread_cond_destroy(&lease->ended);
    free(lease->namespace);
    free(lease->name);
    free(lease->holder);
    free(lease);
}

int kube_lease_create(const struct kube_lease_setup *setup, struct kube_lease **out_lease, struct error *err)
{
    struct kube_client *client;
    pthread_attr_t attributes;
    if (kube_client_create(setup->access, NULL, &client, err) < 0) // its own: never behind other writes
        return -1;
    struct kube_lease *lease = memory_array(1, sizeof(*lease));
    lease->client = client;
    lease->namespace = memory_strdup(setup->namespace);
    lease->name = memory_strdup(setup->name);
    lease->holder = memory_strdup(setup->holder);
    lease->changed = setup->changed;
    lease->context = setup->context;
    pthread_mutex_init(&lease->lock, NULL);
    condition_init(&lease->ended);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int rc = pthread_create(&lease->thread, &attributes, run, lease);
    pthread_attr_destroy(&attributes);
    if (rc != 0) {
        release(lease);
        return error_set(err, ERROR_INTERNAL, "no thread for the lease: %s", strerror(rc));
    }
    *out_lease = lease;
    return 0;
}

void kube_lease_destroy(struct kube_lease *lease)
{
    if (!lease)
        return;
    pthread_mutex_lock(&lease->lock);
    lease->is_ending = true;
    pthread_cond_signal(&lease->ended);
    pthread_mutex_unlock(&lease->lock);
    pthread_join(lease->thread, NULL);
    release(lease);
}
