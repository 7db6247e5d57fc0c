#include "db/audit/chain.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/folder.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATH_SIZE = 1024
};

static_assert(sizeof(crypto_generichash_state) <= AUDIT_MAC_STATE_SIZE, "there is room");

static void name_key(struct audit_key *key)
{
    static const char WHAT[] = "prorata audit key";
    unsigned char name[16];
    crypto_generichash(name, sizeof(name), (const unsigned char *)WHAT, sizeof(WHAT), key->secret, sizeof(key->secret));
    sodium_bin2hex(key->id, sizeof(key->id), name, (sizeof(key->id) - 1) / 2);
}

static int path_of(const char *folder, const char *name, char out[PATH_SIZE], struct error *err)
{
    return snprintf(out, PATH_SIZE, "%s/%s", folder, name) < PATH_SIZE
               ? 0
               : error_set(err, ERROR_INVALID, "the folder's path is too long");
}

int audit_key_read(const char *folder, struct audit_key *out_key, struct error *err)
{
    char path[PATH_SIZE];
    unsigned char secret[AUDIT_SECRET_SIZE + 1];
    struct stat info;
    int rc = -1;
    if (path_of(folder, AUDIT_KEY_FILE, path, err) < 0)
        return -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 || fstat(fd, &info) < 0) {
        error_set(err, ERROR_INTERNAL, "%s: %s", path, strerror(errno));
    } else if (!S_ISREG(info.st_mode) || info.st_mode & 077) {
        error_set(err, ERROR_INTERNAL, "%s: others may read this key", path);
        error_details(err, "chmod 600 it");
    } else if (read(fd, secret, sizeof(secret)) != AUDIT_SECRET_SIZE) {
        error_set(err, ERROR_INTERNAL, "%s: not a key: it has %" PRId64 " bytes", path, info.st_size);
        error_details(err, "restore it from a backup, or move it away: records made with it then prove nothing");
    } else {
        memcpy(out_key->secret, secret, AUDIT_SECRET_SIZE);
        name_key(out_key);
        rc = 1;
    }
    sodium_memzero(secret, sizeof(secret));
    if (fd >= 0)
        close(fd);
    return rc;
}

// Whole under its name, or not there: a crash leaves no key that is none.
static int make_key(const char *folder, struct error *err)
{
    char path[PATH_SIZE], part[PATH_SIZE];
    unsigned char secret[AUDIT_SECRET_SIZE];
    if (path_of(folder, AUDIT_KEY_FILE, path, err) < 0 || path_of(folder, AUDIT_KEY_FILE ".part", part, err) < 0)
        return -1;
    randombytes_buf(secret, sizeof(secret));
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = fd >= 0 && write(fd, secret, sizeof(secret)) == (ssize_t)sizeof(secret) && fsync(fd) == 0 &&
              rename(part, path) == 0 && folder_sync(folder) == 0;
    if (!ok)
        error_set(err, ERROR_UNAVAILABLE, "%s: %s", path, strerror(errno));
    sodium_memzero(secret, sizeof(secret));
    if (fd >= 0)
        close(fd);
    return ok ? 0 : -1;
}

int audit_key_open(const char *folder, struct audit_key *out_key, struct error *err)
{
    int rc = audit_key_read(folder, out_key, err);
    if (rc == 0 && make_key(folder, err) == 0)
        rc = audit_key_read(folder, out_key, err);
    return rc > 0 ? 0 : -1;
}

static crypto_generichash_state *state_of(struct audit_mac *mac)
{
    return (crypto_generichash_state *)(void *)mac->state;
}

void audit_mac_begin(struct audit_mac *mac, const struct audit_key *key, const char *purpose)
{
    crypto_generichash_init(state_of(mac), key->secret, sizeof(key->secret), AUDIT_MAC_SIZE);
    audit_mac_text(mac, purpose);
}

void audit_mac_number(struct audit_mac *mac, int64_t value)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)value >> (8 * i));
    crypto_generichash_update(state_of(mac), bytes, sizeof(bytes));
}

void audit_mac_bytes(struct audit_mac *mac, const void *data, size_t length)
{
    audit_mac_number(mac, (int64_t)length);
    crypto_generichash_update(state_of(mac), data, length);
}

void audit_mac_text(struct audit_mac *mac, const char *text)
{
    audit_mac_bytes(mac, text, strlen(text));
}

void audit_mac_end(struct audit_mac *mac, unsigned char out_mac[AUDIT_MAC_SIZE])
{
    crypto_generichash_final(state_of(mac), out_mac, AUDIT_MAC_SIZE);
    sodium_memzero(mac, sizeof(*mac));
}

void audit_mark_sign(const struct audit_key *key, const char *purpose, const struct audit_mark *mark, int64_t time_ms,
                     unsigned char out_signature[AUDIT_MAC_SIZE])
{
    struct audit_mac mac;
    audit_mac_begin(&mac, key, purpose);
    audit_mac_number(&mac, time_ms);
    audit_mac_number(&mac, mark->seq);
    audit_mac_bytes(&mac, mark->mac, sizeof(mark->mac));
    audit_mac_end(&mac, out_signature);
}
