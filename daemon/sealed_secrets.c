#include "daemon/sealed_secrets.h"

#include "api/access/sealing.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "db/db.h"
#include "db/sealed_columns.h"

#include <sodium.h>

int sealed_secrets_check(struct db *db, const struct sealing *ring, struct arena *arena, const char **out_warning,
                         struct error *err)
{
    struct sealed_text *texts;
    size_t count, unusable_count = 0;
    const char *first = NULL;
    struct db_conn *conn = db_acquire_for_reconciler(db);
    int rc = db_list_sealed(conn, arena, &texts, &count, err);
    db_give_back(db, conn);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct error why = {0};
        unsigned char *bytes;
        size_t size;
        if (sealing_open(ring, texts[i].purpose, texts[i].id, texts[i].text, arena, &bytes, &size, &why) == 0) {
            sodium_memzero(bytes, size);
            continue;
        }
        log_write(LOG_WARN, "daemon", "a secret cannot be used: %s. %s id=%s", why.message, why.details, texts[i].id);
        first = first ? first : texts[i].purpose;
        unusable_count++;
    }
    *out_warning = first ? arena_printf(arena, "warning: %zu sealed secrets cannot be used, %s first: the log says why",
                                        unusable_count, first)
                         : NULL;
    return rc;
}

struct sealing_again {
    const struct sealing *ring;
    struct arena *arena;
    struct sealed_rotation *rotation;
};

static int seal_again(struct db_conn *conn, void *context, struct error *err)
{
    const struct sealing_again *work = context;
    struct sealed_text *texts;
    size_t count;
    if (db_list_sealed(conn, work->arena, &texts, &count, err) < 0)
        return -1;
    *work->rotation = (struct sealed_rotation){.unusable = arena_array(work->arena, count + 1, sizeof(const char *))};
    for (size_t i = 0; i < count; i++) {
        struct sealed_text *text = &texts[i];
        unsigned char *bytes;
        size_t size;
        if (sealing_open(work->ring, text->purpose, text->id, text->text, work->arena, &bytes, &size, NULL) < 0) {
            work->rotation->unusable[work->rotation->unusable_count++] = text->purpose;
            continue;
        }
        text->text = sealing_seal(work->ring, text->purpose, text->id, bytes, size, work->arena);
        sodium_memzero(bytes, size);
        if (db_set_sealed_in(conn, text, err) < 0)
            return -1;
        work->rotation->sealed_count++;
    }
    return 0;
}

int sealed_secrets_rotate(struct db *db, struct sealing *ring, struct arena *arena,
                          struct sealed_rotation *out_rotation, struct error *err)
{
    struct sealing_again work = {ring, arena, out_rotation};
    // Else each one that is cut short would leave a key more, and a folder has room for a few.
    if (sealing_has_old_keys(ring) &&
        (db_write(db, seal_again, &work, err) < 0 || sealing_drop_old_keys(ring, err) < 0))
        return -1;
    if (sealing_add_key(ring, timestamp_now_ms(), err) < 0 || db_write(db, seal_again, &work, err) < 0)
        return -1;
    return sealing_drop_old_keys(ring, err);
}
