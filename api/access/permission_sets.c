#include "api/access/permission_sets.h"

#include <string.h>
#include <strings.h>

#define ALL ACTION_ALL
#define READ ACTION_READ
#define ON(type, actions) [RESOURCE_TYPE_##type] = (actions)
#define ID(number) "70726f72-6174-4000-8000-0000000000" number

#define ON_WORKLOADS(a) ON(JOBS, a), ON(WORKLOADS, a), ON(WORKSPACES, a), ON(TRAININGS, a), ON(INFERENCES, a)
#define ON_DATA_SOURCES(a)                                                                              \
    ON(PVC_ASSETS, a), ON(GIT_ASSETS, a), ON(HOST_PATH_ASSETS, a), ON(NFS_ASSETS, a), ON(S3_ASSETS, a), \
        ON(CM_VOLUME_ASSETS, a), ON(SECRET_VOLUME_ASSETS, a)
#define ON_ASSETS(a) ON(COMPUTE_RESOURCES, a), ON(ENVIRONMENTS, a), ON(TEMPLATES, a)
#define ON_HARDWARE(a) ON(CLUSTER, a), ON(NODEPOOLS, a), ON(NODES, a), ON(NETWORK_TOPOLOGIES, a)
#define ON_PEOPLE(a) ON(USERS, a), ON(APPS, a), ON(SERVICE_ACCOUNT, a)

// "View" reads, "Manage" does everything; no more than one page's worth in each.
static const struct permission_bundle BUNDLES[] = {
    {ID("01"),
     "Basics",
     "What every page and client reads: settings, roles, kinds of workloads, policies, registries",
     {{ON(SETTINGS, READ), ON(ROLES, READ), ON(WORKLOAD_PROPERTIES, READ), ON(POLICIES, READ), ON(REGISTRIES, READ)}}},
    {ID("02"),
     "View projects",
     "Reads projects and the cluster's minimal data",
     {{ON(PROJECT, READ), ON(CLUSTER, READ)}}},
    {ID("03"), "Manage projects", "Creates, changes and deletes projects", {{ON(PROJECT, ALL), ON(CLUSTER, READ)}}},
    {ID("04"), "View departments", "Reads departments", {{ON(DEPARTMENT, READ)}}},
    {ID("05"), "Manage departments", "Creates, changes and deletes departments", {{ON(DEPARTMENT, ALL)}}},
    {ID("06"), "View hardware", "Reads clusters, node pools, nodes and topologies", {{ON_HARDWARE(READ)}}},
    {ID("07"), "Manage hardware", "Changes clusters, node pools, nodes and topologies", {{ON_HARDWARE(ALL)}}},
    {ID("08"), "View workloads", "Reads workloads, their pods, events and logs", {{ON_WORKLOADS(READ)}}},
    {ID("09"), "Manage workloads", "Submits, stops and deletes workloads", {{ON_WORKLOADS(ALL)}}},
    {ID("10"), "View workload assets", "Reads compute resources, environments and templates", {{ON_ASSETS(READ)}}},
    {ID("11"), "Manage workload assets", "Changes compute resources, environments and templates", {{ON_ASSETS(ALL)}}},
    {ID("12"), "View data sources", "Reads data sources", {{ON_DATA_SOURCES(READ)}}},
    {ID("13"), "Manage data sources", "Creates, changes and deletes data sources", {{ON_DATA_SOURCES(ALL)}}},
    {ID("14"), "View data volumes", "Reads data volumes", {{ON(DATAVOLUMES, READ)}}},
    {ID("15"), "Manage data volumes", "Creates, changes and deletes data volumes", {{ON(DATAVOLUMES, ALL)}}},
    {ID("16"), "View credentials", "Reads the names of credentials", {{ON(CREDENTIALS, READ)}}},
    {ID("17"), "Manage credentials", "Creates, changes and deletes credentials", {{ON(CREDENTIALS, ALL)}}},
    {ID("18"),
     "View dashboards",
     "Reads the overview and analytics",
     {{ON(DASHBOARDS_OVERVIEW, READ), ON(DASHBOARDS_ANALYTICS, READ)}}},
    {ID("19"), "View consumption", "Reads what was consumed, and its price", {{ON(DASHBOARDS_CONSUMPTION, READ)}}},
    {ID("20"),
     "View people",
     "Reads users, service accounts and access rules",
     {{ON_PEOPLE(READ), ON(ACCESS_RULES, READ)}}},
    {ID("21"),
     "Manage access",
     "Gives and withdraws access rules",
     {{ON_PEOPLE(READ), ON(ACCESS_RULES, ALL), ON(ROLES, READ)}}},
    {ID("22"), "Manage people", "Creates, changes and deletes users and service accounts", {{ON_PEOPLE(ALL)}}},
    {ID("23"), "Manage roles", "Creates, changes and deletes roles", {{ON(ROLES, ALL)}}},
    {ID("24"), "Manage policies", "Creates, changes and deletes policies", {{ON(POLICIES, ALL)}}},
    {ID("25"),
     "Manage settings",
     "Changes the settings of the tenant",
     {{ON(SETTINGS, ALL), ON(SECURITY_SETTINGS, ALL), ON(BRANDING_SETTINGS, ALL)}}},
    {ID("26"), "View event history", "Reads who did what", {{ON(EVENTS_HISTORY, READ)}}},
    {ID("27"), "Manage access keys", "Sees and ends everybody's access keys", {{ON(ACCESS_KEYS, ALL)}}},
    {ID("28"), "Scrape metrics", "Reads the metrics for a monitoring system", {{ON(SCRAPEABLE_METRICS, READ)}}},
};

enum {
    BUNDLE_COUNT = sizeof(BUNDLES) / sizeof(BUNDLES[0])
};

const struct permission_bundle *permission_bundle_find(const char *id_or_name)
{
    for (size_t i = 0; id_or_name && i < BUNDLE_COUNT; i++)
        if (!strcmp(BUNDLES[i].id, id_or_name) || !strcasecmp(BUNDLES[i].name, id_or_name))
            return &BUNDLES[i];
    return NULL;
}

const struct permission_bundle *permission_bundle_at(size_t index)
{
    return index < BUNDLE_COUNT ? &BUNDLES[index] : NULL;
}
