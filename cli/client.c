#include "cli/client.h"

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

enum {
    ANSWER_BYTES_MAX = 256 << 20,
    SILENT_S = 60
};

int client_open(const char *url, const char *token, struct arena *arena, struct client *out_client, struct error *err)
{
    if (!url)
        return error_set(err, ERROR_INVALID, "no server is configured; run: config set --cp-url URL");
    size_t length = strlen(url);
    while (length > 0 && url[length - 1] == '/')
        length--;
    *out_client = (struct client){.url = arena_strndup(arena, url, length), .token = token, .arena = arena};
    out_client->curl = curl_easy_init();
    if (!out_client->curl)
        return error_set(err, ERROR_INTERNAL, "libcurl does not start");
    return 0;
}

void client_close(struct client *client)
{
    curl_easy_cleanup(client->curl);
    client->curl = NULL;
}

const char *client_escape(struct client *client, const char *text)
{
    char *escaped = curl_easy_escape(client->curl, text, 0);
    const char *kept = arena_strdup(client->arena, escaped ? escaped : "");
    curl_free(escaped);
    return kept;
}

static size_t append(char *data, size_t size, size_t count, void *context)
{
    struct buffer *buffer = context;
    buffer_append(buffer, data, size * count);
    return buffer->overflow ? 0 : size * count;
}

static struct curl_slist *add_header(struct curl_slist *list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(list, line);
    return longer ? longer : list;
}

static struct curl_slist *prepare(struct client *client, const char *method, const char *path, const char *body)
{
    struct curl_slist *headers = add_header(NULL, "Accept: application/json");
    const char *certificates = getenv("SSL_CERT_FILE");
    curl_easy_reset(client->curl);
    curl_easy_setopt(client->curl, CURLOPT_URL, arena_printf(client->arena, "%s%s", client->url, path));
    if (client->socket)
        curl_easy_setopt(client->curl, CURLOPT_UNIX_SOCKET_PATH, client->socket);
    curl_easy_setopt(client->curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(client->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(client->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(client->curl, CURLOPT_CONNECTTIMEOUT_MS, 10000L);
    curl_easy_setopt(client->curl, CURLOPT_USERAGENT, "prorata/" PRORATA_VERSION);
    if (certificates && *certificates)
        curl_easy_setopt(client->curl, CURLOPT_CAINFO, certificates);
    if (client->token)
        headers = add_header(headers, arena_printf(client->arena, "Authorization: Bearer %s", client->token));
    if (body) {
        headers = add_header(headers, "Content-Type: application/json");
        headers = add_header(headers, "Expect:");
        curl_easy_setopt(client->curl, CURLOPT_POSTFIELDS, body);
        curl_easy_setopt(client->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
    }
    curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, headers);
    return headers;
}

static enum error_code code_of_status(long status)
{
    switch (status) {
    case 400:
        return ERROR_INVALID;
    case 401:
        return ERROR_UNAUTHORIZED;
    case 403:
        return ERROR_FORBIDDEN;
    case 404:
        return ERROR_NOT_FOUND;
    case 409:
        return ERROR_CONFLICT;
    case 501:
        return ERROR_LATER;
    default:
        return status >= 500 ? ERROR_UNAVAILABLE : ERROR_INVALID;
    }
}

static int refuse(long status, const char *text, struct error *err)
{
    json_t *body = json_loads(text, 0, NULL);
    const char *message = json_string_value(json_object_get(body, "message"));
    if (!message)
        message = json_string_value(json_object_get(body, "error_description"));
    if (status == 401 && !message)
        message = "token expired";
    if (message)
        error_set(err, code_of_status(status), "%s", message);
    else
        error_set(err, code_of_status(status), "the server answered with status %ld", status);
    const char *details = json_string_value(json_object_get(body, "details"));
    if (status == 401)
        error_details(err, "sign in with: login user -u MAIL");
    else if (details)
        error_details(err, "%s", details);
    json_decref(body);
    return -1;
}

static int perform(struct client *client, struct curl_slist *headers, long *out_status, struct error *err)
{
    CURLcode rc = curl_easy_perform(client->curl);
    curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, out_status);
    curl_slist_free_all(headers);
    if (rc != CURLE_OK)
        return error_set(err, ERROR_UNAVAILABLE, "%s: %s", client->socket ? client->socket : client->url,
                         curl_easy_strerror(rc));
    return 0;
}

int client_call(struct client *client, const char *method, const char *path, const json_t *body, json_t **out_answer,
                struct error *err)
{
    struct buffer answer;
    buffer_init(&answer, ANSWER_BYTES_MAX);
    char *text = body ? json_dumps(body, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
    struct curl_slist *headers = prepare(client, method, path, text);
    curl_easy_setopt(client->curl, CURLOPT_WRITEFUNCTION, append);
    curl_easy_setopt(client->curl, CURLOPT_WRITEDATA, &answer);
    curl_easy_setopt(client->curl, CURLOPT_TIMEOUT_MS, 60000L);
    long status = 0;
    int rc = perform(client, headers, &status, err);
    const char *got = answer.data ? answer.data : "";
    if (rc == 0 && (status < 200 || status > 299))
        rc = refuse(status, got, err);
    if (rc == 0 && out_answer) {
        json_error_t why;
        *out_answer = *got ? json_loads(got, JSON_DECODE_ANY, &why) : json_null();
        if (!*out_answer)
            rc = error_set(err, ERROR_INTERNAL, "the server's answer is not JSON: %s", why.text);
    }
    free(text);
    buffer_done(&answer);
    return rc;
}

struct stream {
    struct client *client;
    client_text_fn fn;
    void *context;
    struct buffer refusal;
};

static size_t pass_on(char *data, size_t size, size_t count, void *context)
{
    struct stream *stream = context;
    long status = 0;
    curl_easy_getinfo(stream->client->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status == 200)
        return stream->fn(data, size, count, stream->context);
    return append(data, size, count, &stream->refusal);
}

int client_stream(struct client *client, const char *path, client_text_fn fn, void *context, struct error *err)
{
    struct stream stream = {.client = client, .fn = fn, .context = context};
    buffer_init(&stream.refusal, 65536);
    struct curl_slist *headers = prepare(client, "GET", path, NULL);
    curl_easy_setopt(client->curl, CURLOPT_WRITEFUNCTION, pass_on);
    curl_easy_setopt(client->curl, CURLOPT_WRITEDATA, &stream);
    curl_easy_setopt(client->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(client->curl, CURLOPT_LOW_SPEED_TIME,
                     (long)SILENT_S); // streams that last say something all the time
    long status = 0;
    int rc = perform(client, headers, &status, err);
    if (rc == 0 && status != 200)
        rc = refuse(status, stream.refusal.data ? stream.refusal.data : "", err);
    buffer_done(&stream.refusal);
    return rc;
}
