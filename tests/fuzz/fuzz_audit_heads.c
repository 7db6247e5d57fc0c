// The file of audit heads: any bytes are read as heads and bad lines; a head that is added behind them is the last one
// then, whatever the file ended in.
#include "db/audit/heads.h"

#include "base/arena.h"
#include "base/error.h"

#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NOW_MS = 1700000000,
    SEQ = 812
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_items(const struct audit_heads *heads)
{
    for (size_t i = 0; i < heads->count; i++)
        if (heads->items[i].mark.seq < 0 || heads->items[i].time_ms < 0)
            abort();
}

static void read_and_add(const char *folder, struct arena *arena)
{
    struct audit_key key = {.id = "one"};
    struct audit_mark mark = {.seq = SEQ, .mac = {7}};
    struct audit_heads before, after;
    int rc = audit_heads_read(folder, arena, &before, NULL);
    assert(rc == 0);
    check_items(&before);
    rc = audit_heads_add(folder, &key, &mark, NOW_MS, 0, NULL);
    assert(rc == 0);
    rc = audit_heads_read(folder, arena, &after, NULL);
    assert(rc == 0);
    check_items(&after);
    const struct audit_head *last = after.count > 0 ? &after.items[after.count - 1] : NULL;
    if (!last || last->mark.seq != SEQ || last->time_ms != NOW_MS || memcmp(last->mark.mac, mark.mac, AUDIT_MAC_SIZE))
        abort();
    if (after.count != before.count + 1 || (before.bad_line && before.bad_line != after.bad_line))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    char folder[] = "/tmp/audit-heads-XXXXXX";
    arena_init(&arena);
    const char *made = mkdtemp(folder);
    assert(made);
    const char *path = arena_printf(&arena, "%s/" AUDIT_HEADS_FILE, folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert(fd >= 0);
    ssize_t written = write(fd, data, size);
    assert(written == (ssize_t)size);
    close(fd);
    read_and_add(folder, &arena);
    unlink(path);
    rmdir(folder);
    arena_done(&arena);
    return 0;
}
