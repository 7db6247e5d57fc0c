// The rules for names: those of Kubernetes, as the API states them (docs/api.md, names and ids).
#pragma once

struct error;

enum {
    NAME_MAX_LENGTH = 63,
    PROJECT_NAME_MAX_LENGTH = 57 // 63 less the namespace's "runai-"
};

// ^[a-z]([a-z0-9-]*[a-z0-9])?$, at most max_length. path names the field in the message. These return 0 or -1.
int name_check(const char *name, int max_length, const char *path, struct error *err);
// A key of a Kubernetes label: [prefix/]name.
int label_key_check(const char *key, const char *path, struct error *err);
int label_value_check(const char *value, const char *path, struct error *err);
