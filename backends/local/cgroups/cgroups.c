#include "backends/local/cgroups/cgroups.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    FOLDER_MODE = 0755,
    CPU_PERIOD_US = 100000,
    REMOVE_TRIES = 100,
    REMOVE_PAUSE_NS = 10 * 1000 * 1000
};

static bool has_word(const char *folder, const char *name, const char *word)
{
    char path[CGROUP_PATH_SIZE + 64], text[512] = "", wanted[32];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (file) {
        text[0] = ' ';
        (void)!fgets(text + 1, sizeof(text) - 2, file);
        fclose(file);
    }
    text[strcspn(text, "\n")] = ' ';
    snprintf(wanted, sizeof(wanted), " %s ", word);
    return strstr(text, wanted) != NULL;
}

// The place of the cgroup2 file system, and this process's cgroup in it.
static bool find_own(char mount[CGROUP_PATH_SIZE], char own[CGROUP_PATH_SIZE])
{
    char line[2048];
    mount[0] = own[0] = '\0';
    FILE *mounts = fopen("/proc/self/mounts", "re");
    while (mounts && fgets(line, sizeof(line), mounts)) {
        char place[CGROUP_PATH_SIZE], type[32];
        if (!mount[0] && sscanf(line, "%*s %511s %31s", place, type) == 2 && strcmp(type, "cgroup2") == 0)
            snprintf(mount, CGROUP_PATH_SIZE, "%s", place);
    }
    if (mounts)
        fclose(mounts);
    FILE *groups = fopen("/proc/self/cgroup", "re");
    while (groups && fgets(line, sizeof(line), groups)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "0::", 3) == 0)
            snprintf(own, CGROUP_PATH_SIZE, "%.500s", strcmp(line + 3, "/") == 0 ? "" : line + 3);
    }
    if (groups)
        fclose(groups);
    return mount[0] != '\0';
}

// A cgroup whose controllers its children use may hold no process itself: the server moves into a leaf beside the pods.
static void make_room(const char *parent)
{
    char leaf[CGROUP_PATH_SIZE + 16];
    snprintf(leaf, sizeof(leaf), "%s/server", parent);
    if (mkdir(leaf, FOLDER_MODE) == 0 || errno == EEXIST)
        (void)cgroups_write(leaf, "cgroup.procs", "0");
}

static bool enable(const char *parent, const char *pods, const char *controller)
{
    char word[32];
    snprintf(word, sizeof(word), "+%s", controller);
    return has_word(parent, "cgroup.controllers", controller) &&
           cgroups_write(parent, "cgroup.subtree_control", word) && cgroups_write(pods, "cgroup.subtree_control", word);
}

void cgroups_look(struct cgroups_view *out_view)
{
    char mount[CGROUP_PATH_SIZE], own[CGROUP_PATH_SIZE];
    *out_view = (struct cgroups_view){.path = ""};
    for (int tree = 0; tree < CGROUPS_V1_COUNT; tree++)
        out_view->has_v1[tree] = cgroups_v1_look((enum cgroups_v1_tree)tree);
    if (!find_own(mount, own))
        return;
    snprintf(out_view->path, sizeof(out_view->path), "%.250s%.250s", mount, own);
    out_view->is_writable = access(out_view->path, W_OK | X_OK) == 0;
    out_view->has_memory = has_word(out_view->path, "cgroup.controllers", "memory");
    out_view->has_cpu = has_word(out_view->path, "cgroup.controllers", "cpu");
    out_view->has_pids = has_word(out_view->path, "cgroup.controllers", "pids");
}

static void open_v2(const char *name, struct cgroups *out_cgroups)
{
    char mount[CGROUP_PATH_SIZE], own[CGROUP_PATH_SIZE], parent[2 * CGROUP_PATH_SIZE];
    if (!find_own(mount, own)) {
        snprintf(out_cgroups->reason, sizeof(out_cgroups->reason), "cgroup v2 is not mounted");
        return;
    }
    snprintf(parent, sizeof(parent), "%s%s", mount, own);
    if (strlen(parent) + strlen(name) + UINT8_MAX > CGROUP_PATH_SIZE) {
        snprintf(out_cgroups->reason, sizeof(out_cgroups->reason), "the path of this process's cgroup is too long");
        return;
    }
    snprintf(out_cgroups->path, sizeof(out_cgroups->path), "%.200s/%.200s", parent, name);
    if (!cgroups_make_folder(out_cgroups->path)) {
        snprintf(out_cgroups->reason, sizeof(out_cgroups->reason), "%.80s: %.30s", parent, strerror(errno));
        out_cgroups->path[0] = '\0';
        return;
    }
    if (own[0])
        make_room(parent);
    out_cgroups->has_memory = enable(parent, out_cgroups->path, "memory");
    out_cgroups->has_cpu = enable(parent, out_cgroups->path, "cpu");
    out_cgroups->has_pids = enable(parent, out_cgroups->path, "pids");
    if (!out_cgroups->has_memory || !out_cgroups->has_cpu)
        snprintf(out_cgroups->reason, sizeof(out_cgroups->reason), "cgroup v2 has no controller for %s here",
                 out_cgroups->has_memory ? "cpu"
                 : out_cgroups->has_cpu  ? "memory"
                                         : "memory and cpu");
}

void cgroups_open(const char *name, struct cgroups *out_cgroups)
{
    struct cgroups *out = out_cgroups;
    *out = (struct cgroups){.path = ""};
    open_v2(name, out);
    out->has_memory = out->has_memory || cgroups_v1_open(&out->v1, CGROUPS_V1_MEMORY, name);
    out->has_cpu = out->has_cpu || cgroups_v1_open(&out->v1, CGROUPS_V1_CPU, name);
    out->has_pids = out->has_pids || cgroups_v1_open(&out->v1, CGROUPS_V1_PIDS, name);
    if (out->has_memory && out->has_cpu)
        out->reason[0] = '\0';
}

static const char *by(const struct cgroups *cgroups, bool has, enum cgroups_v1_tree tree)
{
    return !has ? NULL : cgroups->v1.paths[tree][0] ? "cgroup v1" : "cgroup v2";
}

const char *cgroups_memory_by(const struct cgroups *cgroups)
{
    return by(cgroups, cgroups->has_memory, CGROUPS_V1_MEMORY);
}

const char *cgroups_cpu_by(const struct cgroups *cgroups)
{
    return by(cgroups, cgroups->has_cpu, CGROUPS_V1_CPU);
}

const char *cgroups_pids_by(const struct cgroups *cgroups)
{
    return by(cgroups, cgroups->has_pids, CGROUPS_V1_PIDS);
}

void cgroups_close(const struct cgroups *cgroups)
{
    if (cgroups->path[0])
        (void)rmdir(cgroups->path);
    cgroups_v1_close(&cgroups->v1);
}

static void write_bounds(const struct cgroups *cgroups, const char *path, const struct cgroup_bounds *bounds)
{
    char text[64];
    const struct cgroups_v1 *v1 = &cgroups->v1;
    bool has_memory = cgroups->has_memory && !v1->paths[CGROUPS_V1_MEMORY][0];
    bool has_cpu = cgroups->has_cpu && !v1->paths[CGROUPS_V1_CPU][0];
    if (cgroups->has_pids && !v1->paths[CGROUPS_V1_PIDS][0]) {
        snprintf(text, sizeof(text), "%d", CGROUP_PROCESSES_MAX);
        (void)cgroups_write(path, "pids.max", text);
    }
    if (has_memory && bounds->memory_bytes > 0) {
        snprintf(text, sizeof(text), "%" PRId64, bounds->memory_bytes);
        (void)cgroups_write(path, "memory.max", text);
        (void)cgroups_write(path, "memory.swap.max", "0");
        (void)cgroups_write(path, "memory.oom.group", "1");
    }
    if (has_cpu && bounds->cpu_milli > 0) {
        snprintf(text, sizeof(text), "%" PRId64 " %d", bounds->cpu_milli * (CPU_PERIOD_US / 1000), CPU_PERIOD_US);
        (void)cgroups_write(path, "cpu.max", text);
    }
    if (has_cpu && bounds->cpu_weight > 0) {
        snprintf(text, sizeof(text), "%" PRId64, bounds->cpu_weight);
        (void)cgroups_write(path, "cpu.weight", text);
    }
}

bool cgroups_create(const struct cgroups *cgroups, const char *uuid, const struct cgroup_bounds *bounds,
                    char out_path[CGROUP_PATH_SIZE])
{
    if (!cgroups->path[0])
        return false;
    snprintf(out_path, CGROUP_PATH_SIZE, "%.460s/%.40s", cgroups->path, uuid);
    if (!cgroups_make_folder(out_path))
        return false;
    write_bounds(cgroups, out_path, bounds);
    return true;
}

void cgroups_remove(const struct cgroups *cgroups, const char *uuid)
{
    char path[CGROUP_PATH_SIZE];
    bool is_there = cgroups->path[0] != '\0';
    snprintf(path, sizeof(path), "%.460s/%.40s", cgroups->path, uuid);
    for (int i = 0; is_there && i < REMOVE_TRIES; i++) {
        (void)cgroups_write(path, "cgroup.kill", "1");
        is_there = rmdir(path) < 0 && errno != ENOENT;
        if (is_there)
            nanosleep(&(struct timespec){.tv_nsec = REMOVE_PAUSE_NS}, NULL); // the killed take a moment
    }
    cgroups_v1_remove(&cgroups->v1, uuid);
}
