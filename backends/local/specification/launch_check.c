// What no pod on this machine could be given, told when the workload is submitted.
#include "backends/local/specification/honours.h"
#include "backends/local/specification/launch.h"
#include "backends/local/specification/their_variables.h"
#include "base/arena.h"
#include "base/error.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static int check_user(const json_t *security, const struct local_user *user, const char *project, struct error *err)
{
    const json_t *id = json_object_get(security, "runAsUid"), *group = json_object_get(security, "runAsGid");
    if (json_is_integer(id) && json_integer_value(id) == 0)
        return error_set(err, ERROR_INVALID, "spec.security.runAsUid: pods never run as root");
    if (json_is_integer(id) && json_integer_value(id) != (json_int_t)user->id)
        return error_set(err, ERROR_INVALID,
                         "spec.security.runAsUid: pods of project %s run as %s (%u) on this machine", project,
                         user->name, (unsigned)user->id);
    if (!json_is_integer(group))
        return 0;
    for (int i = 0; i < user->group_count; i++)
        if (json_integer_value(group) == (json_int_t)user->groups[i])
            return 0;
    return error_set(err, ERROR_INVALID, "spec.security.runAsGid: %s is not in group %" PRId64, user->name,
                     (int64_t)json_integer_value(group));
}

static int check_groups(const json_t *security, const struct local_user *user, struct error *err)
{
    const char *text = json_string_value(json_object_get(security, "supplementalGroups"));
    for (char *end; text && *text; text = end + strspn(end, ", ")) {
        bool has_it = false;
        unsigned long group = strtoul(text, &end, 10);
        for (int i = 0; i < user->group_count; i++)
            has_it = has_it || user->groups[i] == (gid_t)group;
        if (end == text || !has_it)
            return error_set(err, ERROR_INVALID, "spec.security.supplementalGroups: %s is not in group %.20s",
                             user->name, text);
    }
    return 0;
}

// Instances of divided GPUs are all that a machine has of the kind.
static int check_resources(const json_t *compute, struct error *err)
{
    const json_t *item;
    size_t i;
    json_array_foreach(json_object_get(compute, "extendedResources"), i, item) {
        const char *resource = json_string_value(json_object_get(item, "resource"));
        if (resource && strncmp(resource, "nvidia.com/mig-", 15) != 0 &&
            !json_is_true(json_object_get(item, "exclude")))
            return error_set(err, ERROR_INVALID,
                             "spec.compute.extendedResources[%zu].resource: this machine has no %.80s", i, resource);
    }
    return 0;
}

static int check_variables(const json_t *spec, struct error *err)
{
    const json_t *variable;
    size_t i;
    json_array_foreach(json_object_get(spec, "environmentVariables"), i, variable) {
        const char *path = json_string_value(json_object_get(json_object_get(variable, "podFieldRef"), "path"));
        if (path && !their_variables_field(path))
            return error_set(err, ERROR_INVALID,
                             "spec.environmentVariables[%zu].podFieldRef: %.80s: not known on this "
                             "machine",
                             i, path);
    }
    return 0;
}

int launch_check(const struct local_options *options, const struct backend_pod *pod, struct error *err)
{
    struct arena arena;
    json_t *spec = json_loads(pod->spec_json, 0, NULL);
    const json_t *security = json_object_get(spec, "security");
    int rc = honours_check(spec, err);
    if (rc == 0)
        rc = check_resources(json_object_get(spec, "compute"), err);
    if (rc == 0)
        rc = check_variables(spec, err);
    if (rc == 0)
        rc = volumes_check(spec, err);
    arena_init(&arena);
    if (rc == 0 && json_is_object(security)) {
        struct local_user user;
        struct user_claim claim = {pod->project_name, pod->project_number, pod->submitted_by, pod->machine_user};
        rc = users_find(&options->users, &claim, true, &arena, &user, err);
        if (rc == 0)
            rc = check_user(security, &user, pod->project_name, err);
        if (rc == 0)
            rc = check_groups(security, &user, err);
    }
    arena_done(&arena);
    json_decref(spec);
    return rc;
}
