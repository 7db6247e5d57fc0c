// What is set of a channel: read from a request, kept as two texts (what may be shown, and the secrets), and back.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct arena;
struct error;
struct notification_channel;
struct sealing;

#define CHANNEL_EMAIL "email"
#define CHANNEL_SLACK "slack"
#define CHANNEL_WEBHOOK "webhook"

enum {
    CHANNEL_RECIPIENTS_MAX = 50
};

struct channel_config {
    const char *smtp_host;
    int smtp_port;
    bool uses_tls;
    const char *auth_type; // auth_login, auth_plain, auth_none
    const char *username;
    const char *from, *from_name;
    const char *subject;
    bool is_direct; // each person gets his own
    const char *recipients[CHANNEL_RECIPIENTS_MAX];
    size_t recipient_count;
    // Secrets; NULL: none.
    const char *password, *api_token, *webhook_url, *secret;
};

// A person's address that a mail server can be told: one line of ASCII with one @ and nothing that ends a command.
bool channel_is_address(const char *text);

// Reads the config of a body whose form has been checked. old: what is set now, or NULL; what the body leaves out has
// its default, or where is_patch its old value. Secrets that it leaves out stay, but not for another server than the
// one they were given for. Texts are the body's and old's. ERROR_INVALID names the field.
int channel_config_read(const char *type, const json_t *config, const struct channel_config *old, bool is_patch,
                        struct channel_config *out_config, struct error *err);

// Fills in config_json and secrets_sealed; the arena's.
void channel_config_store(const struct channel_config *config, const struct sealing *sealing, struct arena *arena,
                          struct notification_channel *channel);
// Back; the arena's. ERROR_UNAVAILABLE where the secrets cannot be opened.
int channel_config_load(const struct notification_channel *channel, const struct sealing *sealing, struct arena *arena,
                        struct channel_config *out_config, struct error *err);
// As the API shows it: without secrets.
json_t *channel_config_to_json(const struct notification_channel *channel);
