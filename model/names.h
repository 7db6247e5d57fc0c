// The rules for names: those of Kubernetes, as the API states them (docs/api.md, names and ids).
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct error;

enum {
    NAME_MAX_LENGTH = 63,
    PROJECT_NAME_MAX_LENGTH = 57 // 63 less the namespace's "runai-"
};

// What Run:ai calls the class of a claim for a volume that is there already: none provisions it.
#define STORAGE_CLASS_NONE "runai-none"

// ^[a-z]([a-z0-9-]*[a-z0-9])?$
bool name_is_good(const char *name);
// The same, and at most max_length. path names the field in the message. These return 0 or -1.
int name_check(const char *name, int max_length, const char *path, struct error *err);
// A key of a Kubernetes label: [prefix/]name.
int label_key_check(const char *key, const char *path, struct error *err);
// The same, with a prefix as Kubernetes wants it where there is one: a DNS name in lower case.
int node_label_key_check(const char *key, const char *path, struct error *err);
int label_value_check(const char *value, const char *path, struct error *err);

// base and suffix together; where they are longer than NAME_MAX_LENGTH base is cut and followed by a part of uuid.
const char *name_with_suffix(const char *base, const char *suffix, const char *uuid, struct arena *arena);

// "a", "a and b", "a, b and c", "a, b, c and 4 more".
const char *names_few(struct arena *arena, const char *const *names, size_t count);
// What people are told of a topology some of whose pool's nodes lack a label of its levels; pool NULL: of several.
const char *names_topology_off(struct arena *arena, const char *topology, const char *pool, const char *const *nodes,
                               size_t count);
// The same for nodes as a list in JSON; NULL where there are none.
const char *names_topology_off_json(struct arena *arena, const char *topology, const char *pool,
                                    const char *nodes_json);
