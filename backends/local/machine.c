#include "backends/local/machine.h"

#include "backends/local/devices/nvml.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

enum {
    HOST_NAME_MAX_LENGTH = 253,
    PRETENDED_MEMORY_MIB = 81920
};

static void pretend_gpus(int64_t count, struct arena *arena, struct machine *machine)
{
    const char **names = arena_array(arena, (size_t)count, sizeof(*names));
    for (int64_t i = 0; i < count; i++)
        names[i] = arena_printf(arena, "%" PRId64, i);
    machine->gpus = names;
    machine->gpu_count = (size_t)count;
    machine->gpu_type = count ? "Pretended-GPU" : "";
    machine->gpu_memory_mib = count ? PRETENDED_MEMORY_MIB : 0;
    machine->has_pretended_gpus = count > 0;
}

// Labels hold no blanks: as NVIDIA's device plugin writes the type.
static const char *type_of(const char *name, struct arena *arena)
{
    char *type = arena_strdup(arena, name);
    for (char *at = type; *at; at++)
        if (*at == ' ')
            *at = '-';
    return type;
}

// A device that does not answer keeps its place, and the watch finds it unhealthy.
static void look_at_gpus(struct arena *arena, struct machine *machine)
{
    size_t count = nvml_count(machine->nvml);
    const char **names = arena_array(arena, count, sizeof(*names));
    machine->gpu_type = "";
    for (size_t i = 0; i < count; i++) {
        struct nvml_gpu gpu;
        struct error err = {0};
        if (nvml_describe(machine->nvml, i, arena, &gpu, &err) < 0) {
            log_write(LOG_WARN, "backends", "GPU %zu does not answer: %s", i, err.message);
            names[i] = arena_printf(arena, "lost-%zu", i);
            continue;
        }
        names[i] = gpu.uuid;
        if (!machine->gpu_type[0])
            machine->gpu_type = type_of(gpu.name, arena);
        if (!machine->gpu_memory_mib || gpu.memory_mib < machine->gpu_memory_mib) // a node states what every device has
            machine->gpu_memory_mib = gpu.memory_mib;
    }
    machine->gpus = names;
    machine->gpu_count = count;
}

static void look_at_instances(struct arena *arena, struct machine *machine)
{
    size_t count = nvml_mig_count(machine->nvml);
    struct mig_instance *instances = arena_array(arena, count, sizeof(*instances));
    for (size_t i = 0; i < count; i++) {
        struct nvml_mig mig = nvml_mig(machine->nvml, i);
        instances[i].uuid = arena_strdup(arena, mig.uuid);
        instances[i].resource = arena_printf(arena, "nvidia.com/mig-%s", mig.profile);
    }
    machine->mig = instances;
    machine->mig_count = count;
    machine->mig_json = mig_count_json(instances, count, arena);
}

int machine_look(const struct machine_wishes *wishes, struct arena *arena, struct machine *out_machine,
                 struct error *err)
{
    char name[HOST_NAME_MAX_LENGTH + 1] = "";
    struct sysinfo info;
    cpu_set_t cpus;
    *out_machine = (struct machine){.mig_json = "{}"};
    if (gethostname(name, sizeof(name) - 1) < 0 || sysinfo(&info) < 0)
        return error_set(err, ERROR_INTERNAL, "this machine cannot be looked at: %s", strerror(errno));
    long cores = sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : sysconf(_SC_NPROCESSORS_ONLN);
    out_machine->name = arena_strdup(arena, name[0] ? name : "localhost");
    out_machine->cpu_milli = cores * 1000 - wishes->reserved_cpu_milli;
    out_machine->memory_bytes = (int64_t)(info.totalram * info.mem_unit) - wishes->reserved_memory_bytes;
    if (out_machine->cpu_milli <= 0 || out_machine->memory_bytes <= 0)
        return error_set(err, ERROR_INVALID, "the reserve leaves nothing of %ld cores and %" PRIu64 " bytes", cores,
                         (uint64_t)info.totalram * info.mem_unit);
    if (wishes->pretended_gpus >= 0) {
        pretend_gpus(wishes->pretended_gpus, arena, out_machine);
        return 0;
    }
    if (nvml_open(wishes->nvml, &out_machine->nvml, err) < 0)
        return -1;
    look_at_gpus(arena, out_machine);
    look_at_instances(arena, out_machine);
    return 0;
}
