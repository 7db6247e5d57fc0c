#include "backends/local/nvml.h"

#include "base/arena.h"
#include "base/error.h"

#include <dlfcn.h>

enum {
    NVML_SUCCESS = 0,
    NVML_NO_DRIVER = 9, // NVML_ERROR_DRIVER_NOT_LOADED
    NVML_TEXT_SIZE = 96,
    NVML_DEVICES_MAX = 64
};

typedef struct nvmlDevice *device_handle;

// nvmlMemory_t.
struct nvml_memory {
    unsigned long long total, free, used;
};

struct nvml {
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *count);
    int (*handle)(unsigned index, device_handle *device);
    int (*name)(device_handle device, char *name, unsigned length);
    int (*uuid)(device_handle device, char *uuid, unsigned length);
    int (*memory)(device_handle device, struct nvml_memory *memory);
    const char *(*error_text)(int code);
};

static int load(void *library, struct nvml *nvml, struct error *err)
{
    // The functions are stored by way of their address: ISO C has no cast from an object's pointer to a function's.
    const struct {
        const char *name;
        void *slot;
    } symbols[] = {
        {"nvmlInit_v2", &nvml->init},
        {"nvmlShutdown", &nvml->shutdown},
        {"nvmlDeviceGetCount_v2", &nvml->count},
        {"nvmlDeviceGetHandleByIndex_v2", &nvml->handle},
        {"nvmlDeviceGetName", &nvml->name},
        {"nvmlDeviceGetUUID", &nvml->uuid},
        {"nvmlDeviceGetMemoryInfo", &nvml->memory},
        {"nvmlErrorString", &nvml->error_text},
    };
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        void *function = dlsym(library, symbols[i].name);
        if (!function)
            return error_set(err, ERROR_UNAVAILABLE, "NVML has no %s", symbols[i].name);
        *(void **)symbols[i].slot = function;
    }
    return 0;
}

static int fail(const struct nvml *nvml, const char *what, int code, struct error *err)
{
    return error_set(err, ERROR_UNAVAILABLE, "NVML: %s: %s", what, nvml->error_text(code));
}

static int read_gpu(const struct nvml *nvml, unsigned index, struct arena *arena, struct nvml_gpu *out,
                    struct error *err)
{
    device_handle device;
    char name[NVML_TEXT_SIZE] = "", uuid[NVML_TEXT_SIZE] = "";
    struct nvml_memory memory = {0};
    int code = nvml->handle(index, &device);
    if (code == NVML_SUCCESS)
        code = nvml->name(device, name, sizeof(name));
    if (code == NVML_SUCCESS)
        code = nvml->uuid(device, uuid, sizeof(uuid));
    if (code == NVML_SUCCESS)
        code = nvml->memory(device, &memory);
    if (code != NVML_SUCCESS)
        return fail(nvml, arena_printf(arena, "device %u", index), code, err);
    *out = (struct nvml_gpu){.uuid = arena_strdup(arena, uuid),
                             .name = arena_strdup(arena, name),
                             .memory_mib = (int64_t)(memory.total >> 20)};
    return 0;
}

static int list(const struct nvml *nvml, struct arena *arena, struct nvml_gpu **out_gpus, size_t *out_count,
                struct error *err)
{
    unsigned count = 0;
    int code = nvml->count(&count);
    if (code != NVML_SUCCESS)
        return fail(nvml, "devices", code, err);
    if (count > NVML_DEVICES_MAX)
        return error_set(err, ERROR_UNAVAILABLE, "NVML: %u devices, at most %d are taken", count, NVML_DEVICES_MAX);
    *out_gpus = arena_array(arena, count, sizeof(**out_gpus));
    for (unsigned i = 0; i < count; i++)
        if (read_gpu(nvml, i, arena, &(*out_gpus)[i], err) < 0)
            return -1;
    *out_count = count;
    return 0;
}

int nvml_list(const char *name, struct arena *arena, struct nvml_gpu **out_gpus, size_t *out_count, struct error *err)
{
    struct nvml nvml;
    *out_gpus = NULL;
    *out_count = 0;
    void *library = dlopen(name ? name : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library && !name)
        return 0;
    if (!library)
        return error_set(err, ERROR_UNAVAILABLE, "%s", dlerror());
    int rc = load(library, &nvml, err);
    int code = rc < 0 ? NVML_SUCCESS : nvml.init();
    if (code == NVML_NO_DRIVER) {
        dlclose(library);
        return 0;
    }
    if (code != NVML_SUCCESS)
        rc = fail(&nvml, "start", code, err);
    if (rc == 0) {
        rc = list(&nvml, arena, out_gpus, out_count, err);
        (void)nvml.shutdown();
    }
    dlclose(library);
    return rc;
}
