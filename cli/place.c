#include "cli/place.h"

#include "base/error.h"
#include "cli/command.h"

static int find_unit(struct cli *cli, const char *kind, const char *name, struct place *out, struct error *err)
{
    const char *filter = arena_printf(&cli->arena, "name==%s", name);
    json_t *answer;
    if (cli_get(cli, &answer, err, "/api/v1/org-unit/%ss?filterBy=%s", kind, client_escape(&cli->client, filter)) < 0)
        return -1;
    const json_t *unit = json_array_get(json_object_get(answer, arena_printf(&cli->arena, "%ss", kind)), 0);
    *out = (struct place){kind, arena_printf(&cli->arena, "%sId", kind),
                          unit ? arena_strdup(&cli->arena, cli_text(unit, "id")) : NULL};
    json_decref(answer);
    return unit ? 0 : error_set(err, ERROR_NOT_FOUND, "no %s was found with the name %s", kind, name);
}

int cli_read_place(struct cli *cli, struct place *out, struct error *err)
{
    const char *project = flag_text(&cli->arguments, "project"), *unit = flag_text(&cli->arguments, "department");
    bool is_cluster = flag_is_set(&cli->arguments, "cluster");
    if ((project != NULL) + (unit != NULL) + is_cluster > 1)
        return error_set(err, ERROR_INVALID, "--project, --department and --cluster: only one of them");
    if (project)
        return find_unit(cli, "project", project, out, err);
    if (unit)
        return find_unit(cli, "department", unit, out, err);
    *out = (struct place){"tenant", NULL, NULL};
    if (!is_cluster)
        return 0;
    json_t *clusters;
    if (cli_get(cli, &clusters, err, "/api/v1/clusters") < 0)
        return -1;
    *out = (struct place){"cluster", "clusterId",
                          arena_strdup(&cli->arena, cli_text(json_array_get(clusters, 0), "uuid"))};
    json_decref(clusters);
    return 0;
}
