#include "db/audit/verify.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/timestamp.h"
#include "db/audit/heads.h"
#include "db/audit/records.h"
#include "db/db.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdbool.h>
#include <string.h>

static const char SQL_BASE[] = "SELECT seq, mac, time_ms, key_id, signature FROM audit_base";

enum {
    KEY_COLUMN = 20, // of a record's row, behind what it says; number and MAC follow
    MARK_COLUMN
};

struct walk {
    struct db_conn *conn;
    const struct audit_key *key;
    struct arena *arena;
    struct audit_verdict *verdict;
    const struct audit_heads *heads;
    size_t next_head;
    bool *is_signed;          // of each head, with this key
    const char *head_problem; // told where the records have none
    struct audit_mark last;   // the record before
};

static bool same_mac(const unsigned char a[AUDIT_MAC_SIZE], const unsigned char b[AUDIT_MAC_SIZE])
{
    return sodium_memcmp(a, b, AUDIT_MAC_SIZE) == 0;
}

static void find(struct walk *walk, const char *problem)
{
    if (!walk->verdict->problem)
        walk->verdict->problem = problem;
}

// Where the chain begins: behind the base, or at its very beginning.
static int check_base(struct walk *walk, struct error *err)
{
    unsigned char signature[AUDIT_MAC_SIZE];
    sqlite3_stmt *stmt;
    if (db_prepare(walk->conn, SQL_BASE, &stmt, err) < 0)
        return -1;
    int rc = db_step(walk->conn, stmt, err);
    if (rc > 0) {
        audit_mark_from_row(stmt, 0, &walk->last);
        const char *key = db_column_text(stmt, 3, walk->arena);
        audit_mark_sign(walk->key, AUDIT_PURPOSE_BASE, &walk->last, db_column_int(stmt, 2), signature);
        struct audit_mark signed_mark; // the signature has a MAC's size, and is read the same
        audit_mark_from_row(stmt, 3, &signed_mark);
        if (strcmp(key, walk->key->id) != 0)
            find(walk,
                 arena_printf(walk->arena, "the beginning, behind record %" PRId64 ", was signed with another key (%s)",
                              walk->last.seq, key));
        else if (!same_mac(signature, signed_mark.mac))
            find(walk,
                 arena_printf(walk->arena, "the beginning, behind record %" PRId64 ", was changed", walk->last.seq));
    }
    db_release(walk->conn, stmt);
    return rc < 0 ? -1 : 0;
}

static const char *time_text(struct walk *walk, int64_t time_ms)
{
    char *text = arena_alloc(walk->arena, TIMESTAMP_SIZE);
    timestamp_format(time_ms, text);
    return text;
}

// Heads that name the place behind which the chain is now.
static void check_heads(struct walk *walk)
{
    const struct audit_heads *heads = walk->heads;
    for (; walk->next_head < heads->count && heads->items[walk->next_head].mark.seq <= walk->last.seq;
         walk->next_head++) {
        const struct audit_head *head = &heads->items[walk->next_head];
        if (head->mark.seq < walk->last.seq || !walk->is_signed[walk->next_head])
            continue; // of records that went for their age; or nobody's
        if (!same_mac(head->mark.mac, walk->last.mac))
            find(walk, arena_printf(walk->arena,
                                    "record %" PRId64 " is not the one that the head of %s names: records were taken "
                                    "away and others put in their place, or the database is an older one",
                                    head->mark.seq, time_text(walk, head->time_ms)));
        walk->verdict->head_count++;
    }
}

static void check_record(struct walk *walk, sqlite3_stmt *row)
{
    struct audit_record record;
    struct audit_mark mark;
    unsigned char mac[AUDIT_MAC_SIZE];
    size_t length;
    audit_record_from_row(row, &record);
    audit_mark_from_row(row, MARK_COLUMN, &mark);
    const char *key = db_column_view(row, KEY_COLUMN, &length);
    audit_record_mac(walk->key, &record, mark.seq, walk->last.mac, mac);
    if (mark.seq != walk->last.seq + 1)
        find(walk, mark.seq == walk->last.seq + 2
                       ? arena_printf(walk->arena, "record %" PRId64 " was taken away", walk->last.seq + 1)
                       : arena_printf(walk->arena, "records %" PRId64 " to %" PRId64 " were taken away",
                                      walk->last.seq + 1, mark.seq - 1));
    else if (strcmp(key, walk->key->id) != 0)
        find(walk, arena_printf(walk->arena, "record %" PRId64 " was made with another key (%s): it proves nothing",
                                mark.seq, key));
    else if (!same_mac(mac, mark.mac))
        find(walk, arena_printf(walk->arena, "record %" PRId64 " of %s was changed, added or moved", mark.seq,
                                time_text(walk, record.time_ms)));
    walk->last = mark;
    walk->verdict->record_count++;
    if (!walk->verdict->first_seq)
        walk->verdict->first_seq = mark.seq;
    check_heads(walk);
}

static int check_records(struct walk *walk, struct error *err)
{
    sqlite3_stmt *stmt;
    int rc;
    const char *sql = arena_printf(walk->arena, "SELECT %s FROM audit_records ORDER BY seq", AUDIT_RECORD_COLUMNS);
    if (db_prepare_once(walk->conn, sql, &stmt, err) < 0)
        return -1;
    while ((rc = db_step(walk->conn, stmt, err)) > 0)
        check_record(walk, stmt);
    db_release(walk->conn, stmt);
    return rc;
}

static void find_in_heads(struct walk *walk, const char *problem)
{
    if (!walk->head_problem)
        walk->head_problem = problem;
}

// A head that nobody signed proves nothing against the records; it is told where they are whole.
static void check_signatures(struct walk *walk)
{
    const struct audit_heads *heads = walk->heads;
    int64_t seq = 0;
    walk->is_signed = arena_array(walk->arena, heads->count, sizeof(*walk->is_signed));
    if (heads->bad_line)
        find_in_heads(walk,
                      arena_printf(walk->arena, "line %zu of " AUDIT_HEADS_FILE " is not a head", heads->bad_line));
    for (size_t i = 0; i < heads->count; i++) {
        const struct audit_head *head = &heads->items[i];
        unsigned char signature[AUDIT_MAC_SIZE];
        audit_mark_sign(walk->key, AUDIT_PURPOSE_HEAD, &head->mark, head->time_ms, signature);
        walk->is_signed[i] = same_mac(signature, head->signature);
        if (!walk->is_signed[i])
            find_in_heads(walk,
                          arena_printf(walk->arena, "the head of %s (record %" PRId64 ") was not signed with this key",
                                       time_text(walk, head->time_ms), head->mark.seq));
        else if (head->mark.seq < seq)
            find_in_heads(walk, arena_printf(walk->arena,
                                             "the head of %s names record %" PRId64 ", one before it record %" PRId64
                                             ": records were taken away, or the database is an older one",
                                             time_text(walk, head->time_ms), head->mark.seq, seq));
        else
            seq = head->mark.seq;
    }
}

static void check_end(struct walk *walk)
{
    const struct audit_heads *heads = walk->heads;
    const struct audit_head *head = NULL;
    for (size_t i = 0; i < heads->count; i++)
        if (walk->is_signed[i] && (!head || heads->items[i].mark.seq >= head->mark.seq))
            head = &heads->items[i];
    if (head && head->mark.seq > walk->last.seq)
        find(walk,
             arena_printf(walk->arena,
                          "records %" PRId64 " to %" PRId64
                          " were taken away from the end, or the database is an older one: the head of %s names them",
                          walk->last.seq + 1, head->mark.seq, time_text(walk, head->time_ms)));
}

int audit_verify(struct db_conn *conn, const struct audit_key *key, const struct audit_heads *heads,
                 struct arena *arena, struct audit_verdict *out_verdict, struct error *err)
{
    struct walk walk = {.conn = conn, .key = key, .arena = arena, .verdict = out_verdict, .heads = heads};
    *out_verdict = (struct audit_verdict){0};
    check_signatures(&walk);
    if (db_read_begin(conn, err) < 0)
        return -1;
    int rc = check_base(&walk, err);
    check_heads(&walk);
    if (rc == 0)
        rc = check_records(&walk, err);
    db_read_end(conn);
    if (rc < 0)
        return -1;
    check_end(&walk);
    if (walk.head_problem)
        find(&walk, walk.head_problem);
    char *mac = arena_alloc(arena, 2 * AUDIT_MAC_SIZE + 1);
    out_verdict->last_seq = walk.last.seq;
    out_verdict->last_mac_hex = sodium_bin2hex(mac, 2 * AUDIT_MAC_SIZE + 1, walk.last.mac, AUDIT_MAC_SIZE);
    return 0;
}
