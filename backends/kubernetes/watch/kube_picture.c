#include "backends/kubernetes/watch/kube_picture.h"

#include "backends/kubernetes/client/kube_answer.h"
#include "base/json_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// An object's names, borrowed from its JSON.
struct identity {
    const char *namespace, *name, *uid, *version;
};

void kube_picture_init(struct kube_picture *picture, const char *kind, const struct kube_watch_ops *ops, void *context)
{
    *picture = (struct kube_picture){.kind = kind, .ops = *ops, .context = context};
    kube_store_init(&picture->store);
}

static void release(struct kube_picture *picture, void *kept)
{
    if (kept && picture->ops.release)
        picture->ops.release(picture->context, kept);
}

static void release_all(struct kube_picture *picture)
{
    for (size_t i = 0; i < picture->store.bucket_count; i++)
        for (struct kube_entry *entry = picture->store.buckets[i]; entry; entry = entry->next)
            release(picture, entry->kept);
    kube_store_done(&picture->store);
}

void kube_picture_done(struct kube_picture *picture)
{
    release_all(picture);
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static bool identify(const json_t *object, struct identity *out)
{
    const json_t *meta = json_object_get(object, "metadata");
    *out = (struct identity){.namespace = text_at(meta, "namespace"),
                             .name = text_at(meta, "name"),
                             .uid = text_at(meta, "uid"),
                             .version = text_at(meta, "resourceVersion")};
    return *out->name && *out->uid && *out->version && strlen(out->version) < KUBE_VERSION_SIZE;
}

static void tell(struct kube_picture *picture, enum kube_event_kind kind, const struct identity *who,
                 const json_t *object, void *kept, void *before)
{
    struct kube_event event = {.kind = kind,
                               .namespace = who->namespace,
                               .name = who->name,
                               .uid = who->uid,
                               .resource_version = who->version,
                               .object = object,
                               .kept = kept,
                               .before = before};
    picture->ops.tell(picture->context, &event);
}

static struct identity identity_of(const struct kube_entry *entry)
{
    return (struct identity){entry->namespace, entry->name, entry->uid, entry->version};
}

static void remove_entry(struct kube_picture *picture, struct kube_entry *entry, const json_t *last,
                         const struct identity *who)
{
    kube_store_take(&picture->store, entry);
    tell(picture, KUBE_GONE, who, last, entry->kept, NULL);
    release(picture, entry->kept);
    free(entry);
}

static void *keep(struct kube_picture *picture, const json_t *object)
{
    return picture->ops.keep ? picture->ops.keep(picture->context, object) : NULL;
}

// An object as it is now.
static void put(struct kube_picture *picture, const json_t *object, const struct identity *who)
{
    struct kube_entry *old = kube_store_find(&picture->store, who->namespace, who->name);
    void *before = NULL;
    if (old && strcmp(old->uid, who->uid) == 0) {
        if (strcmp(old->version, who->version) == 0) {
            old->round = picture->round;
            return;
        }
        before = old->kept;
        kube_store_take(&picture->store, old);
    } else if (old) { // another one under the same name
        struct identity gone = identity_of(old);
        remove_entry(picture, old, NULL, &gone);
        old = NULL;
    }
    struct kube_entry *entry = kube_store_add(&picture->store, who->namespace, who->name, who->uid, who->version);
    entry->kept = keep(picture, object);
    entry->round = picture->round;
    tell(picture, old ? KUBE_CHANGED : KUBE_ADDED, who, object, entry->kept, before);
    release(picture, before);
    free(old);
}

static void take_item(struct kube_picture *picture, const json_t *item)
{
    struct identity who;
    if (identify(item, &who))
        put(picture, item, &who);
    else
        picture->ignored++;
}

// Who was not in the list is gone; nobody saw how.
static void sweep(struct kube_picture *picture)
{
    for (size_t i = 0; i < picture->store.bucket_count; i++) {
        for (struct kube_entry *entry = picture->store.buckets[i], *next; entry; entry = next) {
            struct identity who = identity_of(entry);
            next = entry->next;
            if (entry->round != picture->round)
                remove_entry(picture, entry, NULL, &who);
        }
    }
}

static void end_list(struct kube_picture *picture, const char *version)
{
    struct identity nobody = {"", "", "", version};
    struct kube_event event = {.kind = KUBE_SYNCED,
                               .namespace = nobody.namespace,
                               .name = nobody.name,
                               .uid = nobody.uid,
                               .resource_version = version,
                               .is_first = !picture->has_synced};
    sweep(picture);
    snprintf(picture->position, sizeof(picture->position), "%s", version);
    picture->has_synced = true;
    picture->ops.tell(picture->context, &event);
}

// Versions are texts; where both are plain numbers they have an order.
static bool is_new(const char *version, const char *position)
{
    size_t length = strlen(version), known = strlen(position);
    if (strspn(version, "0123456789") != length || strspn(position, "0123456789") != known || *version == '0')
        return true;
    return length != known ? length > known : strcmp(version, position) > 0;
}

static void take_error(struct kube_picture *picture, const json_t *object)
{
    picture->has_error = true;
    picture->error = (struct kube_status){0};
    kube_status_read(object, &picture->error);
}

// False: of another kind, or nothing that is known.
static bool take_change(struct kube_picture *picture, const char *type, const json_t *object)
{
    struct identity who;
    bool is_bookmark = strcmp(type, "BOOKMARK") == 0, is_end = strcmp(type, "DELETED") == 0;
    const char *version = text_at(json_object_get(object, "metadata"), "resourceVersion");
    if (strcmp(text_at(object, "kind"), picture->kind) != 0 || !*version || strlen(version) >= KUBE_VERSION_SIZE ||
        !is_new(version, picture->position))
        return false;
    if (!is_bookmark) {
        if ((!is_end && strcmp(type, "ADDED") != 0 && strcmp(type, "MODIFIED") != 0) || !identify(object, &who))
            return false;
        struct kube_entry *old = is_end ? kube_store_find(&picture->store, who.namespace, who.name) : NULL;
        if (!is_end)
            put(picture, object, &who);
        else if (old && strcmp(old->uid, who.uid) == 0)
            remove_entry(picture, old, object, &who);
    }
    snprintf(picture->position, sizeof(picture->position), "%s", version);
    *(is_bookmark ? &picture->bookmarks : &picture->events) += 1;
    return true;
}

static void take_event(struct kube_picture *picture, const json_t *event)
{
    const char *type = text_at(event, "type");
    const json_t *object = json_object_get(event, "object");
    if (strcmp(type, "ERROR") == 0)
        take_error(picture, object);
    else if (!take_change(picture, type, object))
        picture->ignored++;
}

void kube_picture_take(struct kube_picture *picture, enum kube_record_kind kind, const char *text, size_t length)
{
    json_t *value = NULL;
    if ((kind == KUBE_RECORD_ITEM || kind == KUBE_RECORD_EVENT) && json_reader_parse(text, length, &value, NULL) < 0) {
        picture->ignored++;
        return;
    }
    switch (kind) {
    case KUBE_RECORD_LIST:
        picture->round++;
        break;
    case KUBE_RECORD_ITEM:
        take_item(picture, value);
        break;
    case KUBE_RECORD_LISTED:
        end_list(picture, text);
        break;
    case KUBE_RECORD_EVENT:
        take_event(picture, value);
        break;
    }
    json_decref(value);
}
