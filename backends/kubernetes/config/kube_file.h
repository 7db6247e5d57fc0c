// Files that say who we are: small, and read whole.
#pragma once

struct buffer;
struct error;

enum {
    KUBE_FILE_MAX = 1 << 20
};

// The whole file into an empty buffer of KUBE_FILE_MAX; ERROR_NOT_FOUND where it is not there.
int kube_file_read(const char *path, struct buffer *out, struct error *err);
