#include "model/sub_groups.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json_reader.h"
#include "model/names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *const MEMBERS[] = {"minSubGroups", "subGroups", "topology"};

static int read_topology(const struct fields *owner, struct topology_wish *out)
{
    struct fields topology;
    if (fields_object(owner, "topology", &topology) < 0 || fields_text(&topology, "name", &out->name) < 0 ||
        fields_text(&topology, "required", &out->required) < 0 ||
        fields_text(&topology, "preferred", &out->preferred) < 0)
        return -1;
    if (!topology.object)
        return 0;
    if (!out->name)
        return fields_fail(&topology, "name", "required: the name of a network topology");
    if (!out->required && !out->preferred)
        return fields_fail(owner, "topology", "a required level, a preferred one, or both");
    return 0;
}

static size_t find(const struct sub_groups *groups, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(groups->groups[i].name, name) == 0)
            return i;
    return SUB_GROUP_NONE;
}

static int read_name(const struct fields *item, const struct sub_groups *groups, size_t i)
{
    const char **name = &groups->groups[i].name;
    if (fields_text(item, "name", name) < 0)
        return -1;
    if (!*name)
        return fields_fail(item, "name", "required");
    if (name_check(*name, NAME_MAX_LENGTH, fields_path(item, "name"), item->err) < 0)
        return -1;
    return find(groups, i, *name) == SUB_GROUP_NONE ? 0 : fields_fail(item, "name", "duplicate: %s", *name);
}

static int read_parent(const struct fields *item, const struct sub_groups *groups, size_t i)
{
    const char *parent = NULL;
    groups->groups[i].parent = SUB_GROUP_NONE;
    if (fields_text(item, "parent", &parent) < 0)
        return -1;
    if (!parent)
        return 0;
    size_t place = groups->groups[i].parent = find(groups, groups->count, parent);
    if (place == SUB_GROUP_NONE)
        return fields_fail(item, "parent", "no sub-group %.63s", parent);
    groups->groups[place].child_count++;
    return 0;
}

static int items_of(const struct fields *spec, size_t count, struct fields *items)
{
    for (size_t i = 0; i < count; i++) {
        if (fields_item(spec, "subGroups", i, &items[i]) < 0)
            return -1;
        fields_drop_nulls(&items[i]);
    }
    return 0;
}

// How deep each stands, 1 at the top; a chain that is too long has a circle, or is one.
static int order_from_below(const struct fields *items, struct sub_groups *groups)
{
    size_t *depths = arena_array(items->arena, groups->count, sizeof(*depths)), placed = 0;
    for (size_t i = 0; i < groups->count; i++)
        for (size_t g = i; g != SUB_GROUP_NONE; g = groups->groups[g].parent)
            if (++depths[i] > SUB_GROUP_LEVELS_MAX)
                return fields_fail(&items[i], "parent", "at most %d levels of sub-groups, none its own ancestor",
                                   SUB_GROUP_LEVELS_MAX);
    groups->from_below = arena_array(items->arena, groups->count, sizeof(*groups->from_below));
    for (size_t depth = SUB_GROUP_LEVELS_MAX; depth > 0; depth--)
        for (size_t i = 0; i < groups->count; i++)
            if (depths[i] == depth)
                groups->from_below[placed++] = i;
    return 0;
}

static int read_set(const struct fields *item, struct sub_group *group)
{
    static const char *const OF_LEAVES[] = {"workers", "master", "minPods"};
    for (size_t i = 0; i < sizeof(OF_LEAVES) / sizeof(*OF_LEAVES); i++)
        if (fields_get(item, OF_LEAVES[i]))
            return fields_fail(item, OF_LEAVES[i], "not with sub-groups below it, which have the pods");
    group->minimum = (int64_t)group->child_count;
    if (fields_integer(item, "minSubGroups", 1, (int64_t)group->child_count, &group->minimum) < 0)
        return -1;
    fields_set_default(item, "minSubGroups", json_integer(group->minimum));
    return 0;
}

static int read_leaf(const struct fields *item, int64_t worker_count, struct sub_group *group)
{
    if (fields_get(item, "minSubGroups"))
        return fields_fail(item, "minSubGroups", "only with sub-groups below it");
    if (fields_integer(item, "workers", 0, worker_count, &group->worker_count) < 0 ||
        fields_bool(item, "master", &group->has_master) < 0)
        return -1;
    int64_t pods = group->minimum = group->worker_count + group->has_master;
    if (pods == 0)
        return fields_fail(item, "workers", "at least 1, or master: true");
    if (fields_integer(item, "minPods", 1, pods, &group->minimum) < 0)
        return -1;
    fields_set_default(item, "workers", json_integer(group->worker_count));
    fields_set_default(item, "minPods", json_integer(group->minimum));
    return 0;
}

static int check_sums(const struct fields *spec, const struct sub_groups *groups, int64_t worker_count, bool has_master)
{
    int64_t workers = 0, masters = 0;
    for (size_t i = 0; i < groups->count; i++) {
        workers += groups->groups[i].worker_count;
        masters += groups->groups[i].has_master;
    }
    if (workers != worker_count)
        return fields_fail(spec, "subGroups", "%" PRId64 " workers in all, expected numWorkers, %" PRId64, workers,
                           worker_count);
    if (masters != has_master)
        return fields_fail(spec, "subGroups", "master: true in %" PRId64 " of them, expected %s", masters,
                           has_master ? "one, as there is a master" : "none, as there is no master");
    return 0;
}

static void count_workers(struct sub_groups *groups)
{
    int64_t workers = 0;
    for (size_t i = 0; i < groups->count; i++) {
        groups->groups[i].first_worker = workers;
        workers += groups->groups[i].worker_count;
    }
}

static int read_groups(const struct fields *spec, int64_t worker_count, struct sub_groups *out)
{
    struct fields *items = arena_array(spec->arena, out->count, sizeof(*items));
    out->groups = arena_array(spec->arena, out->count, sizeof(*out->groups));
    if (items_of(spec, out->count, items) < 0)
        return -1;
    for (size_t i = 0; i < out->count; i++)
        if (read_name(&items[i], out, i) < 0)
            return -1;
    for (size_t i = 0; i < out->count; i++)
        if (read_parent(&items[i], out, i) < 0)
            return -1;
    if (order_from_below(items, out) < 0)
        return -1;
    for (size_t i = 0; i < out->count; i++) {
        struct sub_group *group = &out->groups[i];
        int rc = group->child_count ? read_set(&items[i], group) : read_leaf(&items[i], worker_count, group);
        if (rc < 0 || read_topology(&items[i], &group->topology) < 0)
            return -1;
        out->minimum += group->parent == SUB_GROUP_NONE;
    }
    return 0;
}

static int read_shape(const struct fields *spec, int64_t worker_count, struct sub_groups *out)
{
    *out = (struct sub_groups){0};
    if (read_topology(spec, &out->topology) < 0 || fields_count(spec, "subGroups", SUB_GROUPS_MAX, &out->count) < 0)
        return -1;
    if (out->count == 0)
        return fields_get(spec, "minSubGroups") ? fields_fail(spec, "minSubGroups", "only with subGroups") : 0;
    if (read_groups(spec, worker_count, out) < 0 ||
        fields_integer(spec, "minSubGroups", 1, out->minimum, &out->minimum) < 0)
        return -1;
    fields_set_default(spec, "minSubGroups", json_integer(out->minimum));
    count_workers(out);
    return 0;
}

int sub_groups_read(const struct fields *spec, int64_t worker_count, bool has_master, struct sub_groups *out)
{
    if (read_shape(spec, worker_count, out) < 0)
        return -1;
    return out->count ? check_sums(spec, out, worker_count, has_master) : 0;
}

const char *sub_groups_text(const struct fields *spec)
{
    json_t *members = json_object();
    for (size_t i = 0; i < sizeof(MEMBERS) / sizeof(*MEMBERS); i++) {
        json_t *member = fields_get(spec, MEMBERS[i]);
        if (member && json_array_size(member) + json_object_size(member) + json_is_integer(member) > 0)
            json_object_set(members, MEMBERS[i], member);
    }
    char *text = NULL;
    if (json_object_size(members) > 0) {
        size_t size = json_dumpb(members, NULL, 0, JSON_COMPACT);
        text = arena_alloc(spec->arena, size + 1);
        json_dumpb(members, text, size, JSON_COMPACT);
    }
    json_decref(members);
    return text;
}

static void copy_text(const char **text, struct arena *arena)
{
    *text = *text ? arena_strdup(arena, *text) : NULL;
}

static void copy_topology(struct topology_wish *topology, struct arena *arena)
{
    copy_text(&topology->name, arena);
    copy_text(&topology->required, arena);
    copy_text(&topology->preferred, arena);
}

void sub_groups_parse(const char *text, struct arena *arena, struct sub_groups *out)
{
    json_t *members = NULL;
    struct error err = {0};
    *out = (struct sub_groups){0};
    if (!text || json_reader_parse(text, strlen(text), &members, NULL) < 0)
        return;
    struct fields spec = {members, "spec", arena, &err};
    if (read_shape(&spec, INT32_MAX, out) < 0)
        *out = (struct sub_groups){0};
    copy_topology(&out->topology, arena);
    for (size_t i = 0; i < out->count; i++) {
        copy_text(&out->groups[i].name, arena);
        copy_topology(&out->groups[i].topology, arena);
    }
    json_decref(members);
}

size_t sub_groups_of_pod(const struct sub_groups *groups, bool is_master, int64_t index)
{
    for (size_t i = 0; i < groups->count; i++) {
        const struct sub_group *group = &groups->groups[i];
        if (is_master ? group->has_master
                      : index >= group->first_worker && index < group->first_worker + group->worker_count)
            return i;
    }
    return SUB_GROUP_NONE;
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return left < right ? -1 : left > right;
}

// The sum of the smallest of needed[] that have this parent, as many as the minimum says.
static int64_t sum_smallest(const struct sub_groups *groups, size_t parent, int64_t minimum, const int64_t *needed,
                            int64_t *scratch)
{
    size_t count = 0;
    int64_t sum = 0;
    for (size_t i = 0; i < groups->count; i++)
        if (groups->groups[i].parent == parent)
            scratch[count++] = needed[i];
    qsort(scratch, count, sizeof(*scratch), compare_numbers);
    for (size_t i = 0; i < count && i < (size_t)minimum; i++)
        sum += scratch[i];
    return sum;
}

int64_t sub_groups_min_pods(const struct sub_groups *groups, struct arena *arena)
{
    int64_t *needed = arena_array(arena, groups->count, sizeof(*needed));
    int64_t *scratch = arena_array(arena, groups->count, sizeof(*scratch));
    for (size_t i = 0; i < groups->count; i++) {
        size_t place = groups->from_below[i];
        const struct sub_group *group = &groups->groups[place];
        needed[place] =
            group->child_count ? sum_smallest(groups, place, group->minimum, needed, scratch) : group->minimum;
    }
    return sum_smallest(groups, SUB_GROUP_NONE, groups->minimum, needed, scratch);
}

bool sub_groups_are_met(const struct sub_groups *groups, const int64_t *pods, struct arena *arena)
{
    int64_t *met = arena_array(arena, groups->count, sizeof(*met)), met_at_top = 0;
    for (size_t i = 0; i < groups->count; i++) {
        size_t place = groups->from_below[i];
        const struct sub_group *group = &groups->groups[place];
        if ((group->child_count ? met[place] : pods[place]) < group->minimum)
            continue;
        int64_t *of_parent = group->parent == SUB_GROUP_NONE ? &met_at_top : &met[group->parent];
        *of_parent += 1;
    }
    return met_at_top >= groups->minimum;
}
