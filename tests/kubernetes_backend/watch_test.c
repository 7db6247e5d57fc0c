// A watch of nodes on the stand-in for the API server, through its faults: what is told is right, and once.
#include "backends/kubernetes/client/kube_access.h"
#include "backends/kubernetes/client/kube_client.h"
#include "backends/kubernetes/config/kube_config.h"
#include "backends/kubernetes/watch/kube_watch.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "tests/support/check.h"
#include "tests/support/side_program.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    PATIENCE_S = 60
};

static char folder[] = "/tmp/kube-watch-test-XXXXXX";

// What has been told since the last look: +n1 ~n1 -n1 and S or s.
struct listener {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct buffer told;
    int strangers; // kept by another object than what is told of
};

static void *keep_name(void *context, const json_t *object)
{
    (void)context;
    return memory_strdup(json_string_value(json_object_get(json_object_get(object, "metadata"), "name")));
}

static void free_kept(void *context, void *kept)
{
    (void)context;
    free(kept);
}

static void note(void *context, const struct kube_event *event)
{
    static const char *const MARKS[] = {"+", "~", "-", "S"};
    struct listener *listener = context;
    bool is_later = event->kind == KUBE_SYNCED && !event->is_first;
    pthread_mutex_lock(&listener->lock);
    buffer_printf(&listener->told, "%s%s ", is_later ? "s" : MARKS[event->kind], event->name);
    listener->strangers += event->kind != KUBE_SYNCED && strcmp(event->kept, event->name) != 0;
    pthread_cond_signal(&listener->changed);
    pthread_mutex_unlock(&listener->lock);
}

// Waits until this has been told, and nothing else.
static void expect(struct listener *listener, const char *want, const char *what)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&listener->lock);
    while (listener->told.length < strlen(want) &&
           pthread_cond_timedwait(&listener->changed, &listener->lock, &until) == 0)
        ;
    check_text(listener->told.data ? listener->told.data : "", want, "%s", what);
    buffer_clear(&listener->told);
    pthread_mutex_unlock(&listener->lock);
}

struct bench {
    struct side_program program;
    struct kube_access *access;
    struct kube_client *client;
    struct listener listener;
    struct kube_watch *watch;
};

static int ask(struct bench *bench, enum kube_method method, const char *path, const char *body)
{
    struct kube_answer answer;
    struct error err = {0};
    struct kube_call call = {.method = method, .path = path, .body = body};
    if (method == KUBE_PATCH)
        call.content_type = KUBE_MERGE_PATCH;
    int rc = kube_client_call(bench->client, &call, &answer, &err);
    if (rc < 0)
        printf("%s: %s\n", path, err.message);
    kube_answer_done(&answer);
    return rc;
}

static void make(struct bench *bench, const char *name)
{
    char body[200];
    snprintf(body, sizeof(body), "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\"}}", name);
    check_int(ask(bench, KUBE_POST, "/api/v1/nodes", body), 0, "%s is made", name);
}

static void change(struct bench *bench, const char *name)
{
    static int value;
    char path[100], body[100];
    snprintf(path, sizeof(path), "/api/v1/nodes/%s", name);
    snprintf(body, sizeof(body), "{\"metadata\":{\"labels\":{\"v\":\"%d\"}}}", ++value);
    check_int(ask(bench, KUBE_PATCH, path, body), 0, "%s is changed", name);
}

static void erase(struct bench *bench, const char *name)
{
    char path[100];
    snprintf(path, sizeof(path), "/api/v1/nodes/%s", name);
    check_int(ask(bench, KUBE_DELETE, path, NULL), 0, "%s is deleted", name);
}

static void control(struct bench *bench, const char *what, const char *body)
{
    char path[100];
    snprintf(path, sizeof(path), "/fakekube/%s", what);
    check_int(ask(bench, KUBE_POST, path, body), 0, "%s %s", what, body);
}

static void fault(struct bench *bench, const char *verb, const char *times, const char *action)
{
    char body[400];
    snprintf(body, sizeof(body), "{\"match\":{\"verb\":\"%s\",\"resource\":\"nodes\"},\"times\":%s,%s}", verb, times,
             action);
    control(bench, "faults", body);
}

static void hurt_watches(struct bench *bench, const char *how)
{
    char body[100];
    snprintf(body, sizeof(body), "{\"resource\":\"nodes\",\"how\":\"%s\"}", how);
    control(bench, "watches", body);
}

static struct kube_watch_counts counts_of(struct bench *bench)
{
    struct kube_watch_state state;
    kube_watch_read_state(bench->watch, &state);
    return state.counts;
}

// Until another watch than those has begun.
static void wait_for_watch(struct bench *bench, int64_t watches)
{
    int64_t until_us = timestamp_monotonic_us() + PATIENCE_S * INT64_C(1000000);
    while (counts_of(bench).watches <= watches && timestamp_monotonic_us() < until_us)
        sched_yield();
    check_true(counts_of(bench).watches > watches, "another watch begins");
}

static void start(struct bench *bench)
{
    char kubeconfig[200];
    struct kube_config_source source = {.kubeconfig = kubeconfig};
    struct kube_config *config = NULL;
    struct error err = {0};
    *bench = (struct bench){.listener = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER}};
    buffer_init(&bench->listener.told, 0);
    snprintf(kubeconfig, sizeof(kubeconfig), "%s/kubeconfig", folder);
    side_program_start(&bench->program, (const char *const[]){"./fakekube", "--kubeconfig", kubeconfig,
                                                              "--until-stdin-closes", "--no-kubelet", NULL});
    if (kube_config_load(&source, &config, &err) < 0 || kube_access_create(config, &bench->access, &err) < 0 ||
        kube_client_create(bench->access, NULL, &bench->client, &err) < 0) {
        printf("%s\n", err.message);
        exit(1);
    }
}

static void start_watch(struct bench *bench)
{
    struct kube_watch_setup setup = {
        .name = "nodes",
        .path = "/api/v1/nodes",
        .kind = "Node",
        .ops = {.keep = keep_name, .release = free_kept, .tell = note},
        .context = &bench->listener,
        .times = {.chunk = 2,
                  .probe_after_ms = 300,
                  .cut_after_ms = 600,
                  .backoff_ms = 20,
                  .backoff_max_ms = 200,
                  .too_new_wait_ms = 20},
    };
    struct error err = {0};
    check_int(kube_watch_create(bench->access, &setup, &bench->watch, &err), 0, "a watch: %s", err.message);
}

static void stop(struct bench *bench)
{
    kube_watch_destroy(bench->watch);
    kube_client_destroy(bench->client);
    kube_access_destroy(bench->access);
    side_program_stop(&bench->program);
    buffer_done(&bench->listener.told);
}

static void check_plain(struct bench *bench)
{
    struct listener *listener = &bench->listener;
    expect(listener, "+n1 +n2 +n3 +n4 +n5 S ", "a list of three pages");
    change(bench, "n1");
    expect(listener, "~n1 ", "a change");
    erase(bench, "n2");
    expect(listener, "-n2 ", "an end");
    make(bench, "n2");
    expect(listener, "+n2 ", "a new one under the old name");
    struct kube_watch_state state;
    int64_t until_us = timestamp_monotonic_us() + PATIENCE_S * INT64_C(1000000);
    do // an object is counted after it was told
        kube_watch_read_state(bench->watch, &state);
    while (state.counts.objects != 5 && timestamp_monotonic_us() < until_us);
    check_int(state.is_synced && state.is_connected, 1, "all is well");
    check_text(state.problem, "", "there is no problem");
    check_int(state.counts.objects, 5, "what it knows");
    check_int(state.counts.lists, 1, "one list");
}

struct cut_case {
    const char *how;
    bool is_cut;
};

static const struct cut_case CUTS[] = {
    {"close", false}, {"reset", true}, {"midLine", true}, {"duplicate", false}, {"old", false},
};

static void check_cuts(struct bench *bench)
{
    for (size_t i = 0; i < COUNT(CUTS); i++) {
        struct kube_watch_counts before = counts_of(bench);
        hurt_watches(bench, CUTS[i].how);
        change(bench, "n1");
        expect(&bench->listener, "~n1 ", CUTS[i].how);
        erase(bench, "n3");
        expect(&bench->listener, "-n3 ", CUTS[i].how);
        make(bench, "n3");
        expect(&bench->listener, "+n3 ", CUTS[i].how);
        check_int(counts_of(bench).lists, before.lists, "%s: no list", CUTS[i].how);
        if (CUTS[i].is_cut)
            check_true(counts_of(bench).cuts > before.cuts, "%s: counted as cut", CUTS[i].how);
    }
}

static void check_expired(struct bench *bench)
{
    static const char GONE[] = "\"status\":{\"code\":410,\"reason\":\"Expired\",\"message\":\"too old\"}";
    static const char GONE_EVENT[] = "\"watchError\":{\"code\":410,\"reason\":\"Expired\",\"message\":\"too old\"}";
    const char *const actions[] = {GONE, GONE_EVENT};
    for (size_t i = 0; i < COUNT(actions); i++) {
        struct kube_watch_counts before = counts_of(bench);
        fault(bench, "watch", "3", actions[i]);
        hurt_watches(bench, "close");
        expect(&bench->listener, "s s s ", "410: each is a list that tells nothing");
        check_int(counts_of(bench).expired, before.expired + 3, "410 three times");
        change(bench, "n1");
        expect(&bench->listener, "~n1 ", "and the watch goes on");
    }
    // What happened while nobody watched.
    fault(bench, "watch", "1", GONE);
    fault(bench, "list", "1", "\"delayMs\":200");
    hurt_watches(bench, "close");
    erase(bench, "n4");
    make(bench, "n4");
    expect(&bench->listener, "-n4 +n4 s ", "made again while nobody watched");
    // A list whose second page has expired.
    fault(bench, "watch", "1", GONE);
    control(bench, "faults",
            "{\"match\":{\"verb\":\"list\",\"resource\":\"nodes\"},\"skip\":1,\"times\":1,\"status\":{\"code\":410,"
            "\"reason\":\"Expired\",\"message\":\"token\"}}");
    hurt_watches(bench, "close");
    expect(&bench->listener, "s ", "a page that expired begins the list again");
}

static void check_refusals(struct bench *bench)
{
    static const char *const ACTIONS[] = {
        "\"status\":{\"code\":500,\"reason\":\"InternalError\",\"message\":\"etcd\"}",
        "\"status\":{\"code\":503,\"kindless\":true,\"message\":\"x\"}",
        "\"watchError\":{\"code\":500,\"reason\":\"InternalError\",\"message\":\"x\"}",
        "\"reset\":true",
        "\"cutAfterBytes\":5",
    };
    for (size_t i = 0; i < COUNT(ACTIONS); i++) {
        struct kube_watch_counts before = counts_of(bench);
        fault(bench, "watch", "2", ACTIONS[i]);
        hurt_watches(bench, "close");
        wait_for_watch(bench, before.watches);
        change(bench, "n1");
        expect(&bench->listener, "~n1 ", ACTIONS[i]);
        check_int(counts_of(bench).lists, before.lists, "%s: no list", ACTIONS[i]);
    }
}

static void check_silence(struct bench *bench)
{
    struct kube_watch_counts before = counts_of(bench);
    hurt_watches(bench, "silent");
    change(bench, "n1");
    expect(&bench->listener, "~n1 ", "a silent watch is replaced");
    check_int(counts_of(bench).lists, before.lists, "without a list");
    check_true(counts_of(bench).cuts > before.cuts, "and counted");
}

static void check_older_server(struct bench *bench)
{
    control(bench, "settings", "{\"tooLargeMs\":10}");
    control(bench, "checkpoint", "{}");
    make(bench, "n6");
    change(bench, "n1");
    erase(bench, "n5");
    expect(&bench->listener, "+n6 ~n1 -n5 ", "before");
    control(bench, "restore", "{}");
    hurt_watches(bench, "close");
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&bench->listener.lock);
    while (!(bench->listener.told.data && strstr(bench->listener.told.data, "s ")) &&
           pthread_cond_timedwait(&bench->listener.changed, &bench->listener.lock, &until) == 0)
        ;
    const char *told = bench->listener.told.data ? bench->listener.told.data : "";
    check_true(strstr(told, "-n6 ") && strstr(told, "~n1 ") && strstr(told, "+n5 ") && strlen(told) == 14,
               "the older state is told: %s", told);
    buffer_clear(&bench->listener.told);
    pthread_mutex_unlock(&bench->listener.lock);
    make(bench, "n7");
    expect(&bench->listener, "+n7 ", "and it is followed");
}

static void check_stop(struct bench *bench)
{
    fault(bench, "watch", "0", "\"hang\":true");
    int64_t watches = counts_of(bench).watches;
    hurt_watches(bench, "close");
    wait_for_watch(bench, watches);
    alarm(PATIENCE_S); // it ends while the server hangs
    kube_watch_destroy(bench->watch);
    alarm(0);
    bench->watch = NULL;
    check_int(ask(bench, KUBE_DELETE, "/fakekube/faults", NULL), 0, "no faults");
}

int main(void)
{
    static const char *const NAMES[] = {"n1", "n2", "n3", "n4", "n5"};
    struct bench bench;
    char command[300];
    if (!mkdtemp(folder))
        return 1;
    start(&bench);
    control(&bench, "settings", "{\"bookmarkMs\":100}");
    for (size_t i = 0; i < COUNT(NAMES); i++)
        make(&bench, NAMES[i]);
    start_watch(&bench);
    check_plain(&bench);
    check_cuts(&bench);
    check_expired(&bench);
    check_refusals(&bench);
    check_silence(&bench);
    check_older_server(&bench);
    check_stop(&bench);
    check_int(bench.listener.strangers, 0, "what is kept is the object's own");
    stop(&bench);
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    check_int(system(command), 0, "%s", command);
    return check_finish();
}
