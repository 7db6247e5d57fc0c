#include "backends/kubernetes/manifests/kube_volumes.h"

#include "backends/kubernetes/manifests/kube_names.h"
#include "base/arena.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

struct reading {
    const struct kube_site *site;
    const struct backend_pod *pod;
    struct arena *arena;
    struct kube_volumes *out;
};

static json_t *flag_of(const json_t *item, const char *key)
{
    return json_boolean(json_is_true(json_object_get(item, key)));
}

static int check_path(const char *key, const char *path, struct error *err)
{
    if (path && path[0] == '/' && !strchr(path, ':'))
        return 0;
    return error_set(err, ERROR_INVALID, "%s: expected an absolute path without colons, got %.80s", key,
                     path ? path : "nothing");
}

// Volumes are named by their order: the specification's names need be neither unique nor fit.
static const char *next_name(const struct reading *reading)
{
    return arena_printf(reading->arena, "v%zu", json_array_size(reading->out->volumes));
}

// Takes over source, a volume's member of that kind.
static void add_volume(struct reading *reading, const char *name, const char *kind, json_t *source)
{
    json_array_append_new(reading->out->volumes, json_pack("{s:s, s:o}", "name", name, kind, source));
}

static json_t *add_mount(struct reading *reading, const char *name, const char *path, bool is_read_only)
{
    json_t *mount = json_pack("{s:s, s:s}", "name", name, "mountPath", path);
    if (is_read_only)
        json_object_set_new(mount, "readOnly", json_true());
    json_array_append_new(reading->out->mounts, mount);
    return mount;
}

static int read_host_path(struct reading *reading, const json_t *item, size_t index, struct error *err)
{
    const char *path = kube_spec_text(item, "path"), *mount = kube_spec_text(item, "mountPath");
    const char *propagation = kube_spec_text(item, "mountPropagation"), *name = next_name(reading);
    (void)index;
    if (check_path("path", path, err) < 0 || (mount && check_path("mountPath", mount, err) < 0))
        return -1;
    add_volume(reading, name, "hostPath", json_pack("{s:s}", "path", path));
    json_t *made = add_mount(reading, name, mount ? mount : path, json_is_true(json_object_get(item, "readOnly")));
    if (propagation)
        json_object_set_new(made, "mountPropagation", json_string(propagation));
    return 0;
}

static int read_nfs(struct reading *reading, const json_t *item, size_t index, struct error *err)
{
    const char *path = kube_spec_text(item, "path"), *mount = kube_spec_text(item, "mountPath");
    const char *server = kube_spec_text(item, "server"), *name = next_name(reading);
    (void)index;
    if (check_path("path", path, err) < 0 || (mount && check_path("mountPath", mount, err) < 0))
        return -1;
    if (!server)
        return error_set(err, ERROR_INVALID, "server: expected a name or an address");
    add_volume(reading, name, "nfs",
               json_pack("{s:s, s:s, s:o}", "server", server, "path", path, "readOnly", flag_of(item, "readOnly")));
    add_mount(reading, name, mount ? mount : path, json_is_true(json_object_get(item, "readOnly")));
    return 0;
}

static int read_empty(struct reading *reading, const json_t *item, size_t index, struct error *err)
{
    const char *medium = kube_spec_text(item, "medium"), *size = kube_spec_text(item, "sizeLimit");
    const char *path = kube_spec_text(item, "path"), *name = next_name(reading);
    (void)index;
    if (check_path("path", path, err) < 0)
        return -1;
    bool is_memory = medium && strcmp(medium, "Memory") == 0;
    add_volume(reading, name, "emptyDir",
               json_pack("{s:s*, s:s*}", "medium", is_memory ? "Memory" : NULL, "sizeLimit", size));
    add_mount(reading, name, path, false);
    return 0;
}

// Files of a secret or of a config map: kind is the volume's, key the name's in it.
static int read_files(struct reading *reading, const json_t *item, const char *kind, const char *key,
                      const char *source, struct error *err)
{
    const char *mount = kube_spec_text(item, "mountPath"), *sub_path = kube_spec_text(item, "subPath");
    const char *mode = kube_spec_text(item, "defaultMode"), *name = next_name(reading);
    if (check_path("mountPath", mount, err) < 0)
        return -1;
    if (!source)
        return error_set(err, ERROR_INVALID, "%s: expected a name", kind);
    json_t *volume = json_pack("{s:s}", key, source);
    if (mode)
        json_object_set_new(volume, "defaultMode", json_integer((json_int_t)(strtoul(mode, NULL, 8) & 0777)));
    add_volume(reading, name, kind, volume);
    json_t *made = add_mount(reading, name, mount, true);
    if (sub_path)
        json_object_set_new(made, "subPath", json_string(sub_path));
    return 0;
}

static int read_secret(struct reading *reading, const json_t *item, size_t index, struct error *err)
{
    (void)index;
    return read_files(reading, item, "secret", "secretName", kube_spec_text(item, "secret"), err);
}

static int read_config_map(struct reading *reading, const json_t *item, size_t index, struct error *err)
{
    (void)index;
    return read_files(reading, item, "configMap", "name", kube_spec_text(item, "configMap"), err);
}

static int read_claim(struct reading *reading, const json_t *item, size_t index, struct error *err)
{
    const char *path = kube_spec_text(item, "path"), *name = next_name(reading);
    const char *mode = kube_spec_text(json_object_get(item, "claimInfo"), "volumeMode");
    bool is_read_only = json_is_true(json_object_get(item, "readOnly"));
    json_t *spec = NULL;
    if (check_path("path", path, err) < 0)
        return -1;
    if (json_is_true(json_object_get(item, "ephemeral")) && !json_is_true(json_object_get(item, "existingPvc"))) {
        if (kube_claim_spec(item, &spec, err) < 0)
            return -1;
        add_volume(reading, name, "ephemeral", json_pack("{s:{s:o}}", "volumeClaimTemplate", "spec", spec));
    } else {
        add_volume(reading, name, "persistentVolumeClaim",
                   json_pack("{s:s, s:b}", "claimName", kube_claim_name(reading->pod, item, index, reading->arena),
                             "readOnly", is_read_only));
    }
    if (mode && strcmp(mode, "Block") == 0)
        json_array_append_new(reading->out->devices, json_pack("{s:s, s:s}", "name", name, "devicePath", path));
    else
        add_mount(reading, name, path, is_read_only);
    return 0;
}

static int read_git(struct reading *reading, const json_t *item, size_t index, struct error *err)
{
    const char *name = next_name(reading), *path = kube_git_path(item);
    (void)index;
    if (check_path("path", path, err) < 0)
        return -1;
    add_volume(reading, name, "emptyDir", json_object());
    json_object_set_new(add_mount(reading, name, path, false), "subPath", json_string(KUBE_GIT_FOLDER));
    return kube_git_add(reading->site, item, name, reading->out, err);
}

static const struct {
    const char *key;
    int (*read)(struct reading *reading, const json_t *item, size_t index, struct error *err);
} KINDS[] = {
    {"hostPath", read_host_path},
    {"nfs", read_nfs},
    {"emptyDirVolume", read_empty},
    {"secretVolume", read_secret},
    {"configMapVolume", read_config_map},
    {"pvc", read_claim},
    {"git", read_git},
};

static int read_kinds(struct reading *reading, const json_t *storage, struct error *err)
{
    const json_t *item;
    for (size_t kind = 0; kind < sizeof(KINDS) / sizeof(KINDS[0]); kind++)
        for (size_t i = 0; (item = kube_spec_next(json_object_get(storage, KINDS[kind].key), &i));)
            if (KINDS[kind].read(reading, item, i - 1, err) < 0)
                return error_prefix(err, "spec.storage.%s[%zu].", KINDS[kind].key, i - 1);
    return 0;
}

int kube_volumes_read(const struct kube_site *site, const struct backend_pod *pod, const json_t *spec,
                      struct arena *arena, struct kube_volumes *out, struct error *err)
{
    struct kube_volumes volumes = {json_array(), json_array(), json_array(), json_array()};
    struct reading reading = {site, pod, arena, &volumes};
    if (read_kinds(&reading, json_object_get(spec, "storage"), err) < 0) {
        kube_volumes_done(&volumes);
        return -1;
    }
    if (json_is_true(json_object_get(spec, "createHomeDir"))) {
        const char *name = next_name(&reading);
        add_volume(&reading, name, "emptyDir", json_object());
        add_mount(&reading, name, "/home/prorata", false);
    }
    if (json_is_true(json_object_get(json_object_get(spec, "compute"), "largeShmRequest"))) {
        const char *name = next_name(&reading);
        add_volume(&reading, name, "emptyDir", json_pack("{s:s}", "medium", "Memory"));
        add_mount(&reading, name, "/dev/shm", false);
    }
    *out = volumes;
    return 0;
}

void kube_volumes_done(struct kube_volumes *volumes)
{
    json_decref(volumes->volumes);
    json_decref(volumes->mounts);
    json_decref(volumes->devices);
    json_decref(volumes->before);
    *volumes = (struct kube_volumes){0};
}
