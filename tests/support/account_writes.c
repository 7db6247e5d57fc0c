// The writes about who may do what: roles, sessions, access keys, second factors, the machine's people, the issuer's
// people, audit records; and reports, workload types and keys of creations, which people make, too. They stand on what
// DB_WRITES has left: the user ada is there.
#include "base/error.h"
#include "db/accounts/access_keys.h"
#include "db/accounts/external_people.h"
#include "db/accounts/identity_provider.h"
#include "db/accounts/machine_accounts.h"
#include "db/accounts/saved_views.h"
#include "db/accounts/second_factors.h"
#include "db/accounts/sessions.h"
#include "db/audit/records.h"
#include "db/catalog/workload_types.h"
#include "db/idempotency_keys.h"
#include "db/reports.h"
#include "db/roles.h"
#include "tests/support/db_writes.h"

#define DAY_MS INT64_C(86400000)
#define SESSION "5e551013-0000-4000-8000-000000000001"
#define EXTERNAL_SESSION "5e551013-0000-4000-8000-000000000002"
#define REPORT "5e551013-0000-4000-8000-000000000003"
#define TYPE "5e551013-0000-4000-8000-000000000004"
#define VIEW "5e551013-0000-4000-8000-000000000005"
#define ISSUER "https://id.example.com"

enum {
    NOW_MS = 1700000000,
    ADA = 1, // the first user's id
    ROLE = ROLE_PREDEFINED_MAX + 1,
    STEP = 7 // of the code
};

static const unsigned char FAMILY[SESSION_HASH_SIZE] = {1}, FIRST[SESSION_HASH_SIZE] = {2},
                           SECOND[SESSION_HASH_SIZE] = {3}, CODE[SESSION_HASH_SIZE] = {4},
                           SECRET[ACCESS_KEY_HASH_SIZE] = {5};
static const struct audit_key AUDIT_KEY = {.id = "key"};

static struct custom_role role_of(const char *name)
{
    return (struct custom_role){.name = name,
                                .description = "",
                                .is_enabled = true,
                                .rights_json = "{}",
                                .created_by = "",
                                .created_ms = NOW_MS,
                                .updated_by = "",
                                .updated_ms = NOW_MS};
}

static int create_role(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    struct custom_role role = role_of("night operator");
    return db_create_role(db, &role, err);
}

static int change_role(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    struct custom_role role = role_of("day operator");
    role.id = ROLE;
    return db_update_role(db, &role, err);
}

static int delete_role(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    return db_delete_role(db, ROLE, NOW_MS, err);
}

static int create_session(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    struct session session = {.uuid = SESSION,
                              .subject_type = SESSION_OF_USER,
                              .subject_id = ADA,
                              .remote_address = "127.0.0.1",
                              .refresh_family_hash = FAMILY,
                              .refresh_hash = FIRST,
                              .created_ms = NOW_MS,
                              .expires_ms = NOW_MS + DAY_MS};
    return db_create_session(db, &session, err);
}

static int refresh_session(struct db *db, struct db_writes *writes, struct error *err)
{
    struct session_refresh refresh = {.family_hash = FAMILY,
                                      .old_hash = FIRST,
                                      .new_hash = SECOND,
                                      .now_ms = NOW_MS + 1,
                                      .expires_ms = NOW_MS + 2 * DAY_MS,
                                      .arena = &writes->arena};
    return db_refresh_session(db, &refresh, err);
}

static int set_key_secret(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    return db_set_access_key_secret(db, ADA, "key-1", SECRET, err);
}

static int delete_key(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    return db_delete_access_key(db, ADA, "key-1", err);
}

static int begin_factor(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    return db_begin_second_factor(db, ADA, "sealed", NOW_MS, err);
}

static int confirm_factor(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    struct factor_confirmation confirmation = {
        .user_id = ADA, .secret_sealed = "sealed", .step = STEP, .kept_session = SESSION, .now_ms = NOW_MS};
    for (size_t i = 0; i < RECOVERY_CODES; i++)
        confirmation.recovery_hashes[i][0] = (unsigned char)i;
    return db_confirm_second_factor(db, &confirmation, err);
}

static int remove_factor(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    return db_remove_second_factor(db, ADA, NULL, err);
}

static int sign_in_by_socket(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    struct machine_account account = {.email = "bob@localhost",
                                      .uid = 1001,
                                      .password_hash = "",
                                      .remote_address = "unix:1001",
                                      .now_ms = NOW_MS,
                                      .expires_ms = NOW_MS + DAY_MS,
                                      .good_until_ms = NOW_MS + 1};
    return db_sign_in_machine_account(db, &account, err);
}

static int set_provider(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    struct identity_provider provider = {.name = "Lab",
                                         .issuer = ISSUER,
                                         .client_id = "prorata",
                                         .client_secret_sealed = "sealed",
                                         .scopes = "openid",
                                         .groups_claim = "groups",
                                         .username_claim = "email",
                                         .redirect_url = "https://gpu.example.com/",
                                         .refresh_s = 600,
                                         .updated_by = "",
                                         .updated_ms = NOW_MS};
    return db_set_identity_provider(db, &provider, err);
}

static int sign_in_by_issuer(struct db *db, struct db_writes *writes, struct error *err)
{
    const char *names[] = {"gpu-users", "others"};
    struct external_sign_in sign_in = {
        .issuer = ISSUER,
        .subject = "carol",
        .wanted_name = "carol@example.com",
        .fallback_name = "hash@id.example.com",
        .password_hash = "",
        .groups = {names, sizeof(names) / sizeof(names[0])},
        .session = {.uuid = EXTERNAL_SESSION,
                    .remote_address = "127.0.0.1",
                    .created_ms = NOW_MS,
                    .expires_ms = NOW_MS + DAY_MS},
        .refresh_sealed = "sealed",
        .next_check_ms = NOW_MS + 1,
        .code = {CODE, "challenge", "http://127.0.0.1:9/", NOW_MS + DAY_MS},
        .arena = &writes->arena,
    };
    return db_sign_in_external(db, &sign_in, err);
}

static int exchange_code(struct db *db, struct db_writes *writes, struct error *err)
{
    struct code_exchange exchange = {.code_hash = CODE,
                                     .challenge = "challenge",
                                     .redirect_uri = "http://127.0.0.1:9/",
                                     .family_hash = SECOND,
                                     .refresh_hash = FIRST,
                                     .now_ms = NOW_MS,
                                     .expires_ms = NOW_MS + 3 * DAY_MS,
                                     .short_expires_ms = NOW_MS + 1,
                                     .arena = &writes->arena};
    return db_exchange_sign_in_code(db, &exchange, err);
}

static int confirm_external(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    const char *names[] = {"others"};
    struct external_groups groups = {names, 1};
    struct external_session session = {.session_uuid = EXTERNAL_SESSION,
                                       .user_id = 3,
                                       .refresh_sealed = "sealed again",
                                       .confirmed_ms = NOW_MS + 2,
                                       .next_check_ms = NOW_MS + 3};
    return db_confirm_external_session(db, &session, &groups, err);
}

static int postpone_external(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    return db_postpone_external_session(db, EXTERNAL_SESSION, NOW_MS + DAY_MS, err);
}

static int delete_provider(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    return db_delete_identity_provider(db, err);
}

static int end_sessions_but_one(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    return db_end_sessions_but(db, SESSION_OF_USER, ADA, "another", err);
}

static int add_record_in(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    struct audit_record record = {.time_ms = NOW_MS,
                                  .subject_type = "User",
                                  .subject = "ada@example.com",
                                  .address = "127.0.0.1",
                                  .operation = "create_user",
                                  .action = "create",
                                  .method = "POST",
                                  .url = "/api/v1/users",
                                  .entity_type = "user",
                                  .entity_id = "",
                                  .entity_name = "",
                                  .status = 201,
                                  .count = 1,
                                  .last_ms = NOW_MS,
                                  .request = "",
                                  .details_json = "{}",
                                  .changes_json = "[]"};
    return db_add_audit_record(conn, &AUDIT_KEY, &record, NULL, err);
}

static int remove_records_in(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    int64_t count;
    return db_remove_audit_records(conn, &AUDIT_KEY, NOW_MS + 1, NOW_MS + 2, 100, &count, err);
}

static int add_record(struct db *db, struct db_writes *writes, struct error *err)
{
    return db_write(db, add_record_in, writes, err);
}

static int remove_records(struct db *db, struct db_writes *writes, struct error *err)
{
    return db_write(db, remove_records_in, writes, err);
}

static int create_report(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    struct report report = {.uuid = REPORT,
                            .name = "march",
                            .description = "",
                            .end_ms = NOW_MS,
                            .filters_json = "{}",
                            .file = "a,b\n",
                            .created_by = "ada@example.com",
                            .created_ms = NOW_MS};
    return db_create_report(db, &report, err);
}

static int delete_report(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    return db_delete_report(db, REPORT, err);
}

static struct workload_type_row type_of(const char *category)
{
    return (struct workload_type_row){.uuid = TYPE,
                                      .name = "Sweep",
                                      .group = "example.com",
                                      .category = category,
                                      .priority_class = "low",
                                      .created_by = "ada@example.com",
                                      .updated_by = "",
                                      .created_ms = NOW_MS,
                                      .updated_ms = NOW_MS};
}

static int create_type(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    struct workload_type_row type = type_of("Train");
    return db_create_workload_type(db, &type, err);
}

static int change_type(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    struct workload_type_row type = type_of("Build");
    return db_update_workload_type(db, &type, err);
}

static int delete_type(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    return db_delete_workload_type(db, TYPE, err);
}

static const struct idempotency_key CREATION = {.subject_id = ADA, .operation = "create_training", .key = "once"};

static int add_creation_in(struct db_conn *conn, void *context, struct error *err)
{
    (void)context;
    struct idempotency_row row = {.request_hash = "hash", .thing = "", .answer = ""};
    return db_add_idempotency_key(conn, &CREATION, &row, NOW_MS, err);
}

static int add_creation(struct db *db, struct db_writes *writes, struct error *err)
{
    return db_write(db, add_creation_in, writes, err);
}

static struct saved_view view_of(const char *name)
{
    return (struct saved_view){
        .uuid = VIEW, .user_id = ADA, .page = "workloads", .name = name, .query = "sort=name", .updated_ms = NOW_MS};
}

static int create_view(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    struct saved_view view = view_of("mine");
    return db_create_saved_view(db, &view, err);
}

static int change_view(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    struct saved_view view = view_of("ours");
    return db_change_saved_view(db, &view, err);
}

static int delete_view(struct db *db, struct db_writes *writes, struct error *err)
{
    (void)writes;
    return db_delete_saved_view(db, ADA, VIEW, err);
}

const struct whole_write_case ACCOUNT_WRITES[] = {
    {"create a role", create_role, 2},
    {"change a role", change_role, 1},
    {"delete a role", delete_role, 2},
    {"a user signs in", create_session, 3},
    {"refresh the session", refresh_session, 2},
    {"a new secret of an access key", set_key_secret, 3},
    {"delete an access key", delete_key, 2},
    {"begin a second factor", begin_factor, 1},
    {"confirm it", confirm_factor, 13},
    {"remove it", remove_factor, 4},
    {"a person of the machine signs in", sign_in_by_socket, 7},
    {"set up an issuer", set_provider, 2},
    {"a person signs in there", sign_in_by_issuer, 14},
    {"exchange the code", exchange_code, 4},
    {"the issuer confirms the session", confirm_external, 5},
    {"postpone the next question", postpone_external, 1},
    {"take the issuer away", delete_provider, 3},
    {"a user signs in again", create_session, 3},
    {"end a user's other sessions", end_sessions_but_one, 1},
    {"add an audit record", add_record, 3},
    {"remove old audit records", remove_records, 3},
    {"create a report", create_report, 2},
    {"delete a report", delete_report, 1},
    {"create a workload type", create_type, 2},
    {"change it", change_type, 1},
    {"delete it", delete_type, 1},
    {"keep the key of a creation", add_creation, 1},
    {"save a view", create_view, 1},
    {"change it", change_view, 1},
    {"delete it", delete_view, 1},
    {NULL, NULL, 0},
};
