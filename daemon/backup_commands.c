// `prorata backup`, `prorata restore` and `prorata verify`: a data folder's database and keys in one file, and back.
#include "api/access/signing_keys.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/folder.h"
#include "daemon/daemon.h"
#include "daemon/data_folder.h"
#include "db/audit/heads.h"
#include "db/audit/verify.h"
#include "db/backup/backup.h"
#include "db/copy.h"
#include "db/db.h"
#include "db/migrations.h"
#include "db/space.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    EXIT_PROBLEM = 1,
    EXIT_USAGE = 2
};

static const char BACKUP_HELP[] =
    "Usage: prorata backup --data DIR [--without-keys] FILE\n\n"
    "Writes the database, as it is at one instant, and the keys of a data folder into one file of mode 0600.\n"
    "A server may serve the folder meanwhile. The file is a tar file: prorata.db, keys/, SHA256SUMS.\n\n"
    "  --data DIR      the server's data folder\n"
    "  --without-keys  leave the keys out: after a restore everybody signs in again\n";
static const char RESTORE_HELP[] = "Usage: prorata restore --data DIR FILE\n\n"
                                   "Makes a data folder of a backup: DIR must be empty, or not there. Sums, the whole "
                                   "database and its schema are checked\n"
                                   "before DIR has a database.\n\n"
                                   "  --data DIR  the folder to make\n";
static const char VERIFY_HELP[] =
    "Usage: prorata verify --data DIR [--compact] [--json]\n\n"
    "Reads the whole database of a data folder, every reference in it, and the keys. A server may serve it meanwhile.\n"
    "Its exit status is 0 where all is well, 1 where something is damaged, 2 where there is nothing to check.\n\n"
    "  --data DIR  the server's data folder\n"
    "  --compact   then rewrite the database without its free pages; no server may hold the folder, and the disk "
    "needs\n"
    "              room for the database twice\n"
    "  --json      the answer as JSON\n";

enum {
    AUDIT_SCHEMA = 9 // the migration that has the records
};

struct words {
    const char *data;
    const char *file; // NULL: none
    bool without_keys, compact, json;
};

// What a command takes beside --data.
struct command {
    const char *name, *help;
    bool takes_file, takes_without_keys, takes_compact, takes_json;
    int (*run)(const struct words *words, struct arena *arena, struct error *err);
};

// 0: go on; 1: help was shown; -1: err.
static int read_words(int argc, char **argv, const struct command *command, struct words *out, struct error *err)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            fputs(command->help, stdout);
            return 1;
        }
        if (strcmp(word, "--data") == 0 && i + 1 < argc)
            out->data = argv[++i];
        else if (strncmp(word, "--data=", strlen("--data=")) == 0)
            out->data = word + strlen("--data=");
        else if (command->takes_without_keys && strcmp(word, "--without-keys") == 0)
            out->without_keys = true;
        else if (command->takes_compact && strcmp(word, "--compact") == 0)
            out->compact = true;
        else if (command->takes_json && strcmp(word, "--json") == 0)
            out->json = true;
        else if (command->takes_file && !out->file && word[0] != '-')
            out->file = word;
        else
            return error_set(err, ERROR_INVALID, "%.60s: unknown, or its value is missing", word);
    }
    if (!out->data || !*out->data)
        return error_set(err, ERROR_INVALID, "--data: the server's folder is missing");
    if (command->takes_file && (!out->file || !*out->file))
        return error_set(err, ERROR_INVALID, "FILE: the backup's name is missing");
    return 0;
}

static int run_backup(const struct words *words, struct arena *arena, struct error *err)
{
    struct backup backup;
    (void)arena;
    struct backup_options options = {.data = words->data, .file = words->file, .without_keys = words->without_keys};
    if (backup_make(&options, &backup, err) < 0)
        return -1;
    printf("%s: %" PRId64 " bytes, SHA-256 %s\n", words->file, backup.bytes, backup.sum);
    return 0;
}

// A restore that was broken off leaves RESTORING and perhaps keys/, never a database: it may be begun again.
#define RESTORING "restore.part"

static int refuse_full(const char *data, bool *out_was_broken_off, struct error *err)
{
    char found[NAME_MAX + 1] = "";
    bool has_keys = false, was_broken_off = false;
    DIR *folder = opendir(data);
    if (!folder)
        return errno == ENOENT ? 0 : error_set(err, ERROR_INVALID, "%s: %s", data, strerror(errno));
    for (const struct dirent *entry; (entry = readdir(folder));) {
        const char *name = entry->d_name;
        if (strcmp(name, RESTORING) == 0)
            was_broken_off = true;
        else if (strcmp(name, "keys") == 0)
            has_keys = true;
        else if (!folder_is_dots(name) && strcmp(name, "lock") && strcmp(name, "lost+found"))
            snprintf(found, sizeof(found), "%s", name);
    }
    closedir(folder);
    if (has_keys && !was_broken_off && !*found)
        snprintf(found, sizeof(found), "keys");
    *out_was_broken_off = was_broken_off;
    if (!*found)
        return 0;
    error_set(err, ERROR_INVALID, "%s: not empty: it holds %.80s", data, found);
    return error_details(err, "A restore makes a new folder: name another, or move this one away");
}

static int check_restored(const char *part, const char *file, struct arena *arena, struct error *err)
{
    struct db_check check;
    int64_t newest = MIGRATIONS[MIGRATION_COUNT - 1].number;
    if (db_verify(arena_printf(arena, "%s/prorata.db", part), arena, &check, err) < 0)
        return error_prefix(err, "%s: ", file);
    if (check.schema > newest)
        return error_set(err, ERROR_INVALID,
                         "%s: made by a newer release (schema %" PRId64 ", this one knows %" PRId64 ")", file,
                         check.schema, newest);
    if (check.problem_count > 0)
        return error_set(err, ERROR_INVALID, "%s: its database is damaged: %s", file, check.problems[0]);
    return 0;
}

static int move_in(const char *part, const struct data_folder *folder, struct arena *arena, struct error *err)
{
    const char *keys = arena_printf(arena, "%s/keys", part);
    if ((rename(keys, folder->keys) < 0 && errno != ENOENT) ||
        rename(arena_printf(arena, "%s/prorata.db", part), folder->database) < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", folder->path, strerror(errno));
    if (fsync(folder->folder_fd) < 0)
        return error_set(err, ERROR_UNAVAILABLE, "%s: %s", folder->path, strerror(errno));
    return 0;
}

static int restore_into(const struct data_folder *folder, const char *part, const struct words *words,
                        struct arena *arena, struct error *err)
{
    if (mkdir(part, 0700) < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", part, strerror(errno));
    if (backup_extract(words->file, part, err) < 0 || check_restored(part, words->file, arena, err) < 0)
        return -1;
    return move_in(part, folder, arena, err);
}

static int tell_restored(const struct words *words, const struct data_folder *folder, struct error *err)
{
    struct db *db;
    int64_t workloads = 0, pods = 0;
    if (db_open(&(struct db_options){.path = folder->database, .readonly = true, .reader_count = 1}, &db, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(db);
    int rc = db_read_number(conn, "SELECT count(*) FROM workloads WHERE deleted_ms = 0", &workloads, err);
    if (rc == 0)
        rc = db_read_number(
            conn,
            "SELECT count(*) FROM pods WHERE deleted_ms = 0 AND status IN ('Binding', 'Bound', 'Running', "
            "'Releasing')",
            &pods, err);
    db_give_back(db, conn);
    db_close(db);
    if (rc == 0)
        printf("%s: restored, with %" PRId64 " workloads; %" PRId64 " pods ran when the backup was made\n", words->data,
               workloads, pods);
    return rc;
}

static int run_restore(const struct words *words, struct arena *arena, struct error *err)
{
    struct data_folder folder;
    bool was_broken_off = false;
    const char *part = arena_printf(arena, "%s/" RESTORING, words->data);
    const char *keys = arena_printf(arena, "%s/keys", words->data);
    if (access(words->file, R_OK) < 0)
        return error_set(err, ERROR_INVALID, "%s: %s", words->file, strerror(errno));
    if (refuse_full(words->data, &was_broken_off, err) < 0)
        return -1;
    if (was_broken_off) {
        data_folder_remove(&(struct data_folder){.path = keys});
        data_folder_remove(&(struct data_folder){.path = part});
    }
    if (data_folder_open(words->data, arena, &folder, err) < 0)
        return -1;
    int rc = restore_into(&folder, part, words, arena, err);
    if (rc == 0)
        rc = tell_restored(words, &folder, err);
    data_folder_remove(&(struct data_folder){.path = part});
    data_folder_close(&folder);
    return rc;
}

static json_t *audit_json(const struct audit_verdict *audit)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:s?}", "records", (json_int_t)audit->record_count, "first",
                     (json_int_t)audit->first_seq, "last", (json_int_t)audit->last_seq, "heads",
                     (json_int_t)audit->head_count, "lastMac", audit->last_mac_hex);
}

static void print_json(const struct db_check *check, int64_t keys, const struct audit_verdict *audit)
{
    json_t *problems = json_array();
    for (size_t i = 0; i < check->problem_count; i++)
        json_array_append_new(problems, json_string(check->problems[i]));
    json_t *all =
        json_pack("{s:b, s:I, s:I, s:o, s:o}", "ok", check->problem_count == 0, "schema", (json_int_t)check->schema,
                  "keys", (json_int_t)keys, "problems", problems, "audit", audit_json(audit));
    json_dumpf(all, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(all);
}

// What it writes stays the folder's owner's, also where root runs it.
static int compact(const struct words *words, struct arena *arena, struct error *err)
{
    struct data_folder folder;
    bool has_stepped;
    int64_t before = 0, after = 0;
    if (data_folder_step_down(words->data, &has_stepped, err) < 0)
        return -1;
    int rc = data_folder_open(words->data, arena, &folder, err);
    if (rc == 0) {
        rc = db_compact(folder.database, &before, &after, err);
        data_folder_close(&folder);
    }
    if (data_folder_step_up(has_stepped, rc == 0 ? err : NULL) < 0)
        rc = -1;
    if (rc == 0 && !words->json)
        printf("%s: %" PRId64 " KiB before, %" PRId64 " KiB now\n", words->data, before >> 10, after >> 10);
    return rc;
}

// Records without their key: who took it away may have changed them. A folder without any key comes from a backup
// --without-keys, and is as whole as it can be.
static int verify_audit(const char *data, size_t keys, struct arena *arena, struct audit_verdict *out_verdict,
                        struct error *err)
{
    struct audit_key key;
    struct audit_heads heads;
    struct db *db;
    struct error cause = {0};
    int found = audit_key_read(arena_printf(arena, "%s/keys", data), &key, &cause);
    if (found <= 0) {
        *out_verdict = (struct audit_verdict){0};
        if (found < 0)
            out_verdict->problem = arena_strdup(arena, cause.message);
        else if (keys > 0)
            out_verdict->problem = "there is no keys/" AUDIT_KEY_FILE;
        return 0;
    }
    struct db_options options = {
        .path = arena_printf(arena, "%s/prorata.db", data), .readonly = true, .reader_count = 1};
    if (audit_heads_read(data, arena, &heads, err) < 0 || db_open(&options, &db, err) < 0)
        return -1;
    struct db_conn *conn = db_acquire(db);
    int rc = audit_verify(conn, &key, &heads, arena, out_verdict, err);
    db_give_back(db, conn);
    db_close(db);
    sodium_memzero(&key, sizeof(key));
    return rc;
}

static void print_whole(const char *data, const struct db_check *check, size_t keys, const struct audit_verdict *audit)
{
    printf("%s: whole: schema %" PRId64 ", %zu keys\n", data, check->schema, keys);
    if (audit->record_count > 0)
        printf("%s: audit: records %" PRId64 " to %" PRId64 " are whole, and %" PRId64
               " heads agree; the last one's MAC is %s\n",
               data, audit->first_seq, audit->last_seq, audit->head_count, audit->last_mac_hex);
    else if (keys == 0)
        printf("%s: audit: there is no key here, so the records prove nothing\n", data);
}

static int run_verify(const struct words *words, struct arena *arena, struct error *err)
{
    struct db_check check;
    struct audit_verdict audit = {0};
    struct error cause = {0};
    size_t keys = 0;
    if (data_folder_check_database(words->data, arena, err) < 0 ||
        db_verify(arena_printf(arena, "%s/prorata.db", words->data), arena, &check, err) < 0)
        return -1;
    if (signing_keys_check(arena_printf(arena, "%s/keys", words->data), &keys, &cause) < 0)
        check.problems[check.problem_count++] = arena_strdup(arena, cause.message); // there is room for one more
    if (check.problem_count == 0 && check.schema >= AUDIT_SCHEMA &&
        verify_audit(words->data, keys, arena, &audit, err) < 0)
        return -1;
    if (audit.problem)
        check.problems[check.problem_count++] = arena_printf(arena, "audit: %s", audit.problem);
    if (words->json)
        print_json(&check, (int64_t)keys, &audit);
    else if (check.problem_count == 0)
        print_whole(words->data, &check, keys, &audit);
    for (size_t i = 0; i < check.problem_count && !words->json; i++)
        printf("%s: %s\n", words->data, check.problems[i]);
    if (check.problem_count > 0)
        return EXIT_PROBLEM;
    return words->compact ? compact(words, arena, err) : 0;
}

static int run(int argc, char **argv, const struct command *command)
{
    struct words words = {0};
    struct error err = {0};
    struct arena arena;
    int rc = read_words(argc, argv, command, &words, &err);
    if (rc > 0)
        return 0;
    umask(0077);
    arena_init(&arena);
    if (rc == 0)
        rc = sodium_init() < 0 ? error_set(&err, ERROR_INTERNAL, "no source of random numbers")
                               : command->run(&words, &arena, &err);
    arena_done(&arena);
    if (rc >= 0)
        return fflush(stdout) == 0 ? rc : EXIT_PROBLEM;
    fprintf(stderr, "prorata %s: %s%s%s\n", command->name, err.message, err.details[0] ? ". " : "", err.details);
    return err.code == ERROR_INVALID ? EXIT_USAGE : EXIT_PROBLEM;
}

int daemon_main_backup(int argc, char **argv)
{
    return run(
        argc, argv,
        &(struct command){
            .name = "backup", .help = BACKUP_HELP, .takes_file = true, .takes_without_keys = true, .run = run_backup});
}

int daemon_main_restore(int argc, char **argv)
{
    return run(argc, argv,
               &(struct command){.name = "restore", .help = RESTORE_HELP, .takes_file = true, .run = run_restore});
}

int daemon_main_verify(int argc, char **argv)
{
    return run(
        argc, argv,
        &(struct command){
            .name = "verify", .help = VERIFY_HELP, .takes_compact = true, .takes_json = true, .run = run_verify});
}
