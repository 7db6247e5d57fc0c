#include "api/http/idempotency.h"

#include "api/http/request.h"
#include "api/http/response.h"
#include "api/identity.h"
#include "api/operation.h"
#include "api/server.h"
#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/log.h"
#include "db/db.h"
#include "db/idempotency_keys.h"

#include <civetweb.h>
#include <sodium.h>
#include <string.h>

enum {
    KEY_MAX_CHARACTERS = 255,
    ANSWER_MAX_BYTES = 1 << 20,
    HASH_BYTES = 32
};

struct request_key {
    struct idempotency_key key;
    char hash[2 * HASH_BYTES + 1];
    bool is_written, is_taken;
};

// Their answers show a secret once, and it is kept nowhere.
static const char *const SECRET_ANSWERS[] = {"create_user", "create_application", "create_service_account"};

static bool shows_secret(const struct operation *operation)
{
    for (size_t i = 0; i < sizeof(SECRET_ANSWERS) / sizeof(SECRET_ANSWERS[0]); i++)
        if (strcmp(SECRET_ANSWERS[i], operation->id) == 0)
            return true;
    return false;
}

static bool is_creation(const struct request *req)
{
    const struct operation *operation = req->operation;
    return operation->method == HTTP_METHOD_POST && operation->action && strcmp(operation->action, "create") == 0 &&
           req->caller;
}

static void hash_request(const struct request *req, char out_hash[2 * HASH_BYTES + 1])
{
    unsigned char hash[HASH_BYTES];
    crypto_generichash_state state;
    const struct mg_request_info *info = mg_get_request_info(req->connection);
    const char *target[] = {info->request_uri, info->query_string ? info->query_string : ""};
    crypto_generichash_init(&state, NULL, 0, HASH_BYTES);
    for (int i = 0; i < 2; i++)
        crypto_generichash_update(&state, (const unsigned char *)target[i], strlen(target[i]) + 1);
    if (req->body_text)
        crypto_generichash_update(&state, (const unsigned char *)req->body_text, req->body_size);
    crypto_generichash_final(&state, hash, HASH_BYTES);
    sodium_bin2hex(out_hash, 2 * HASH_BYTES + 1, hash, HASH_BYTES);
}

static int check_key(const char *key, struct error *err)
{
    size_t length = strlen(key);
    bool is_good = length >= 1 && length <= KEY_MAX_CHARACTERS;
    for (size_t i = 0; i < length; i++)
        is_good = is_good && key[i] >= ' ' && key[i] <= '~';
    return is_good ? 0
                   : error_set(err, ERROR_INVALID, "Idempotency-Key: from 1 to %d printable characters of ASCII",
                               KEY_MAX_CHARACTERS);
}

static enum idempotency answer_again(struct request *req, struct response *res, const struct idempotency_row *row,
                                     const char **out_thing, struct error *err)
{
    if (strcmp(row->request_hash, req->key->hash) != 0) {
        error_set(err, ERROR_CONFLICT, "Idempotency-Key: it came with another request before");
        return IDEMPOTENCY_REFUSED;
    }
    if (shows_secret(req->operation)) {
        error_set(err, ERROR_CONFLICT,
                  "Idempotency-Key: the request was carried out, and its answer held a secret that is kept nowhere%s%s",
                  *row->thing ? ": it made " : "", row->thing);
        return IDEMPOTENCY_REFUSED;
    }
    response_header(res, "Idempotency-Replayed", "true");
    if (row->status == 0) {
        *out_thing = row->thing;
        return IDEMPOTENCY_MADE;
    }
    res->status = (int)row->status;
    buffer_text(res->body, row->answer);
    return IDEMPOTENCY_KNOWN;
}

enum idempotency idempotency_begin(struct request *req, struct response *res, const char **out_thing, struct error *err)
{
    const char *text = request_header(req, "Idempotency-Key");
    struct idempotency_row row;
    if (!text || !is_creation(req))
        return IDEMPOTENCY_NEW;
    if (check_key(text, err) < 0)
        return IDEMPOTENCY_REFUSED;
    req->key = arena_alloc(req->arena, sizeof(*req->key));
    *req->key = (struct request_key){.key = {.subject_type = (int)req->caller->type,
                                             .subject_id = req->caller->subject_id,
                                             .operation = req->operation->id,
                                             .key = text}};
    hash_request(req, req->key->hash);
    struct db_conn *conn = db_acquire(req->server->db);
    int rc = db_find_idempotency_key(conn, &req->key->key, req->received_ms, req->arena, &row, err);
    db_give_back(req->server->db, conn);
    if (rc < 0)
        return IDEMPOTENCY_REFUSED;
    if (rc == 0)
        return IDEMPOTENCY_NEW;
    enum idempotency found = answer_again(req, res, &row, out_thing, err);
    req->key = NULL; // nothing more to note
    return found;
}

int idempotency_write(struct db_conn *conn, struct request *req, const char *thing, struct error *err)
{
    struct request_key *key = req->key;
    if (!key || key->is_written)
        return 0;
    struct idempotency_row row = {.request_hash = key->hash, .thing = thing};
    int rc = db_add_idempotency_key(conn, &key->key, &row, req->received_ms, err);
    key->is_written = rc == 0;
    if (rc < 0 && err->code == ERROR_CONFLICT) {
        key->is_taken = true;
        err->code = ERROR_UNAVAILABLE; // no name is taken: the operation must not look for another
    }
    return rc;
}

void idempotency_end(struct request *req, const struct response *res, int rc, struct error *err)
{
    struct request_key *key = req->key;
    struct error cause = {0};
    if (!key)
        return;
    if (rc < 0 && key->is_taken)
        error_set(err, ERROR_CONFLICT, "Idempotency-Key: a request with this key is being carried out: ask again");
    bool is_kept = rc == 0 && res->status < 300 && !res->is_streaming && res->body->length > 0 &&
                   res->body->length <= ANSWER_MAX_BYTES && !shows_secret(req->operation);
    int done = 0;
    if (key->is_written && rc < 0)
        done = db_remove_idempotency_key(req->server->db, &key->key, &cause);
    else if (key->is_written && is_kept)
        done = db_answer_idempotency_key(req->server->db, &key->key, res->status, res->body->data, &cause);
    if (done < 0)
        log_write(LOG_WARN, "api", "an answer is not kept for its Idempotency-Key: %s request=%s", cause.message,
                  req->id);
}
