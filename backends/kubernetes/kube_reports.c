// What this server did with pods, and why one waits, written to the cluster as events and conditions: behind all else,
// a few at a time, and never again. Whoever may read a namespace reads them, so that they name no workload of another
// project.
#include "backends/kubernetes/client/kube_client.h"
#include "backends/kubernetes/client/kube_path.h"
#include "backends/kubernetes/kubernetes_state.h"
#include "base/buffer.h"
#include "base/timestamp.h"

#include <stdlib.h>
#include <string.h>

enum {
    WAITING_MAX = 1000,
    BATCH_MAX = 10,
    BATCH_US = 500 * 1000 // so 20 a second
};

struct kube_report {
    struct kube_report *next;
    char *path, *body;
    bool is_condition; // of the pod's status; else an event
};

// What the reason of a stop says to others. NULL: that it was told to stop, and no more.
static const char *sentence_of(const char *reason)
{
    static const struct {
        const char *reason, *sentence;
    } SENTENCES[] = {
        {"Preempted", "Gives way to work of a higher priority, or to a project below its share"},
        {"Consolidated", "Is moved to make room in one piece"},
        {"StaleJob", "Is stopped: its gang is not whole any more"},
        {"Suspended", "Is suspended"},
        {"Deleted", "Is deleted"},
        {"Completed", "Is stopped: its workload has completed"},
        {"Failed", "Is stopped: its workload has failed"},
    };
    for (size_t i = 0; i < sizeof(SENTENCES) / sizeof(SENTENCES[0]); i++)
        if (strcmp(SENTENCES[i].reason, reason) == 0)
            return SENTENCES[i].sentence;
    return "Is told to stop";
}

// path and object become the queue's.
static void add(struct kubernetes *kubernetes, struct buffer *path, json_t *object, bool is_condition)
{
    if (kubernetes->reports.count == WAITING_MAX) {
        atomic_fetch_add(&kubernetes->reports.dropped, 1);
        buffer_done(path);
        json_decref(object);
        return;
    }
    struct kube_report *report = memory_array(1, sizeof(*report));
    *report = (struct kube_report){
        .path = buffer_take(path), .body = json_dumps(object, JSON_COMPACT), .is_condition = is_condition};
    json_decref(object);
    if (kubernetes->reports.last)
        kubernetes->reports.last->next = report;
    else
        kubernetes->reports.first = report;
    kubernetes->reports.last = report;
    kubernetes->reports.count++;
}

// version: of the object that it is said of; NULL: of any.
static void add_condition(struct kubernetes *kubernetes, const struct ordered_pod *pod, const char *version,
                          const struct kube_condition *condition)
{
    struct kube_target target = {.namespace = pod->namespace, .name = pod->name, .uid = pod->uid};
    struct buffer path;
    buffer_init(&path, 0);
    kube_path(&path, "/api/v1/namespaces/%s/pods/%s/status", pod->namespace, pod->name);
    add(kubernetes, &path, kube_manifest_condition(&target, version, condition), true);
}

static void add_event(struct kubernetes *kubernetes, const struct ordered_pod *pod, const char *reason,
                      const char *action, const char *message)
{
    struct arena arena;
    struct buffer path;
    arena_init(&arena);
    struct kube_event_text text = {.pod = {.namespace = pod->namespace, .name = pod->name, .uid = pod->uid},
                                   .reason = reason,
                                   .action = action,
                                   .message = message,
                                   .time_ms = timestamp_now_ms(),
                                   .serial = ++kubernetes->reports.serial};
    buffer_init(&path, 0);
    kube_path(&path, "/api/v1/namespaces/%s/events", pod->namespace);
    add(kubernetes, &path, kube_manifest_event(&kubernetes->site, &text, &arena), false);
    arena_done(&arena);
}

void kube_reports_bound(struct kubernetes *kubernetes, const struct ordered_pod *pod)
{
    struct buffer message;
    buffer_init(&message, 0);
    buffer_printf(&message, "Assigned %s/%s to %s", pod->namespace, pod->name, pod->node_name);
    add_event(kubernetes, pod, "Scheduled", "Binding", message.data);
    buffer_done(&message);
}

void kube_reports_stopped(struct kubernetes *kubernetes, const struct ordered_pod *pod)
{
    const char *sentence = sentence_of(pod->stop_reason);
    add_event(kubernetes, pod, pod->stop_reason, "Stopping", sentence);
    if (pod->gives_way)
        add_condition(kubernetes, pod, NULL,
                      &(struct kube_condition){"DisruptionTarget", "True", "PreemptionByScheduler", sentence,
                                               timestamp_now_ms()});
}

void kube_reports_waits(struct kubernetes *kubernetes, const struct ordered_pod *pod, const char *message)
{
    const struct own_object *object = kube_index_find(&kubernetes->objects, pod->uuid);
    add_event(kubernetes, pod, "FailedScheduling", "Scheduling", message);
    if (!object)
        return;
    // Once it is bound the condition says so, and its version is another.
    add_condition(kubernetes, pod, object->pod.meta.resource_version,
                  &(struct kube_condition){"PodScheduled", "False", "Unschedulable", message, timestamp_now_ms()});
}

static void ignore(void *context, struct kube_answer *answer)
{
    (void)context;
    (void)answer; // it was a word on the way; the server's own history has it
}

static struct kube_report *take_first(struct kubernetes *kubernetes)
{
    struct kube_report *report = kubernetes->reports.first;
    if (!report)
        return NULL;
    kubernetes->reports.first = report->next;
    if (!report->next)
        kubernetes->reports.last = NULL;
    kubernetes->reports.count--;
    return report;
}

static void destroy(struct kube_report *report)
{
    free(report->path);
    free(report->body);
    free(report);
}

void kube_reports_send(struct kubernetes *kubernetes)
{
    int64_t now_us = timestamp_monotonic_us();
    if (!kubernetes->reports.first || now_us - kubernetes->reports.sent_us < BATCH_US ||
        !kubernetes_may_write(kubernetes))
        return;
    kubernetes->reports.sent_us = now_us;
    for (int i = 0; i < BATCH_MAX && kubernetes->reports.first; i++) {
        struct kube_report *report = take_first(kubernetes);
        struct kube_call call = {.method = report->is_condition ? KUBE_PATCH : KUBE_POST,
                                 .path = report->path,
                                 .body = report->body,
                                 .content_type = report->is_condition ? KUBE_STRATEGIC_PATCH : NULL,
                                 .limit = KUBE_LIMIT_SHORT};
        kube_client_submit(kubernetes->client, &call, ignore, NULL);
        destroy(report);
    }
}

void kube_reports_done(struct kubernetes *kubernetes)
{
    for (struct kube_report *report; (report = take_first(kubernetes));)
        destroy(report);
}
