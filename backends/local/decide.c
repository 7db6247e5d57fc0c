// Whether a pod's image is used, and so how it is started; what it will not be given is said.
#include "backends/local/local_state.h"
#include "backends/local/specification/honours.h"
#include "base/error.h"
#include "base/timestamp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void warn(struct local *local, const struct local_pod *pod, const char *reason, const char *message)
{
    struct backend_fact *fact = report_fact(local, BACKEND_POD_WARNING, pod->uuid, pod->decision, timestamp_now_ms());
    backend_fact_say(fact, reason, message);
}

static bool is_taken(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    // Connections that are over do not count: only who listens.
    bool is_free = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
                   (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, 1) == 0);
    close(fd);
    return !is_free;
}

static void warn_of_ports(struct local *local, const struct local_pod *pod)
{
    char message[128];
    for (size_t i = 0; i < pod->launch.listen_count; i++)
        if (pod->launch.listens[i] >= 1024 && is_taken(pod->launch.listens[i])) {
            snprintf(message, sizeof(message), "port %u is already in use on this machine",
                     (unsigned)pod->launch.listens[i]);
            warn(local, pod, "PortInUse", message);
        }
}

static void describe(struct local_pod *pod)
{
    const struct launch *launch = &pod->launch;
    if (launch->runtime)
        snprintf(pod->about, sizeof(pod->about), "as user %.24s, in its image by %.16s", launch->user.name,
                 launch->runtime);
    else
        snprintf(pod->about, sizeof(pod->about), "as user %.24s; its image is not used%s%.56s", launch->user.name,
                 launch->image_note ? ": " : "", launch->image_note ? launch->image_note : "");
}

static void decide(struct local *local, struct local_pod *pod, const struct image_answer *answer)
{
    struct error err = {0};
    unsigned unbounded =
        (local->cgroups.has_cpu ? 0 : HONOUR_WITHOUT_CPU) | (local->cgroups.has_memory ? 0 : HONOUR_WITHOUT_MEMORY);
    if (launch_decide(&local->options, pod->uuid, answer, unbounded, &pod->arena, &pod->launch, &err) < 0) {
        pod->phase = LOCAL_STARTING;
        report_not_started(local, pod, err.message);
        return;
    }
    if (!local->cgroups.has_memory && !pod->launch.container)
        pod->memory_bytes = 0; // nothing keeps it
    describe(pod);
    if (!pod->launch.runtime && answer->runtime_path[0]) { // it could have been
        char message[160];
        snprintf(message, sizeof(message), "does not run in its image: %s", pod->launch.image_note);
        warn(local, pod, "ImageNotUsed", message);
    }
    for (size_t i = 0; i < pod->launch.note_count; i++)
        warn(local, pod, "NotHonoured", pod->launch.notes[i]);
    warn_of_ports(local, pod);
    local_pods_queue(&local->pods, pod);
}

void decide_ask(struct local *local, struct local_pod *pod)
{
    struct image_answer answer;
    pod->phase = LOCAL_ASKING;
    if (images_ask(local->images, pod->uuid, pod->launch.image, pod->launch.pull, &answer))
        decide(local, pod, &answer);
}

void decide_take(void *context, const char *pod_uuid, const struct image_answer *answer)
{
    struct local *local = context;
    pthread_mutex_lock(&local->lock);
    struct local_pod *pod = local->stopping ? NULL : local_pods_find(&local->pods, pod_uuid);
    if (pod && pod->phase == LOCAL_ASKING) {
        start_marks_begin(&local->start_marks, pod->uuid, pod->workload_uuid);
        decide(local, pod, answer);
        start_marks_end(&local->start_marks);
    }
    pthread_mutex_unlock(&local->lock);
    local_wake(local);
}
