#include "apps/head.h"

#include "base/buffer.h"
#include "base/error.h"

#include <string.h>
#include <strings.h>

enum {
    METHOD_MAX = 20,
    BODY_DIGITS_MAX = 15
};

// Of one connection, or a client's word about who it is. A name that ends in '*' stands for all that begin so.
static const char *const LEFT_OUT[] = {
    "Connection", "Keep-Alive",   "Proxy-*",        "TE",        "Trailer",     "Transfer-Encoding", "Upgrade",
    "Cookie",     "Forwarded*",   "X-Forwarded-*",  "X-Real-IP", "X-Prorata-*", "Remote-*",          "X-Remote-*",
    "X-Auth-*",   "X-Original-*", "HTTP2-Settings", "Expect",
};

bool head_text_is(struct head_text text, const char *word)
{
    return text.length == strlen(word) && memcmp(text.data, word, text.length) == 0;
}

bool head_text_is_word(struct head_text text, const char *word)
{
    return text.length == strlen(word) && strncasecmp(text.data, word, text.length) == 0;
}

size_t head_length(const char *data, size_t length)
{
    const char *end = length ? memmem(data, length, "\r\n\r\n", 4) : NULL;
    return end ? (size_t)(end - data) + 4 : 0;
}

static bool is_token_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct head_text text)
{
    for (size_t i = 0; i < text.length; i++)
        if (!is_token_char(text.data[i]))
            return false;
    return text.length > 0;
}

static int parse_line(struct head_text line, struct head *out, struct error *err)
{
    const char *end = line.data + line.length;
    const char *blank = memchr(line.data, ' ', line.length);
    const char *last = memrchr(line.data, ' ', line.length);
    if (!blank || last == blank)
        return error_set(err, ERROR_INVALID, "request line: expected METHOD PATH HTTP/1.1");
    out->method = (struct head_text){line.data, (size_t)(blank - line.data)};
    out->target = (struct head_text){blank + 1, (size_t)(last - blank - 1)};
    struct head_text version = {last + 1, (size_t)(end - last - 1)};
    if (!is_token(out->method) || out->method.length > METHOD_MAX || head_text_is(out->method, "CONNECT"))
        return error_set(err, ERROR_INVALID, "request line: the method is not one that is passed on");
    if (!head_text_is(version, "HTTP/1.1"))
        return error_set(err, ERROR_INVALID, "request line: expected HTTP/1.1");
    if (out->target.length == 0 || out->target.data[0] != '/')
        return error_set(err, ERROR_INVALID, "request line: the path must begin with /");
    for (size_t i = 0; i < out->target.length; i++)
        if ((unsigned char)out->target.data[i] <= ' ' || out->target.data[i] == 0x7f || out->target.data[i] == '#')
            return error_set(err, ERROR_INVALID, "request line: the path has a character that it may not have");
    return 0;
}

static int parse_length(struct head_text value, int64_t *out_bytes, struct error *err)
{
    int64_t bytes = 0;
    if (value.length == 0 || value.length > BODY_DIGITS_MAX)
        return error_set(err, ERROR_INVALID, "Content-Length: not a length");
    for (size_t i = 0; i < value.length; i++) {
        if (value.data[i] < '0' || value.data[i] > '9')
            return error_set(err, ERROR_INVALID, "Content-Length: not a length");
        bytes = bytes * 10 + (value.data[i] - '0');
    }
    *out_bytes = bytes;
    return 0;
}

static int parse_field(struct head_text line, struct head_field *out, struct error *err)
{
    const char *colon = memchr(line.data, ':', line.length);
    if (!colon)
        return error_set(err, ERROR_INVALID, "headers: a line without a colon");
    out->name = (struct head_text){line.data, (size_t)(colon - line.data)};
    struct head_text value = {colon + 1, line.length - out->name.length - 1};
    while (value.length && (*value.data == ' ' || *value.data == '\t'))
        value = (struct head_text){value.data + 1, value.length - 1};
    while (value.length && (value.data[value.length - 1] == ' ' || value.data[value.length - 1] == '\t'))
        value.length--;
    if (!is_token(out->name))
        return error_set(err, ERROR_INVALID, "headers: not a name");
    for (size_t i = 0; i < value.length; i++)
        if (((unsigned char)value.data[i] < ' ' && value.data[i] != '\t') || value.data[i] == 0x7f)
            return error_set(err, ERROR_INVALID, "headers: a control character in %.*s", (int)out->name.length,
                             out->name.data);
    out->value = value;
    return 0;
}

// What we read of a field ourselves. Each but Cookie may come once.
static int take_field(const struct head_field *field, struct head *out, bool *has_length, bool *has_upgrade,
                      struct error *err)
{
    const struct head_text name = field->name;
    struct head_text *single = head_text_is_word(name, "Host")     ? &out->host
                               : head_text_is_word(name, "Origin") ? &out->origin
                               : head_text_is_word(name, "Cookie") ? &out->cookie
                                                                   : NULL;
    if (single) {
        if (single->data)
            return error_set(err, ERROR_INVALID, "headers: %.*s comes twice", (int)name.length, name.data);
        *single = field->value;
    }
    if (head_text_is_word(name, "Transfer-Encoding"))
        return error_set(err, ERROR_TOO_LARGE, "Transfer-Encoding: a body needs its Content-Length here");
    if (head_text_is_word(name, "Content-Length")) {
        if (*has_length)
            return error_set(err, ERROR_INVALID, "headers: Content-Length comes twice");
        *has_length = true;
        return parse_length(field->value, &out->body_bytes, err);
    }
    if (head_text_is_word(name, "Upgrade")) {
        if (*has_upgrade || !head_text_is_word(field->value, "websocket"))
            return error_set(err, ERROR_INVALID, "Upgrade: websocket alone is passed on");
        *has_upgrade = true;
    }
    if (head_text_is_word(name, "Service-Worker"))
        out->is_script_of_worker = true;
    return 0;
}

int head_parse(const char *data, size_t length, struct head *out, struct error *err)
{
    bool has_length = false, has_upgrade = false, is_first = true;
    memset(out, 0, sizeof(*out));
    if (length < 4 || length > HEAD_BYTES_MAX || memcmp(data + length - 4, "\r\n\r\n", 4) != 0)
        return error_set(err, ERROR_HEADERS_TOO_LARGE, "headers: at most %d bytes", HEAD_BYTES_MAX);
    for (const char *at = data, *stop = data + length - 2; at < stop; is_first = false) {
        const char *end = memmem(at, (size_t)(data + length - at), "\r\n", 2);
        struct head_text line = {at, (size_t)(end - at)};
        at = end + 2;
        if (is_first) {
            if (parse_line(line, out, err) < 0)
                return -1;
            continue;
        }
        if (out->field_count == HEAD_FIELDS_MAX)
            return error_set(err, ERROR_HEADERS_TOO_LARGE, "headers: at most %d", HEAD_FIELDS_MAX);
        struct head_field *field = &out->fields[out->field_count++];
        if (parse_field(line, field, err) < 0 || take_field(field, out, &has_length, &has_upgrade, err) < 0)
            return -1;
    }
    if (out->host.length == 0)
        return error_set(err, ERROR_INVALID, "headers: Host is missing");
    out->is_websocket = has_upgrade;
    if (has_upgrade && (!head_text_is(out->method, "GET") || out->body_bytes > 0))
        return error_set(err, ERROR_INVALID, "Upgrade: of a GET without a body alone");
    return 0;
}

// The next cookie of a list, as NAME=VALUE; length 0: there is none.
static struct head_text next_cookie(struct head_text *rest)
{
    while (rest->length && (*rest->data == ' ' || *rest->data == ';' || *rest->data == '\t'))
        *rest = (struct head_text){rest->data + 1, rest->length - 1};
    const char *end = rest->length ? memchr(rest->data, ';', rest->length) : NULL;
    struct head_text cookie = {rest->data, end ? (size_t)(end - rest->data) : rest->length};
    *rest = (struct head_text){rest->data + cookie.length, rest->length - cookie.length};
    return cookie;
}

static bool begins(struct head_text text, const char *word)
{
    return text.length >= strlen(word) && strncasecmp(text.data, word, strlen(word)) == 0;
}

struct head_text head_app_cookie(const struct head *head)
{
    struct head_text rest = head->cookie, cookie;
    static const char NAME[] = HEAD_APP_COOKIE "=";
    while ((cookie = next_cookie(&rest)).length)
        if (cookie.length > strlen(NAME) && memcmp(cookie.data, NAME, strlen(NAME)) == 0)
            return (struct head_text){cookie.data + strlen(NAME), cookie.length - strlen(NAME)};
    return (struct head_text){0};
}

static void write_cookies(const struct head *head, struct buffer *out)
{
    struct head_text rest = head->cookie, cookie;
    bool has_any = false;
    while ((cookie = next_cookie(&rest)).length) {
        if (begins(cookie, HEAD_COOKIE_PREFIX))
            continue;
        buffer_text(out, has_any ? "; " : "Cookie: ");
        buffer_append(out, cookie.data, cookie.length);
        has_any = true;
    }
    if (has_any)
        buffer_text(out, "\r\n");
}

// A name with '_' is to many servers the same as one with '-': nobody who means well sends one.
static bool is_left_out(struct head_text name)
{
    if (memchr(name.data, '_', name.length))
        return true;
    for (size_t i = 0; i < sizeof(LEFT_OUT) / sizeof(LEFT_OUT[0]); i++) {
        size_t length = strlen(LEFT_OUT[i]);
        if (LEFT_OUT[i][length - 1] == '*'
                ? name.length + 1 >= length && strncasecmp(name.data, LEFT_OUT[i], length - 1) == 0
                : head_text_is_word(name, LEFT_OUT[i]))
            return true;
    }
    return false;
}

void head_write(const struct head *head, const struct head_forward *forward, struct buffer *out)
{
    buffer_append(out, head->method.data, head->method.length);
    buffer_char(out, ' ');
    buffer_append(out, head->target.data, head->target.length);
    buffer_text(out, " HTTP/1.1\r\n");
    for (size_t i = 0; i < head->field_count; i++) {
        const struct head_field *field = &head->fields[i];
        if (is_left_out(field->name))
            continue;
        buffer_append(out, field->name.data, field->name.length);
        buffer_text(out, ": ");
        buffer_append(out, field->value.data, field->value.length);
        buffer_text(out, "\r\n");
    }
    write_cookies(head, out);
    buffer_printf(out, "X-Forwarded-User: %s\r\nX-Forwarded-For: %s\r\nX-Forwarded-Proto: %s\r\nX-Forwarded-Host: ",
                  forward->person, forward->address, forward->scheme);
    buffer_append(out, head->host.data, head->host.length);
    buffer_text(out, head->is_websocket ? "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
                                        : "\r\nConnection: close\r\n\r\n");
}
