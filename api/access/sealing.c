#include "api/access/sealing.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/folder.h"
#include "base/log.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_PREFIX "sealing-"
#define KEY_SUFFIX ".key"
#define UNFINISHED "sealing.part"
#define FORM "1" // of a sealed text: 1.<key id>.<base64url of nonce and ciphertext>

enum {
    KEY_MAX = 16,
    ID_SIZE = 48,
    KEY_BYTES = crypto_aead_xchacha20poly1305_ietf_KEYBYTES,
    NONCE_BYTES = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG_BYTES = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    BASE64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING
};

struct sealing_key {
    char id[ID_SIZE]; // "<created, ms>-<random>"
    int64_t created_ms;
    unsigned char secret[KEY_BYTES];
};

struct sealing {
    char *folder;                     // DATA/keys
    struct sealing_key keys[KEY_MAX]; // oldest first
    size_t count;
};

static void path_of(const struct sealing *ring, const char *id, struct arena *arena, const char **out_path)
{
    *out_path = arena_printf(arena, "%s/" KEY_PREFIX "%s" KEY_SUFFIX, ring->folder, id);
}

// Keys of one millisecond stand in the order of their names: any order does, as long as it is always the same.
static bool is_older(const struct sealing_key *a, const struct sealing_key *b)
{
    return a->created_ms != b->created_ms ? a->created_ms < b->created_ms : strcmp(a->id, b->id) < 0;
}

static void insert_key(struct sealing *ring, const struct sealing_key *key)
{
    size_t at = ring->count++;
    for (; at > 0 && is_older(key, &ring->keys[at - 1]); at--)
        ring->keys[at] = ring->keys[at - 1];
    ring->keys[at] = *key;
}

static int write_file(const char *path, const struct sealing_key *key, struct error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write(fd, key->secret, KEY_BYTES) == KEY_BYTES && fsync(fd) == 0;
    if (!ok)
        error_set(err, ERROR_UNAVAILABLE, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return ok ? 0 : -1;
}

// Whole under its name, or not there: a crash leaves UNFINISHED, which the next key replaces.
static int save_key(const struct sealing *ring, const struct sealing_key *key, struct error *err)
{
    struct arena arena;
    const char *path;
    arena_init(&arena);
    const char *part = arena_printf(&arena, "%s/" UNFINISHED, ring->folder);
    path_of(ring, key->id, &arena, &path);
    int rc = unlink(part) < 0 && errno != ENOENT ? error_set(err, ERROR_UNAVAILABLE, "%s: %s", part, strerror(errno))
                                                 : write_file(part, key, err);
    if (rc == 0 && rename(part, path) < 0)
        rc = error_set(err, ERROR_UNAVAILABLE, "%s: %s", path, strerror(errno));
    if (rc == 0 && folder_sync(ring->folder) < 0)
        rc = error_set(err, ERROR_UNAVAILABLE, "%s: %s", ring->folder, strerror(errno));
    arena_done(&arena);
    return rc;
}

// A clock that was set back must not make the new key an older one.
int sealing_add_key(struct sealing *ring, int64_t now_ms, struct error *err)
{
    struct sealing_key key = {.created_ms = now_ms};
    if (ring->count == KEY_MAX)
        return error_set(err, ERROR_INTERNAL, "%s: more than %d keys that seal", ring->folder, KEY_MAX);
    if (ring->count && ring->keys[ring->count - 1].created_ms >= now_ms)
        key.created_ms = ring->keys[ring->count - 1].created_ms + 1;
    snprintf(key.id, sizeof(key.id), "%" PRId64 "-%08" PRIx32, key.created_ms, randombytes_random());
    randombytes_buf(key.secret, KEY_BYTES);
    int rc = save_key(ring, &key, err);
    if (rc == 0)
        insert_key(ring, &key);
    sodium_memzero(&key, sizeof(key));
    return rc;
}

// The id in a file's name, or false: other files are left alone.
static bool parse_name(const char *name, struct sealing_key *out_key)
{
    size_t length = strlen(name), prefix = strlen(KEY_PREFIX), suffix = strlen(KEY_SUFFIX);
    if (length <= prefix + suffix || length - prefix - suffix >= ID_SIZE || strncmp(name, KEY_PREFIX, prefix) != 0 ||
        strcmp(name + length - suffix, KEY_SUFFIX) != 0)
        return false;
    snprintf(out_key->id, ID_SIZE, "%.*s", (int)(length - prefix - suffix), name + prefix);
    char *end;
    out_key->created_ms = strtoll(out_key->id, &end, 10);
    return end != out_key->id && *end == '-' && out_key->created_ms > 0 &&
           strspn(out_key->id, "0123456789abcdef-") == strlen(out_key->id);
}

static int load_key(struct sealing *ring, const char *path, struct sealing_key *key, struct error *err)
{
    unsigned char bytes[KEY_BYTES + 1];
    struct stat info;
    int rc = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &info) < 0) {
        rc = error_set(err, ERROR_INTERNAL, "%s: %s", path, strerror(errno));
    } else if (info.st_mode & 077) {
        error_set(err, ERROR_INTERNAL, "%s: others may read this key", path);
        rc = error_details(err, "chmod 600 it, then prorata keys rotate");
    } else if (ring->count == KEY_MAX) {
        rc = error_set(err, ERROR_INTERNAL, "%s: more than %d keys that seal", ring->folder, KEY_MAX);
    } else if (read(fd, bytes, sizeof(bytes)) != KEY_BYTES) {
        char quoted[LOG_TEXT_SIZE];
        log_write(LOG_WARN, "api", "not a key: it has not %d bytes; what it sealed cannot be used file=%s", KEY_BYTES,
                  log_text(path, quoted));
    } else {
        memcpy(key->secret, bytes, KEY_BYTES);
        insert_key(ring, key);
    }
    sodium_memzero(bytes, sizeof(bytes));
    if (fd >= 0)
        close(fd);
    return rc;
}

static int load_keys(struct sealing *ring, struct error *err)
{
    if (mkdir(ring->folder, 0700) < 0 && errno != EEXIST)
        return error_set(err, ERROR_INTERNAL, "%s: %s", ring->folder, strerror(errno));
    DIR *folder = opendir(ring->folder);
    if (!folder)
        return error_set(err, ERROR_INTERNAL, "%s: %s", ring->folder, strerror(errno));
    int rc = 0;
    struct arena arena;
    arena_init(&arena);
    for (const struct dirent *entry; rc == 0 && (entry = readdir(folder));) {
        struct sealing_key key = {0};
        if (parse_name(entry->d_name, &key))
            rc = load_key(ring, arena_printf(&arena, "%s/%s", ring->folder, entry->d_name), &key, err);
        sodium_memzero(&key, sizeof(key));
    }
    arena_done(&arena);
    closedir(folder);
    return rc;
}

int sealing_open_ring(const char *data_folder, int64_t now_ms, struct sealing **out_ring, struct error *err)
{
    struct arena arena;
    struct sealing *ring = memory_array(1, sizeof(*ring));
    arena_init(&arena);
    ring->folder = memory_strdup(arena_printf(&arena, "%s/keys", data_folder));
    arena_done(&arena);
    if (load_keys(ring, err) < 0 || (ring->count == 0 && sealing_add_key(ring, now_ms, err) < 0)) {
        sealing_close_ring(ring);
        return -1;
    }
    *out_ring = ring;
    return 0;
}

void sealing_close_ring(struct sealing *ring)
{
    if (!ring)
        return;
    free(ring->folder);
    sodium_memzero(ring, sizeof(*ring));
    free(ring);
}

bool sealing_has_old_keys(const struct sealing *ring)
{
    return ring->count > 1;
}

int sealing_drop_old_keys(struct sealing *ring, struct error *err)
{
    int rc = 0;
    struct arena arena;
    arena_init(&arena);
    while (rc == 0 && ring->count > 1) {
        const char *path;
        path_of(ring, ring->keys[0].id, &arena, &path);
        if (unlink(path) < 0 && errno != ENOENT) {
            rc = error_set(err, ERROR_UNAVAILABLE, "%s: %s", path, strerror(errno));
            continue;
        }
        ring->count--;
        memmove(ring->keys, ring->keys + 1, ring->count * sizeof(ring->keys[0]));
        sodium_memzero(&ring->keys[ring->count], sizeof(ring->keys[0]));
    }
    arena_done(&arena);
    if (rc == 0 && folder_sync(ring->folder) < 0)
        rc = error_set(err, ERROR_UNAVAILABLE, "%s: %s", ring->folder, strerror(errno));
    return rc;
}

// A line break stands in neither, so that no two pairs give the same text.
static const char *bound_text(const char *purpose, const char *id, struct arena *arena)
{
    assert(!strchr(purpose, '\n') && !strchr(id, '\n'));
    return arena_printf(arena, "prorata\n" FORM "\n%s\n%s", purpose, id);
}

const char *sealing_seal(const struct sealing *ring, const char *purpose, const char *id, const void *bytes,
                         size_t size, struct arena *arena)
{
    assert(size <= SEALING_BYTES_MAX);
    const struct sealing_key *key = &ring->keys[ring->count - 1];
    const char *bound = bound_text(purpose, id, arena);
    unsigned char *box = arena_alloc(arena, NONCE_BYTES + size + TAG_BYTES);
    randombytes_buf(box, NONCE_BYTES);
    crypto_aead_xchacha20poly1305_ietf_encrypt(box + NONCE_BYTES, NULL, bytes, size, (const unsigned char *)bound,
                                               strlen(bound), NULL, box, key->secret);
    size_t room = sodium_base64_encoded_len(NONCE_BYTES + size + TAG_BYTES, BASE64);
    char *text = arena_alloc(arena, room);
    sodium_bin2base64(text, room, box, NONCE_BYTES + size + TAG_BYTES, BASE64);
    return arena_printf(arena, FORM ".%s.%s", key->id, text);
}

static const struct sealing_key *find_key(const struct sealing *ring, const char *id, size_t length)
{
    for (size_t i = 0; i < ring->count; i++)
        if (strlen(ring->keys[i].id) == length && memcmp(ring->keys[i].id, id, length) == 0)
            return &ring->keys[i];
    return NULL;
}

static int refuse(struct error *err, const char *purpose, const char *why)
{
    error_set(err, ERROR_UNAVAILABLE, "%s: %s", purpose, why);
    return error_details(err, "Put keys/ back from a backup and start again, or set the secret again");
}

int sealing_open(const struct sealing *ring, const char *purpose, const char *id, const char *text, struct arena *arena,
                 unsigned char **out_bytes, size_t *out_size, struct error *err)
{
    const char *key_id = strncmp(text, FORM ".", 2) == 0 ? text + 2 : NULL;
    const char *box_text = key_id ? strchr(key_id, '.') : NULL;
    if (!box_text)
        return refuse(err, purpose, "not a sealed text");
    const struct sealing_key *key = find_key(ring, key_id, (size_t)(box_text++ - key_id));
    if (!key)
        return refuse(err, purpose, "the key that sealed this secret is not in the folder keys");
    const char *bound = bound_text(purpose, id, arena), *end;
    size_t length = strlen(box_text), size = 0;
    unsigned char *box = arena_alloc(arena, length + 1), *bytes = arena_alloc(arena, length + 1);
    unsigned long long opened = 0;
    if (sodium_base642bin(box, length, box_text, length, NULL, &size, &end, BASE64) != 0 || end != box_text + length ||
        size < NONCE_BYTES + TAG_BYTES ||
        crypto_aead_xchacha20poly1305_ietf_decrypt(bytes, &opened, NULL, box + NONCE_BYTES, size - NONCE_BYTES,
                                                   (const unsigned char *)bound, strlen(bound), box, key->secret) != 0)
        return refuse(err, purpose, "the sealed text was changed, or moved from another row");
    bytes[opened] = '\0';
    *out_bytes = bytes;
    *out_size = (size_t)opened;
    return 0;
}
