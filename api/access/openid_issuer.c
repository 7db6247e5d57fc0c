#include "api/access/openid_issuer.h"

#include "api/access/outbound.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_reader.h"
#include "base/timestamp.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_US (INT64_C(3600) * 1000000)
#define KEYS_PAUSE_US INT64_C(1000000)
#define DISCOVERY ".well-known/openid-configuration"

// A document that was fetched, and from where. NULL: none is kept.
struct kept {
    char *url;
    json_t *document;
    int64_t fetched_us;
};

struct openid_issuer {
    const char *ca_file;
    pthread_mutex_t mutex;
    struct kept discovery, keys;
};

struct openid_issuer *openid_issuer_create(const char *ca_file)
{
    struct openid_issuer *issuer = memory_array(1, sizeof(*issuer));
    issuer->ca_file = ca_file;
    pthread_mutex_init(&issuer->mutex, NULL);
    return issuer;
}

static void forget(struct kept *kept)
{
    free(kept->url);
    json_decref(kept->document);
    *kept = (struct kept){0};
}

void openid_issuer_forget(struct openid_issuer *issuer)
{
    pthread_mutex_lock(&issuer->mutex);
    forget(&issuer->discovery);
    forget(&issuer->keys);
    pthread_mutex_unlock(&issuer->mutex);
}

void openid_issuer_destroy(struct openid_issuer *issuer)
{
    if (!issuer)
        return;
    openid_issuer_forget(issuer);
    pthread_mutex_destroy(&issuer->mutex);
    free(issuer);
}

static int read_object(const char *url, const struct outbound_answer *answer, json_t **out_object, struct error *err)
{
    struct error cause = {0};
    if (json_reader_parse(answer->text, answer->size, out_object, &cause) == 0 && json_is_object(*out_object))
        return 0;
    if (!cause.code)
        json_decref(*out_object);
    return error_set(err, ERROR_UNAVAILABLE, "%.150s: answered %d without a JSON object", url, answer->status);
}

static int fetch(const struct outbound_call *call, struct arena *arena, json_t **out_object, struct error *err)
{
    struct outbound_answer answer;
    if (outbound_call(call, arena, &answer, err) < 0)
        return -1;
    if (answer.status != 200)
        return error_set(err, ERROR_UNAVAILABLE, "%.150s: answered %d", call->url, answer.status);
    return read_object(call->url, &answer, out_object, err);
}

// A document that is kept and was fetched within max_age_us; the caller owns it. NULL: none.
static json_t *find_kept(struct openid_issuer *issuer, struct kept *kept, const char *url, int64_t max_age_us)
{
    json_t *found = NULL;
    pthread_mutex_lock(&issuer->mutex);
    if (kept->url && strcmp(kept->url, url) == 0 && timestamp_monotonic_us() - kept->fetched_us < max_age_us)
        found = json_deep_copy(kept->document);
    pthread_mutex_unlock(&issuer->mutex);
    return found;
}

// The kept document, or the issuer's; an old one where the issuer does not answer. The caller owns *out_document.
static int get_document(struct openid_issuer *issuer, struct kept *kept, const char *url, int64_t max_age_us,
                        json_t **out_document, struct error *err)
{
    struct arena arena;
    *out_document = find_kept(issuer, kept, url, max_age_us);
    if (*out_document)
        return 0;
    arena_init(&arena);
    int rc = fetch(&(struct outbound_call){.url = url, .ca_file = issuer->ca_file}, &arena, out_document, err);
    arena_done(&arena);
    if (rc < 0) {
        *out_document = find_kept(issuer, kept, url, INT64_MAX);
        return *out_document ? 0 : -1;
    }
    pthread_mutex_lock(&issuer->mutex);
    forget(kept);
    *kept = (struct kept){memory_strdup(url), json_deep_copy(*out_document), timestamp_monotonic_us()};
    pthread_mutex_unlock(&issuer->mutex);
    return 0;
}

static int read_endpoint(const json_t *document, const char *name, bool is_required, struct arena *arena,
                         const char **out_url, struct error *err)
{
    const char *url = json_string_value(json_object_get(document, name));
    *out_url = arena_strdup(arena, url);
    if (!url)
        return is_required ? error_set(err, ERROR_UNAVAILABLE, "the issuer's document has no %s", name) : 0;
    if (!outbound_is_allowed(url))
        return error_set(err, ERROR_UNAVAILABLE, "the issuer's %s is not https: %.120s", name, url);
    return 0;
}

static bool has_item(const json_t *list, const char *text)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *item = json_string_value(json_array_get(list, i));
        if (item && strcmp(item, text) == 0)
            return true;
    }
    return false;
}

static int read_endpoints(const json_t *document, const char *url, struct arena *arena,
                          struct openid_endpoints *out_endpoints, struct error *err)
{
    const char *own = json_string_value(json_object_get(document, "issuer"));
    const json_t *ways = json_object_get(document, "token_endpoint_auth_methods_supported");
    if (!own || strcmp(own, url) != 0)
        return error_set(err, ERROR_UNAVAILABLE, "the document of %.80s is of another issuer: %.80s", url,
                         own ? own : "none");
    out_endpoints->wants_secret_in_form =
        has_item(ways, "client_secret_post") && !has_item(ways, "client_secret_basic");
    if (read_endpoint(document, "authorization_endpoint", true, arena, &out_endpoints->authorization, err) < 0 ||
        read_endpoint(document, "token_endpoint", true, arena, &out_endpoints->token, err) < 0 ||
        read_endpoint(document, "jwks_uri", true, arena, &out_endpoints->keys, err) < 0 ||
        read_endpoint(document, "userinfo_endpoint", false, arena, &out_endpoints->person, err) < 0)
        return -1;
    return read_endpoint(document, "end_session_endpoint", false, arena, &out_endpoints->sign_out, err);
}

int openid_issuer_endpoints(struct openid_issuer *issuer, const char *url, struct arena *arena,
                            struct openid_endpoints *out_endpoints, struct error *err)
{
    json_t *document;
    size_t length = strlen(url);
    const char *slash = length > 0 && url[length - 1] == '/' ? "" : "/";
    const char *place = arena_printf(arena, "%s%s%s", url, slash, DISCOVERY);
    if (get_document(issuer, &issuer->discovery, place, KEPT_US, &document, err) < 0)
        return -1;
    int rc = read_endpoints(document, url, arena, out_endpoints, err);
    json_decref(document);
    return rc;
}

int openid_issuer_keys(struct openid_issuer *issuer, const struct openid_endpoints *endpoints, bool is_fresh,
                       struct openid_keys *out_keys, struct error *err)
{
    json_t *document;
    if (get_document(issuer, &issuer->keys, endpoints->keys, is_fresh ? KEYS_PAUSE_US : KEPT_US, &document, err) < 0)
        return -1;
    int rc = openid_keys_read(document, out_keys, err);
    json_decref(document);
    return rc;
}

static struct outbound_call grant_call(const struct openid_issuer *issuer, const struct openid_endpoints *endpoints,
                                       const char *client_id, const char *secret, const char *form, struct arena *arena)
{
    const char *client = outbound_escape(client_id, arena);
    struct outbound_call call = {.url = endpoints->token, .form = form, .ca_file = issuer->ca_file};
    if (!secret)
        call.form = arena_printf(arena, "%s&client_id=%s", form, client);
    else if (endpoints->wants_secret_in_form)
        call.form =
            arena_printf(arena, "%s&client_id=%s&client_secret=%s", form, client, outbound_escape(secret, arena));
    else {
        call.user = client; // encoded for a form first: RFC 6749, 2.3.1
        call.password = outbound_escape(secret, arena);
    }
    return call;
}

int openid_issuer_grant(struct openid_issuer *issuer, const struct openid_endpoints *endpoints, const char *client_id,
                        const char *secret, const char *form, struct arena *arena, json_t **out_tokens,
                        struct error *err)
{
    struct outbound_answer answer;
    struct outbound_call call = grant_call(issuer, endpoints, client_id, secret, form, arena);
    if (outbound_call(&call, arena, &answer, err) < 0 || read_object(call.url, &answer, out_tokens, err) < 0)
        return -1;
    if (answer.status == 200)
        return 0;
    const char *code = json_string_value(json_object_get(*out_tokens, "error"));
    bool is_refused = code && strcmp(code, "invalid_grant") == 0;
    error_set(err, is_refused ? ERROR_UNAUTHORIZED : ERROR_UNAVAILABLE, "the issuer answered %d: %.60s", answer.status,
              code ? code : "no reason");
    json_decref(*out_tokens);
    return -1;
}

int openid_issuer_person(struct openid_issuer *issuer, const struct openid_endpoints *endpoints, const char *token,
                         struct arena *arena, json_t **out_claims, struct error *err)
{
    return fetch(&(struct outbound_call){.url = endpoints->person, .bearer = token, .ca_file = issuer->ca_file}, arena,
                 out_claims, err);
}
