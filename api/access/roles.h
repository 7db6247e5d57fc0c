// Resource types, actions, and the predefined roles: what each may do. Roles are fixed; their ids never change.
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// name, the contract's word, display name, group. A resource of a cluster or the tenant is also seen by who may read it
// further down: a researcher of one project sees the node pools above it (resource_type_is_above).
#define RESOURCE_TYPES(X)                                                                                 \
    X(DEPARTMENT, "department", "Departments", "organization")                                            \
    X(TENANT, "tenant", "Tenant", "organization")                                                         \
    X(PROJECT, "project", "Projects", "organization")                                                     \
    X(CLUSTER, "cluster", "Clusters", "physical-resource")                                                \
    X(CLUSTER_CONFIG, "cluster-config", "Cluster configuration", "physical-resource")                     \
    X(NODEPOOLS, "nodepools", "Node pools", "physical-resource")                                          \
    X(NODES, "nodes", "Nodes", "physical-resource")                                                       \
    X(SETTINGS, "settings", "Settings", "organization")                                                   \
    X(SECURITY_SETTINGS, "security-settings", "Security settings", "organization")                        \
    X(BRANDING_SETTINGS, "branding-settings", "Branding settings", "organization")                        \
    X(USERS, "users", "Users", "iam")                                                                     \
    X(APPS, "apps", "Applications", "iam")                                                                \
    X(SERVICE_ACCOUNT, "service-account", "Service accounts", "iam")                                      \
    X(DASHBOARDS_OVERVIEW, "dashboards-overview", "Overview dashboard", "dashboard")                      \
    X(DASHBOARDS_ANALYTICS, "dashboards-analytics", "Analytics dashboard", "dashboard")                   \
    X(DASHBOARDS_CONSUMPTION, "dashboards-consumption", "Consumption dashboard", "dashboard")             \
    X(ROLES, "roles", "Roles", "iam")                                                                     \
    X(ACCESS_RULES, "access_rules", "Access rules", "iam")                                                \
    X(JOBS, "jobs", "Jobs", "workload")                                                                   \
    X(WORKLOADS, "workloads", "Workloads", "workload")                                                    \
    X(WORKSPACES, "workspaces", "Workspaces", "workload")                                                 \
    X(TRAININGS, "trainings", "Trainings", "workload")                                                    \
    X(INFERENCES, "inferences", "Inferences", "workload")                                                 \
    X(ENVIRONMENTS, "environments", "Environments", "workload-asset")                                     \
    X(PVC_ASSETS, "pvc-assets", "PVC data sources", "workload-asset")                                     \
    X(GIT_ASSETS, "git-assets", "Git data sources", "workload-asset")                                     \
    X(HOST_PATH_ASSETS, "host-path-assets", "Host path data sources", "workload-asset")                   \
    X(NFS_ASSETS, "nfs-assets", "NFS data sources", "workload-asset")                                     \
    X(S3_ASSETS, "s3-assets", "S3 data sources", "workload-asset")                                        \
    X(COMPUTE_RESOURCES, "compute-resources", "Compute resources", "workload-asset")                      \
    X(TEMPLATES, "templates", "Templates", "workload-asset")                                              \
    X(CREDENTIALS, "credentials", "Credentials", "workload-asset")                                        \
    X(EVENTS_HISTORY, "events-history", "Event history", "organization")                                  \
    X(POLICIES, "policies", "Policies", "workload")                                                       \
    X(CM_VOLUME_ASSETS, "cm-volume-assets", "ConfigMap data sources", "workload-asset")                   \
    X(DATAVOLUMES, "datavolumes", "Data volumes", "workload-asset")                                       \
    X(SECRET_VOLUME_ASSETS, "secret-volume-assets", "Secret data sources", "workload-asset")              \
    X(STORAGE_CLASS_CONFIGURATION, "storage-class-configuration", "Storage classes", "physical-resource") \
    X(ACCESS_KEYS, "access-keys", "Access keys", "iam")                                                   \
    X(WORKLOAD_PROPERTIES, "workload-properties", "Workload properties", "workload")                      \
    X(NETWORK_TOPOLOGIES, "network-topologies", "Network topologies", "physical-resource")                \
    X(REGISTRIES, "registries", "Registries", "workload-asset")                                           \
    X(SCRAPEABLE_METRICS, "scrapeable-metrics", "Metrics for scraping", "dashboard")

enum resource_type {
#define RESOURCE_TYPE_ENUM(name, text, display_name, group) RESOURCE_TYPE_##name,
    RESOURCE_TYPES(RESOURCE_TYPE_ENUM)
#undef RESOURCE_TYPE_ENUM
    RESOURCE_TYPE_COUNT
};

enum access_action {
    ACTION_CREATE = 1,
    ACTION_READ = 2,
    ACTION_UPDATE = 4,
    ACTION_DELETE = 8
};
#define ACTION_ALL (ACTION_CREATE | ACTION_READ | ACTION_UPDATE | ACTION_DELETE)

const char *resource_type_text(enum resource_type type);
const char *resource_type_group(enum resource_type type); // the contract's word: "workload", "iam", ...
bool resource_type_parse(const char *text, enum resource_type *out_type);
// "create", "read", "update", "delete".
const char *access_action_text(enum access_action action);
bool access_action_parse(const char *text, enum access_action *out_action);
// True for what belongs to a cluster or the tenant and is read by everybody who may read it somewhere below.
bool resource_type_is_above(enum resource_type type);

// What may be done with each resource type: a set of access_action each.
struct permission_set {
    uint8_t actions[RESOURCE_TYPE_COUNT];
};

struct role {
    int id;
    const char *name;
    const char *description;
    struct permission_set permissions;
};

// Predefined roles by id, the ids from 1 on; NULL where there is none.
const struct role *role_find(int64_t id);
const struct role *role_at(size_t index); // NULL past the last
enum {
    ROLE_SYSTEM_ADMINISTRATOR = 1
};

void permission_set_add(struct permission_set *set, const struct permission_set *more);
// The contract's list of Permission: types with at least one action.
json_t *permission_set_to_json(const struct permission_set *set);
