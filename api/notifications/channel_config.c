#include "api/notifications/channel_config.h"

#include "api/access/outbound.h"
#include "api/access/sealing.h"
#include "base/arena.h"
#include "base/error.h"
#include "db/notifications/channels.h"
#include "db/sealed_columns.h"

#include <ctype.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum {
    ADDRESS_MAX = 254, // RFC 5321, 4.5.3.1.3
    PORT = 587,
    SECRET_MIN = 16
};

#define DISPLAY_NAME "Run:ai" // the contract's
#define SUBJECT "Run:ai notification - {{ .category }} {{ .reason }}"

bool channel_is_address(const char *text)
{
    size_t length = strlen(text), at_count = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c <= ' ' || c >= 127 || strchr("<>()[],;:\\\"", c))
            return false;
        at_count += c == '@';
    }
    return length <= ADDRESS_MAX && at_count == 1 && text[0] != '@' && text[length - 1] != '@';
}

// A name or an address of a host, as it stands in a URL.
static bool is_host(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-._:[]", *c))
            return false;
    return *text && strlen(text) <= 253;
}

static const char *text_of(const json_t *config, const char *name, const char *fallback)
{
    const char *text = json_string_value(json_object_get(config, name));
    return text ? text : fallback;
}

static bool flag_of(const json_t *config, const char *name, bool fallback)
{
    const json_t *value = json_object_get(config, name);
    return json_is_boolean(value) ? json_is_true(value) : fallback;
}

// "" takes a secret away.
static const char *secret_of(const json_t *config, const char *name, const char *kept)
{
    const char *text = text_of(config, name, kept);
    return text && *text ? text : NULL;
}

static int read_recipients(const json_t *list, struct channel_config *config, struct error *err)
{
    if (!json_is_array(list))
        return 0;
    if (json_array_size(list) > CHANNEL_RECIPIENTS_MAX)
        return error_set(err, ERROR_INVALID, "config.recipients: at most %d, got %zu", CHANNEL_RECIPIENTS_MAX,
                         json_array_size(list));
    config->recipient_count = json_array_size(list);
    for (size_t i = 0; i < config->recipient_count; i++)
        config->recipients[i] = json_string_value(json_array_get(list, i));
    return 0;
}

static bool is_same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

// Whether what was given for the old server would go to the same one.
static bool is_same_server(const struct channel_config *config, const struct channel_config *old)
{
    return is_same(config->smtp_host, old->smtp_host) && config->smtp_port == old->smtp_port &&
           is_same(config->username, old->username) && (config->uses_tls || !old->uses_tls);
}

static int check_email(const struct channel_config *config, struct error *err)
{
    bool signs_in = strcmp(config->auth_type, "auth_none") != 0;
    if (!is_host(config->smtp_host))
        return error_set(err, ERROR_INVALID, "config.smtpHost: expected the name of a host, got \"%.60s\"",
                         config->smtp_host);
    if (!channel_is_address(config->from))
        return error_set(err, ERROR_INVALID, "config.from: expected an e-mail address, got \"%.60s\"", config->from);
    if (signs_in && (!*config->username || !config->password))
        return error_set(err, ERROR_INVALID, "config.%s: required with %s; auth_none needs none",
                         *config->username ? "password" : "username", config->auth_type);
    for (size_t i = 0; i < config->recipient_count; i++)
        if (!channel_is_address(config->recipients[i]))
            return error_set(err, ERROR_INVALID, "config.recipients[%zu]: expected an e-mail address, got \"%.60s\"", i,
                             config->recipients[i]);
    if (!config->is_direct && config->recipient_count == 0)
        return error_set(err, ERROR_INVALID, "config.recipients: required where directNotifications is false");
    return 0;
}

static int check_url(const char *url, struct error *err)
{
    if (!outbound_is_allowed(url))
        return error_set(err, ERROR_INVALID, "config.webhookUrl: expected an address that begins with https://");
    return 0;
}

static int check_slack(const struct channel_config *config, struct error *err)
{
    if (config->webhook_url)
        return check_url(config->webhook_url, err);
    if (!config->api_token)
        return error_set(err, ERROR_INVALID, "config.webhookUrl: required, or apiToken with recipients");
    if (!config->is_direct && config->recipient_count == 0)
        return error_set(err, ERROR_INVALID, "config.recipients: required where directNotifications is false");
    return 0;
}

static int check_webhook(const struct channel_config *config, struct error *err)
{
    if (!config->webhook_url)
        return error_set(err, ERROR_INVALID, "config.webhookUrl: required");
    if (!config->secret || strlen(config->secret) < SECRET_MIN)
        return error_set(err, ERROR_INVALID, "config.secret: at least %d characters, got %zu", SECRET_MIN,
                         config->secret ? strlen(config->secret) : 0);
    return check_url(config->webhook_url, err);
}

// Where nobody said how to sign in, a user's name says it.
static const char *auth_type_of(const json_t *body, const struct channel_config *base, const char *username)
{
    const char *given = text_of(body, "authType", base->auth_type);
    if (!given)
        return username && *username ? "auth_login" : "auth_none";
    return *given ? given : "auth_none";
}

int channel_config_read(const char *type, const json_t *body, const struct channel_config *old, bool is_patch,
                        struct channel_config *out_config, struct error *err)
{
    struct channel_config base = {.smtp_host = "",
                                  .smtp_port = PORT,
                                  .uses_tls = true,
                                  .username = "",
                                  .from = "",
                                  .from_name = DISPLAY_NAME,
                                  .subject = SUBJECT,
                                  .is_direct = true};
    const json_t *port = json_object_get(body, "smtpPort");
    bool is_email = strcmp(type, CHANNEL_EMAIL) == 0;
    if (is_patch && old)
        base = *old;
    struct channel_config config = base;
    config.smtp_host = text_of(body, "smtpHost", base.smtp_host);
    config.smtp_port = json_is_integer(port) ? (int)json_integer_value(port) : base.smtp_port;
    config.uses_tls = flag_of(body, "smtpTlsEnabled", base.uses_tls);
    config.username = text_of(body, "username", base.username);
    config.auth_type = auth_type_of(body, &base, config.username);
    config.from = text_of(body, "from", base.from);
    config.from_name = text_of(body, "fromDisplayName", base.from_name);
    config.subject = text_of(body, "subject", base.subject);
    config.is_direct = flag_of(body, "directNotifications", base.is_direct);
    bool keeps = old && (!is_email || is_same_server(&config, old));
    config.password = secret_of(body, "password", keeps ? old->password : NULL);
    config.api_token = secret_of(body, "apiToken", keeps ? old->api_token : NULL);
    config.webhook_url = secret_of(body, "webhookUrl", keeps ? old->webhook_url : NULL);
    config.secret = secret_of(body, "secret", keeps ? old->secret : NULL);
    if (read_recipients(json_object_get(body, "recipients"), &config, err) < 0)
        return -1;
    int rc = is_email                           ? check_email(&config, err)
             : strcmp(type, CHANNEL_SLACK) == 0 ? check_slack(&config, err)
                                                : check_webhook(&config, err);
    if (rc == 0)
        *out_config = config;
    return rc;
}

static char *dump(json_t *stolen_value, struct arena *arena)
{
    char *text = json_dumps(stolen_value, JSON_COMPACT);
    char *copy = arena_strdup(arena, text);
    sodium_memzero(text, strlen(text));
    free(text);
    json_decref(stolen_value);
    return copy;
}

static json_t *recipients_to_json(const struct channel_config *config)
{
    json_t *list = json_array();
    for (size_t i = 0; i < config->recipient_count; i++)
        json_array_append_new(list, json_string(config->recipients[i]));
    return list;
}

// The host and no more: the path of a webhook's address is as good as a password.
static const char *host_of(const char *url, struct arena *arena)
{
    const char *begin = strstr(url, "://");
    begin = begin ? begin + 3 : url;
    return arena_strndup(arena, begin, strcspn(begin, "/?#"));
}

void channel_config_store(const struct channel_config *config, const struct sealing *sealing, struct arena *arena,
                          struct notification_channel *channel)
{
    json_t *shown =
        json_pack("{s:b, s:o}", "directNotifications", config->is_direct, "recipients", recipients_to_json(config));
    if (strcmp(channel->type, CHANNEL_EMAIL) == 0)
        json_object_update_new(shown,
                               json_pack("{s:s, s:i, s:b, s:s, s:s, s:s, s:s, s:s}", "smtpHost", config->smtp_host,
                                         "smtpPort", config->smtp_port, "smtpTlsEnabled", config->uses_tls, "authType",
                                         config->auth_type, "username", config->username, "from", config->from,
                                         "fromDisplayName", config->from_name, "subject", config->subject));
    if (config->webhook_url)
        json_object_set_new(shown, "webhookHost", json_string(host_of(config->webhook_url, arena)));
    channel->config_json = dump(shown, arena);
    json_t *secrets = json_pack("{s:s*, s:s*, s:s*, s:s*}", "password", config->password, "apiToken", config->api_token,
                                "webhookUrl", config->webhook_url, "secret", config->secret);
    channel->secrets_sealed = NULL;
    if (json_object_size(secrets) > 0) {
        char *text = dump(json_incref(secrets), arena);
        channel->secrets_sealed =
            sealing_seal(sealing, SEALED_NOTIFICATION_CHANNEL, channel->name, text, strlen(text), arena);
        sodium_memzero(text, strlen(text));
    }
    json_decref(secrets);
}

static const char *copy_text(const json_t *object, const char *name, struct arena *arena)
{
    return arena_strdup(arena, json_string_value(json_object_get(object, name)));
}

static int load_secrets(const struct notification_channel *channel, const struct sealing *sealing, struct arena *arena,
                        struct channel_config *config, struct error *err)
{
    unsigned char *bytes;
    size_t size;
    if (!channel->secrets_sealed)
        return 0;
    if (sealing_open(sealing, SEALED_NOTIFICATION_CHANNEL, channel->name, channel->secrets_sealed, arena, &bytes, &size,
                     err) < 0)
        return -1;
    json_t *secrets = json_loadb((const char *)bytes, size, 0, NULL);
    sodium_memzero(bytes, size);
    config->password = copy_text(secrets, "password", arena);
    config->api_token = copy_text(secrets, "apiToken", arena);
    config->webhook_url = copy_text(secrets, "webhookUrl", arena);
    config->secret = copy_text(secrets, "secret", arena);
    json_decref(secrets);
    return 0;
}

int channel_config_load(const struct notification_channel *channel, const struct sealing *sealing, struct arena *arena,
                        struct channel_config *out_config, struct error *err)
{
    json_t *shown = json_loads(channel->config_json, 0, NULL);
    struct channel_config config = {
        .smtp_host = copy_text(shown, "smtpHost", arena),
        .smtp_port = (int)json_integer_value(json_object_get(shown, "smtpPort")),
        .uses_tls = json_is_true(json_object_get(shown, "smtpTlsEnabled")),
        .auth_type = copy_text(shown, "authType", arena),
        .username = copy_text(shown, "username", arena),
        .from = copy_text(shown, "from", arena),
        .from_name = copy_text(shown, "fromDisplayName", arena),
        .subject = copy_text(shown, "subject", arena),
        .is_direct = json_is_true(json_object_get(shown, "directNotifications")),
    };
    const json_t *recipients = json_object_get(shown, "recipients");
    for (size_t i = 0; i < json_array_size(recipients) && i < CHANNEL_RECIPIENTS_MAX; i++)
        config.recipients[config.recipient_count++] =
            arena_strdup(arena, json_string_value(json_array_get(recipients, i)));
    json_decref(shown);
    if (load_secrets(channel, sealing, arena, &config, err) < 0)
        return -1;
    *out_config = config;
    return 0;
}

json_t *channel_config_to_json(const struct notification_channel *channel)
{
    return json_loads(channel->config_json, 0, NULL);
}
