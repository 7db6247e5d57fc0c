// Secrets for which no credential stands any more. The server may not ask the cluster which there are, so the vault
// keeps what was made: a patch that changes nothing, and that fails where the secret is not ours, tells its uid; then
// it is deleted. One that a pod of ours reads stays until the pod is over.
#include "backends/kubernetes/client/kube_path.h"
#include "backends/kubernetes/kubernetes_state.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"

#include <stdlib.h>
#include <string.h>

enum {
    EVERY_S = 10,
    AFTER_REFUSAL_S = 600
};

// One that is being taken away.
struct parting {
    struct kubernetes *kubernetes;
    char *path, *namespace, *name, *project_name;
};

static void end_parting(struct parting *parting)
{
    atomic_fetch_sub(&parting->kubernetes->secrets_going, 1);
    free(parting->path);
    free(parting->namespace);
    free(parting->name);
    free(parting->project_name);
    free(parting);
}

static void forget(const struct parting *parting)
{
    const struct backend_vault *vault = parting->kubernetes->vault;
    struct backend_made_secret secret = {parting->namespace, parting->name, parting->project_name};
    vault->forget(vault->context, &secret);
}

// It is tried again: after a refusal not soon, for that takes somebody to mend it.
static void note_failure(struct kubernetes *kubernetes, const struct kube_answer *answer)
{
    char text[KUBE_MESSAGE_SIZE], quoted[LOG_TEXT_SIZE];
    if (answer->outcome != KUBE_ANSWERED || answer->status.code == 409)
        return;
    log_write(LOG_WARN, "backends", "a secret of a deleted credential stays: %s",
              log_text(kube_answer_text(answer, text, sizeof(text)), quoted));
    pthread_mutex_lock(&kubernetes->lock);
    kubernetes->secrets_us = timestamp_monotonic_us() + (int64_t)AFTER_REFUSAL_S * 1000000;
    pthread_mutex_unlock(&kubernetes->lock);
}

static void take_deletion(void *context, struct kube_answer *answer)
{
    struct parting *parting = context;
    if (kube_answer_is_good(answer) || (answer->outcome == KUBE_ANSWERED && answer->status.code == 404))
        forget(parting);
    else
        note_failure(parting->kubernetes, answer);
    end_parting(parting);
}

static void take_look(void *context, struct kube_answer *answer)
{
    struct parting *parting = context;
    int code = answer->outcome == KUBE_ANSWERED ? answer->status.code : 0;
    const char *uid = kube_answer_is_good(answer) ? kube_text_at(answer->body, "metadata.uid") : "";
    if (*uid) {
        kube_clearing_delete(parting->kubernetes, parting->path, uid, take_deletion, parting);
        return;
    }
    if (code == 404 || code == 422) // gone, or somebody else's
        forget(parting);
    else
        note_failure(parting->kubernetes, answer);
    end_parting(parting);
}

static void look(struct kubernetes *kubernetes, const struct backend_made_secret *secret)
{
    struct parting *parting = memory_array(1, sizeof(*parting));
    struct buffer path;
    json_t *patch = kube_manifest_secret_look(&kubernetes->site);
    char *body = json_dumps(patch, JSON_COMPACT);
    buffer_init(&path, 0);
    kube_path(&path, "/api/v1/namespaces/%s/secrets/%s", secret->namespace, secret->name);
    *parting = (struct parting){kubernetes, buffer_take(&path), memory_strdup(secret->namespace),
                                memory_strdup(secret->name), memory_strdup(secret->project_name)};
    struct kube_call call = {.method = KUBE_PATCH,
                             .path = parting->path,
                             .body = body,
                             .content_type = KUBE_JSON_PATCH,
                             .is_repeatable = true,
                             .try_for_ms = -1};
    atomic_fetch_add(&kubernetes->secrets_going, 1); // who is to have it again waits until it is gone
    kube_client_submit(kubernetes->client, &call, take_look, parting);
    free(body);
    json_decref(patch);
}

static bool is_read(const struct kubernetes *kubernetes, const struct backend_made_secret *secret)
{
    size_t position = 0;
    struct kube_index_slot *place = NULL;
    for (const struct ordered_pod *pod; (pod = kube_index_next(&kubernetes->pods, &position, &place));)
        for (size_t i = 0; i < pod->secret_count; i++)
            if (strcmp(pod->secrets[i], secret->name) == 0 && strcmp(pod->namespace, secret->namespace) == 0)
                return true;
    return false;
}

void kube_secrets_left_look(struct kubernetes *kubernetes)
{
    const struct backend_vault *vault = kubernetes->vault;
    struct backend_made_secret *secrets;
    struct error err = {0};
    struct arena arena;
    size_t count = 0;
    int64_t now_us = timestamp_monotonic_us();
    if (!vault || !kubernetes->has_rows || kubernetes->stopping || now_us < kubernetes->secrets_us ||
        atomic_load(&kubernetes->secrets_going) || !kubernetes_may_write(kubernetes))
        return;
    kubernetes->secrets_us = now_us + (int64_t)EVERY_S * 1000000;
    arena_init(&arena);
    pthread_mutex_unlock(&kubernetes->lock);
    if (vault->list_left(vault->context, &arena, &secrets, &count, &err) < 0)
        log_write(LOG_WARN, "backends", "secrets of deleted credentials stay: %s", err.message);
    pthread_mutex_lock(&kubernetes->lock);
    for (size_t i = 0; i < count; i++)
        if (!is_read(kubernetes, &secrets[i]))
            look(kubernetes, &secrets[i]);
    arena_done(&arena);
}
