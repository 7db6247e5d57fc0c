#include "backends/kubernetes/config/kube_credentials.h"

#include "backends/kubernetes/config/kube_config.h"
#include "backends/kubernetes/config/kube_exec.h"
#include "backends/kubernetes/config/kube_file.h"
#include "base/buffer.h"
#include "base/condition.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    FILES_EVERY_US = 60 * 1000000,
    REFUSED_EVERY_US = 5 * 1000000,
    AHEAD_MS = 10000,
    LOOK_MS = 100
};

struct kube_credentials {
    const struct kube_config *config;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_busy; // somebody reads or runs the plugin, without the lock
    bool has_current;
    struct kube_credential current;
    int64_t expires_ms; // of the plugin's; 0: never
    int64_t read_us, refused_us;
    bool is_refused;
    int64_t failed_us; // when reading failed last; 0: it went well
    struct error failure;
};

struct kube_credentials *kube_credentials_create(const struct kube_config *config)
{
    struct kube_credentials *credentials = memory_array(1, sizeof(*credentials));
    credentials->config = config;
    pthread_mutex_init(&credentials->lock, NULL);
    condition_init(&credentials->changed);
    return credentials;
}

static void wipe(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

void kube_credential_release(struct kube_credential *credential)
{
    wipe(credential->token);
    wipe(credential->key_pem);
    free(credential->certificate_pem);
    free(credential->ca_pem);
    *credential = (struct kube_credential){0};
}

void kube_credentials_destroy(struct kube_credentials *credentials)
{
    if (!credentials)
        return;
    kube_credential_release(&credentials->current);
    pthread_cond_destroy(&credentials->changed);
    pthread_mutex_destroy(&credentials->lock);
    free(credentials);
}

// A text of the config, or what its file holds now; NULL: neither.
static int read_part(const char *text, const char *file, char **out, struct error *err)
{
    struct buffer content;
    if (*text)
        *out = memory_strdup(text);
    if (*text || !*file)
        return 0;
    buffer_init(&content, KUBE_FILE_MAX);
    int rc = kube_file_read(file, &content, err);
    if (rc == 0 && content.length == 0)
        rc = error_set(err, ERROR_INVALID, "%s: empty", file);
    if (rc == 0 && strlen(content.data) != content.length)
        rc = error_set(err, ERROR_INVALID, "%s: not a text", file);
    if (rc == 0)
        *out = buffer_take(&content);
    buffer_done(&content);
    return rc;
}

// A token becomes a header: blanks around it go, others are refused.
static int clean_token(char *token, struct error *err)
{
    size_t length = token ? strlen(token) : 0;
    while (length > 0 && strchr(" \r\n\t", token[length - 1]))
        token[--length] = '\0';
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)token[i] <= ' ' || (unsigned char)token[i] >= 127)
            return error_set(err, ERROR_INVALID, "the token has a character that no token has");
    return 0;
}

static int read_all(const struct kube_config *config, const atomic_bool *stopping, struct kube_credential *out,
                    int64_t *out_expires_ms, struct error *err)
{
    struct kube_credential fresh = {0};
    struct kube_exec_credential made = {0};
    int rc = read_part(config->ca_pem, config->ca_file, &fresh.ca_pem, err);
    if (rc == 0)
        rc = read_part(config->token, config->token_file, &fresh.token, err);
    if (rc == 0)
        rc = read_part(config->certificate_pem, config->certificate_file, &fresh.certificate_pem, err);
    if (rc == 0)
        rc = read_part(config->key_pem, config->key_file, &fresh.key_pem, err);
    if (rc == 0 && config->has_exec && (rc = kube_exec_run(config, stopping, &made, err)) == 0) {
        fresh.token = made.token;
        if (made.key_pem) {
            wipe(fresh.key_pem);
            free(fresh.certificate_pem);
            fresh.key_pem = made.key_pem;
            fresh.certificate_pem = made.certificate_pem;
        }
    }
    if (rc == 0)
        rc = clean_token(fresh.token, err);
    if (rc < 0) {
        kube_credential_release(&fresh);
        return -1;
    }
    *out_expires_ms = made.expires_ms;
    *out = fresh;
    return 0;
}

static bool is_due(const struct kube_credentials *credentials)
{
    const struct kube_config *config = credentials->config;
    if (!credentials->has_current || credentials->is_refused)
        return true;
    if (config->has_exec)
        return credentials->expires_ms && timestamp_now_ms() + AHEAD_MS > credentials->expires_ms;
    bool has_files = *config->token_file || *config->certificate_file || *config->key_file || *config->ca_file;
    return has_files && timestamp_monotonic_us() - credentials->read_us > FILES_EVERY_US;
}

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

// Takes fresh over. Under the lock.
static void replace(struct kube_credentials *credentials, struct kube_credential *fresh, int64_t expires_ms)
{
    struct kube_credential *current = &credentials->current;
    bool is_same = credentials->has_current && is_same_text(current->token, fresh->token) &&
                   is_same_text(current->certificate_pem, fresh->certificate_pem) &&
                   is_same_text(current->key_pem, fresh->key_pem) && is_same_text(current->ca_pem, fresh->ca_pem);
    fresh->generation = current->generation + !is_same;
    kube_credential_release(current);
    *current = *fresh;
    credentials->has_current = true;
    credentials->expires_ms = expires_ms;
}

// What was good goes on where reading fails, unless the server refused it or it ended.
static int judge_failure(struct kube_credentials *credentials, struct error *err)
{
    bool has_ended = credentials->expires_ms && timestamp_now_ms() > credentials->expires_ms;
    if (credentials->has_current && !credentials->is_refused && !has_ended)
        return 0;
    if (err)
        *err = credentials->failure;
    return -1;
}

// Reads again, without the lock; not at once where that has just failed.
static int renew(struct kube_credentials *credentials, const atomic_bool *stopping, struct error *err)
{
    struct kube_credential fresh;
    struct error problem = {0};
    int64_t expires_ms;
    if (credentials->failed_us && timestamp_monotonic_us() - credentials->failed_us < REFUSED_EVERY_US)
        return judge_failure(credentials, err);
    credentials->is_busy = true;
    pthread_mutex_unlock(&credentials->lock);
    int rc = read_all(credentials->config, stopping, &fresh, &expires_ms, &problem);
    pthread_mutex_lock(&credentials->lock);
    credentials->is_busy = false;
    pthread_cond_broadcast(&credentials->changed);
    credentials->read_us = timestamp_monotonic_us();
    credentials->failed_us = rc < 0 ? credentials->read_us : 0;
    credentials->failure = problem;
    if (rc == 0) {
        credentials->is_refused = false;
        replace(credentials, &fresh, expires_ms);
        return 0;
    }
    char quoted[LOG_TEXT_SIZE];
    log_write(LOG_WARN, "backends", "credentials for Kubernetes cannot be read problem=%s",
              log_text(problem.message, quoted));
    return judge_failure(credentials, err);
}

static void wait_a_little(struct kube_credentials *credentials)
{
    struct timespec until = condition_after(LOOK_MS);
    (void)pthread_cond_timedwait(&credentials->changed, &credentials->lock, &until);
}

static char *copy_or_null(const char *text)
{
    return text ? memory_strdup(text) : NULL;
}

int kube_credentials_get(struct kube_credentials *credentials, const atomic_bool *stopping, struct kube_credential *out,
                         struct error *err)
{
    int rc = 0;
    pthread_mutex_lock(&credentials->lock);
    while (credentials->is_busy && !(stopping && atomic_load(stopping)))
        wait_a_little(credentials);
    if (stopping && atomic_load(stopping))
        rc = error_set(err, ERROR_UNAVAILABLE, "stopping");
    else if (is_due(credentials))
        rc = renew(credentials, stopping, err);
    if (rc == 0) {
        const struct kube_credential *current = &credentials->current;
        *out = (struct kube_credential){.token = copy_or_null(current->token),
                                        .certificate_pem = copy_or_null(current->certificate_pem),
                                        .key_pem = copy_or_null(current->key_pem),
                                        .ca_pem = copy_or_null(current->ca_pem),
                                        .generation = current->generation};
    }
    pthread_mutex_unlock(&credentials->lock);
    return rc;
}

void kube_credentials_refuse(struct kube_credentials *credentials, int64_t generation)
{
    int64_t now_us = timestamp_monotonic_us();
    pthread_mutex_lock(&credentials->lock);
    bool is_soon = credentials->refused_us && now_us - credentials->refused_us < REFUSED_EVERY_US;
    if (generation == credentials->current.generation && !is_soon) {
        credentials->is_refused = true;
        credentials->refused_us = now_us;
    }
    pthread_mutex_unlock(&credentials->lock);
}
