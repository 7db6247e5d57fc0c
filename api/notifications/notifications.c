#include "api/notifications/notifications.h"

#include "api/notifications/collector.h"
#include "api/notifications/post.h"
#include "api/notifications/sender.h"
#include "base/arena.h"
#include "base/condition.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "db/db.h"
#include "db/notifications/channels.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    STACK_BYTES = 2 << 20,
    GATHER_MS = 200, // what happens together is read together
    REST_MS = 60000, // between looks that nobody asked for
    TROUBLE_MS = 5000,
    TIDY_MS = 3600000,
    TRIES_MAX = 4,
    NAME_SIZE = 64
};
#define KEEP_MS (INT64_C(30) * 86400000) // what was sent or given up

struct slot {
    struct notifications *notifications;
    pthread_t thread;
    bool has_thread;
    char channel[NAME_SIZE]; // "": idle
    int64_t delivery_id;
};

struct notifications {
    struct sender sender;
    struct collector collector;
    pthread_mutex_t mutex;
    pthread_cond_t clerk_wake, sender_wake;
    bool is_stopping, is_woken;
    pthread_t clerk;
    bool has_clerk;
    struct slot slots[NOTIFICATION_SENDERS];
    atomic_int tries;
    int64_t tidied_ms;
};

static void wake(struct notifications *notifications)
{
    pthread_mutex_lock(&notifications->mutex);
    notifications->is_woken = true;
    pthread_cond_signal(&notifications->clerk_wake);
    pthread_mutex_unlock(&notifications->mutex);
}

// On the writer's thread: notes it and wakes.
static void hear_changes(const struct db_change *changes, size_t count, void *context)
{
    for (size_t i = 0; i < count; i++)
        if (changes[i].kind == CHANGE_WORKLOAD || changes[i].kind == CHANGE_EVENT ||
            changes[i].kind == CHANGE_SETTING) {
            wake(context);
            return;
        }
}

static int set_rules(struct network_rules *rules, const struct notification_options *options, struct error *err)
{
    for (size_t i = 0; i < options->network_count; i++)
        if (network_rules_add(rules, options->networks[i], err) < 0)
            return error_prefix(err, "--notify-network: ");
    return 0;
}

int notifications_create(struct db *db, const struct sealing *sealing, const struct notification_options *options,
                         struct notifications **out_notifications, struct error *err)
{
    struct network_rules rules = {0};
    if (set_rules(&rules, options, err) < 0)
        return -1;
    struct notifications *made = memory_array(1, sizeof(*made));
    made->sender = (struct sender){.db = db,
                                   .sealing = sealing,
                                   .rules = rules,
                                   .proxy = options->proxy,
                                   .ca_file = options->ca_file,
                                   .slack_api = options->slack_api,
                                   .retry_ms = options->retry_ms,
                                   .give_up_ms = options->give_up_ms};
    made->collector = (struct collector){.db = db, .per_hour = options->per_hour};
    pthread_mutex_init(&made->mutex, NULL);
    condition_init(&made->clerk_wake);
    condition_init(&made->sender_wake);
    db_add_listener(db, hear_changes, made);
    *out_notifications = made;
    return 0;
}

static bool is_busy(const struct notifications *notifications, const char *channel)
{
    for (size_t i = 0; i < NOTIFICATION_SENDERS; i++)
        if (strcmp(notifications->slots[i].channel, channel) == 0)
            return true;
    return false;
}

// False where all senders are at work: the next that is done wakes the clerk.
static bool hand_out(struct notifications *notifications, const char *channel, int64_t delivery_id)
{
    bool is_taken = false;
    pthread_mutex_lock(&notifications->mutex);
    for (size_t i = 0; !is_taken && i < NOTIFICATION_SENDERS; i++) {
        struct slot *slot = &notifications->slots[i];
        if (slot->channel[0])
            continue;
        snprintf(slot->channel, sizeof(slot->channel), "%s", channel);
        slot->delivery_id = delivery_id;
        is_taken = true;
    }
    if (is_taken)
        pthread_cond_broadcast(&notifications->sender_wake);
    pthread_mutex_unlock(&notifications->mutex);
    return is_taken;
}

static void sooner(int64_t *next_ms, int64_t time_ms)
{
    if (time_ms < *next_ms)
        *next_ms = time_ms;
}

// Hands out what is due by one channel; *next_ms becomes no later than when there is more to do.
static int look_at(struct notifications *notifications, struct db_conn *conn, struct arena *arena,
                   const struct notification_channel *channel, int64_t now_ms, int64_t *next_ms, struct error *err)
{
    struct delivery delivery;
    int64_t due_ms;
    pthread_mutex_lock(&notifications->mutex);
    bool busy = is_busy(notifications, channel->name);
    pthread_mutex_unlock(&notifications->mutex);
    if (busy || !channel->is_enabled)
        return 0;
    int rc = db_find_due_delivery(conn, channel->name, now_ms, arena, &delivery, &due_ms, err);
    if (rc < 0)
        return -1;
    if (rc > 0 && channel->paused_until_ms <= now_ms)
        hand_out(notifications, channel->name, delivery.id);
    else if (due_ms)
        sooner(next_ms, due_ms > channel->paused_until_ms ? due_ms : channel->paused_until_ms);
    return 0;
}

static int dispatch(struct notifications *notifications, int64_t now_ms, int64_t *next_ms, struct error *err)
{
    struct arena arena;
    struct notification_channel *channels;
    size_t count = 0;
    arena_init(&arena);
    struct db_conn *conn = db_acquire_for_notifications(notifications->sender.db);
    int rc = db_list_notification_channels(conn, &arena, &channels, &count, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = look_at(notifications, conn, &arena, &channels[i], now_ms, next_ms, err);
    db_give_back(notifications->sender.db, conn);
    arena_done(&arena);
    return rc;
}

static int tidy(struct notifications *notifications, int64_t now_ms, struct error *err)
{
    if (notifications->tidied_ms && now_ms < notifications->tidied_ms + TIDY_MS)
        return 0;
    notifications->tidied_ms = now_ms;
    return db_tidy_deliveries(notifications->sender.db, now_ms - notifications->sender.give_up_ms, now_ms - KEEP_MS,
                              now_ms, err);
}

// All that there is to do now. When to look again, by the wall clock.
static int64_t work(struct notifications *notifications)
{
    struct error err = {0};
    int64_t now_ms = timestamp_now_ms(), next_ms = now_ms + REST_MS;
    bool has_more = true;
    while (has_more && !atomic_load(&notifications->sender.is_stopping))
        if (collector_step(&notifications->collector, now_ms, &has_more, &err) < 0)
            break;
    if (err.code == ERROR_NONE && tidy(notifications, now_ms, &err) == 0 &&
        dispatch(notifications, now_ms, &next_ms, &err) == 0)
        return next_ms;
    log_write(LOG_ERROR, "api", "notifications wait: %s", err.message);
    return now_ms + TROUBLE_MS;
}

static void wait_until(struct notifications *notifications, pthread_cond_t *condition, int64_t wait_ms)
{
    struct timespec until = condition_after(wait_ms);
    pthread_cond_timedwait(condition, &notifications->mutex, &until);
}

static void *run_clerk(void *context)
{
    struct notifications *notifications = context;
    pthread_mutex_lock(&notifications->mutex);
    while (!notifications->is_stopping) {
        notifications->is_woken = false;
        pthread_mutex_unlock(&notifications->mutex);
        int64_t next_ms = work(notifications);
        pthread_mutex_lock(&notifications->mutex);
        for (int64_t now_ms; !notifications->is_stopping && !notifications->is_woken;) {
            if ((now_ms = timestamp_now_ms()) >= next_ms)
                break;
            wait_until(notifications, &notifications->clerk_wake, next_ms - now_ms);
        }
        if (!notifications->is_stopping && notifications->is_woken)
            wait_until(notifications, &notifications->clerk_wake, GATHER_MS);
    }
    pthread_mutex_unlock(&notifications->mutex);
    return NULL;
}

static void *run_sender(void *context)
{
    struct slot *slot = context;
    struct notifications *notifications = slot->notifications;
    pthread_mutex_lock(&notifications->mutex);
    for (;;) {
        while (!notifications->is_stopping && !slot->channel[0])
            pthread_cond_wait(&notifications->sender_wake, &notifications->mutex);
        if (notifications->is_stopping)
            break;
        pthread_mutex_unlock(&notifications->mutex);
        sender_carry(&notifications->sender, slot->channel, slot->delivery_id);
        pthread_mutex_lock(&notifications->mutex);
        slot->channel[0] = '\0';
        notifications->is_woken = true;
        pthread_cond_signal(&notifications->clerk_wake);
    }
    pthread_mutex_unlock(&notifications->mutex);
    return NULL;
}

static int start_thread(pthread_t *thread, void *(*run)(void *), void *context, struct error *err)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int rc = pthread_create(thread, &attributes, run, context);
    pthread_attr_destroy(&attributes);
    return rc == 0 ? 0 : error_set(err, ERROR_UNAVAILABLE, "no thread for notifications: %s", strerror(rc));
}

int notifications_start(struct notifications *notifications, struct error *err)
{
    if (db_release_deliveries(notifications->sender.db, err) < 0)
        return -1;
    for (size_t i = 0; i < NOTIFICATION_SENDERS; i++) {
        struct slot *slot = &notifications->slots[i];
        slot->notifications = notifications;
        if (start_thread(&slot->thread, run_sender, slot, err) < 0)
            return -1;
        slot->has_thread = true;
    }
    if (start_thread(&notifications->clerk, run_clerk, notifications, err) < 0)
        return -1;
    notifications->has_clerk = true;
    return 0;
}

void notifications_stop(struct notifications *notifications)
{
    if (!notifications)
        return;
    atomic_store(&notifications->sender.is_stopping, true);
    pthread_mutex_lock(&notifications->mutex);
    notifications->is_stopping = true;
    pthread_cond_broadcast(&notifications->clerk_wake);
    pthread_cond_broadcast(&notifications->sender_wake);
    pthread_mutex_unlock(&notifications->mutex);
    if (notifications->has_clerk)
        pthread_join(notifications->clerk, NULL);
    for (size_t i = 0; i < NOTIFICATION_SENDERS; i++)
        if (notifications->slots[i].has_thread)
            pthread_join(notifications->slots[i].thread, NULL);
}

void notifications_destroy(struct notifications *notifications)
{
    if (!notifications)
        return;
    pthread_cond_destroy(&notifications->clerk_wake);
    pthread_cond_destroy(&notifications->sender_wake);
    pthread_mutex_destroy(&notifications->mutex);
    free(notifications);
}

// A call for somebody who waits for it: his own stack is too small for TLS.
struct trial {
    struct notifications *notifications;
    const char *type;
    const struct channel_config *config;
    const char *token;
    struct arena *arena;
    const char *url; // result
    int rc;
    struct error error;
};

static void *run_trial(void *context)
{
    struct trial *trial = context;
    struct sender *sender = &trial->notifications->sender;
    if (trial->token) {
        struct outbound_guard guard = sender_guard(sender);
        trial->rc =
            post_create_slack_app(trial->token, sender->slack_api, &guard, trial->arena, &trial->url, &trial->error);
    } else {
        trial->rc = sender_try(sender, trial->type, trial->config, trial->arena, &trial->error);
    }
    return NULL;
}

static int call(struct trial *trial, struct error *err)
{
    pthread_t thread;
    atomic_int *tries = &trial->notifications->tries;
    int rc = -1;
    if (atomic_fetch_add(tries, 1) >= TRIES_MAX) {
        error_set(err, ERROR_UNAVAILABLE, "%d calls like this wait for their answer: try again", TRIES_MAX);
    } else if (start_thread(&thread, run_trial, trial, err) == 0) {
        pthread_join(thread, NULL);
        rc = trial->rc;
        if (rc < 0 && err)
            *err = trial->error;
    }
    atomic_fetch_sub(tries, 1);
    return rc;
}

int notifications_try(struct notifications *notifications, const char *type, const struct channel_config *config,
                      struct arena *arena, struct error *err)
{
    struct trial trial = {.notifications = notifications, .type = type, .config = config, .arena = arena};
    return call(&trial, err);
}

int notifications_create_slack_app(struct notifications *notifications, const char *token, struct arena *arena,
                                   const char **out_url, struct error *err)
{
    struct trial trial = {.notifications = notifications, .token = token, .arena = arena};
    if (!notifications->sender.slack_api)
        return error_set(err, ERROR_LATER, "Slack is not configured: --slack-api is not set");
    if (call(&trial, err) < 0)
        return -1;
    *out_url = trial.url;
    return 0;
}
