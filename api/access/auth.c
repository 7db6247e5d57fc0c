#include "api/access/auth.h"

#include "api/access/passwords.h"
#include "api/access/roles.h"
#include "api/access/sealing.h"
#include "api/access/sign_in_crowd.h"
#include "api/access/sign_in_limits.h"
#include "api/access/signing_keys.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/uuid.h"
#include "db/access_rules.h"
#include "db/accounts/users.h"
#include "db/catalog/assets.h"
#include "db/db.h"
#include "db/settings.h"

#include <stdlib.h>

enum {
    DAY_S = 86400
};

// What the quick starts use. Each asks for little CPU and memory, so that GPUs decide where it runs.
static const struct {
    const char *kind;
    const char *name;
    const char *description;
    const char *spec_json;
} ASSETS[] = {
    {ASSET_KIND_COMPUTE, "cpu-only", "No GPU", "{\"cpuCoreRequest\":0.1,\"cpuMemoryRequest\":\"100M\"}"},
    {ASSET_KIND_COMPUTE, "small-fraction", "A tenth of a GPU",
     "{\"gpuDevicesRequest\":1,\"gpuRequestType\":\"portion\",\"gpuPortionRequest\":0.1,\"cpuCoreRequest\":0.1,"
     "\"cpuMemoryRequest\":\"100M\"}"},
    {ASSET_KIND_COMPUTE, "half-gpu", "Half a GPU",
     "{\"gpuDevicesRequest\":1,\"gpuRequestType\":\"portion\",\"gpuPortionRequest\":0.5,\"cpuCoreRequest\":0.1,"
     "\"cpuMemoryRequest\":\"100M\"}"},
    {ASSET_KIND_COMPUTE, "one-gpu", "One GPU",
     "{\"gpuDevicesRequest\":1,\"cpuCoreRequest\":0.1,\"cpuMemoryRequest\":\"100M\"}"},
    {ASSET_KIND_COMPUTE, "two-gpus", "Two GPUs",
     "{\"gpuDevicesRequest\":2,\"cpuCoreRequest\":0.1,\"cpuMemoryRequest\":\"100M\"}"},
    {ASSET_KIND_COMPUTE, "four-gpus", "Four GPUs",
     "{\"gpuDevicesRequest\":4,\"cpuCoreRequest\":0.1,\"cpuMemoryRequest\":\"100M\"}"},
    {ASSET_KIND_ENVIRONMENT, "quickstart", "The quick starts' demonstration image",
     "{\"image\":\"runai.jfrog.io/demo/quickstart\",\"imagePullPolicy\":\"IfNotPresent\"}"},
};

int auth_create(const struct auth_options *options, int64_t now_ms, struct auth **out_auth, struct error *err)
{
    struct auth *auth = memory_array(1, sizeof(*auth));
    struct arena arena;
    if (password_rules_parse(options->password_rules, &auth->password_rules, err) < 0) {
        free(auth);
        return -1;
    }
    auth->token_life_s = options->token_life_s ? options->token_life_s : DAY_S;
    auth->is_cookie_secure = options->is_cookie_secure;
    arena_init(&arena);
    struct signing_keys_options keys = {
        .folder = arena_printf(&arena, "%s/keys", options->data_folder),
        .rotation_ms = options->key_rotation_ms,
        .token_life_ms = auth->token_life_s * 1000,
    };
    int rc = signing_keys_open(&keys, now_ms, &auth->keys, err);
    if (rc == 0)
        rc = sealing_open_ring(options->data_folder, now_ms, &auth->sealing, err);
    arena_done(&arena);
    if (rc < 0) {
        auth_destroy(auth);
        return -1;
    }
    auth->passwords = passwords_create(options->places);
    auth->limits = sign_in_limits_create();
    auth->crowd = sign_in_crowd_create();
    *out_auth = auth;
    return 0;
}

void auth_destroy(struct auth *auth)
{
    if (!auth)
        return;
    signing_keys_close(auth->keys);
    sealing_close_ring(auth->sealing);
    passwords_destroy(auth->passwords);
    sign_in_limits_destroy(auth->limits);
    sign_in_crowd_destroy(auth->crowd);
    free(auth);
}

struct seed {
    const char *password_hash;
    int64_t now_ms;
    bool is_done; // result: there was nothing to do
};

static int seed_assets(struct db_conn *conn, int64_t now_ms, struct error *err)
{
    for (size_t i = 0; i < sizeof(ASSETS) / sizeof(ASSETS[0]); i++) {
        char uuid[UUID_SIZE];
        uuid_create(uuid);
        struct asset asset = {
            .uuid = uuid,
            .kind = ASSETS[i].kind,
            .name = ASSETS[i].name,
            .description = ASSETS[i].description,
            .scope = SCOPE_SYSTEM,
            .scope_id = "",
            .spec_json = ASSETS[i].spec_json,
            .created_by = "prorata",
            .created_ms = now_ms,
        };
        if (db_create_asset_in(conn, &asset, err) < 0)
            return -1;
    }
    return 0;
}

static int seed(struct db_conn *conn, void *context, struct error *err)
{
    struct seed *what = context;
    int64_t users = 0;
    if (db_read_number(conn, "SELECT count(*) FROM users", &users, err) < 0)
        return -1;
    what->is_done = users > 0;
    if (what->is_done)
        return 0;
    char uuid[UUID_SIZE];
    uuid_create(uuid);
    struct user administrator = {
        .uuid = uuid,
        .email = AUTH_ADMINISTRATOR,
        .password_hash = what->password_hash,
        .is_local = true,
        .created_by = "prorata",
        .created_ms = what->now_ms,
    };
    struct access_rule rule = {
        .subject_type = "user",
        .subject_id = AUTH_ADMINISTRATOR,
        .role_id = ROLE_SYSTEM_ADMINISTRATOR,
        .scope_type = SCOPE_TENANT,
        .scope_id = "1",
        .created_by = "prorata",
        .created_ms = what->now_ms,
    };
    if (db_set_meta_in(conn, "tenant_name", "prorata", err) < 0 || db_create_user_in(conn, &administrator, err) < 0 ||
        db_create_access_rule_in(conn, &rule, err) < 0)
        return -1;
    return seed_assets(conn, what->now_ms, err);
}

static int has_users(struct db *db, int64_t *out_count, struct error *err)
{
    struct db_conn *conn = db_acquire(db);
    int rc = db_read_number(conn, "SELECT count(*) FROM users", out_count, err);
    db_give_back(db, conn);
    return rc;
}

int auth_seed(struct db *db, struct auth *auth, const char *password, int64_t now_ms, struct arena *arena,
              const char **out_password, struct error *err)
{
    *out_password = NULL;
    int64_t users = 0;
    if (has_users(db, &users, err) < 0)
        return -1;
    if (users)
        return 0;
    char random[PASSWORD_RANDOM_SIZE], hash[PASSWORD_HASH_SIZE];
    password_random(random);
    if (password &&
        password_rules_check(&auth->password_rules, "PRORATA_ADMIN_PASSWORD", password, AUTH_ADMINISTRATOR, err) < 0)
        return -1;
    if (password_hash(auth->passwords, password ? password : random, hash, err) < 0)
        return -1;
    struct seed what = {.password_hash = hash, .now_ms = now_ms};
    if (db_write(db, seed, &what, err) < 0)
        return -1;
    if (!password && !what.is_done)
        *out_password = arena_strdup(arena, random);
    return 0;
}
