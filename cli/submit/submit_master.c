// The master of a distributed workload, by flags of its own.
#include "cli/command.h"
#include "cli/submit/submit.h"

#include <string.h>

static const char *const OF_PARTS[] = {"gpuRequestType", "gpuPortionRequest", "gpuPortionLimit", "gpuMemoryRequest",
                                       "gpuMemoryLimit"};

static bool has_master_flags(const struct cli *cli)
{
    static const char *const LISTS[] = {"master-gpu-devices-request", "master-extended-resource",
                                        "master-environment-variable"};
    bool is_any = false;
    for (size_t i = 0; i < sizeof(LISTS) / sizeof(LISTS[0]); i++)
        is_any |= flag_is_set(&cli->arguments, LISTS[i]);
    for (const struct spec_field *field = MASTER_FIELDS; field->flag; field++)
        is_any |= flag_is_set(&cli->arguments, field->flag);
    return is_any;
}

// Besides those of the workers; one of the same name takes its place.
static int add_master_variables(struct cli *cli, json_t *master, struct error *err)
{
    const struct flag_value *given = flag_values(&cli->arguments, "master-environment-variable");
    for (size_t i = 0; given && i < given->count; i++) {
        json_t *item = submit_named_item("master-environment-variable", given->texts[i], err), *other;
        json_t *list = json_object_get(master, "environmentVariables");
        size_t at;
        if (!item)
            return -1;
        json_array_foreach(list, at, other)
            if (strcmp(cli_text(other, "name"), cli_text(item, "name")) == 0)
                json_array_remove(list, at--);
        submit_append_to(master, "environmentVariables", item);
    }
    return 0;
}

int submit_add_master(struct cli *cli, json_t *body, const json_t *spec, struct error *err)
{
    bool has_flags = has_master_flags(cli);
    if (!has_flags && flag_is_set(&cli->arguments, "template"))
        return 0; // as the template has it
    if (!has_flags) {
        json_object_set_new(body, "masterSpecSameAsWorker", json_true());
        return 0;
    }
    json_t *master = json_deep_copy(spec);
    static const char *const WORKERS_ONLY[] = {"numWorkers",  "distributedFramework", "minReplicas",
                                               "maxReplicas", "slotsPerWorker",       "cleanPodPolicy",
                                               "subGroups",   "minSubGroups",         "topology"};
    for (size_t i = 0; i < sizeof(WORKERS_ONLY) / sizeof(WORKERS_ONLY[0]); i++)
        json_object_del(master, WORKERS_ONLY[i]);
    json_object_set_new(body, "masterSpecSameAsWorker", json_false());
    json_object_set_new(body, "masterSpec", master);
    if (flag_is_set(&cli->arguments, "master-gpu-devices-request")) // not the workers' part of a device
        for (size_t i = 0; i < sizeof(OF_PARTS) / sizeof(OF_PARTS[0]); i++)
            json_object_del(json_object_get(master, "compute"), OF_PARTS[i]);
    if (flag_is_set(&cli->arguments, "master-extended-resource"))
        json_object_del(json_object_get(master, "compute"), "extendedResources");
    submit_take_resources(cli, "master-extended-resource", master);
    if (submit_take_gpus(cli, "master-gpu-devices-request", master, err) < 0 ||
        submit_take_fields(cli, MASTER_FIELDS, master, err) < 0)
        return -1;
    submit_name_request_type(master);
    return add_master_variables(cli, master, err);
}
