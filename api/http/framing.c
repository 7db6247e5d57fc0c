#include "api/http/framing.h"
#include "base/error.h"
#include <civetweb.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

// A header that decides where the request ends or who is asked may stand once.
static const char *const SINGLE_HEADERS[] = {"Host",         "Content-Length", "Transfer-Encoding",
                                             "Content-Type", "Authorization",  "Expect"};
enum {
    SINGLE_HEADER_COUNT = sizeof(SINGLE_HEADERS) / sizeof(SINGLE_HEADERS[0])
};
enum {
    HOST,
    CONTENT_LENGTH,
    TRANSFER_ENCODING,
    CONTENT_TYPE,
    AUTHORIZATION,
    EXPECT
};

static bool is_token(const char *name)
{
    static const char OTHERS[] = "!#$%&'*+-.^_`|~";
    for (const char *c = name; *c; c++) {
        bool is_word = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        if (!is_word && !strchr(OTHERS, *c))
            return false;
    }
    return *name != '\0';
}

static bool has_control(const char *value)
{
    for (const unsigned char *c = (const unsigned char *)value; *c; c++) {
        if ((*c < 0x20 && *c != '\t') || *c == 0x7f)
            return true;
    }
    return false;
}

static int parse_length(const char *text, int64_t max, int64_t *out_length, struct error *err)
{
    int64_t length = 0;
    if (*text == '\0' || strlen(text) > 18)
        return error_set(err, ERROR_INVALID, "Content-Length: expected a number of bytes");
    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '9')
            return error_set(err, ERROR_INVALID, "Content-Length: expected digits");
        length = length * 10 + (*c - '0');
    }
    if (length > max)
        return error_set(err, ERROR_TOO_LARGE, "body: at most %" PRId64 " bytes, got %" PRId64, max, length);
    *out_length = length;
    return 0;
}

static bool host_is_plausible(const char *host)
{
    return *host && strlen(host) <= 255 && !strpbrk(host, " \t/\\@?#,");
}

// "keep-alive, close" and the like: is the word among them?
static bool list_has(const char *list, const char *word)
{
    size_t length = strlen(word);
    while (list && *list) {
        list += strspn(list, " \t,");
        size_t n = strcspn(list, " \t,;");
        if (n == length && strncasecmp(list, word, length) == 0)
            return true;
        list += strcspn(list, ",");
    }
    return false;
}

static int collect(const struct mg_request_info *info, const char *found[SINGLE_HEADER_COUNT], const char **connection,
                   struct error *err)
{
    for (int i = 0; i < info->num_headers; i++) {
        const struct mg_header *header = &info->http_headers[i];
        if (!is_token(header->name))
            return error_set(err, ERROR_INVALID, "headers: a name with a character that may not be there");
        if (has_control(header->value))
            return error_set(err, ERROR_INVALID, "headers: a control character");
        for (int k = 0; k < SINGLE_HEADER_COUNT; k++) {
            if (strcasecmp(header->name, SINGLE_HEADERS[k]) != 0)
                continue;
            if (found[k])
                return error_set(err, ERROR_INVALID, "%s: given twice", SINGLE_HEADERS[k]);
            found[k] = header->value;
        }
        if (strcasecmp(header->name, "Connection") == 0 && !(*connection && list_has(*connection, "close")))
            *connection = header->value;
    }
    return 0;
}

int request_framing_check(const struct mg_request_info *info, int64_t body_max_bytes, struct framing *out_framing,
                          struct error *err)
{
    const char *found[SINGLE_HEADER_COUNT] = {NULL};
    const char *connection = NULL;
    struct framing framing = {.length = 0};
    if (info->num_headers >= MG_MAX_HEADERS) // civetweb drops those beyond: one of them could be a Content-Length
        return error_set(err, ERROR_HEADERS_TOO_LARGE, "headers: at most %d", MG_MAX_HEADERS - 1);
    if (collect(info, found, &connection, err) < 0)
        return -1;
    bool is_1_1 = info->http_version && strcmp(info->http_version, "1.1") == 0;
    if (is_1_1 ? !found[HOST] || !host_is_plausible(found[HOST]) : found[HOST] && !host_is_plausible(found[HOST]))
        return error_set(err, ERROR_INVALID, "Host: %s", found[HOST] ? "not a host name" : "required");
    if (found[CONTENT_LENGTH] && found[TRANSFER_ENCODING])
        return error_set(err, ERROR_INVALID, "Content-Length and Transfer-Encoding: one of them");
    if (found[CONTENT_LENGTH] && parse_length(found[CONTENT_LENGTH], body_max_bytes, &framing.length, err) < 0)
        return -1;
    if (found[TRANSFER_ENCODING]) {
        if (!is_1_1 || strcasecmp(found[TRANSFER_ENCODING], "chunked") != 0)
            return error_set(err, ERROR_INVALID, "Transfer-Encoding: chunked, or nothing");
        framing.is_chunked = true;
        framing.length = -1;
    }
    framing.has_body = framing.length != 0;
    framing.expects_continue = is_1_1 && found[EXPECT] && strcasecmp(found[EXPECT], "100-continue") == 0;
    framing.keeps_alive = is_1_1 && !list_has(connection, "close") && !list_has(connection, "upgrade");
    *out_framing = framing;
    return 0;
}

int request_header_lines_check(const struct mg_request_info *info, struct error *err)
{
    for (int i = 0; i < info->num_headers; i++) {
        const struct mg_header *header = &info->http_headers[i];
        const char *after_name = header->name + strlen(header->name) + 1;
        if (after_name <= header->value && memchr(after_name, '\0', (size_t)(header->value - after_name)))
            return error_set(err, ERROR_INVALID, "headers: a blank before the colon");
        const char *line_end = header->value + strlen(header->value);
        bool is_last = i + 1 == info->num_headers;
        if (line_end[1] != '\0' || (is_last ? line_end[2] != '\r' : line_end + 2 != header[1].name))
            return error_set(err, ERROR_INVALID, "headers: a folded line, or a line that does not end in CR LF");
    }
    return 0;
}
