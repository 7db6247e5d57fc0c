#include "api/workloads/submission_topologies.h"

#include "base/arena.h"
#include "base/error.h"
#include "db/topologies.h"
#include "model/names.h"
#include "model/submission.h"

#include <jansson.h>
#include <string.h>

static int check_level(const json_t *levels, const char *level, const char *member, const struct topology_wish *wish,
                       const char *path, struct arena *arena, struct error *err)
{
    if (!level)
        return 0;
    size_t count = json_array_size(levels);
    const char **names = arena_array(arena, count, sizeof(*names));
    for (size_t i = 0; i < count; i++) {
        names[i] = json_string_value(json_array_get(levels, i));
        if (strcmp(names[i], level) == 0)
            return 0;
    }
    return error_set(err, ERROR_INVALID, "%s.%s: expected a level of %s (%s), got %.60s", path, member, wish->name,
                     names_few(arena, names, count), level);
}

static int check_wish(struct db_conn *conn, int64_t cluster_id, const struct topology_wish *wish, const char *path,
                      struct arena *arena, struct error *err)
{
    const char *levels_json = NULL;
    if (!wish->name)
        return 0;
    int rc = db_find_topology_levels(conn, cluster_id, wish->name, arena, &levels_json, err);
    if (rc < 0)
        return -1;
    if (rc == 0)
        return error_set(err, ERROR_INVALID, "%s.name: the cluster has no network topology %.60s", path, wish->name);
    json_t *levels = json_loads(levels_json, 0, NULL);
    rc = check_level(levels, wish->required, "required", wish, path, arena, err) < 0 ||
                 check_level(levels, wish->preferred, "preferred", wish, path, arena, err) < 0
             ? -1
             : 0;
    json_decref(levels);
    return rc;
}

int submission_topologies_check(struct db_conn *conn, int64_t cluster_id, const struct workload_spec *spec,
                                struct arena *arena, struct error *err)
{
    const struct sub_groups *groups = &spec->sub_groups;
    if (check_wish(conn, cluster_id, &groups->topology, "spec.topology", arena, err) < 0)
        return -1;
    for (size_t i = 0; i < groups->count; i++)
        if (check_wish(conn, cluster_id, &groups->groups[i].topology,
                       arena_printf(arena, "spec.subGroups[%zu].topology", i), arena, err) < 0)
            return -1;
    return 0;
}
