#include "journal/changes.h"

#include "base/arena.h"
#include "base/json_writer.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
    return hash ^ hash >> 29;
}

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t length)
{
    const unsigned char *bytes = data;
    uint64_t word;
    for (; length >= sizeof(word); bytes += sizeof(word), length -= sizeof(word)) {
        memcpy(&word, bytes, sizeof(word));
        hash = mix(hash, word);
    }
    word = length;
    for (size_t i = 0; i < length; i++)
        word = word << 8 | bytes[i];
    return mix(hash, word);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return text ? hash_bytes(hash, text, strlen(text)) : mix(hash, 1);
}

static uint64_t hash_pod(uint64_t hash, const struct snapshot_pod *pod)
{
    struct snapshot_pod copy = *pod;
    copy.name = NULL;
    copy.workload = 0;
    copy.gpu_groups = NULL;
    copy.gpu_indices = NULL;
    hash = hash_bytes(hash, &copy, sizeof(copy));
    hash = hash_text(hash, pod->name);
    for (size_t i = 0; i < pod->gpu_group_count; i++)
        hash = hash_text(hash, pod->gpu_groups[i]);
    return hash_bytes(hash, pod->gpu_indices, pod->gpu_index_count * sizeof(*pod->gpu_indices));
}

// Of the workload as it stands in memory: what is not known here to be an address of the cycle counts as it is. So it
// may differ where nothing has changed, and the text then shows that; never the other way round. Indices and the rest
// of the addresses are of the world.
static uint64_t hash_workload(const struct snapshot *snapshot, const struct snapshot_workload *workload, uint64_t world)
{
    struct snapshot_workload copy = *workload;
    copy.name = NULL;
    copy.node_pools = NULL;
    copy.gate = copy.person = copy.over_budget = NULL;
    copy.first_pod = 0;
    uint64_t hash = hash_bytes(world, &copy, sizeof(copy));
    hash = hash_text(hash, workload->gate ? workload->gate : "");
    hash = hash_text(hash, workload->over_budget ? workload->over_budget : "");
    hash = hash_text(hash, workload->person ? workload->person : "");
    hash = hash_bytes(hash, workload->node_pools, workload->node_pool_count * sizeof(*workload->node_pools));
    for (size_t i = 0; i < workload->pod_count; i++)
        hash = hash_pod(hash, &snapshot->pods[workload->first_pod + i]);
    return hash;
}

void changes_init(struct changes *changes)
{
    *changes = (struct changes){0};
}

void changes_done(struct changes *changes)
{
    for (int list = 0; list < SNAPSHOT_LIST_COUNT; list++) {
        for (size_t i = 0; i < changes->counts[list]; i++)
            free(changes->entries[list][i].name);
        free(changes->entries[list]);
    }
    changes_init(changes);
}

// One of "put" and "drop": opened when there is something to say, list by list.
struct section {
    const char *key;
    struct buffer text;
    struct json_writer json;
    bool has_object;
    int list; // whose array is open; -1: none
};

static void section_init(struct section *section, const char *key)
{
    *section = (struct section){.key = key, .list = -1};
    buffer_init(&section->text, 0);
    json_writer_init(&section->json, &section->text, false);
}

static struct json_writer *section_open(struct section *section, int list)
{
    if (!section->has_object)
        json_begin_object(&section->json);
    section->has_object = true;
    if (section->list != list) {
        if (section->list >= 0)
            json_end_array(&section->json);
        json_key(&section->json, snapshot_list_key((enum snapshot_list)list));
        json_begin_array(&section->json);
    }
    section->list = list;
    return &section->json;
}

static void section_finish(struct section *section, struct json_writer *json)
{
    if (section->has_object) {
        json_end_array(&section->json);
        json_end_object(&section->json);
        json_raw(json, section->key, section->text.data);
    }
    buffer_done(&section->text);
}

struct writing {
    const struct snapshot *snapshot;
    uint64_t world;
    struct buffer scratch;
    struct section put, drop;
};

// The entry's hashes; its text is put where it is not that of old (NULL: it is new).
static struct change_entry take_entry(struct writing *writing, int list, size_t index, const struct change_entry *old)
{
    enum snapshot_list which = (enum snapshot_list)list;
    struct change_entry entry = {.name = old ? old->name
                                             : memory_strdup(snapshot_list_name(writing->snapshot, which, index))};
    if (list == SNAPSHOT_LIST_WORKLOADS)
        entry.quick = hash_workload(writing->snapshot, &writing->snapshot->workloads[index], writing->world);
    if (old && list == SNAPSHOT_LIST_WORKLOADS && entry.quick == old->quick) {
        entry.text = old->text;
        return entry;
    }
    struct json_writer json;
    buffer_clear(&writing->scratch);
    json_writer_init(&json, &writing->scratch, false);
    snapshot_write_entry(&json, writing->snapshot, which, index);
    entry.text = hash_bytes(0, writing->scratch.data, writing->scratch.length);
    if (!old || old->text != entry.text)
        json_value_raw(section_open(&writing->put, list), writing->scratch.data);
    return entry;
}

static void drop_entry(struct writing *writing, int list, struct change_entry *entry)
{
    json_value_text(section_open(&writing->drop, list), entry->name);
    free(entry->name);
}

static void write_list(struct changes *changes, struct writing *writing, int list)
{
    enum snapshot_list which = (enum snapshot_list)list;
    struct change_entry *old = changes->entries[list];
    size_t old_count = changes->counts[list], count = snapshot_list_count(writing->snapshot, which), at = 0;
    struct change_entry *entries = memory_array(count ? count : 1, sizeof(*entries));
    for (size_t i = 0; i < count; i++) {
        const char *name = snapshot_list_name(writing->snapshot, which, i);
        int order = -1;
        while (at < old_count && (order = strcmp(old[at].name, name)) < 0)
            drop_entry(writing, list, &old[at++]);
        bool is_known = at < old_count && order == 0;
        entries[i] = take_entry(writing, list, i, is_known ? &old[at] : NULL);
        at += is_known;
    }
    while (at < old_count)
        drop_entry(writing, list, &old[at++]);
    free(old);
    changes->entries[list] = entries;
    changes->counts[list] = count;
}

static void write_rules(struct changes *changes, struct writing *writing, struct json_writer *json)
{
    struct json_writer inner;
    buffer_clear(&writing->scratch);
    json_writer_init(&inner, &writing->scratch, false);
    json_begin_object(&inner);
    snapshot_write_rules(&inner, writing->snapshot);
    json_end_object(&inner);
    uint64_t hash = hash_bytes(0, writing->scratch.data, writing->scratch.length);
    if (hash != changes->rules || !changes->world)
        json_raw(json, "rules", writing->scratch.data);
    changes->rules = hash;
}

void changes_write(struct changes *changes, const struct snapshot *snapshot, uint64_t world, struct json_writer *json)
{
    struct writing writing = {.snapshot = snapshot, .world = world};
    buffer_init(&writing.scratch, 0);
    section_init(&writing.put, "put");
    section_init(&writing.drop, "drop");
    write_rules(changes, &writing, json);
    for (int list = 0; list < SNAPSHOT_LIST_COUNT; list++)
        if (list == SNAPSHOT_LIST_WORKLOADS || changes->world != world)
            write_list(changes, &writing, list);
    changes->world = world;
    section_finish(&writing.put, json);
    section_finish(&writing.drop, json);
    buffer_done(&writing.scratch);
}
