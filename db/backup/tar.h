// A tar file (ustar) of few entries whose last is SHA256SUMS, over all others and in the form that sha256sum -c takes:
// what a backup is made of. `tar xf` reads what is written here; what is read here is what was written here.
#pragma once
#include "base/buffer.h"

#include <sodium.h>
#include <stdint.h>

struct error;

enum {
    TAR_NAME_SIZE = 100,
    TAR_SUM_SIZE = crypto_hash_sha256_BYTES * 2 + 1
};

struct tar {
    int fd;                        // the caller's
    const char *path;              // of messages
    int64_t bytes;                 // read or written
    crypto_hash_sha256_state hash; // of all bytes
    struct buffer sums;
};

struct tar_entry {
    char name[TAR_NAME_SIZE + 1];
    int64_t size;
};

void tar_init(struct tar *tar, int fd, const char *path);
void tar_done(struct tar *tar);

// A file's bytes as they are when it is opened. A disk that is full is ERROR_UNAVAILABLE.
int tar_add_file(struct tar *tar, const char *name, const char *path, struct error *err);
// SHA256SUMS and the end. out_sum is the whole file's.
int tar_finish(struct tar *tar, char out_sum[TAR_SUM_SIZE], struct error *err);

// 1: an entry; 0: the end, and every sum was right; -1: not one of ours, cut off, or a sum is wrong.
int tar_next(struct tar *tar, struct tar_entry *out_entry, struct error *err);
// The entry's bytes into out_fd; must follow tar_next.
int tar_extract(struct tar *tar, const struct tar_entry *entry, int out_fd, struct error *err);
