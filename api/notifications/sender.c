#include "api/notifications/sender.h"

#include "api/notifications/audience.h"
#include "api/notifications/channel_config.h"
#include "api/notifications/mail.h"
#include "api/notifications/message.h"
#include "api/notifications/post.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "base/uuid.h"
#include "db/db.h"
#include "db/notifications/channels.h"
#include "db/notifications/outbox.h"

#include <inttypes.h>
#include <sodium.h>
#include <string.h>

enum {
    LEASE_MS = 300000, // longer than a try can take
    RETRY_MOST_MS = 3600000
};

struct work {
    struct sender *sender;
    struct arena *arena;
    struct notification_channel channel;
    struct channel_config config;
    struct delivery delivery;
    struct notification_line *lines;
    size_t line_count;
    const char *address; // of the person; NULL: those whom the channel names
    bool is_refused;     // it is this recipient that is not taken, and not the channel that fails
};

struct outbound_guard sender_guard(const struct sender *sender)
{
    return (struct outbound_guard){.rules = &sender->rules,
                                   .proxy = sender->proxy,
                                   .ca_file = sender->ca_file,
                                   .connect_ms = SENDER_CONNECT_MS,
                                   .total_ms = SENDER_TOTAL_MS,
                                   .is_stopping = &sender->is_stopping};
}

static int load_from(struct work *work, struct db_conn *conn, struct error *err)
{
    const char *name = work->delivery.channel;
    struct audience audience = {.conn = conn, .arena = work->arena};
    const struct person *person;
    int rc = db_find_notification_channel(conn, name, work->arena, &work->channel, err);
    if (rc <= 0)
        return rc < 0 ? -1 : error_set(err, ERROR_NOT_FOUND, "notification channel %s: not found", name);
    if (db_list_delivery_lines(conn, work->delivery.id, work->arena, &work->lines, &work->line_count, err) < 0 ||
        audience_keep_seen(&audience, work->lines, &work->line_count, err) < 0)
        return -1;
    if (!work->delivery.user_id)
        return 0;
    if (audience_person(&audience, work->delivery.user_id, &person, err) < 0)
        return -1;
    work->address = person->email;
    if (!person->email)
        work->line_count = 0;
    return 0;
}

static int load(struct work *work, struct error *err)
{
    struct db_conn *conn = db_acquire_for_notifications(work->sender->db);
    int rc = load_from(work, conn, err);
    db_give_back(work->sender->db, conn);
    return rc < 0 ? -1 : channel_config_load(&work->channel, work->sender->sealing, work->arena, &work->config, err);
}

static int send_mail(struct work *work, const struct message *message, struct outbound_guard *guard, struct error *err)
{
    const struct channel_config *config = &work->config;
    const char *person[] = {work->address};
    if (work->address && !channel_is_address(work->address)) {
        work->is_refused = true;
        return error_set(err, ERROR_UNAVAILABLE, "the account's name is no address that a mail server takes");
    }
    struct mail mail = {
        .id = message->id,
        .to = work->address ? person : (const char *const *)config->recipients,
        .to_count = work->address ? 1 : config->recipient_count,
        .subject = message_subject(message, config->subject, work->arena),
        .text = message_text(message, work->arena),
        .time_ms = message->created_ms,
    };
    return mail_send(&mail, config, guard, work->arena, &work->is_refused, err);
}

static int send_it(struct work *work, struct error *err)
{
    struct outbound_guard guard = sender_guard(work->sender);
    struct message message = {.id = work->delivery.uuid,
                              .lines = work->lines,
                              .line_count = work->line_count,
                              .omitted_count = work->delivery.omitted_count,
                              .created_ms = work->delivery.created_ms};
    if (strcmp(work->channel.type, CHANNEL_EMAIL) == 0)
        return send_mail(work, &message, &guard, err);
    struct post post = {.id = message.id,
                        .text = message_text(&message, work->arena),
                        .json = message_json(&message, work->arena),
                        .address = work->address,
                        .time_ms = timestamp_now_ms()};
    if (strcmp(work->channel.type, CHANNEL_SLACK) == 0) {
        int rc = post_to_slack(&post, &work->config, work->sender->slack_api, &guard, work->arena, err);
        work->is_refused = rc < 0 && work->address && err->code == ERROR_INVALID;
        return rc;
    }
    return post_to_webhook(&post, &work->config, &guard, work->arena, err);
}

// Doubles with each failure up to RETRY_MOST_MS; a quarter more or less, so that many do not come at once.
static int64_t delay(const struct sender *sender, int64_t failures)
{
    int64_t wait = sender->retry_ms;
    for (int64_t i = 1; i < failures && wait < RETRY_MOST_MS; i++)
        wait *= 2;
    if (wait > RETRY_MOST_MS)
        wait = RETRY_MOST_MS;
    return wait * 3 / 4 + (int64_t)randombytes_uniform((uint32_t)(wait / 2 + 1));
}

static void end(struct work *work, const char *state, const char *error)
{
    const struct sender *sender = work->sender;
    int64_t now_ms = timestamp_now_ms();
    bool is_waiting = strcmp(state, "Waiting") == 0;
    int64_t next_ms = is_waiting ? now_ms + delay(sender, work->delivery.attempts + 1) : work->delivery.next_ms;
    struct delivery_outcome outcome = {
        .id = work->delivery.id,
        .channel = work->delivery.channel,
        .state = is_waiting && work->delivery.created_ms + sender->give_up_ms < now_ms ? "Failed" : state,
        .error = error,
        .next_ms = next_ms,
        .blames_channel = is_waiting && !work->is_refused,
        .pause_until_ms = is_waiting ? now_ms + delay(sender, work->channel.failures + 1) : 0,
        .give_up_before_ms = now_ms - sender->give_up_ms,
        .now_ms = now_ms,
    };
    struct error err = {0};
    if (db_end_delivery(sender->db, &outcome, &err) < 0)
        log_write(LOG_ERROR, "api", "what became of a notification is not kept: %s delivery=%s", err.message,
                  work->delivery.uuid);
}

// The state and the sentence of what came of it.
static void carry(struct work *work)
{
    struct error err = {0};
    int rc = load(work, &err);
    if (rc == 0 && work->line_count == 0) {
        end(work, "Dropped", "nobody may see it any more");
        return;
    }
    if (rc == 0)
        rc = send_it(work, &err);
    if (rc == 0) {
        end(work, "Sent", "");
        return;
    }
    if (atomic_load(&work->sender->is_stopping))
        return; // claimed: the next start sends it again
    log_write(LOG_WARN, "api", "a notification was not sent: \"%s\" channel=%s delivery=%s attempt=%" PRId64,
              err.message, work->delivery.channel, work->delivery.uuid, work->delivery.attempts + 1);
    end(work, "Waiting", err.message);
}

void sender_carry(struct sender *sender, const char *channel, int64_t delivery_id)
{
    struct arena arena;
    struct error err = {0};
    bool is_claimed = false;
    int64_t next_ms, now_ms = timestamp_now_ms();
    struct work work = {.sender = sender, .arena = &arena};
    arena_init(&arena);
    struct db_conn *conn = db_acquire_for_notifications(sender->db);
    int rc = db_find_due_delivery(conn, channel, now_ms, &arena, &work.delivery, &next_ms, &err);
    db_give_back(sender->db, conn);
    if (rc > 0 && work.delivery.id == delivery_id)
        rc = db_claim_delivery(sender->db, delivery_id, now_ms + LEASE_MS, &is_claimed, &err);
    if (rc < 0)
        log_write(LOG_ERROR, "api", "a notification cannot be sent: %s", err.message);
    else if (is_claimed)
        carry(&work);
    arena_done(&arena);
}

int sender_try(struct sender *sender, const char *type, const struct channel_config *config, struct arena *arena,
               struct error *err)
{
    struct outbound_guard guard = sender_guard(sender);
    bool is_refused;
    if (strcmp(type, CHANNEL_EMAIL) == 0)
        return mail_send(NULL, config, &guard, arena, &is_refused, err);
    if (strcmp(type, CHANNEL_SLACK) == 0)
        return post_try_slack(config, sender->slack_api, &guard, arena, err);
    char uuid[UUID_SIZE];
    uuid_create(uuid);
    struct message message = {.id = uuid, .created_ms = timestamp_now_ms()};
    struct post post = {.id = uuid, .json = message_json(&message, arena), .time_ms = message.created_ms};
    return post_to_webhook(&post, config, &guard, arena, err);
}
