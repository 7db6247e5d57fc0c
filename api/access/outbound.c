#include "api/access/outbound.h"

#include "api/access/network_rules.h"
#include "api/access/outbound_guard.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"

#include <curl/curl.h>
#include <string.h>

static bool is_loopback(const char *host)
{
    static const char *const LOOPBACKS[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; i < sizeof(LOOPBACKS) / sizeof(LOOPBACKS[0]); i++)
        if (strcmp(host, LOOPBACKS[i]) == 0)
            return true;
    return false;
}

static bool has_part(CURLU *url, CURLUPart part)
{
    char *text = NULL;
    bool has = curl_url_get(url, part, &text, 0) == CURLUE_OK;
    curl_free(text);
    return has;
}

bool outbound_is_allowed(const char *text)
{
    CURLU *url = curl_url();
    char *scheme = NULL, *host = NULL;
    bool is_allowed = false;
    if (url && curl_url_set(url, CURLUPART_URL, text, CURLU_DISALLOW_USER) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK && !has_part(url, CURLUPART_FRAGMENT))
        is_allowed = strcmp(scheme, "https") == 0 || (strcmp(scheme, "http") == 0 && is_loopback(host));
    curl_free(scheme);
    curl_free(host);
    curl_url_cleanup(url);
    return is_allowed;
}

const char *outbound_escape(const char *text, struct arena *arena)
{
    static const char PLAIN[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    static const char DIGITS[] = "0123456789ABCDEF";
    char *escaped = arena_alloc(arena, 3 * strlen(text) + 1), *end = escaped;
    for (const char *c = text; *c; c++) {
        if (strchr(PLAIN, *c)) {
            *end++ = *c;
            continue;
        }
        *end++ = '%';
        *end++ = DIGITS[(unsigned char)*c >> 4];
        *end++ = DIGITS[(unsigned char)*c & 15];
    }
    return escaped;
}

static size_t append(char *data, size_t size, size_t count, void *context)
{
    struct buffer *buffer = context;
    buffer_append(buffer, data, size * count);
    return buffer->overflow ? 0 : size * count;
}

// libcurl's own sentence, else its word for the code: on one line, whatever the other side put into it.
static const char *say_failure(CURLcode code, const char text[CURL_ERROR_SIZE], struct arena *arena)
{
    char *said = arena_strdup(arena, text[0] ? text : curl_easy_strerror(code));
    for (char *c = said; *c; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
            *c = ' ';
    return said;
}

// An address that somebody set may be a secret.
static const char *name_of(const struct outbound_call *call)
{
    return call->guard ? "the receiver" : call->url;
}

static int fail(const struct outbound_call *call, const struct outbound_guard *guard, CURLcode code, const char *said,
                struct error *err)
{
    const char *ca_file = call->guard ? guard->ca_file : call->ca_file;
    error_set(err, ERROR_UNAVAILABLE, "%.150s: %s", name_of(call),
              guard->has_refused ? outbound_guard_reason(guard, code) : said);
    if (code != CURLE_PEER_FAILED_VERIFICATION && code != CURLE_SSL_CACERT_BADFILE)
        return -1;
    return error_details(err, "The server trusts %.150s; --%s FILE names the certificates of another authority",
                         ca_file ? ca_file : "what the system trusts", call->guard ? "notify-ca" : "openid-ca");
}

static void prepare(CURL *curl, const struct outbound_call *call, struct outbound_guard *guard, struct buffer *out)
{
    curl_easy_setopt(curl, CURLOPT_URL, call->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)OUTBOUND_CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)OUTBOUND_TOTAL_MS);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "prorata/" PRORATA_VERSION);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, out);
    if (call->ca_file)
        curl_easy_setopt(curl, CURLOPT_CAINFO, call->ca_file);
    if (call->guard)
        outbound_guard_set(curl, guard, true);
    else
        outbound_guard_set_sockets(curl, guard);
    if (call->json)
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call->json);
    if (call->form)
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call->form);
    if (call->user) {
        curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        curl_easy_setopt(curl, CURLOPT_USERNAME, call->user);
        curl_easy_setopt(curl, CURLOPT_PASSWORD, call->password);
    }
    if (call->bearer) {
        curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, call->bearer);
    }
}

static struct curl_slist *headers_of(const struct outbound_call *call)
{
    struct curl_slist *headers = curl_slist_append(NULL, "Accept: application/json");
    if (call->json)
        headers = curl_slist_append(headers, "Content-Type: application/json; charset=utf-8");
    for (size_t i = 0; i < OUTBOUND_HEADERS_MAX && call->headers[i]; i++)
        headers = curl_slist_append(headers, call->headers[i]);
    return headers;
}

int outbound_call(const struct outbound_call *call, struct arena *arena, struct outbound_answer *out_answer,
                  struct error *err)
{
    static const struct network_rules OF_SITE = {.are_of_site = true};
    struct outbound_guard of_site = {.rules = &OF_SITE}, *guard = call->guard ? call->guard : &of_site;
    struct buffer body;
    char said[CURL_ERROR_SIZE] = "";
    long status = 0;
    if (!outbound_is_allowed(call->url))
        return error_set(err, ERROR_UNAVAILABLE, "%.150s: neither https nor this machine itself", name_of(call));
    CURL *curl = curl_easy_init();
    if (!curl)
        return error_set(err, ERROR_INTERNAL, "libcurl does not start");
    buffer_init(&body, OUTBOUND_BYTES_MAX);
    prepare(curl, call, guard, &body);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, said);
    struct curl_slist *headers = headers_of(call);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    int rc = 0;
    if (code == CURLE_OK)
        *out_answer = (struct outbound_answer){
            (int)status, arena_strndup(arena, body.data ? body.data : "", body.length), body.length};
    else
        rc = fail(call, guard, code, body.overflow ? "its answer is too large" : say_failure(code, said, arena), err);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    buffer_done(&body);
    return rc;
}
