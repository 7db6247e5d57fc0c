// A message to Slack or to a webhook, by HTTP.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena;
struct channel_config;
struct error;
struct outbound_guard;

struct post {
    const char *id;      // of the delivery
    const char *text;    // for people
    const char *json;    // for programs
    const char *address; // Slack by token: the person's e-mail; NULL: the channels that are set
    int64_t time_ms;
};

// Each gives ERROR_UNAVAILABLE with what went wrong, and with what the other side answered; ERROR_INVALID where Slack
// says that it will not.
//
// The webhook's body is json. X-Prorata-Signature is "v1=" and the HMAC-SHA256, in hex, of X-Prorata-Timestamp (seconds
// since 1970), a dot and the body, with the channel's secret.
int post_to_webhook(const struct post *post, const struct channel_config *config, struct outbound_guard *guard,
                    struct arena *arena, struct error *err);
// api: the address of Slack's methods, for who has a token.
int post_to_slack(const struct post *post, const struct channel_config *config, const char *api,
                  struct outbound_guard *guard, struct arena *arena, struct error *err);
// Whether Slack takes the token, or the webhook's address answers, without a message where that can be had.
int post_try_slack(const struct channel_config *config, const char *api, struct outbound_guard *guard,
                   struct arena *arena, struct error *err);
// Makes an app from a configuration token; *out_url is where somebody installs it.
int post_create_slack_app(const char *token, const char *api, struct outbound_guard *guard, struct arena *arena,
                          const char **out_url, struct error *err);
