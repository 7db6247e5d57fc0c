#include "model/service_names.h"

#include "base/arena.h"
#include "model/names.h"

#include <string.h>

static const struct {
    const char *text, *suffix;
} TYPES[SERVICE_TYPE_COUNT] = {{"ClusterIP", ""}, {"NodePort", "-node-port"}, {"LoadBalancer", "-load-balancer"}};

const char *service_type_text(enum service_type type)
{
    return TYPES[type].text;
}

enum service_type service_type_parse(const char *text)
{
    for (int i = 0; text && i < SERVICE_TYPE_COUNT; i++)
        if (strcmp(TYPES[i].text, text) == 0)
            return (enum service_type)i;
    return SERVICE_CLUSTER_IP;
}

// Of distributed work the plain name gives pods their names, and a master may have ports of its own.
const char *service_name(const char *workload_name, const char *workload_uuid, const char *role, enum service_type type,
                         struct arena *arena)
{
    const char *suffix = role ? arena_printf(arena, "-%s-ports%s", role, TYPES[type].suffix) : TYPES[type].suffix;
    return name_with_suffix(workload_name, suffix, workload_uuid, arena);
}

// The port of a node is the node's alone.
int64_t service_port(enum service_type type, int64_t container, int64_t external)
{
    return external && type != SERVICE_NODE_PORT ? external : container;
}
