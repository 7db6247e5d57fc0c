// Sealed texts: what was sealed opens, for its own purpose and row alone; nothing that was changed does; keys come and
// go.
#include "api/access/sealing.h"

#include "base/arena.h"
#include "base/error.h"
#include "tests/support/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NOW_MS = 1700000000
};

static char folder[] = "/tmp/prorata-sealing-XXXXXX";

static struct sealing *ring_at(int64_t now_ms)
{
    struct error err = {0};
    struct sealing *ring = NULL;
    check_int(sealing_open_ring(folder, now_ms, &ring, &err), 0, "opens: %s", err.message);
    return ring;
}

static const char *opened(const struct sealing *ring, const char *purpose, const char *id, const char *text,
                          struct arena *arena, struct error *err)
{
    unsigned char *bytes;
    size_t size;
    *err = (struct error){0};
    return sealing_open(ring, purpose, id, text, arena, &bytes, &size, err) < 0 ? NULL : (const char *)bytes;
}

// The first key file, in the arena; counts them.
static const char *key_file(struct arena *arena, int *out_count)
{
    const char *found = NULL;
    const char *path = arena_printf(arena, "%s/keys", folder);
    DIR *keys = opendir(path);
    *out_count = 0;
    for (const struct dirent *entry; (entry = readdir(keys));)
        if (strncmp(entry->d_name, "sealing-", 8) == 0 && ++*out_count == 1)
            found = arena_printf(arena, "%s/%s", path, entry->d_name);
    closedir(keys);
    return found;
}

static void test_rows(const struct sealing *ring, struct arena *arena)
{
    const char *text = sealing_seal(ring, "issuer", "7", "s3cret", 6, arena);
    struct error err = {0};
    check_text(opened(ring, "issuer", "7", text, arena, &err), "s3cret", "opens");
    check_true(!strstr(text, "s3cret"), "does not show");
    check_true(strcmp(text, sealing_seal(ring, "issuer", "7", "s3cret", 6, arena)) != 0, "never twice the same");
    check_text(opened(ring, "issuer", "7", sealing_seal(ring, "issuer", "7", "", 0, arena), arena, &err), "", "empty");
    static const struct {
        const char *name, *purpose, *id;
    } ELSEWHERE[] = {{"another row", "issuer", "8"}, {"another purpose", "totp", "7"}, {"one text", "issuer7", ""}};
    for (size_t i = 0; i < COUNT(ELSEWHERE); i++) {
        check_true(!opened(ring, ELSEWHERE[i].purpose, ELSEWHERE[i].id, text, arena, &err), "%s", ELSEWHERE[i].name);
        check_int(err.code, ERROR_UNAVAILABLE, "%s", ELSEWHERE[i].name);
    }
}

static void test_changed(const struct sealing *ring, struct arena *arena)
{
    const char *text = sealing_seal(ring, "issuer", "7", "s3cret", 6, arena);
    struct error err = {0};
    for (size_t i = 0; text[i]; i++) {
        char *changed = arena_strdup(arena, text);
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        check_true(!opened(ring, "issuer", "7", changed, arena, &err), "byte %zu changed", i);
        changed = arena_strndup(arena, text, i);
        check_true(!opened(ring, "issuer", "7", changed, arena, &err), "cut at %zu", i);
    }
    static const char *const BAD[] = {"", "1.", "1..", "1.x.", "2.x.y", "....", "s3cret"};
    for (size_t i = 0; i < COUNT(BAD); i++)
        check_true(!opened(ring, "issuer", "7", BAD[i], arena, &err), "%s", BAD[i]);
}

static void test_rotation(struct arena *arena)
{
    int count;
    struct error err = {0};
    struct sealing *ring = ring_at(NOW_MS);
    const char *old = sealing_seal(ring, "issuer", "7", "old", 3, arena);
    check_int(sealing_add_key(ring, NOW_MS - 1000, &err), 0, "a key: %s", err.message);
    const char *young = sealing_seal(ring, "issuer", "7", "young", 5, arena);
    check_text(opened(ring, "issuer", "7", old, arena, &err), "old", "the old key opens");
    sealing_close_ring(ring);
    ring = ring_at(NOW_MS);
    check_text(opened(ring, "issuer", "7", young, arena, &err), "young", "both keys are read again");
    check_int(sealing_drop_old_keys(ring, &err), 0, "old keys go: %s", err.message);
    check_text(opened(ring, "issuer", "7", young, arena, &err), "young",
               "the newest stays, though the clock went back");
    check_true(!opened(ring, "issuer", "7", old, arena, &err), "the old text is closed");
    check_true(strstr(err.message, "is not in the folder keys") != NULL, "says why: %s", err.message);
    key_file(arena, &count);
    check_int(count, 1, "one file");
    sealing_close_ring(ring);
}

static void test_files(struct arena *arena)
{
    int count;
    struct error err = {0};
    struct stat info;
    struct sealing *ring = ring_at(NOW_MS);
    const char *text = sealing_seal(ring, "issuer", "7", "s3cret", 6, arena);
    sealing_close_ring(ring);
    const char *path = key_file(arena, &count);
    check_int(stat(path, &info), 0, "%s", path);
    check_int(info.st_mode & 0777, 0600, "mode");
    chmod(path, 0640);
    check_int(sealing_open_ring(folder, NOW_MS, &ring, &err), -1, "others may read it");
    check_true(strstr(err.message, "others may read") != NULL, "%s", err.message);
    chmod(path, 0600);
    check_int(truncate(path, 5), 0, "cut");
    ring = ring_at(NOW_MS);
    check_true(!opened(ring, "issuer", "7", text, arena, &err), "the key is lost");
    text = sealing_seal(ring, "issuer", "7", "again", 5, arena);
    check_text(opened(ring, "issuer", "7", text, arena, &err), "again", "another key seals");
    sealing_close_ring(ring);
}

int main(void)
{
    struct arena arena;
    arena_init(&arena);
    if (sodium_init() < 0 || !mkdtemp(folder))
        return 1;
    struct sealing *ring = ring_at(NOW_MS);
    test_rows(ring, &arena);
    test_changed(ring, &arena);
    sealing_close_ring(ring);
    test_rotation(&arena);
    test_files(&arena);
    char *command = arena_printf(&arena, "rm -rf %s", folder);
    check_int(system(command), 0, "%s", command);
    arena_done(&arena);
    return check_finish();
}
