#include "backends/kubernetes/metrics/kube_dcgm.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LABELS_MAX = 32,
    NUMBER_MAX = 64,
    INDEX_MAX = 4096
};

// A part of the page.
struct part {
    const char *at;
    size_t length;
};

struct label {
    struct part name, value; // the value as it stands, with its backslashes
};

struct line {
    struct part name;
    struct label labels[LABELS_MAX];
    size_t label_count;
    double value;
};

static bool is_text(struct part part, const char *text)
{
    return part.length == strlen(text) && memcmp(part.at, text, part.length) == 0;
}

static struct part cut(const char *from, const char *to)
{
    return (struct part){from, (size_t)(to - from)};
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

// Behind the closing brace; NULL: the labels cannot be read. at stands behind the opening one.
static const char *read_labels(const char *at, const char *end, struct line *line)
{
    for (;;) {
        at = skip_blanks(at, end);
        if (at < end && *at == '}')
            return at + 1;
        const char *name = at;
        while (at < end && *at != '=' && *at != '}')
            at++;
        if (end - at < 2 || at[0] != '=' || at[1] != '"')
            return NULL;
        struct label label = {.name = cut(name, at)};
        const char *value = at += 2;
        for (; at < end && *at != '"'; at++)
            at += *at == '\\' && at + 1 < end;
        if (at >= end)
            return NULL;
        label.value = cut(value, at++);
        if (line->label_count < LABELS_MAX)
            line->labels[line->label_count++] = label;
        at = skip_blanks(at, end);
        at += at < end && *at == ',';
    }
}

static bool read_line(const char *at, const char *end, struct line *line)
{
    char number[NUMBER_MAX];
    *line = (struct line){.name = {at, 0}};
    while (at < end && *at != '{' && *at != ' ')
        at++;
    line->name = cut(line->name.at, at);
    if (at < end && *at == '{')
        at = read_labels(at + 1, end, line);
    if (!at)
        return false;
    at = skip_blanks(at, end);
    size_t length = (size_t)(end - at) < sizeof(number) - 1 ? (size_t)(end - at) : sizeof(number) - 1;
    memcpy(number, at, length);
    number[length] = '\0';
    char *rest;
    line->value = strtod(number, &rest);
    return rest != number && isfinite(line->value);
}

// The first of these labels that says something; "" where none does. Backslashes are taken out.
static const char *label_of(const struct line *line, const char *const *names, struct arena *arena)
{
    for (; *names; names++)
        for (size_t i = 0; i < line->label_count; i++) {
            struct part value = line->labels[i].value;
            if (!is_text(line->labels[i].name, *names) || value.length == 0)
                continue;
            char *text = arena_alloc(arena, value.length + 1), *to = text;
            for (size_t k = 0; k < value.length; k++) {
                k += value.at[k] == '\\' && k + 1 < value.length;
                *to++ = value.at[k];
            }
            return text;
        }
    return "";
}

// What Prometheus has scraped carries the exporter's own pod in the plain labels: the device's are exported_...
static const char *const UUID_LABELS[] = {"UUID", "uuid", NULL}, *const INSTANCE_LABELS[] = {"GPU_I_ID", NULL},
                         *const INDEX_LABELS[] = {"gpu", NULL}, *const MODEL_LABELS[] = {"modelName", NULL},
                         *const NODE_LABELS[] = {"Hostname", "hostname", NULL},
                         *const POD_LABELS[] = {"exported_pod", "pod", "pod_name", NULL},
                         *const NAMESPACE_LABELS[] = {"exported_namespace", "namespace", "pod_namespace", NULL};

enum field {
    FIELD_UTILIZATION,
    FIELD_ACTIVITY, // the same as a share of 1; counts more
    FIELD_USED,
    FIELD_FREE,
    FIELD_TEMPERATURE,
    FIELD_XID,
    FIELD_COUNT
};

static const char *const FIELDS[FIELD_COUNT] = {
    [FIELD_UTILIZATION] = "DCGM_FI_DEV_GPU_UTIL", [FIELD_ACTIVITY] = "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
    [FIELD_USED] = "DCGM_FI_DEV_FB_USED",         [FIELD_FREE] = "DCGM_FI_DEV_FB_FREE",
    [FIELD_TEMPERATURE] = "DCGM_FI_DEV_GPU_TEMP", [FIELD_XID] = "DCGM_FI_DEV_XID_ERRORS",
};

// A device as it is collected.
struct found {
    struct kube_dcgm_device device;
    bool has_activity;
    int64_t free_mib;
};

struct page {
    struct arena *arena;
    struct found *items;
    size_t count, capacity;
};

static struct found *find_device(struct page *page, const struct line *line)
{
    const char *uuid = label_of(line, UUID_LABELS, page->arena),
               *instance = label_of(line, INSTANCE_LABELS, page->arena);
    if (!*uuid)
        return NULL;
    for (size_t i = page->count; i > 0; i--) // lines of one field go through all devices
        if (strcmp(page->items[i - 1].device.uuid, uuid) == 0 &&
            strcmp(page->items[i - 1].device.instance, instance) == 0)
            return &page->items[i - 1];
    if (page->count == KUBE_DCGM_DEVICES_MAX)
        return NULL;
    const char *index = label_of(line, INDEX_LABELS, page->arena);
    long number = *index ? strtol(index, NULL, 10) : -1;
    page->items = arena_grow(page->arena, page->items, &page->capacity, page->count + 1, sizeof(*page->items));
    struct found *found = &page->items[page->count++];
    *found = (struct found){.free_mib = -1,
                            .device = {.uuid = uuid,
                                       .instance = instance,
                                       .index = number >= 0 && number < INDEX_MAX ? (int)number : -1,
                                       .model = label_of(line, MODEL_LABELS, page->arena),
                                       .node = label_of(line, NODE_LABELS, page->arena),
                                       .namespace = "",
                                       .pod = "",
                                       .utilization = -1,
                                       .memory_used_mib = -1,
                                       .memory_mib = -1,
                                       .temperature = -1}};
    return found;
}

static double within(double value, double least, double most)
{
    return value < least ? least : value > most ? most : value;
}

static void take_value(struct found *found, enum field field, double value)
{
    struct kube_dcgm_device *device = &found->device;
    switch (field) {
    case FIELD_UTILIZATION:
        if (!found->has_activity)
            device->utilization = within(value, 0, 100);
        break;
    case FIELD_ACTIVITY:
        found->has_activity = true;
        device->utilization = within(value, 0, 1) * 100;
        break;
    case FIELD_USED:
        device->memory_used_mib = (int64_t)within(value, 0, 1e9);
        break;
    case FIELD_FREE:
        found->free_mib = (int64_t)within(value, 0, 1e9);
        break;
    case FIELD_TEMPERATURE:
        device->temperature = (int)within(value, 0, 1000);
        break;
    case FIELD_XID:
        device->xid = (int64_t)within(value, 0, 1e6);
        break;
    case FIELD_COUNT:
        break;
    }
    if (device->memory_used_mib >= 0 && found->free_mib >= 0)
        device->memory_mib = device->memory_used_mib + found->free_mib;
}

static void take_line(struct page *page, const struct line *line)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (!is_text(line->name, FIELDS[i]))
            continue;
        struct found *found = find_device(page, line);
        if (!found)
            return;
        if (!*found->device.pod) {
            found->device.pod = label_of(line, POD_LABELS, page->arena);
            found->device.namespace = label_of(line, NAMESPACE_LABELS, page->arena);
        }
        take_value(found, (enum field)i, line->value);
    }
}

size_t kube_dcgm_read(const char *text, size_t length, struct arena *arena, struct kube_dcgm_device **out_devices)
{
    struct page page = {.arena = arena};
    struct line line;
    for (const char *at = text, *end = text + length; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        if (*at != '#' && read_line(at, stop, &line))
            take_line(&page, &line);
        at = stop + (stop < end);
    }
    *out_devices = arena_array(arena, page.count, sizeof(**out_devices));
    for (size_t i = 0; i < page.count; i++)
        (*out_devices)[i] = page.items[i].device;
    return page.count;
}

static bool is_of_pod(const struct kube_dcgm_device *device, const char *namespace, const char *pod)
{
    return strcmp(device->pod, pod) == 0 && strcmp(device->namespace, namespace) == 0;
}

bool kube_dcgm_of_pod(const struct kube_dcgm_device *devices, size_t count, const char *namespace, const char *pod,
                      double *out_utilization)
{
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (devices[i].utilization >= 0 && is_of_pod(&devices[i], namespace, pod)) {
            sum += devices[i].utilization;
            known++;
        }
    if (known)
        *out_utilization = sum / (double)known;
    return known > 0;
}

bool kube_dcgm_memory_of_pod(const struct kube_dcgm_device *devices, size_t count, const char *namespace,
                             const char *pod, int32_t *out_mib, size_t size)
{
    bool is_known = false;
    for (size_t i = 0; i < size; i++)
        out_mib[i] = -1;
    for (size_t i = 0; i < count; i++) {
        const struct kube_dcgm_device *device = &devices[i];
        if (device->memory_used_mib < 0 || device->index < 0 || (size_t)device->index >= size ||
            !is_of_pod(device, namespace, pod))
            continue;
        int64_t sum = device->memory_used_mib + (out_mib[device->index] > 0 ? out_mib[device->index] : 0);
        out_mib[device->index] = (int32_t)(sum < INT32_MAX ? sum : INT32_MAX); // of instances of one device together
        is_known = true;
    }
    return is_known;
}
