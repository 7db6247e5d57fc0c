#include "backends/local/devices/nvml.h"

#include "base/arena.h"
#include "base/error.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What NVML's header (nvml.h of CUDA 12) says; only what is used here.
enum {
    NVML_SUCCESS = 0,
    NVML_NOT_SUPPORTED = 3,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_NO_DRIVER = 9,
    NVML_UNCORRECTED = 1,     // nvmlMemoryErrorType_t
    NVML_TEMPERATURE_GPU = 0, // nvmlTemperatureSensors_t
    NVML_VOLATILE = 0         // nvmlEccCounterType_t: since the driver was loaded
};

enum {
    PROCESSES_TRIES = 3
};

typedef struct nvmlDevice *device_handle;

struct nvml_memory {
    unsigned long long total, free, used;
};

struct nvml_utilization {
    unsigned gpu, memory;
};

// nvmlProcessInfo_t of the functions that end in _v3.
struct nvml_process_info {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};

struct nvml {
    void *library;
    unsigned count;
    device_handle devices[NVML_DEVICES_MAX];
    int minors[NVML_DEVICES_MAX];
    unsigned mig_count;
    struct nvml_mig migs[NVML_MIG_MAX];
    int (*init)(void);
    int (*shutdown)(void);
    int (*get_count)(unsigned *count);
    int (*get_handle)(unsigned index, device_handle *device);
    int (*get_name)(device_handle device, char *name, unsigned length);
    int (*get_uuid)(device_handle device, char *uuid, unsigned length);
    int (*get_memory)(device_handle device, struct nvml_memory *memory);
    int (*get_utilization)(device_handle device, struct nvml_utilization *utilization);
    int (*get_processes)(device_handle device, unsigned *count, struct nvml_process_info *infos);
    int (*get_ecc_errors)(device_handle device, int type, int counter, unsigned long long *count);
    const char *(*get_error_text)(int code);
    int (*get_temperature)(device_handle device, int sensor, unsigned *degrees); // NULL: the driver tells none
    int (*get_minor)(device_handle device, unsigned *minor);                     // NULL: likewise
    // NULL where the driver is older than MIG.
    int (*get_mig_mode)(device_handle device, unsigned *current, unsigned *pending);
    int (*get_mig_max)(device_handle device, unsigned *count);
    int (*get_mig_handle)(device_handle device, unsigned index, device_handle *mig);
    int (*get_gpu_instance)(device_handle mig, unsigned *id);
    int (*get_compute_instance)(device_handle mig, unsigned *id);
};

static int load(struct nvml *nvml, struct error *err)
{
    // Stored through their address: ISO C has no cast from an object's pointer to a function's.
    const struct {
        const char *name;
        void *slot;
    } symbols[] = {
        {"nvmlInit_v2", &nvml->init},
        {"nvmlShutdown", &nvml->shutdown},
        {"nvmlDeviceGetCount_v2", &nvml->get_count},
        {"nvmlDeviceGetHandleByIndex_v2", &nvml->get_handle},
        {"nvmlDeviceGetName", &nvml->get_name},
        {"nvmlDeviceGetUUID", &nvml->get_uuid},
        {"nvmlDeviceGetMemoryInfo", &nvml->get_memory},
        {"nvmlDeviceGetUtilizationRates", &nvml->get_utilization},
        {"nvmlDeviceGetComputeRunningProcesses_v3", &nvml->get_processes},
        {"nvmlDeviceGetTotalEccErrors", &nvml->get_ecc_errors},
        {"nvmlErrorString", &nvml->get_error_text},
    };
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        void *function = dlsym(nvml->library, symbols[i].name);
        if (!function)
            return error_set(err, ERROR_UNAVAILABLE, "NVML has no %s", symbols[i].name);
        *(void **)symbols[i].slot = function;
    }
    *(void **)&nvml->get_temperature = dlsym(nvml->library, "nvmlDeviceGetTemperature");
    *(void **)&nvml->get_minor = dlsym(nvml->library, "nvmlDeviceGetMinorNumber");
    *(void **)&nvml->get_gpu_instance = dlsym(nvml->library, "nvmlDeviceGetGpuInstanceId");
    *(void **)&nvml->get_compute_instance = dlsym(nvml->library, "nvmlDeviceGetComputeInstanceId");
    *(void **)&nvml->get_mig_mode = dlsym(nvml->library, "nvmlDeviceGetMigMode");
    *(void **)&nvml->get_mig_max = dlsym(nvml->library, "nvmlDeviceGetMaxMigDeviceCount");
    *(void **)&nvml->get_mig_handle = dlsym(nvml->library, "nvmlDeviceGetMigDeviceHandleByIndex");
    return 0;
}

static int fail(const struct nvml *nvml, const char *what, int code, struct error *err)
{
    return error_set(err, ERROR_UNAVAILABLE, "NVML: %s: %s", what, nvml->get_error_text(code));
}

static bool is_divided(const struct nvml *nvml, device_handle device)
{
    unsigned current = 0, pending = 0;
    return nvml->get_mig_mode && nvml->get_mig_max && nvml->get_mig_handle &&
           nvml->get_mig_mode(device, &current, &pending) == NVML_SUCCESS && current == 1;
}

static int number_of(int (*get)(device_handle device, unsigned *number), device_handle device)
{
    unsigned number = 0;
    return get && device && get(device, &number) == NVML_SUCCESS ? (int)number : -1;
}

// An instance's profile is the end of its name: NVIDIA H100 80GB HBM3 MIG 1g.10gb.
static void find_instances(struct nvml *nvml, device_handle device)
{
    static const char MARK[] = " MIG ";
    unsigned count = 0;
    (void)nvml->get_mig_max(device, &count);
    for (unsigned i = 0; i < count && nvml->mig_count < NVML_MIG_MAX; i++) {
        device_handle instance;
        char name[NVML_TEXT_SIZE] = "";
        struct nvml_mig *mig = &nvml->migs[nvml->mig_count];
        if (nvml->get_mig_handle(device, i, &instance) != NVML_SUCCESS ||
            nvml->get_uuid(instance, mig->uuid, sizeof(mig->uuid)) != NVML_SUCCESS ||
            nvml->get_name(instance, name, sizeof(name)) != NVML_SUCCESS)
            continue; // numbers of instances have gaps
        const char *profile = strstr(name, MARK);
        if (!profile)
            continue;
        snprintf(mig->profile, sizeof(mig->profile), "%s", profile + strlen(MARK));
        mig->gpu_minor = number_of(nvml->get_minor, device);
        mig->gpu_instance = number_of(nvml->get_gpu_instance, instance);
        mig->compute_instance = number_of(nvml->get_compute_instance, instance);
        nvml->mig_count++;
    }
}

static void add_device(struct nvml *nvml, device_handle device)
{
    nvml->minors[nvml->count] = number_of(nvml->get_minor, device);
    nvml->devices[nvml->count++] = device;
}

static int find_devices(struct nvml *nvml, struct error *err)
{
    unsigned count = 0;
    int code = nvml->get_count(&count);
    if (code != NVML_SUCCESS)
        return fail(nvml, "devices", code, err);
    if (count > NVML_DEVICES_MAX)
        return error_set(err, ERROR_UNAVAILABLE, "NVML: %u devices, at most %d are taken", count, NVML_DEVICES_MAX);
    for (unsigned i = 0; i < count; i++) {
        device_handle device = NULL;
        if (nvml->get_handle(i, &device) != NVML_SUCCESS)
            device = NULL; // fallen off the bus; the numbers of the others stay
        if (device && is_divided(nvml, device))
            find_instances(nvml, device);
        else
            add_device(nvml, device);
    }
    return 0;
}

int nvml_open(const char *name, struct nvml **out_nvml, struct error *err)
{
    *out_nvml = NULL;
    void *library = dlopen(name ? name : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return name ? error_set(err, ERROR_UNAVAILABLE, "%s", dlerror()) : 0;
    struct nvml *nvml = memory_array(1, sizeof(*nvml));
    nvml->library = library;
    int rc = load(nvml, err);
    int code = rc < 0 ? NVML_SUCCESS : nvml->init();
    if (rc == 0 && code == NVML_SUCCESS) {
        *out_nvml = nvml;
        if (find_devices(nvml, err) == 0)
            return 0;
        nvml_close(nvml);
        *out_nvml = NULL;
        return -1;
    }
    if (code != NVML_SUCCESS && code != NVML_NO_DRIVER)
        rc = fail(nvml, "start", code, err);
    dlclose(library);
    free(nvml);
    return rc;
}

void nvml_close(struct nvml *nvml)
{
    if (!nvml)
        return;
    (void)nvml->shutdown();
    dlclose(nvml->library);
    free(nvml);
}

size_t nvml_count(const struct nvml *nvml)
{
    return nvml ? nvml->count : 0;
}

size_t nvml_mig_count(const struct nvml *nvml)
{
    return nvml ? nvml->mig_count : 0;
}

struct nvml_mig nvml_mig(const struct nvml *nvml, size_t index)
{
    return nvml->migs[index];
}

int nvml_minor(const struct nvml *nvml, size_t index)
{
    return nvml->minors[index];
}

int nvml_describe(const struct nvml *nvml, size_t index, struct arena *arena, struct nvml_gpu *out_gpu,
                  struct error *err)
{
    char name[NVML_TEXT_SIZE] = "", uuid[NVML_TEXT_SIZE] = "";
    struct nvml_memory memory = {0};
    device_handle device = nvml->devices[index];
    int code = nvml->get_name(device, name, sizeof(name));
    if (code == NVML_SUCCESS)
        code = nvml->get_uuid(device, uuid, sizeof(uuid));
    if (code == NVML_SUCCESS)
        code = nvml->get_memory(device, &memory);
    if (code != NVML_SUCCESS)
        return fail(nvml, arena_printf(arena, "device %zu", index), code, err);
    *out_gpu = (struct nvml_gpu){.uuid = arena_strdup(arena, uuid),
                                 .name = arena_strdup(arena, name),
                                 .memory_mib = (int64_t)(memory.total >> 20)};
    return 0;
}

// True where the code says that the device is well, or cannot tell.
static bool note_code(const struct nvml *nvml, int code, struct nvml_sample *sample)
{
    if (code == NVML_SUCCESS || code == NVML_NOT_SUPPORTED)
        return true;
    sample->is_healthy = false;
    snprintf(sample->reason, sizeof(sample->reason), "%s", nvml->get_error_text(code));
    return false;
}

// Who starts more than are looked at must not hide them all.
static void look_at_processes(const struct nvml *nvml, device_handle device, struct nvml_sample *sample)
{
    struct nvml_process_info *infos = NULL;
    unsigned count = NVML_PROCESSES_MAX;
    int code = NVML_INSUFFICIENT_SIZE;
    for (int i = 0; i < PROCESSES_TRIES && code == NVML_INSUFFICIENT_SIZE; i++) {
        count += NVML_PROCESSES_MAX; // some may have come meanwhile
        infos = memory_realloc(infos, count * sizeof(*infos));
        code = nvml->get_processes(device, &count, infos);
    }
    count = code == NVML_SUCCESS ? count : 0;
    sample->tells_processes = code == NVML_SUCCESS;
    for (unsigned i = 0; i < count && i < NVML_PROCESSES_MAX; i++) {
        bool is_told = infos[i].memory != ~0ULL;
        int64_t memory_mib = is_told ? (int64_t)(infos[i].memory >> 20) : 0;
        sample->tells_processes &= is_told;
        sample->processes[sample->process_count++] =
            (struct nvml_process){.pid = (pid_t)infos[i].pid, .memory_mib = memory_mib};
    }
    free(infos);
}

void nvml_look(const struct nvml *nvml, size_t index, struct nvml_sample *out_sample)
{
    device_handle device = nvml->devices[index];
    struct nvml_memory memory = {0};
    struct nvml_utilization utilization = {0};
    unsigned long long errors = 0;
    *out_sample = (struct nvml_sample){.is_healthy = true, .utilization = -1, .memory_used_mib = -1, .temperature = -1};
    unsigned degrees;
    int code = nvml->get_memory(device, &memory);
    if (!note_code(nvml, code, out_sample))
        return;
    if (code == NVML_SUCCESS) { // some devices have no memory of their own
        out_sample->memory_used_mib = (int64_t)(memory.used >> 20);
        out_sample->memory_mib = (int64_t)(memory.total >> 20);
    }
    if (nvml->get_temperature && nvml->get_temperature(device, NVML_TEMPERATURE_GPU, &degrees) == NVML_SUCCESS)
        out_sample->temperature = (int)degrees;
    code = nvml->get_utilization(device, &utilization);
    if (!note_code(nvml, code, out_sample))
        return;
    if (code == NVML_SUCCESS)
        out_sample->utilization = (int)utilization.gpu;
    if (!note_code(nvml, nvml->get_ecc_errors(device, NVML_UNCORRECTED, NVML_VOLATILE, &errors), out_sample))
        return;
    if (errors > 0) {
        out_sample->is_healthy = false;
        snprintf(out_sample->reason, sizeof(out_sample->reason), "%llu memory errors that could not be corrected",
                 errors);
    }
    look_at_processes(nvml, device, out_sample);
}
