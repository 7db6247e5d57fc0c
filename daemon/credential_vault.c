#include "daemon/credential_vault.h"

#include "api/access/sealing.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "db/catalog/credentials.h"
#include "db/db.h"
#include "db/sealed_columns.h"

#include <jansson.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEMBERS_MAX = 2
};

// The keys of a kind, by name, and the members that fill them: NULL ends. What is in front is shown, the last is not.
static const struct {
    const char *kind;
    struct {
        const char *key, *member;
    } keys[MEMBERS_MAX + 1];
} KINDS[] = {
    {"accessKey", {{"AccessKeyId", "accessKeyId"}, {"SecretKey", "secretAccessKey"}}},
    {"ngcApiKey", {{"NGC_API_KEY", "ngcApiKey"}}},
    {"password", {{"password", "password"}, {"username", "user"}}},
};

struct key_list {
    struct arena *arena;
    struct backend_secret_key *keys;
    size_t count, capacity;
};

static void add(struct key_list *list, const char *name, const char *value)
{
    list->keys = arena_grow(list->arena, list->keys, &list->capacity, list->count + 1, sizeof(*list->keys));
    list->keys[list->count++] = (struct backend_secret_key){
        .name = arena_strdup(list->arena, name), .value = arena_strdup(list->arena, value), .length = strlen(value)};
}

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

// What `docker login` writes into its config.json, and what a secret of kind kubernetes.io/dockerconfigjson holds.
static void add_registry(struct key_list *list, const json_t *shown, const json_t *secret)
{
    const char *user = text_of(shown, "user"), *password = text_of(secret, "password");
    const char *both = arena_printf(list->arena, "%s:%s", user, password);
    size_t size = sodium_base64_encoded_len(strlen(both), sodium_base64_VARIANT_ORIGINAL);
    char *auth = arena_alloc(list->arena, size);
    sodium_bin2base64(auth, size, (const unsigned char *)both, strlen(both), sodium_base64_VARIANT_ORIGINAL);
    json_t *config = json_pack("{s{s{ssssss}}}", "auths", text_of(shown, "url"), "username", user, "password", password,
                               "auth", auth);
    char *text = config ? json_dumps(config, JSON_COMPACT) : NULL;
    if (text) {
        add(list, ".dockerconfigjson", text);
        sodium_memzero(text, strlen(text));
    }
    free(text);
    json_decref(config);
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const struct backend_secret_key *)a)->name, ((const struct backend_secret_key *)b)->name);
}

static void add_pairs(struct key_list *list, const json_t *secret)
{
    const json_t *pair;
    size_t i;
    json_array_foreach(json_object_get(secret, "keyValuePairs"), i, pair)
        add(list, text_of(pair, "key"), text_of(pair, "value"));
    if (list->count > 1)
        qsort(list->keys, list->count, sizeof(*list->keys), compare_keys);
}

static void add_members(struct key_list *list, const char *kind, const json_t *shown, const json_t *secret)
{
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++)
        for (size_t k = 0; strcmp(KINDS[i].kind, kind) == 0 && KINDS[i].keys[k].key; k++) {
            const char *member = KINDS[i].keys[k].member;
            add(list, KINDS[i].keys[k].key, text_of(json_object_get(secret, member) ? secret : shown, member));
        }
}

static void add_keys(struct key_list *list, const struct kept_credential *credential, const json_t *secret)
{
    json_t *shown = json_loads(credential->shown_json, 0, NULL);
    if (strcmp(credential->kind, "dockerRegistry") == 0)
        add_registry(list, shown, secret);
    else if (strcmp(credential->kind, "genericSecret") == 0)
        add_pairs(list, secret);
    else
        add_members(list, credential->kind, shown, secret);
    json_decref(shown);
}

static int open_credential(const struct credential_vault *vault, const struct kept_credential *credential,
                           struct key_list *list, struct error *err)
{
    unsigned char *bytes;
    size_t size;
    if (sealing_open(vault->sealing, SEALED_CREDENTIAL, credential->uuid, credential->secret_sealed, list->arena,
                     &bytes, &size, err) < 0)
        return -1;
    json_t *secret = json_loadb((const char *)bytes, size, 0, NULL);
    sodium_memzero(bytes, size);
    add_keys(list, credential, secret);
    json_decref(secret);
    return 0;
}

static int read_keys(void *context, const char *project_name, const char *name, struct arena *arena,
                     struct backend_secret_key **out_keys, size_t *out_count, struct error *err)
{
    const struct credential_vault *vault = context;
    struct kept_credential credential;
    struct key_list list = {.arena = arena};
    struct db_conn *conn = db_acquire(vault->db);
    int rc = db_find_kept_credential(conn, project_name, name, arena, &credential, err);
    db_give_back(vault->db, conn);
    if (rc == 0)
        return error_set(err, ERROR_NOT_FOUND, "no credential %s for project %s", name, project_name);
    if (rc < 0 || open_credential(vault, &credential, &list, err) < 0)
        return -1;
    *out_keys = list.keys;
    *out_count = list.count;
    return 0;
}

static int note(void *context, const struct backend_made_secret *secret, struct error *err)
{
    const struct credential_vault *vault = context;
    struct cluster_secret row = {secret->namespace, secret->name, secret->project_name};
    return db_note_cluster_secret(vault->db, &row, err);
}

static int list_left(void *context, struct arena *arena, struct backend_made_secret **out_secrets, size_t *out_count,
                     struct error *err)
{
    const struct credential_vault *vault = context;
    struct cluster_secret *rows;
    size_t count;
    struct db_conn *conn = db_acquire(vault->db);
    int rc = db_list_cluster_secrets_left(conn, arena, &rows, &count, err);
    db_give_back(vault->db, conn);
    if (rc < 0)
        return -1;
    *out_secrets = arena_array(arena, count, sizeof(**out_secrets));
    *out_count = count;
    for (size_t i = 0; i < count; i++)
        (*out_secrets)[i] = (struct backend_made_secret){rows[i].namespace, rows[i].name, rows[i].project_name};
    return 0;
}

static void forget(void *context, const struct backend_made_secret *secret)
{
    const struct credential_vault *vault = context;
    struct cluster_secret row = {secret->namespace, secret->name, secret->project_name};
    struct error err = {0};
    if (db_forget_cluster_secret(vault->db, &row, &err) < 0)
        log_write(LOG_WARN, "daemon", "a secret that is gone is asked for again: %s", err.message);
}

struct backend_vault credential_vault_of(struct credential_vault *vault)
{
    return (struct backend_vault){
        .read = read_keys, .note = note, .list_left = list_left, .forget = forget, .context = vault};
}
