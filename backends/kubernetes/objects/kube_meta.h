// What all objects have: names, versions, labels.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct kube_pair {
    const char *key, *value;
};

struct kube_meta {
    const char *name, *namespace, *uid, *resource_version; // "" where there is none
    struct kube_pair *labels, *annotations;
    size_t label_count, annotation_count;
    int64_t created_ms;
    int64_t deletion_ms; // deletionTimestamp: when it is to be gone; 0: nobody has deleted it
    int64_t grace_s;     // with it
    bool has_finalizers;
};

// -1: no name or no uid. Texts are the arena's.
int kube_meta_read(const json_t *object, struct arena *arena, struct kube_meta *out_meta);
// NULL: there is none.
const char *kube_meta_label(const struct kube_meta *meta, const char *key);
const char *kube_meta_annotation(const struct kube_meta *meta, const char *key);

// For readers of other objects: the text at a path like "spec.nodeName"; "" where there is none. Borrowed.
const char *kube_text_at(const json_t *object, const char *path);
// Likewise the value; NULL where there is none. Borrowed.
const json_t *kube_value_at(const json_t *object, const char *path);
// A time of metav1 (RFC 3339) in milliseconds; 0 where there is none.
int64_t kube_time_of(const json_t *value);
