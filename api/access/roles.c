#include "api/access/roles.h"

#include <assert.h>
#include <string.h>

static const struct {
    const char *text;
    const char *display_name;
    const char *group;
} TYPES[RESOURCE_TYPE_COUNT] = {
#define RESOURCE_TYPE_ROW(name, text, display_name, group) {text, display_name, group},
    RESOURCE_TYPES(RESOURCE_TYPE_ROW)
#undef RESOURCE_TYPE_ROW
};

static const struct {
    const char *text;
    enum access_action action;
} ACTIONS[] = {{"create", ACTION_CREATE}, {"read", ACTION_READ}, {"update", ACTION_UPDATE}, {"delete", ACTION_DELETE}};

enum {
    ACTION_COUNT = sizeof(ACTIONS) / sizeof(ACTIONS[0])
};

#define ALL ACTION_ALL
#define READ ACTION_READ
#define ON(type, actions) [RESOURCE_TYPE_##type] = (actions)

// Sets of types that go together; no type is in two of them.
#define ON_WORKLOADS(a) ON(JOBS, a), ON(WORKLOADS, a), ON(WORKSPACES, a), ON(TRAININGS, a), ON(INFERENCES, a)
#define ON_DATA_SOURCES(a)                                                                              \
    ON(PVC_ASSETS, a), ON(GIT_ASSETS, a), ON(HOST_PATH_ASSETS, a), ON(NFS_ASSETS, a), ON(S3_ASSETS, a), \
        ON(CM_VOLUME_ASSETS, a), ON(SECRET_VOLUME_ASSETS, a)
#define ON_DASHBOARDS(a) ON(DASHBOARDS_OVERVIEW, a), ON(DASHBOARDS_ANALYTICS, a)
// What everybody may read: without it no page and no client gets as far as a submission.
#define FOR_EVERYBODY \
    ON(SETTINGS, READ), ON(ROLES, READ), ON(WORKLOAD_PROPERTIES, READ), ON(POLICIES, READ), ON(REGISTRIES, READ)
#define ON_HARDWARE(a) ON(CLUSTER, a), ON(NODEPOOLS, a), ON(NODES, a), ON(NETWORK_TOPOLOGIES, a)
// For the administrators of one kind of asset: the other kinds, workloads and dashboards are read.
#define ASSET_ADMINISTRATOR(compute, environments, data_sources, credentials, templates, datavolumes)  \
    {                                                                                                  \
        FOR_EVERYBODY, ON(PROJECT, READ), ON(DEPARTMENT, READ), ON(CLUSTER, READ), ON_WORKLOADS(READ), \
            ON_DASHBOARDS(READ), ON(COMPUTE_RESOURCES, compute), ON(ENVIRONMENTS, environments),       \
            ON_DATA_SOURCES(data_sources), ON(CREDENTIALS, credentials), ON(TEMPLATES, templates),     \
            ON(DATAVOLUMES, datavolumes)                                                               \
    }

// Numbers 1 to 14 are those of Run:ai: scripts grant roles by them.
static const struct role ROLES[] = {
    {ROLE_SYSTEM_ADMINISTRATOR,
     "System administrator",
     "Everything, in every scope",
     {{[0 ... RESOURCE_TYPE_COUNT - 1] = ALL}}},
    {2,
     "Department administrator",
     "Manages a department: its projects, data volumes and access rules",
     {{FOR_EVERYBODY, ON(DEPARTMENT, ALL), ON(PROJECT, ALL), ON(DATAVOLUMES, ALL), ON(ACCESS_RULES, ALL),
       ON(USERS, READ), ON(SERVICE_ACCOUNT, READ), ON(APPS, READ), ON_DASHBOARDS(READ),
       ON(DASHBOARDS_CONSUMPTION, READ), ON_HARDWARE(READ), ON_WORKLOADS(READ), ON(COMPUTE_RESOURCES, READ),
       ON(ENVIRONMENTS, READ), ON_DATA_SOURCES(READ), ON(CREDENTIALS, READ), ON(TEMPLATES, READ)}}},
    {3,
     "Editor",
     "Manages departments and projects, views everything else",
     {{FOR_EVERYBODY, ON(DEPARTMENT, ALL), ON(PROJECT, ALL), ON_DASHBOARDS(READ), ON(DASHBOARDS_CONSUMPTION, READ),
       ON_HARDWARE(READ), ON_WORKLOADS(READ), ON(COMPUTE_RESOURCES, READ), ON(ENVIRONMENTS, READ),
       ON_DATA_SOURCES(READ), ON(CREDENTIALS, READ), ON(TEMPLATES, READ),
       ON(DATAVOLUMES, ACTION_CREATE | ACTION_READ)}}},
    {4,
     "Research manager",
     "Manages projects and workload assets, views workloads",
     {{FOR_EVERYBODY, ON(DEPARTMENT, READ), ON(PROJECT, ALL), ON_DASHBOARDS(READ), ON(CLUSTER, READ),
       ON(NODEPOOLS, READ), ON_WORKLOADS(READ), ON(COMPUTE_RESOURCES, ALL), ON(ENVIRONMENTS, ALL), ON_DATA_SOURCES(ALL),
       ON(CREDENTIALS, READ), ON(TEMPLATES, ALL), ON(DATAVOLUMES, ALL)}}},
    {5,
     "L1 researcher",
     "Manages workloads and workload assets",
     {{FOR_EVERYBODY, ON(PROJECT, READ), ON_WORKLOADS(ALL), ON_DASHBOARDS(READ), ON(CLUSTER, READ),
       ON(COMPUTE_RESOURCES, ALL), ON(ENVIRONMENTS, ALL), ON_DATA_SOURCES(ALL), ON(CREDENTIALS, ALL),
       ON(TEMPLATES, ALL), ON(DATAVOLUMES, READ)}}},
    {6,
     "ML engineer",
     "Manages inferences, views the organisation and the hardware",
     {{FOR_EVERYBODY, ON(DEPARTMENT, READ), ON(PROJECT, READ), ON_HARDWARE(READ), ON_DASHBOARDS(READ), ON(JOBS, READ),
       ON(WORKLOADS, READ), ON(INFERENCES, ALL), ON(COMPUTE_RESOURCES, READ), ON(ENVIRONMENTS, READ),
       ON_DATA_SOURCES(READ), ON(CREDENTIALS, READ), ON(TEMPLATES, READ), ON(DATAVOLUMES, READ)}}},
    {7,
     "Viewer",
     "Views everything in the scope",
     {{FOR_EVERYBODY, ON(DEPARTMENT, READ), ON(PROJECT, READ), ON_HARDWARE(READ), ON_DASHBOARDS(READ),
       ON(DASHBOARDS_CONSUMPTION, READ), ON_WORKLOADS(READ), ON(COMPUTE_RESOURCES, READ), ON(ENVIRONMENTS, READ),
       ON_DATA_SOURCES(READ), ON(CREDENTIALS, READ), ON(TEMPLATES, READ), ON(DATAVOLUMES, READ), ON(USERS, READ),
       ON(APPS, READ), ON(SERVICE_ACCOUNT, READ), ON(ACCESS_RULES, READ), ON(EVENTS_HISTORY, READ),
       ON(SCRAPEABLE_METRICS, READ)}}},
    {8,
     "L2 researcher",
     "Manages workloads, views workload assets",
     {{FOR_EVERYBODY, ON(PROJECT, READ), ON_WORKLOADS(ALL), ON_DASHBOARDS(READ), ON(CLUSTER, READ),
       ON(COMPUTE_RESOURCES, READ), ON(ENVIRONMENTS, READ), ON_DATA_SOURCES(READ), ON(CREDENTIALS, READ),
       ON(TEMPLATES, READ), ON(DATAVOLUMES, READ)}}},
    {9, "Environment administrator", "Manages environments", {ASSET_ADMINISTRATOR(READ, ALL, READ, READ, READ, READ)}},
    {10, "Credentials administrator", "Manages credentials", {ASSET_ADMINISTRATOR(READ, READ, READ, ALL, READ, READ)}},
    {11, "Data source administrator", "Manages data sources", {ASSET_ADMINISTRATOR(READ, READ, ALL, READ, READ, READ)}},
    {12,
     "Compute resource administrator",
     "Manages compute resources",
     {ASSET_ADMINISTRATOR(ALL, READ, READ, READ, READ, READ)}},
    {13,
     "Template administrator",
     "Manages workload templates",
     {ASSET_ADMINISTRATOR(READ, READ, READ, READ, ALL, READ)}},
    {14,
     "Department viewer",
     "Views a department, its projects and what is in them",
     {{FOR_EVERYBODY, ON(DEPARTMENT, READ), ON(PROJECT, READ), ON_DASHBOARDS(READ), ON_HARDWARE(READ),
       ON_WORKLOADS(READ), ON(COMPUTE_RESOURCES, READ), ON(ENVIRONMENTS, READ), ON_DATA_SOURCES(READ),
       ON(CREDENTIALS, READ), ON(TEMPLATES, READ), ON(DATAVOLUMES, READ)}}},
    {15, "Data volume administrator", "Manages data volumes", {ASSET_ADMINISTRATOR(READ, READ, READ, READ, READ, ALL)}},
    {16,
     "Project administrator",
     "Manages a project: its settings, access rules and workloads",
     {{FOR_EVERYBODY, ON(PROJECT, ACTION_READ | ACTION_UPDATE), ON(ACCESS_RULES, ALL), ON(USERS, READ),
       ON(SERVICE_ACCOUNT, READ), ON(APPS, READ), ON_WORKLOADS(ALL), ON_DASHBOARDS(READ), ON(CLUSTER, READ),
       ON(NODEPOOLS, READ), ON(COMPUTE_RESOURCES, ALL), ON(ENVIRONMENTS, ALL), ON_DATA_SOURCES(ALL),
       ON(CREDENTIALS, ALL), ON(TEMPLATES, ALL), ON(DATAVOLUMES, READ)}}},
    {17,
     "AI practitioner",
     "Submits and manages workloads in a project",
     {{FOR_EVERYBODY, ON(PROJECT, READ), ON_WORKLOADS(ALL), ON_DASHBOARDS(READ), ON(CLUSTER, READ), ON(NODEPOOLS, READ),
       ON(COMPUTE_RESOURCES, ALL), ON(ENVIRONMENTS, ALL), ON_DATA_SOURCES(ALL), ON(CREDENTIALS, ALL),
       ON(TEMPLATES, ALL), ON(DATAVOLUMES, READ), ON(ACCESS_KEYS, ALL)}}},
    {18,
     "Data and storage administrator",
     "Manages data sources, data volumes and storage",
     {{FOR_EVERYBODY, ON(PROJECT, READ), ON(DEPARTMENT, READ), ON(CLUSTER, READ), ON_WORKLOADS(READ),
       ON_DASHBOARDS(READ), ON(COMPUTE_RESOURCES, READ), ON(ENVIRONMENTS, READ), ON(TEMPLATES, READ),
       ON_DATA_SOURCES(ALL), ON(CREDENTIALS, ALL), ON(DATAVOLUMES, ALL), ON(STORAGE_CLASS_CONFIGURATION, ALL)}}},
};

enum {
    ROLE_COUNT = sizeof(ROLES) / sizeof(ROLES[0])
};

const char *resource_type_text(enum resource_type type)
{
    return TYPES[type].text;
}

const char *resource_type_group(enum resource_type type)
{
    return TYPES[type].group;
}

bool resource_type_parse(const char *text, enum resource_type *out_type)
{
    for (size_t i = 0; text && i < RESOURCE_TYPE_COUNT; i++) {
        if (strcmp(text, TYPES[i].text) != 0)
            continue;
        *out_type = (enum resource_type)i;
        return true;
    }
    return false;
}

const char *access_action_text(enum access_action action)
{
    for (size_t i = 0; i < ACTION_COUNT; i++)
        if (ACTIONS[i].action == action)
            return ACTIONS[i].text;
    assert(0 && "one action");
    return "";
}

bool access_action_parse(const char *text, enum access_action *out_action)
{
    for (size_t i = 0; text && i < ACTION_COUNT; i++) {
        if (strcmp(text, ACTIONS[i].text) != 0)
            continue;
        *out_action = ACTIONS[i].action;
        return true;
    }
    return false;
}

bool resource_type_is_above(enum resource_type type)
{
    switch (type) {
    case RESOURCE_TYPE_TENANT:
    case RESOURCE_TYPE_CLUSTER:
    case RESOURCE_TYPE_NODEPOOLS:
    case RESOURCE_TYPE_NODES:
    case RESOURCE_TYPE_NETWORK_TOPOLOGIES:
    case RESOURCE_TYPE_SETTINGS:
    case RESOURCE_TYPE_ROLES:
    case RESOURCE_TYPE_USERS:
    case RESOURCE_TYPE_APPS:
    case RESOURCE_TYPE_SERVICE_ACCOUNT:
    case RESOURCE_TYPE_REGISTRIES:
    case RESOURCE_TYPE_WORKLOAD_PROPERTIES:
        return true;
    default:
        return false;
    }
}

const struct role *role_find(int64_t id)
{
    for (size_t i = 0; i < ROLE_COUNT; i++)
        if (ROLES[i].id == id)
            return &ROLES[i];
    return NULL;
}

const struct role *role_at(size_t index)
{
    return index < ROLE_COUNT ? &ROLES[index] : NULL;
}

void permission_set_add(struct permission_set *set, const struct permission_set *more)
{
    for (size_t i = 0; i < RESOURCE_TYPE_COUNT; i++)
        set->actions[i] |= more->actions[i];
}

json_t *permission_set_to_json(const struct permission_set *set)
{
    json_t *list = json_array();
    for (size_t i = 0; i < RESOURCE_TYPE_COUNT; i++) {
        if (!set->actions[i])
            continue;
        json_t *actions = json_array();
        for (size_t j = 0; j < ACTION_COUNT; j++)
            if (set->actions[i] & ACTIONS[j].action)
                json_array_append_new(actions, json_string(ACTIONS[j].text));
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o}", "resourceType", TYPES[i].text, "displayName",
                                              TYPES[i].display_name, "groupId", TYPES[i].group, "actions", actions));
    }
    return list;
}
