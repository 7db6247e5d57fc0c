#include "api/notifications/post.h"

#include "api/access/outbound.h"
#include "api/notifications/channel_config.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json_writer.h"

#include <inttypes.h>
#include <jansson.h>
#include <sodium.h>
#include <string.h>

enum {
    SAID_MAX = 120,
    SLACK_TEXT_MAX = 30000 // Slack cuts at 40,000
};

static const char *said(const struct outbound_answer *answer, struct arena *arena)
{
    char *text = arena_strndup(arena, answer->text, strnlen(answer->text, SAID_MAX));
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c >= 127)
            *c = '?';
    return text;
}

static int call(const struct outbound_call *question, struct arena *arena, struct outbound_answer *out_answer,
                struct error *err)
{
    if (outbound_call(question, arena, out_answer, err) < 0)
        return -1;
    if (out_answer->status >= 200 && out_answer->status < 300)
        return 0;
    const char *text = said(out_answer, arena);
    bool is_elsewhere = out_answer->status >= 300 && out_answer->status < 400;
    return error_set(err, ERROR_UNAVAILABLE, "the receiver answers %d%s%s%s", out_answer->status,
                     is_elsewhere ? ", and redirects are not followed" : "", *text ? ": " : "", text);
}

static const char *sign(const char *secret, const char *timestamp, const char *body, struct arena *arena)
{
    crypto_auth_hmacsha256_state state;
    unsigned char mac[crypto_auth_hmacsha256_BYTES];
    char hex[2 * crypto_auth_hmacsha256_BYTES + 1];
    crypto_auth_hmacsha256_init(&state, (const unsigned char *)secret, strlen(secret));
    crypto_auth_hmacsha256_update(&state, (const unsigned char *)timestamp, strlen(timestamp));
    crypto_auth_hmacsha256_update(&state, (const unsigned char *)".", 1);
    crypto_auth_hmacsha256_update(&state, (const unsigned char *)body, strlen(body));
    crypto_auth_hmacsha256_final(&state, mac);
    return arena_printf(arena, "X-Prorata-Signature: v1=%s", sodium_bin2hex(hex, sizeof(hex), mac, sizeof(mac)));
}

int post_to_webhook(const struct post *post, const struct channel_config *config, struct outbound_guard *guard,
                    struct arena *arena, struct error *err)
{
    struct outbound_answer answer;
    const char *timestamp = arena_printf(arena, "%" PRId64, post->time_ms / 1000);
    struct outbound_call question = {
        .url = config->webhook_url,
        .json = post->json,
        .headers = {arena_printf(arena, "X-Prorata-Delivery: %s", post->id),
                    arena_printf(arena, "X-Prorata-Timestamp: %s", timestamp),
                    sign(config->secret, timestamp, post->json, arena)},
        .guard = guard,
    };
    return call(&question, arena, &answer, err);
}

// {"text": ...} or, with a channel, {"channel": ..., "text": ...}; whatever bytes they hold.
static const char *text_body(const char *channel, const char *text, struct arena *arena)
{
    struct buffer out;
    struct json_writer json;
    buffer_init(&out, 16 * SLACK_TEXT_MAX);
    json_writer_init(&json, &out, false);
    json_begin_object(&json);
    if (channel)
        json_text(&json, "channel", channel);
    json_text(&json, "text", text);
    json_end_object(&json);
    const char *copy = arena_strdup(arena, out.data);
    buffer_done(&out);
    return copy;
}

// Slack's three signs; a name can then mention nobody.
static const char *slack_text(const char *text, struct arena *arena)
{
    struct buffer out;
    buffer_init(&out, 8 * SLACK_TEXT_MAX);
    for (size_t i = 0; text[i] && (i < SLACK_TEXT_MAX || ((unsigned char)text[i] & 0xc0) == 0x80); i++) {
        const char *instead = text[i] == '&' ? "&amp;" : text[i] == '<' ? "&lt;" : text[i] == '>' ? "&gt;" : NULL;
        buffer_append(&out, instead ? instead : &text[i], instead ? strlen(instead) : 1);
    }
    const char *copy = arena_strdup(arena, out.data ? out.data : "");
    buffer_done(&out);
    return copy;
}

// A method of Slack's API: its answer says in "ok" whether it worked. The caller releases *out_answer.
static int call_method(const char *api, const char *method, const char *token, const char *body,
                       struct outbound_guard *guard, struct arena *arena, json_t **out_answer, struct error *err)
{
    struct outbound_answer answer;
    struct outbound_call question = {
        .url = arena_printf(arena, "%s/%s", api, method), .json = body, .bearer = token, .guard = guard};
    if (call(&question, arena, &answer, err) < 0)
        return error_prefix(err, "Slack: ");
    json_t *value = json_loadb(answer.text, answer.size, 0, NULL);
    if (json_is_true(json_object_get(value, "ok"))) {
        *out_answer = value;
        return 0;
    }
    const char *reason = json_string_value(json_object_get(value, "error"));
    error_set(err, ERROR_INVALID, "Slack: %.60s: %.100s", method, reason ? reason : "no answer of Slack's");
    json_decref(value);
    return -1;
}

static int post_in(const char *channel, const char *text, const struct channel_config *config, const char *api,
                   struct outbound_guard *guard, struct arena *arena, struct error *err)
{
    json_t *answer;
    const char *body = text_body(channel, text, arena);
    if (call_method(api, "chat.postMessage", config->api_token, body, guard, arena, &answer, err) < 0)
        return -1;
    json_decref(answer);
    return 0;
}

static int post_to_person(const struct post *post, const char *text, const struct channel_config *config,
                          const char *api, struct outbound_guard *guard, struct arena *arena, struct error *err)
{
    json_t *answer;
    const char *method = arena_printf(arena, "users.lookupByEmail?email=%s", outbound_escape(post->address, arena));
    if (call_method(api, method, config->api_token, NULL, guard, arena, &answer, err) < 0)
        return -1;
    const char *id = arena_strdup(arena, json_string_value(json_object_get(json_object_get(answer, "user"), "id")));
    json_decref(answer);
    if (!id)
        return error_set(err, ERROR_UNAVAILABLE, "Slack: users.lookupByEmail: an answer without an id");
    return post_in(id, text, config, api, guard, arena, err);
}

int post_to_slack(const struct post *post, const struct channel_config *config, const char *api,
                  struct outbound_guard *guard, struct arena *arena, struct error *err)
{
    struct outbound_answer answer;
    const char *text = slack_text(post->text, arena);
    if (config->webhook_url) {
        struct outbound_call question = {
            .url = config->webhook_url, .json = text_body(NULL, text, arena), .guard = guard};
        return call(&question, arena, &answer, err);
    }
    if (!api)
        return error_set(err, ERROR_UNAVAILABLE, "Slack: --slack-api is not set");
    if (post->address)
        return post_to_person(post, text, config, api, guard, arena, err);
    for (size_t i = 0; i < config->recipient_count; i++)
        if (post_in(config->recipients[i], text, config, api, guard, arena, err) < 0)
            return -1;
    return 0;
}

int post_try_slack(const struct channel_config *config, const char *api, struct outbound_guard *guard,
                   struct arena *arena, struct error *err)
{
    static const struct post TRIAL = {.id = "", .text = "This channel of prorata works.\n", .json = ""};
    json_t *answer;
    if (config->webhook_url)
        return post_to_slack(&TRIAL, config, api, guard, arena, err);
    if (!api)
        return error_set(err, ERROR_LATER, "config.apiToken: --slack-api is not set");
    if (call_method(api, "auth.test", config->api_token, "{}", guard, arena, &answer, err) < 0)
        return -1;
    json_decref(answer);
    return 0;
}

int post_create_slack_app(const char *token, const char *api, struct outbound_guard *guard, struct arena *arena,
                          const char **out_url, struct error *err)
{
    json_t *answer;
    static const char BODY[] =
        "{\"manifest\":\"{\\\"display_information\\\":{\\\"name\\\":\\\"prorata\\\"},"
        "\\\"features\\\":{\\\"bot_user\\\":{\\\"display_name\\\":\\\"prorata\\\",\\\"always_online\\\":true}},"
        "\\\"oauth_config\\\":{\\\"scopes\\\":{\\\"bot\\\":[\\\"chat:write\\\",\\\"users:read\\\","
        "\\\"users:read.email\\\"]}}}\"}"; // the manifest is JSON in a text
    if (call_method(api, "apps.manifest.create", token, BODY, guard, arena, &answer, err) < 0)
        return -1;
    const char *url = json_string_value(json_object_get(answer, "oauth_authorize_url"));
    *out_url = url ? arena_strdup(arena, url) : NULL;
    json_decref(answer);
    return *out_url ? 0
                    : error_set(err, ERROR_UNAVAILABLE, "Slack: apps.manifest.create: an answer without an address");
}
