// A library with NVML's functions whose devices are lines of the file $PRORATA_FAKE_NVML, read anew at each call:
//
//   gpu UUID MEMORY_MIB [util=PERCENT] [temp=DEGREES] [used=MIB] [minor=N] [lost] [ecc=COUNT] [proc=PID:MIB] ...
//   [mig=PROFILE,PROFILE,...]
//
// `nodriver` in the first line: there is none. `proc=pod:MIB` stands for every process that carries PRORATA_POD and
// sees the device. The device's number is the line's, its node's too unless `minor` says another.
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OK = 0,
    INSUFFICIENT_SIZE = 7,
    NOT_FOUND = 6,
    NO_DRIVER = 9,
    LOST = 15,
    LINE_MAX = 1024,
    PROFILE_MAX = 32,
    INSTANCES_MAX = 7,
    INSTANCE_SHIFT = 8
};

struct memory {
    unsigned long long total, free, used;
};
struct utilization {
    unsigned gpu, memory;
};
struct process {
    unsigned pid;
    unsigned long long memory;
    unsigned gpu_instance, compute_instance;
};

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetName(void *device, char *name, unsigned length);
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length);
int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory);
int nvmlDeviceGetMinorNumber(void *device, unsigned *minor);
int nvmlDeviceGetGpuInstanceId(void *device, unsigned *id);
int nvmlDeviceGetComputeInstanceId(void *device, unsigned *id);
int nvmlDeviceGetUtilizationRates(void *device, struct utilization *utilization);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *processes);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *degrees);
int nvmlDeviceGetTotalEccErrors(void *device, int type, int counter, unsigned long long *count);
int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending);
int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *count);
int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **mig);
const char *nvmlErrorString(int code);

// The line of a device, from 1; false where there are not so many.
static int read_line(size_t number, char line[LINE_MAX])
{
    const char *path = getenv("PRORATA_FAKE_NVML");
    FILE *file = path ? fopen(path, "re") : NULL;
    size_t at = 0;
    while (file && fgets(line, LINE_MAX, file) && ++at < number)
        ;
    int found = file && at == number && number > 0;
    if (file)
        fclose(file);
    line[found ? strcspn(line, "\n") : 0] = '\0';
    return found;
}

static const char *find(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    return at ? at + strlen(key) : NULL;
}

static int is_lost(const char *line)
{
    return strstr(line, " lost") != NULL;
}

int nvmlInit_v2(void)
{
    char line[LINE_MAX];
    return read_line(1, line) && strcmp(line, "nodriver") == 0 ? NO_DRIVER : OK;
}

int nvmlShutdown(void)
{
    return OK;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    char line[LINE_MAX];
    for (*count = 0; read_line(*count + 1, line); (*count)++)
        ;
    return OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = (void *)(size_t)(index + 1);
    return OK;
}

// The handle of an instance is its device's and, eight bits up, its number from 1.
static size_t instance_of(const void *device)
{
    return (size_t)device >> INSTANCE_SHIFT;
}

static void *device_of(const void *device)
{
    return (void *)((size_t)device & ((1 << INSTANCE_SHIFT) - 1));
}

// The profile with the number, from 1; false where there are not so many.
static int find_profile(const char *line, size_t number, char profile[PROFILE_MAX])
{
    const char *at = find(line, "mig=");
    for (; at && *at && *at != ' '; at += at[0] == ',') {
        size_t length = strcspn(at, ", ");
        if (--number == 0) {
            snprintf(profile, PROFILE_MAX, "%.*s", (int)length, at);
            return 1;
        }
        at += length;
    }
    return 0;
}

int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending)
{
    char line[LINE_MAX];
    *current = *pending = read_line((size_t)device, line) && find(line, "mig=");
    return OK;
}

int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *count)
{
    (void)device;
    *count = INSTANCES_MAX;
    return OK;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **mig)
{
    char line[LINE_MAX], profile[PROFILE_MAX];
    *mig = (void *)((size_t)device | (size_t)(index + 1) << INSTANCE_SHIFT);
    return read_line((size_t)device, line) && find_profile(line, index + 1, profile) ? OK : NOT_FOUND;
}

int nvmlDeviceGetName(void *device, char *name, unsigned length)
{
    char line[LINE_MAX], profile[PROFILE_MAX] = "";
    if (instance_of(device) && read_line((size_t)device_of(device), line))
        find_profile(line, instance_of(device), profile);
    snprintf(name, length, "Fake GPU 80 GB%s%s", profile[0] ? " MIG " : "", profile);
    return OK;
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length)
{
    char line[LINE_MAX], text[128] = "";
    if (!read_line((size_t)device_of(device), line) || sscanf(line, "gpu %127s", text) != 1)
        return NOT_FOUND;
    if (instance_of(device))
        snprintf(uuid, length, "MIG-%s-%zu", text, instance_of(device));
    else
        snprintf(uuid, length, "%s", text);
    return OK;
}

int nvmlDeviceGetMinorNumber(void *device, unsigned *minor)
{
    char line[LINE_MAX];
    if (!read_line((size_t)device, line))
        return NOT_FOUND;
    const char *value = find(line, "minor=");
    *minor = value ? (unsigned)strtoul(value, NULL, 10) : (unsigned)(size_t)device - 1;
    return is_lost(line) ? LOST : OK;
}

int nvmlDeviceGetGpuInstanceId(void *device, unsigned *id)
{
    *id = (unsigned)instance_of(device);
    return OK;
}

int nvmlDeviceGetComputeInstanceId(void *device, unsigned *id)
{
    (void)device;
    *id = 0;
    return OK;
}

int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory)
{
    char line[LINE_MAX];
    unsigned long long total_mib = 0;
    if (!read_line((size_t)device, line))
        return NOT_FOUND;
    if (is_lost(line))
        return LOST;
    sscanf(line, "gpu %*s %llu", &total_mib);
    const char *used = find(line, "used=");
    memory->total = total_mib << 20;
    memory->used = used ? strtoull(used, NULL, 10) << 20 : 0;
    memory->free = memory->total - memory->used;
    return OK;
}

int nvmlDeviceGetUtilizationRates(void *device, struct utilization *utilization)
{
    char line[LINE_MAX];
    if (!read_line((size_t)device, line))
        return NOT_FOUND;
    const char *value = find(line, "util=");
    utilization->gpu = value ? (unsigned)strtoul(value, NULL, 10) : 0;
    utilization->memory = 0;
    return is_lost(line) ? LOST : OK;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *degrees)
{
    char line[LINE_MAX];
    (void)sensor;
    if (!read_line((size_t)device, line))
        return NOT_FOUND;
    const char *value = find(line, "temp=");
    *degrees = value ? (unsigned)strtoul(value, NULL, 10) : 0;
    return value ? OK : NOT_FOUND;
}

// Where $PRORATA_FAKE_NVML_PODS names a folder, only the pods that have a folder there are on the devices: other
// servers of the machine may have devices of the same names.
static int is_counted(const char *pod_uuid)
{
    char path[4096];
    const char *folder = getenv("PRORATA_FAKE_NVML_PODS");
    snprintf(path, sizeof(path), "%s/%.40s", folder ? folder : "", pod_uuid);
    return !folder || access(path, F_OK) == 0;
}

// Whether the process belongs to a pod that sees the device.
static int is_pod_with(const char *pid, const char *uuid)
{
    char path[64], text[65536];
    snprintf(path, sizeof(path), "/proc/%.20s/environ", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    int is_pod = 0, sees = 0;
    for (const char *at = text; at < text + length; at += strlen(at) + 1) {
        is_pod |= strncmp(at, "PRORATA_POD=", 12) == 0 && is_counted(at + 12);
        sees |= strncmp(at, "CUDA_VISIBLE_DEVICES=", 21) == 0 && strstr(at, uuid) != NULL;
    }
    return is_pod && sees;
}

static void add(unsigned *count, unsigned size, struct process *processes, unsigned pid, unsigned long long memory)
{
    if (*count < size)
        processes[*count] = (struct process){.pid = pid, .memory = memory};
    (*count)++;
}

static void add_pods(const char *uuid, unsigned long long memory, unsigned *count, unsigned size,
                     struct process *processes)
{
    DIR *folder = opendir("/proc");
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (strspn(entry->d_name, "0123456789") == strlen(entry->d_name) && is_pod_with(entry->d_name, uuid))
            add(count, size, processes, (unsigned)strtoul(entry->d_name, NULL, 10), memory);
    if (folder)
        closedir(folder);
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *processes)
{
    char line[LINE_MAX], uuid[128] = "";
    unsigned size = *count;
    *count = 0;
    if (!read_line((size_t)device, line) || sscanf(line, "gpu %127s", uuid) != 1)
        return NOT_FOUND;
    for (const char *at = line; (at = find(at, "proc="));) {
        const char *colon = strchr(at, ':');
        unsigned long long memory = colon ? strtoull(colon + 1, NULL, 10) << 20 : 0;
        if (strncmp(at, "pod:", 4) == 0)
            add_pods(uuid, memory, count, size, processes);
        else
            add(count, size, processes, (unsigned)strtoul(at, NULL, 10), memory);
    }
    return is_lost(line) ? LOST : *count > size ? INSUFFICIENT_SIZE : OK;
}

int nvmlDeviceGetTotalEccErrors(void *device, int type, int counter, unsigned long long *count)
{
    char line[LINE_MAX];
    (void)type;
    (void)counter;
    if (!read_line((size_t)device, line))
        return NOT_FOUND;
    const char *value = find(line, "ecc=");
    *count = value ? strtoull(value, NULL, 10) : 0;
    return is_lost(line) ? LOST : OK;
}

const char *nvmlErrorString(int code)
{
    return code == LOST        ? "GPU is lost"
           : code == NO_DRIVER ? "Driver Not Loaded"
           : code == OK        ? "Success"
                               : "Not Found";
}
