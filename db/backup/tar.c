#include "db/backup/tar.h"

#include "base/arena.h"
#include "base/error.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUMS_NAME "SHA256SUMS"

enum {
    BLOCK = 512,
    CHUNK = 1 << 16,
    SUMS_MAX = 1 << 16,
    OCTAL_DIGITS = 11
};

// POSIX ustar.
struct header {
    char name[TAR_NAME_SIZE];
    char mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100], magic[6], version[2], user[32],
        group[32], device_major[8], device_minor[8], prefix[155], padding[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

void tar_init(struct tar *tar, int fd, const char *path)
{
    *tar = (struct tar){.fd = fd, .path = path};
    crypto_hash_sha256_init(&tar->hash);
    buffer_init(&tar->sums, SUMS_MAX);
}

void tar_done(struct tar *tar)
{
    buffer_done(&tar->sums);
}

static int write_all(int fd, const char *path, const void *data, size_t length, struct error *err)
{
    for (size_t done = 0; done < length;) {
        ssize_t rc = write(fd, (const char *)data + done, length - done);
        if (rc < 0 && errno == EINTR)
            continue;
        if (rc < 0)
            return error_set(err, ERROR_UNAVAILABLE, "%s: %s", path, strerror(errno));
        done += (size_t)rc;
    }
    return 0;
}

static int put(struct tar *tar, const void *data, size_t length, struct error *err)
{
    crypto_hash_sha256_update(&tar->hash, data, length);
    tar->bytes += (int64_t)length;
    return write_all(tar->fd, tar->path, data, length, err);
}

static int pad(struct tar *tar, struct error *err)
{
    static const char ZEROS[BLOCK];
    size_t rest = (size_t)(tar->bytes % BLOCK);
    return rest ? put(tar, ZEROS, BLOCK - rest, err) : 0;
}

static unsigned sum_header(const struct header *header)
{
    const unsigned char *bytes = (const unsigned char *)header;
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof(*header); i++) {
        bool is_checksum = i >= offsetof(struct header, checksum) && i < offsetof(struct header, type);
        sum += is_checksum ? ' ' : bytes[i];
    }
    return sum;
}

// Octal, or GNU's binary form from 8 GiB on.
static void write_size(char out[12], int64_t size)
{
    if (size < INT64_C(1) << (3 * OCTAL_DIGITS)) {
        char text[24];
        snprintf(text, sizeof(text), "%011llo", (unsigned long long)size);
        memcpy(out, text, OCTAL_DIGITS + 1);
        return;
    }
    memset(out, 0, 12);
    out[0] = (char)0x80;
    for (int i = 11; i > 3; i--, size >>= 8)
        out[i] = (char)(size & 0xff);
}

static int read_size(const char in[12], int64_t *out_size)
{
    int64_t size = 0;
    if ((unsigned char)in[0] == 0x80) {
        for (int i = 4; i < 12; i++)
            size = (int64_t)((uint64_t)size << 8 | (unsigned char)in[i]);
    } else {
        for (int i = 0; i < OCTAL_DIGITS; i++) {
            if (in[i] < '0' || in[i] > '7')
                return -1;
            size = size * 8 + (in[i] - '0');
        }
    }
    *out_size = size;
    return size < 0 ? -1 : 0;
}

static int put_header(struct tar *tar, const char *name, int64_t size, struct error *err)
{
    struct header header = {.mode = "0000600",
                            .uid = "0000000",
                            .gid = "0000000",
                            .mtime = "00000000000",
                            .type = '0',
                            .magic = "ustar",
                            .version = {'0', '0'}};
    size_t length = strlen(name);
    assert(length < sizeof(header.name));
    memcpy(header.name, name, length);
    write_size(header.size, size);
    snprintf(header.checksum, sizeof(header.checksum), "%06o", sum_header(&header));
    header.checksum[7] = ' ';
    return put(tar, &header, sizeof(header), err);
}

static void note_sum(struct tar *tar, crypto_hash_sha256_state *hash, const char *name)
{
    unsigned char sum[crypto_hash_sha256_BYTES];
    char text[TAR_SUM_SIZE];
    crypto_hash_sha256_final(hash, sum);
    sodium_bin2hex(text, sizeof(text), sum, sizeof(sum));
    buffer_printf(&tar->sums, "%s  %s\n", text, name);
}

static int put_content(struct tar *tar, int fd, int64_t size, crypto_hash_sha256_state *hash, const char *path,
                       struct error *err)
{
    char *chunk = memory_alloc(CHUNK);
    int rc = 0;
    for (int64_t left = size; left > 0 && rc == 0;) {
        ssize_t got = read(fd, chunk, left < CHUNK ? (size_t)left : CHUNK);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            rc = error_set(err, ERROR_INTERNAL, "%s: %s", path, got < 0 ? strerror(errno) : "became shorter");
            break;
        }
        crypto_hash_sha256_update(hash, (unsigned char *)chunk, (unsigned long long)got);
        rc = put(tar, chunk, (size_t)got, err);
        left -= got;
    }
    free(chunk);
    return rc;
}

int tar_add_file(struct tar *tar, const char *name, const char *path, struct error *err)
{
    struct stat info;
    crypto_hash_sha256_state hash;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &info) < 0 || !S_ISREG(info.st_mode)) {
        error_set(err, ERROR_INVALID, "%s: %s", path, fd < 0 ? strerror(errno) : "not a file");
        if (fd >= 0)
            close(fd);
        return -1;
    }
    crypto_hash_sha256_init(&hash);
    int rc = put_header(tar, name, info.st_size, err) < 0 || put_content(tar, fd, info.st_size, &hash, path, err) < 0 ||
                     pad(tar, err) < 0
                 ? -1
                 : 0;
    close(fd);
    if (rc == 0)
        note_sum(tar, &hash, name);
    return rc;
}

int tar_finish(struct tar *tar, char out_sum[TAR_SUM_SIZE], struct error *err)
{
    static const char END[2 * BLOCK];
    unsigned char sum[crypto_hash_sha256_BYTES];
    if (tar->sums.overflow)
        return error_set(err, ERROR_INTERNAL, "%s: too many files", tar->path);
    if (put_header(tar, SUMS_NAME, (int64_t)tar->sums.length, err) < 0 ||
        put(tar, tar->sums.data, tar->sums.length, err) < 0 || pad(tar, err) < 0 || put(tar, END, sizeof(END), err) < 0)
        return -1;
    crypto_hash_sha256_final(&tar->hash, sum);
    sodium_bin2hex(out_sum, TAR_SUM_SIZE, sum, sizeof(sum));
    return 0;
}

static int get(struct tar *tar, void *data, size_t length, struct error *err)
{
    for (size_t done = 0; done < length;) {
        ssize_t rc = read(tar->fd, (char *)data + done, length - done);
        if (rc < 0 && errno == EINTR)
            continue;
        if (rc <= 0)
            return error_set(err, ERROR_INVALID, "%s: %s", tar->path,
                             rc < 0 ? strerror(errno) : "cut off, or not a backup");
        done += (size_t)rc;
    }
    tar->bytes += (int64_t)length;
    return 0;
}

static int skip_padding(struct tar *tar, struct error *err)
{
    char rest[BLOCK];
    size_t length = (size_t)(tar->bytes % BLOCK);
    return length ? get(tar, rest, BLOCK - length, err) : 0;
}

static int compare_sums(struct tar *tar, int64_t size, struct error *err)
{
    if (size != (int64_t)tar->sums.length || size == 0)
        return error_set(err, ERROR_INVALID, "%s: damaged: its sums are of other files", tar->path);
    char *text = memory_alloc((size_t)size);
    int rc = get(tar, text, (size_t)size, err);
    if (rc == 0 && memcmp(text, tar->sums.data, (size_t)size) != 0)
        rc =
            error_set(err, ERROR_INVALID, "%s: damaged: what it holds has not the sums it was written with", tar->path);
    free(text);
    return rc;
}

int tar_next(struct tar *tar, struct tar_entry *out_entry, struct error *err)
{
    struct header header;
    struct tar_entry entry = {0};
    if (get(tar, &header, sizeof(header), err) < 0)
        return -1;
    if (memcmp(header.magic, "ustar", 6) != 0 || strtoul(header.checksum, NULL, 8) != sum_header(&header) ||
        header.type != '0' || read_size(header.size, &entry.size) < 0)
        return error_set(err, ERROR_INVALID, "%s: not a backup, or damaged", tar->path);
    memcpy(entry.name, header.name, sizeof(header.name));
    if (strcmp(entry.name, SUMS_NAME) == 0)
        return compare_sums(tar, entry.size, err);
    *out_entry = entry;
    return 1;
}

int tar_extract(struct tar *tar, const struct tar_entry *entry, int out_fd, struct error *err)
{
    crypto_hash_sha256_state hash;
    char *chunk = memory_alloc(CHUNK);
    int rc = 0;
    crypto_hash_sha256_init(&hash);
    for (int64_t left = entry->size; left > 0 && rc == 0;) {
        size_t length = left < CHUNK ? (size_t)left : CHUNK;
        rc = get(tar, chunk, length, err);
        if (rc == 0) {
            crypto_hash_sha256_update(&hash, (unsigned char *)chunk, length);
            rc = write_all(out_fd, entry->name, chunk, length, err);
        }
        left -= (int64_t)length;
    }
    free(chunk);
    if (rc == 0)
        note_sum(tar, &hash, entry->name);
    return rc < 0 ? -1 : skip_padding(tar, err);
}
