#include "backends/kubernetes/objects/kube_meta.h"

#include "base/arena.h"
#include "base/timestamp.h"

#include <string.h>

enum {
    WORD_MAX = 64
};

const json_t *kube_value_at(const json_t *object, const char *path)
{
    char word[WORD_MAX];
    while (object && *path) {
        size_t length = strcspn(path, ".");
        if (length >= sizeof(word))
            return NULL;
        memcpy(word, path, length);
        word[length] = '\0';
        object = json_object_get(object, word);
        path += length + (path[length] == '.');
    }
    return object;
}

const char *kube_text_at(const json_t *object, const char *path)
{
    const char *text = json_string_value(kube_value_at(object, path));
    return text ? text : "";
}

int64_t kube_time_of(const json_t *value)
{
    int64_t time_ms = 0;
    if (json_is_string(value))
        timestamp_parse(json_string_value(value), &time_ms, NULL);
    return time_ms;
}

static size_t read_pairs(const json_t *object, struct arena *arena, struct kube_pair **out)
{
    size_t count = 0;
    if (json_object_size(object) == 0)
        return 0;
    *out = arena_array(arena, json_object_size(object), sizeof(**out));
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        if (json_is_string(value))
            (*out)[count++] = (struct kube_pair){.key = arena_strdup(arena, key),
                                                 .value = arena_strdup(arena, json_string_value(value))};
    }
    return count;
}

int kube_meta_read(const json_t *object, struct arena *arena, struct kube_meta *out_meta)
{
    const json_t *meta = json_object_get(object, "metadata");
    if (!*kube_text_at(meta, "name") || !*kube_text_at(meta, "uid"))
        return -1;
    *out_meta = (struct kube_meta){
        .name = arena_strdup(arena, kube_text_at(meta, "name")),
        .namespace = arena_strdup(arena, kube_text_at(meta, "namespace")),
        .uid = arena_strdup(arena, kube_text_at(meta, "uid")),
        .resource_version = arena_strdup(arena, kube_text_at(meta, "resourceVersion")),
        .created_ms = kube_time_of(json_object_get(meta, "creationTimestamp")),
        .deletion_ms = kube_time_of(json_object_get(meta, "deletionTimestamp")),
        .grace_s = json_integer_value(json_object_get(meta, "deletionGracePeriodSeconds")),
        .has_finalizers = json_array_size(json_object_get(meta, "finalizers")) > 0,
    };
    out_meta->label_count = read_pairs(json_object_get(meta, "labels"), arena, &out_meta->labels);
    out_meta->annotation_count = read_pairs(json_object_get(meta, "annotations"), arena, &out_meta->annotations);
    return 0;
}

static const char *find_pair(const struct kube_pair *pairs, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(pairs[i].key, key) == 0)
            return pairs[i].value;
    return NULL;
}

const char *kube_meta_label(const struct kube_meta *meta, const char *key)
{
    return find_pair(meta->labels, meta->label_count, key);
}

const char *kube_meta_annotation(const struct kube_meta *meta, const char *key)
{
    return find_pair(meta->annotations, meta->annotation_count, key);
}
