#include "api/notifications/mail.h"

#include "api/access/outbound_guard.h"
#include "api/notifications/channel_config.h"
#include "api/notifications/message.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    MAIL_MAX = 4 << 20,
    ENCODED_BYTES = 42,   // of a word: a line with its header's name stays below 78 characters
    BODY_LINE_BYTES = 57, // 76 characters of base64
    SAID_MAX = 160,
    NAME_MAX_BYTES = 400,
    TLS_PORT = 465
};

static void append_text(struct buffer *out, const char *text)
{
    buffer_append(out, text, strlen(text));
}

static void append_base64(struct buffer *out, const char *bytes, size_t size)
{
    char text[sodium_base64_ENCODED_LEN(BODY_LINE_BYTES, sodium_base64_VARIANT_ORIGINAL)];
    sodium_bin2base64(text, sizeof(text), (const unsigned char *)bytes, size, sodium_base64_VARIANT_ORIGINAL);
    append_text(out, text);
}

static bool is_plain(const char *text)
{
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c >= 127 || strchr("=?\"\\<>", *c))
            return false;
    return strlen(text) <= 60;
}

// How many bytes of the text, at most ENCODED_BYTES, end between two characters.
static size_t whole_characters(const char *text)
{
    size_t length = strnlen(text, ENCODED_BYTES + 1);
    if (length <= ENCODED_BYTES)
        return length;
    for (length = ENCODED_BYTES; length > ENCODED_BYTES - 4 && ((unsigned char)text[length] & 0xc0) == 0x80;)
        length--;
    return length;
}

// As it is where it is harmless, else as encoded words (RFC 2047), which hold nothing that could end a header.
static void append_words(struct buffer *out, const char *text)
{
    if (is_plain(text)) {
        append_text(out, text);
        return;
    }
    for (bool is_first = true; *text; is_first = false) {
        size_t length = whole_characters(text);
        append_text(out, is_first ? "=?UTF-8?B?" : "\r\n =?UTF-8?B?");
        append_base64(out, text, length);
        append_text(out, "?=");
        text += length;
    }
}

static void append_date(struct buffer *out, int64_t time_ms)
{
    static const char *const DAYS[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char *const MONTHS[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t seconds = (time_t)(time_ms / 1000);
    struct tm tm;
    char text[64];
    gmtime_r(&seconds, &tm);
    snprintf(text, sizeof(text), "Date: %s, %02d %s %d %02d:%02d:%02d +0000\r\n", DAYS[tm.tm_wday], tm.tm_mday,
             MONTHS[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
    append_text(out, text);
}

static void append_addresses(struct buffer *out, const struct mail *mail, const struct channel_config *config,
                             struct arena *arena)
{
    const char *name = message_one_line(config->from_name, NAME_MAX_BYTES, arena);
    append_text(out, "From: ");
    if (*name) {
        bool is_quoted = is_plain(name);
        append_text(out, is_quoted ? "\"" : "");
        append_words(out, name);
        append_text(out, is_quoted ? "\"\r\n " : "\r\n ");
    }
    append_text(out, "<");
    append_text(out, config->from);
    append_text(out, ">\r\nTo: ");
    for (size_t i = 0; i < mail->to_count; i++) {
        append_text(out, i > 0 ? ",\r\n <" : "<");
        append_text(out, mail->to[i]);
        append_text(out, ">");
    }
    append_text(out, "\r\n");
}

const char *mail_compose(const struct mail *mail, const struct channel_config *config, struct arena *arena)
{
    struct buffer out;
    const char *at = strchr(config->from, '@');
    buffer_init(&out, MAIL_MAX);
    append_date(&out, mail->time_ms);
    append_addresses(&out, mail, config, arena);
    append_text(&out, "Subject: ");
    append_words(&out, mail->subject);
    append_text(&out, "\r\nMessage-ID: <");
    append_text(&out, mail->id);
    append_text(&out, at);
    append_text(&out, ">\r\nAuto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
                      "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n");
    for (const char *text = mail->text; *text;) {
        size_t length = strnlen(text, BODY_LINE_BYTES);
        append_base64(&out, text, length);
        append_text(&out, "\r\n");
        text += length;
    }
    const char *copy = arena_strndup(arena, out.data, out.length);
    buffer_done(&out);
    return copy;
}

// What goes up, and what the server said last.
struct talk {
    const char *rest;
    size_t rest_size;
    char said[SAID_MAX];
};

static size_t give(char *buffer, size_t size, size_t count, void *context)
{
    struct talk *talk = context;
    size_t given = size * count < talk->rest_size ? size * count : talk->rest_size;
    memcpy(buffer, talk->rest, given);
    talk->rest += given;
    talk->rest_size -= given;
    return given;
}

static size_t hear(char *line, size_t size, size_t count, void *context)
{
    struct talk *talk = context;
    if (size * count >= 3 && memcmp(line, "221", 3) == 0)
        return size * count; // its farewell says nothing
    size_t length = size * count < SAID_MAX - 1 ? size * count : SAID_MAX - 1;
    memcpy(talk->said, line, length);
    talk->said[length] = '\0';
    talk->said[strcspn(talk->said, "\r\n")] = '\0';
    for (char *c = talk->said; *c; c++)
        if ((unsigned char)*c < ' ' || (unsigned char)*c >= 127)
            *c = '?';
    return size * count;
}

static void prepare_server(CURL *curl, const struct channel_config *config, struct arena *arena)
{
    bool is_at_once = config->uses_tls && config->smtp_port == TLS_PORT;
    curl_easy_setopt(
        curl, CURLOPT_URL,
        arena_printf(arena, "%s://%s:%d", is_at_once ? "smtps" : "smtp", config->smtp_host, config->smtp_port));
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(curl, CURLOPT_USE_SSL, config->uses_tls ? (long)CURLUSESSL_ALL : (long)CURLUSESSL_NONE);
    if (strcmp(config->auth_type, "auth_none") == 0)
        return;
    curl_easy_setopt(curl, CURLOPT_USERNAME, config->username);
    curl_easy_setopt(curl, CURLOPT_PASSWORD, config->password);
    curl_easy_setopt(curl, CURLOPT_LOGIN_OPTIONS,
                     strcmp(config->auth_type, "auth_plain") == 0 ? "AUTH=PLAIN" : "AUTH=LOGIN");
}

static struct curl_slist *prepare_mail(CURL *curl, const struct mail *mail, const struct channel_config *config,
                                       struct talk *talk, struct arena *arena)
{
    struct curl_slist *recipients = NULL;
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, hear);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, talk);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, hear);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, talk);
    if (!mail) {
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, "NOOP");
        return NULL;
    }
    for (size_t i = 0; i < mail->to_count; i++)
        recipients = curl_slist_append(recipients, arena_printf(arena, "<%s>", mail->to[i]));
    talk->rest = mail_compose(mail, config, arena);
    talk->rest_size = strlen(talk->rest);
    curl_easy_setopt(curl, CURLOPT_MAIL_FROM, arena_printf(arena, "<%s>", config->from));
    curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, recipients);
    curl_easy_setopt(curl, CURLOPT_MAIL_RCPT_ALLLOWFAILS, mail->to_count > 1 ? 1L : 0L);
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, give);
    curl_easy_setopt(curl, CURLOPT_READDATA, talk);
    return recipients;
}

int mail_send(const struct mail *mail, const struct channel_config *config, struct outbound_guard *guard,
              struct arena *arena, bool *out_is_refused, struct error *err)
{
    struct talk talk = {0};
    long status = 0;
    CURL *curl = curl_easy_init();
    if (!curl)
        return error_set(err, ERROR_INTERNAL, "libcurl does not start");
    prepare_server(curl, config, arena);
    outbound_guard_set(curl, guard, false);
    struct curl_slist *recipients = prepare_mail(curl, mail, config, &talk, arena);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(curl);
    curl_slist_free_all(recipients);
    *out_is_refused = code == CURLE_SEND_ERROR && status >= 500;
    if (code == CURLE_OK)
        return 0;
    bool has_said = talk.said[0] && !guard->has_refused;
    return error_set(err, ERROR_UNAVAILABLE, "%.60s port %d: %s%s%s", config->smtp_host, config->smtp_port,
                     outbound_guard_reason(guard, code), has_said ? "; it said: " : "", has_said ? talk.said : "");
}
