// Services that stand for a workload's ports in a Kubernetes cluster: one of each type, for types differ in who may
// reach their ports. The backend makes them, and lists name them.
#pragma once
#include <stdint.h>

struct arena;

enum service_type {
    SERVICE_CLUSTER_IP,
    SERVICE_NODE_PORT,
    SERVICE_LOAD_BALANCER,
    SERVICE_TYPE_COUNT
};

const char *service_type_text(enum service_type type);
// NULL, as any other word: ClusterIP.
enum service_type service_type_parse(const char *text);
// role: whose ports they are, of distributed work; NULL: the workload is of another type.
const char *service_name(const char *workload_name, const char *workload_uuid, const char *role, enum service_type type,
                         struct arena *arena);
// Where the Service has a port of the container's. external: as it was asked for; 0: it was not.
int64_t service_port(enum service_type type, int64_t container, int64_t external);
