// A message as an e-mail (RFC 5322, MIME), and a mail server that takes it, by libcurl.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct channel_config;
struct error;
struct outbound_guard;

struct mail {
    const char *id; // of the delivery: the same Message-ID in each try
    const char *const *to;
    size_t to_count;
    const char *subject, *text; // UTF-8
    int64_t time_ms;
};

// The whole of it with its headers, lines ended by CRLF; the arena's. Whatever the texts hold, no header ends early.
const char *mail_compose(const struct mail *mail, const struct channel_config *config, struct arena *arena);
// Hands it to the server; mail NULL: signs in and sends nothing. ERROR_UNAVAILABLE with what went wrong, and with what
// the server said; is_refused: it is this message's recipient that the server does not take.
int mail_send(const struct mail *mail, const struct channel_config *config, struct outbound_guard *guard,
              struct arena *arena, bool *out_is_refused, struct error *err);
