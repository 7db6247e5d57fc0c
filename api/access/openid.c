#include "api/access/openid.h"

#include "api/access/openid_issuer.h"
#include "api/access/openid_person.h"
#include "api/access/openid_token.h"
#include "api/access/outbound.h"
#include "api/access/sealing.h"
#include "base/arena.h"
#include "base/condition.h"
#include "base/error.h"
#include "base/log.h"
#include "base/places.h"
#include "base/timestamp.h"
#include "db/accounts/identity_provider.h"
#include "db/db.h"
#include "db/sealed_columns.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    STACK_BYTES = 2 << 20,
    PAUSE_MS = 5000,    // after an issuer that did not answer
    POSTPONE_MS = 30000 // of the session that met it
};

struct openid {
    struct db *db;
    const struct sealing *sealing;
    struct openid_issuer *issuer;
    struct places calls;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    bool is_stopping, is_woken;
};

// One call to the issuer: what is known of it, and what it is to do.
struct work {
    struct openid *openid;
    const char *address; // who asks; NULL: an administrator
    struct identity_provider provider;
    const char *secret; // NULL: a public client
    struct openid_endpoints endpoints;
    const struct openid_flow *flow;
    const char *code;
    const char *token; // to be checked
    int64_t now_ms;
    struct arena *arena;
    int (*run)(struct work *work, struct error *err);
    struct openid_person person; // result
    int rc;
    struct error error;
};

// 1: found; 0: none is set up; -1: error. The secret is the arena's.
static int load_provider(struct openid *openid, struct arena *arena, struct identity_provider *out_provider,
                         const char **out_secret, struct error *err)
{
    unsigned char *bytes;
    size_t size;
    struct db_conn *conn = db_acquire_for_sign_in(openid->db);
    int rc = db_find_identity_provider(conn, arena, out_provider, err);
    db_give_back(openid->db, conn);
    *out_secret = NULL;
    if (rc <= 0 || !out_provider->client_secret_sealed)
        return rc;
    if (sealing_open(openid->sealing, SEALED_CLIENT_SECRET, "1", out_provider->client_secret_sealed, arena, &bytes,
                     &size, err) < 0)
        return -1;
    *out_secret = (const char *)bytes;
    return 1;
}

static void *run_work(void *context)
{
    struct work *work = context;
    work->rc = openid_issuer_endpoints(work->openid->issuer, work->provider.issuer, work->arena, &work->endpoints,
                                       &work->error);
    if (work->rc == 0)
        work->rc = work->run(work, &work->error);
    return NULL;
}

static int start_work(struct work *work, struct error *err)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    int rc = pthread_create(&thread, &attributes, run_work, work);
    pthread_attr_destroy(&attributes);
    if (rc != 0)
        return error_set(err, ERROR_UNAVAILABLE, "no thread for the call to the issuer: %s", strerror(rc));
    pthread_join(thread, NULL);
    if (work->rc < 0 && err)
        *err = work->error;
    return work->rc;
}

// The caller's own stack is too small for TLS, and its connection is all that waits.
static int call_issuer(struct work *work, struct error *err)
{
    struct places *calls = &work->openid->calls;
    struct place_claim claim = {.holder = work->address, .is_administrator = !work->address, .socket = -1};
    int place;
    if (places_take(calls, &claim, &place, err) < 0)
        return error_details(err, "the identity provider is slow: try again");
    int rc = start_work(work, err);
    places_give_back(calls, place);
    return rc;
}

static int load_work(struct work *work, struct error *err)
{
    int rc = load_provider(work->openid, work->arena, &work->provider, &work->secret, err);
    return rc == 0 ? error_set(err, ERROR_NOT_FOUND, "no identity provider is set up") : rc < 0 ? -1 : 0;
}

static int do_nothing(struct work *work, struct error *err)
{
    (void)work;
    (void)err;
    return 0;
}

static const char *challenge_of(const char *verifier, struct arena *arena)
{
    unsigned char hash[crypto_hash_sha256_BYTES];
    char *text = arena_alloc(arena, 64);
    crypto_hash_sha256(hash, (const unsigned char *)verifier, strlen(verifier));
    return sodium_bin2base64(text, 64, hash, sizeof(hash), sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

int openid_begin(struct openid *openid, const struct openid_flow *flow, struct arena *arena, const char **out_url,
                 struct error *err)
{
    struct work work = {.openid = openid, .address = flow->address, .arena = arena, .run = do_nothing};
    if (load_work(&work, err) < 0 || call_issuer(&work, err) < 0)
        return -1;
    const struct identity_provider *provider = &work.provider;
    *out_url = arena_printf(
        arena,
        "%s%sresponse_type=code&client_id=%s&redirect_uri=%s&scope=%s&state=%s&nonce=%s&code_challenge=%s"
        "&code_challenge_method=S256%s",
        work.endpoints.authorization, strchr(work.endpoints.authorization, '?') ? "&" : "?",
        outbound_escape(provider->client_id, arena), outbound_escape(provider->redirect_url, arena),
        outbound_escape(provider->scopes, arena), flow->state, flow->nonce, challenge_of(flow->verifier, arena),
        strstr(provider->scopes, "offline_access") ? "&prompt=consent" : ""); // OpenID Connect Core, 11
    return 0;
}

// Checks the id_token; a key that is not known is asked for once.
static int check_token(struct work *work, const char *token, const struct openid_expected *expected,
                       json_t **out_claims, struct error *err)
{
    const char *reason = "no id_token";
    enum openid_verdict verdict = token ? OPENID_TOKEN_UNKNOWN_KEY : OPENID_TOKEN_BAD;
    for (int try = 0; try < 2 && verdict == OPENID_TOKEN_UNKNOWN_KEY; try++) {
        struct openid_keys keys;
        if (openid_issuer_keys(work->openid->issuer, &work->endpoints, try > 0, &keys, err) < 0)
            return -1;
        verdict = openid_token_check(token, &keys, expected, work->arena, out_claims, &reason);
        openid_keys_done(&keys);
    }
    if (verdict == OPENID_TOKEN_GOOD)
        return 0;
    return error_set(err, ERROR_UNAUTHORIZED, "the issuer's token is not good: %s", reason);
}

// Where the id_token has no groups, the issuer may tell them by its userinfo. Claims of another subject are not looked
// at.
static int add_person_claims(struct work *work, const json_t *tokens, json_t *claims, struct error *err)
{
    const char *token = json_string_value(json_object_get(tokens, "access_token"));
    json_t *more;
    if (json_object_get(claims, work->provider.groups_claim) || !work->endpoints.person || !token)
        return 0;
    if (openid_issuer_person(work->openid->issuer, &work->endpoints, token, work->arena, &more, err) < 0)
        return -1;
    const char *subject = json_string_value(json_object_get(claims, "sub"));
    const char *other = json_string_value(json_object_get(more, "sub"));
    int rc = other && strcmp(subject, other) == 0
                 ? 0
                 : error_set(err, ERROR_UNAUTHORIZED, "the issuer's userinfo is of another subject");
    if (rc == 0)
        json_object_update_missing(claims, more);
    json_decref(more);
    return rc;
}

static int read_person(struct work *work, const json_t *tokens, json_t *claims, struct error *err)
{
    if (add_person_claims(work, tokens, claims, err) < 0)
        return -1;
    openid_person_read(&work->provider, claims, json_string_value(json_object_get(claims, "sub")), work->arena,
                       &work->person);
    work->person.refresh_token = arena_strdup(work->arena, json_string_value(json_object_get(tokens, "refresh_token")));
    return 0;
}

static int take_code(struct work *work, struct error *err)
{
    struct arena *arena = work->arena;
    json_t *tokens, *claims;
    const char *form = arena_printf(arena, "grant_type=authorization_code&code=%s&redirect_uri=%s&code_verifier=%s",
                                    outbound_escape(work->code, arena),
                                    outbound_escape(work->provider.redirect_url, arena), work->flow->verifier);
    if (openid_issuer_grant(work->openid->issuer, &work->endpoints, work->provider.client_id, work->secret, form, arena,
                            &tokens, err) < 0)
        return -1;
    struct openid_expected expected = {work->provider.issuer, work->provider.client_id, work->flow->nonce, NULL,
                                       work->now_ms / 1000};
    int rc = check_token(work, json_string_value(json_object_get(tokens, "id_token")), &expected, &claims, err);
    if (rc == 0) {
        rc = read_person(work, tokens, claims, err);
        json_decref(claims);
    }
    json_decref(tokens);
    return rc;
}

int openid_finish(struct openid *openid, const struct openid_flow *flow, const char *code, int64_t now_ms,
                  struct arena *arena, struct openid_person *out_person, struct error *err)
{
    struct work work = {.openid = openid,
                        .address = flow->address,
                        .arena = arena,
                        .flow = flow,
                        .code = code,
                        .now_ms = now_ms,
                        .run = take_code};
    if (load_work(&work, err) < 0 || call_issuer(&work, err) < 0)
        return -1;
    *out_person = work.person;
    return 0;
}

static int take_token(struct work *work, struct error *err)
{
    json_t *claims;
    struct openid_expected expected = {work->provider.issuer, work->provider.client_id, NULL, NULL,
                                       work->now_ms / 1000};
    if (check_token(work, work->token, &expected, &claims, err) < 0)
        return -1;
    openid_person_read(&work->provider, claims, json_string_value(json_object_get(claims, "sub")), work->arena,
                       &work->person);
    json_decref(claims);
    return 0;
}

int openid_check(struct openid *openid, const char *address, const char *token, int64_t now_ms, struct arena *arena,
                 struct openid_person *out_person, struct error *err)
{
    struct work work = {
        .openid = openid, .address = address, .arena = arena, .token = token, .now_ms = now_ms, .run = take_token};
    if (load_work(&work, err) < 0 || call_issuer(&work, err) < 0)
        return -1;
    *out_person = work.person;
    return 0;
}

const char *openid_sign_out_url(struct openid *openid, const char *address, const char *return_to, struct arena *arena)
{
    struct work work = {.openid = openid, .address = address, .arena = arena, .run = do_nothing};
    if (load_work(&work, NULL) < 0 || call_issuer(&work, NULL) < 0 || !work.endpoints.sign_out)
        return NULL;
    return arena_printf(arena, "%s%sclient_id=%s&post_logout_redirect_uri=%s", work.endpoints.sign_out,
                        strchr(work.endpoints.sign_out, '?') ? "&" : "?",
                        outbound_escape(work.provider.client_id, arena), outbound_escape(return_to, arena));
}

static int try_keys(struct work *work, struct error *err)
{
    struct openid_keys keys;
    if (openid_issuer_keys(work->openid->issuer, &work->endpoints, true, &keys, err) < 0)
        return -1;
    openid_keys_done(&keys);
    return 0;
}

int openid_try(struct openid *openid, const struct identity_provider *provider, struct arena *arena, struct error *err)
{
    struct work work = {.openid = openid, .provider = *provider, .arena = arena, .run = try_keys};
    openid_issuer_forget(openid->issuer);
    return call_issuer(&work, err);
}

// Asks the issuer about one session: fills in person.
static int ask_again(struct work *work, const struct external_session *session, struct error *err)
{
    struct arena *arena = work->arena;
    unsigned char *token;
    size_t size;
    json_t *tokens, *claims = NULL;
    if (load_work(work, err) < 0 ||
        sealing_open(work->openid->sealing, SEALED_REFRESH_TOKEN, session->session_uuid, session->refresh_sealed, arena,
                     &token, &size, err) < 0 ||
        openid_issuer_endpoints(work->openid->issuer, work->provider.issuer, arena, &work->endpoints, err) < 0)
        return -1;
    const char *form =
        arena_printf(arena, "grant_type=refresh_token&refresh_token=%s", outbound_escape((const char *)token, arena));
    if (openid_issuer_grant(work->openid->issuer, &work->endpoints, work->provider.client_id, work->secret, form, arena,
                            &tokens, err) < 0)
        return -1;
    struct openid_expected expected = {work->provider.issuer, work->provider.client_id, NULL, session->subject,
                                       work->now_ms / 1000};
    const char *id_token = json_string_value(json_object_get(tokens, "id_token"));
    int rc = 0;
    if (id_token)
        rc = check_token(work, id_token, &expected, &claims, err);
    else
        claims = json_pack("{s:s}", "sub", session->subject); // a refresh need not give one: userinfo says who it is
    if (rc == 0)
        rc = read_person(work, tokens, claims, err);
    json_decref(claims);
    json_decref(tokens);
    return rc;
}

static void confirm(struct work *work, struct external_session *session)
{
    const struct openid_person *person = &work->person;
    if (person->refresh_token && strlen(person->refresh_token) <= SEALING_BYTES_MAX)
        session->refresh_sealed = sealing_seal(work->openid->sealing, SEALED_REFRESH_TOKEN, session->session_uuid,
                                               person->refresh_token, strlen(person->refresh_token), work->arena);
    session->confirmed_ms = work->now_ms;
    session->next_check_ms = work->now_ms + person->refresh_s * 1000;
    db_confirm_external_session(work->openid->db, session, &person->groups, NULL);
}

// How long to wait before the next session is looked at.
static int64_t handle(struct work *work, struct external_session *session)
{
    struct error err = {0};
    if (ask_again(work, session, &err) == 0) {
        confirm(work, session);
        return 0;
    }
    bool is_over = session->confirmed_ms + OPENID_UNCONFIRMED_MS < work->now_ms;
    if (err.code == ERROR_UNAUTHORIZED || is_over) {
        log_write(LOG_INFO, "api", "a session ended: %s session=%s",
                  is_over ? "its issuer has not confirmed it for too long" : err.message, session->session_uuid);
        db_end_session(work->openid->db, session->session_uuid, NULL);
        return 0;
    }
    log_write(LOG_WARN, "api", "a session is not confirmed yet: %s session=%s", err.message, session->session_uuid);
    db_postpone_external_session(work->openid->db, session->session_uuid, work->now_ms + POSTPONE_MS, NULL);
    return PAUSE_MS;
}

// Looks at the session that is due. How long to wait then; -1: until somebody wakes.
static int64_t look(struct openid *openid)
{
    struct arena arena;
    struct external_session session;
    int64_t wait_ms = -1;
    arena_init(&arena);
    struct work work = {.openid = openid, .arena = &arena, .now_ms = timestamp_now_ms()};
    struct db_conn *conn = db_acquire_for_sign_in(openid->db);
    int found = db_find_next_external_session(conn, &arena, &session, NULL);
    db_give_back(openid->db, conn);
    if (found < 0)
        wait_ms = PAUSE_MS;
    else if (found > 0)
        wait_ms = session.next_check_ms > work.now_ms ? session.next_check_ms - work.now_ms : handle(&work, &session);
    arena_done(&arena);
    return wait_ms;
}

static void wait_for(struct openid *openid, int64_t wait_ms)
{
    struct timespec until = condition_after(wait_ms);
    int rc = 0;
    while (!openid->is_stopping && !openid->is_woken && rc != ETIMEDOUT)
        rc = wait_ms < 0 ? pthread_cond_wait(&openid->wake, &openid->mutex)
                         : pthread_cond_timedwait(&openid->wake, &openid->mutex, &until);
    openid->is_woken = false;
}

static void *ask_about_sessions(void *context)
{
    struct openid *openid = context;
    pthread_mutex_lock(&openid->mutex);
    while (!openid->is_stopping) {
        pthread_mutex_unlock(&openid->mutex);
        int64_t wait_ms = look(openid);
        pthread_mutex_lock(&openid->mutex);
        if (wait_ms != 0)
            wait_for(openid, wait_ms);
    }
    pthread_mutex_unlock(&openid->mutex);
    return NULL;
}

int openid_create(const struct openid_options *options, struct openid **out_openid, struct error *err)
{
    struct openid *openid = memory_array(1, sizeof(*openid));
    curl_global_init(CURL_GLOBAL_DEFAULT);
    openid->db = options->db;
    openid->sealing = options->sealing;
    openid->issuer = openid_issuer_create(options->ca_file);
    places_init(&openid->calls, PLACE_ISSUER_CALLS, 0, options->places);
    pthread_mutex_init(&openid->mutex, NULL);
    condition_init(&openid->wake);
    int rc = pthread_create(&openid->thread, NULL, ask_about_sessions, openid);
    if (rc != 0) {
        openid->is_stopping = true;
        openid->thread = pthread_self();
        openid_destroy(openid);
        return error_set(err, ERROR_INTERNAL, "cannot start the thread that asks the issuer: %s", strerror(rc));
    }
    *out_openid = openid;
    return 0;
}

void openid_wake(struct openid *openid)
{
    pthread_mutex_lock(&openid->mutex);
    openid->is_woken = true;
    pthread_cond_signal(&openid->wake);
    pthread_mutex_unlock(&openid->mutex);
}

void openid_destroy(struct openid *openid)
{
    if (!openid)
        return;
    pthread_mutex_lock(&openid->mutex);
    openid->is_stopping = true;
    pthread_cond_signal(&openid->wake);
    pthread_mutex_unlock(&openid->mutex);
    if (!pthread_equal(openid->thread, pthread_self()))
        pthread_join(openid->thread, NULL);
    openid_issuer_destroy(openid->issuer);
    places_done(&openid->calls);
    pthread_cond_destroy(&openid->wake);
    pthread_mutex_destroy(&openid->mutex);
    free(openid);
}
