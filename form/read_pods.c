// Pods: what they ask for, where they may go, what they hold.
#include "base/arena.h"
#include "form/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int read_status(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    const char *words[SNAPSHOT_POD_STATUS_COUNT];
    for (size_t i = 0; i < SNAPSHOT_POD_STATUS_COUNT; i++)
        words[i] = snapshot_pod_status_name((enum snapshot_pod_status)i);
    size_t word;
    if (read_word(place, words, SNAPSHOT_POD_STATUS_COUNT, &word, err) < 0)
        return -1;
    *(enum snapshot_pod_status *)target = (enum snapshot_pod_status)word;
    return 0;
}

static int read_role(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    size_t word;
    if (read_word(place, (const char *const[]){"master", "launcher", "head"}, 3, &word, err) < 0)
        return -1;
    *(enum pod_role *)target = (enum pod_role)(POD_ROLE_MASTER + (int)word);
    return 0;
}

static int read_portion(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    int64_t hundredths;
    if (read_exact(place, 100, "0.01", 99, &hundredths, err) < 0)
        return -1;
    *(int64_t *)target = hundredths * 10;
    return 0;
}

static int read_devices(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    (void)reader;
    int64_t count;
    if (read_whole(place, 0, READER_DEVICES_MAXIMUM, &count, err) < 0)
        return -1;
    *(uint32_t *)target = (uint32_t)count;
    return 0;
}

#define POD(key, member, read, flags)                           \
    {                                                           \
        key, read, offsetof(struct snapshot_pod, member), flags \
    }
static const struct field POD_FIELDS[] = {
    POD("name", name, read_name, FIELD_REQUIRED),
    {"subGroup", NULL, 0, 0},
    POD("priority", priority, read_integer, FIELD_NULL),
    POD("role", role, read_role, FIELD_NULL),
    POD("gpuDevices", gpu_devices, read_devices, FIELD_NULL),
    POD("gpuPortion", gpu_portion_milli, read_portion, FIELD_NULL),
    POD("gpuMemoryMib", gpu_memory_mib, read_mib, FIELD_NULL),
    {"migInstances", NULL, 0, 0},
    POD("cpuCores", cpu_milli, read_cores, 0),
    POD("memoryBytes", memory_bytes, read_bytes, 0),
    {"extended", NULL, 0, 0},
    {"nodeSelector", NULL, 0, 0},
    {"nodeTypes", NULL, 0, 0},
    {"nodeAffinity", NULL, 0, 0},
    {"tolerations", NULL, 0, 0},
    POD("status", status, read_status, FIELD_NULL),
    {"node", NULL, 0, 0},
    {"gpuGroups", NULL, 0, 0},
    {"gpuIndices", NULL, 0, 0},
    POD("startedAt", started_ms, read_time, FIELD_NULL),
};

static bool has_mig(const struct reader *reader, const struct snapshot_pod *pod)
{
    for (size_t i = 0; i < pod->extended_count; i++)
        if (reader->extended[pod->extended[i].resource].is_mig)
            return true;
    return false;
}

static bool is_shared(const struct snapshot_pod *pod)
{
    return pod->gpu_portion_milli > 0 || pod->gpu_memory_mib > 0;
}

// One kind of GPU request a pod: whole devices, a part of each of some devices, or MIG instances.
static int check_gpu_request(struct reader *reader, const struct place *place, struct snapshot_pod *pod,
                             struct error *err)
{
    struct place devices = place_member(place, "gpuDevices"), memory = place_member(place, "gpuMemoryMib");
    struct place mig = place_member(place, "migInstances");
    if (pod->gpu_portion_milli > 0 && pod->gpu_memory_mib > 0)
        return place_error(&memory, err, "gpuPortion or gpuMemoryMib, not both");
    if (is_shared(pod) && (!devices.value || json_is_null(devices.value)))
        pod->gpu_devices = 1;
    if (is_shared(pod) && pod->gpu_devices == 0)
        return place_expected(&devices, err, "at least 1 where a part of a device is asked for");
    if (has_mig(reader, pod) && pod->gpu_devices > 0)
        return place_error(&mig, err, "MIG instances or devices, not both");
    return 0;
}

static int resolve_sub_group(struct reader *reader, const struct place *object, struct snapshot_pod *pod,
                             struct error *err)
{
    const struct snapshot_workload *workload = reader->workload;
    struct place place = place_member(object, "subGroup");
    pod->sub_group = SNAPSHOT_NONE;
    if (!place.value || json_is_null(place.value)) {
        if (workload->sub_group_count > 0)
            return place_error(&place, err, "missing, and the workload has sub-groups");
        return 0;
    }
    if (names_resolve(&place, "sub-group", workload->sub_groups, workload->sub_group_count,
                      sizeof(*workload->sub_groups), &pod->sub_group, err) < 0)
        return -1;
    if (reader->sub_group_is_set[pod->sub_group])
        return place_error(&place, err, "\"%s\" has sub-groups of its own and holds no pods",
                           workload->sub_groups[pod->sub_group].name);
    return 0;
}

static bool status_holds_node(enum snapshot_pod_status status)
{
    return status == SNAPSHOT_POD_BINDING || status == SNAPSHOT_POD_BOUND || status == SNAPSHOT_POD_RUNNING ||
           status == SNAPSHOT_POD_RELEASING || status == SNAPSHOT_POD_STUCK_IN_RELEASING;
}

// A group is a name; decimal numbers go before others and as numbers (scheduler.md, 5.6).
static int compare_groups(const char *a, const char *b)
{
    size_t a_length = strlen(a), b_length = strlen(b);
    bool a_is_number = a[strspn(a, "0123456789")] == '\0', b_is_number = b[strspn(b, "0123456789")] == '\0';
    if (a_is_number != b_is_number)
        return a_is_number ? -1 : 1;
    if (a_is_number && a_length != b_length)
        return a_length < b_length ? -1 : 1;
    return strcmp(a, b);
}

struct held_device {
    const char *group; // NULL for a whole device
    uint32_t index;
};

static int compare_held(const void *a, const void *b)
{
    const struct held_device *left = a, *right = b;
    if (left->group && right->group)
        return compare_groups(left->group, right->group);
    return (left->index > right->index) - (left->index < right->index);
}

static int read_group(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    return read_name(reader, place, &((struct held_device *)target)->group, err);
}

static int read_index(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    return read_count(reader, place, target, err);
}

// Sorts what a pod holds: the order of the lists says nothing, but an index belongs to the group at its place.
static int take_held_devices(struct reader *reader, const struct place *groups_place, const struct place *indices_place,
                             struct held_device *held, const uint32_t *indices, size_t count, struct snapshot_pod *pod,
                             struct error *err)
{
    for (size_t i = 0; indices && i < count; i++)
        held[i].index = indices[i];
    qsort(held, count, sizeof(*held), compare_held);
    const char **groups = arena_array(reader->arena, count, sizeof(*groups));
    uint32_t *sorted = arena_array(reader->arena, count, sizeof(*sorted));
    uint32_t device_count = reader->snapshot->nodes[pod->node].gpu_count;
    bool *seen = arena_array(reader->arena, indices ? device_count : 0, sizeof(*seen));
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && held[i].group && strcmp(held[i].group, held[i - 1].group) == 0)
            return place_error(groups_place, err, "duplicate: group \"%s\"", held[i].group);
        if (indices && held[i].index >= device_count)
            return place_error(indices_place, err, "device %" PRIu32 " of a node with %" PRIu32 " devices",
                               held[i].index, device_count);
        if (indices && seen[held[i].index])
            return place_error(indices_place, err, "duplicate: device %" PRIu32, held[i].index);
        if (indices)
            seen[held[i].index] = true;
        groups[i] = held[i].group;
        sorted[i] = held[i].index;
    }
    if (is_shared(pod) && count > 0 && held[0].group) {
        pod->gpu_groups = groups;
        pod->gpu_group_count = count;
    }
    if (indices) {
        pod->gpu_indices = sorted;
        pod->gpu_index_count = count;
    }
    return 0;
}

static int read_held_devices(struct reader *reader, const struct place *object, struct snapshot_pod *pod,
                             struct error *err)
{
    struct place groups = place_member(object, "gpuGroups"), indices = place_member(object, "gpuIndices");
    void *held, *numbers;
    size_t group_count, index_count;
    if (json_is_null(groups.value))
        groups.value = NULL;
    if (json_is_null(indices.value))
        indices.value = NULL;
    if (fields_read_list(reader, &groups, sizeof(struct held_device), read_group, &held, &group_count, err) < 0 ||
        fields_read_list(reader, &indices, sizeof(uint32_t), read_index, &numbers, &index_count, err) < 0)
        return -1;
    if (pod->node == SNAPSHOT_NONE)
        return 0;
    if (!is_shared(pod))
        group_count = 0; // a whole device is in no group
    if (group_count > 0 && group_count != pod->gpu_devices)
        return place_error(&groups, err, "one group for each of %" PRIu32 " devices, got %zu", pod->gpu_devices,
                           group_count);
    if (index_count > 0 && index_count != pod->gpu_devices)
        return place_error(&indices, err, "one index for each of %" PRIu32 " devices, got %zu", pod->gpu_devices,
                           index_count);
    if (group_count == 0 && index_count == 0)
        return 0;
    if (group_count == 0)
        held = arena_array(reader->arena, index_count, sizeof(struct held_device));
    return take_held_devices(reader, &groups, &indices, held, index_count ? numbers : NULL, pod->gpu_devices, pod, err);
}

static int resolve_node(struct reader *reader, const struct place *object, struct snapshot_pod *pod, struct error *err)
{
    const struct snapshot *snapshot = reader->snapshot;
    struct place place = place_member(object, "node");
    bool given = place.value && !json_is_null(place.value);
    pod->node = SNAPSHOT_NONE;
    if (given && !json_is_string(place.value))
        return place_expected(&place, err, "a name");
    if (!given && status_holds_node(pod->status))
        return place_error(&place, err, "missing, and a pod that is %s holds a node",
                           snapshot_pod_status_name(pod->status));
    bool held_one = pod->status == SNAPSHOT_POD_SUCCEEDED || pod->status == SNAPSHOT_POD_FAILED;
    bool promised_one = pod->status == SNAPSHOT_POD_PIPELINED;
    if (!given || (!status_holds_node(pod->status) && !held_one && !promised_one))
        return 0;
    return names_resolve(&place, "node", snapshot->nodes, snapshot->node_count, sizeof(*snapshot->nodes), &pod->node,
                         err);
}

int read_pod(struct reader *reader, const struct place *place, void *target, struct error *err)
{
    struct snapshot_pod *pod = target;
    *pod = (struct snapshot_pod){.started_ms = SNAPSHOT_TIME_NONE};
    if (fields_read(reader, place, POD_FIELDS, READER_COUNT_OF(POD_FIELDS), pod, err) < 0 ||
        read_extended(reader, place, &pod->extended, &pod->extended_count, err) < 0 ||
        check_gpu_request(reader, place, pod, err) < 0 || resolve_sub_group(reader, place, pod, err) < 0 ||
        read_placement_rules(reader, place, &pod->rules, err) < 0 || resolve_node(reader, place, pod, err) < 0)
        return -1;
    return read_held_devices(reader, place, pod, err);
}
