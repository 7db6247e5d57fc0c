#include "backends/local/cgroups/cgroups_v1.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    CPU_PERIOD_US = 100000,
    SHARES_OF_A_CORE = 1024,
    WEIGHT_OF_A_CORE = 100,
    SHARES_MIN = 2,
    LINE_SIZE = 2048,
    REMOVE_TRIES = 100,
    REMOVE_PAUSE_NS = 10 * 1000 * 1000
};

static const char *const CONTROLLERS[CGROUPS_V1_COUNT] = {[CGROUPS_V1_MEMORY] = "memory",
                                                          [CGROUPS_V1_CPU] = "cpu",
                                                          [CGROUPS_V1_PIDS] = "pids",
                                                          [CGROUPS_V1_DEVICES] = "devices"};

// Whether a word is in a list with commas; the list may end with a line.
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, length) == 0 && (!at[length] || at[length] == ',' || at[length] == '\n'))
            return true;
    }
    return false;
}

// Where the controller's tree is mounted, and which of its cgroups is there.
static bool find_mount(const char *controller, char place[CGROUP_PATH_SIZE], char root[CGROUP_PATH_SIZE])
{
    char line[LINE_SIZE], options[512];
    bool is_found = false;
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    while (mounts && !is_found && fgets(line, sizeof(line), mounts)) {
        const char *rest = strstr(line, " - cgroup ");
        is_found = rest && sscanf(rest, " - cgroup %*s %511s", options) == 1 && has_word(options, controller) &&
                   sscanf(line, "%*s %*s %*s %511s %511s", root, place) == 2;
    }
    if (mounts)
        fclose(mounts);
    return is_found;
}

static bool find_own(const char *controller, char own[CGROUP_PATH_SIZE])
{
    char line[LINE_SIZE];
    bool is_found = false;
    FILE *groups = fopen("/proc/self/cgroup", "re");
    while (groups && !is_found && fgets(line, sizeof(line), groups)) {
        char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        is_found = has_word(list + 1, controller);
        if (is_found)
            snprintf(own, CGROUP_PATH_SIZE, "%.500s", strcmp(path, "/") == 0 ? "" : path);
    }
    if (groups)
        fclose(groups);
    return is_found;
}

// This process's own cgroup, as a folder. In a container the mount may begin below the tree's root.
static bool find_folder(enum cgroups_v1_tree tree, char out[CGROUP_PATH_SIZE])
{
    char place[CGROUP_PATH_SIZE], root[CGROUP_PATH_SIZE], own[CGROUP_PATH_SIZE];
    if (!find_mount(CONTROLLERS[tree], place, root) || !find_own(CONTROLLERS[tree], own))
        return false;
    size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    const char *below = strncmp(own, root, length) == 0 ? own + length : own;
    if (snprintf(out, CGROUP_PATH_SIZE, "%s%s", place, below) >= CGROUP_PATH_SIZE || access(out, F_OK) < 0)
        snprintf(out, CGROUP_PATH_SIZE, "%s", place);
    return access(out, W_OK | X_OK) == 0;
}

bool cgroups_v1_look(enum cgroups_v1_tree tree)
{
    char folder[CGROUP_PATH_SIZE];
    return find_folder(tree, folder);
}

bool cgroups_v1_open(struct cgroups_v1 *v1, enum cgroups_v1_tree tree, const char *name)
{
    char folder[CGROUP_PATH_SIZE], *path = v1->paths[tree];
    path[0] = '\0';
    if (!find_folder(tree, folder) || strlen(folder) + strlen(name) + UINT8_MAX > CGROUP_PATH_SIZE)
        return false;
    snprintf(path, CGROUP_PATH_SIZE, "%.250s/%.200s", folder, name);
    if (cgroups_make_folder(path))
        return true;
    path[0] = '\0';
    return false;
}

void cgroups_v1_close(const struct cgroups_v1 *v1)
{
    for (int tree = 0; tree < CGROUPS_V1_COUNT; tree++)
        if (v1->paths[tree][0])
            (void)rmdir(v1->paths[tree]);
}

static void write_number(const char *folder, const char *name, int64_t number)
{
    char text[32];
    snprintf(text, sizeof(text), "%" PRId64, number);
    (void)cgroups_write(folder, name, text);
}

static void write_bounds(enum cgroups_v1_tree tree, const char *folder, const struct cgroup_bounds *bounds)
{
    if (tree == CGROUPS_V1_PIDS)
        write_number(folder, "pids.max", CGROUP_PROCESSES_MAX);
    if (tree == CGROUPS_V1_MEMORY && bounds->memory_bytes > 0) {
        write_number(folder, "memory.limit_in_bytes", bounds->memory_bytes);
        write_number(folder, "memory.memsw.limit_in_bytes", bounds->memory_bytes); // where swap is counted: none of it
    }
    if (tree == CGROUPS_V1_CPU && bounds->cpu_milli > 0) {
        write_number(folder, "cpu.cfs_period_us", CPU_PERIOD_US);
        write_number(folder, "cpu.cfs_quota_us", bounds->cpu_milli * (CPU_PERIOD_US / 1000));
    }
    if (tree == CGROUPS_V1_CPU && bounds->cpu_weight > 0) {
        int64_t shares = bounds->cpu_weight * SHARES_OF_A_CORE / WEIGHT_OF_A_CORE;
        write_number(folder, "cpu.shares", shares < SHARES_MIN ? SHARES_MIN : shares);
    }
}

size_t cgroups_v1_create(const struct cgroups_v1 *v1, const char *uuid, const struct cgroup_bounds *bounds,
                         char out_paths[CGROUPS_V1_COUNT][CGROUP_PATH_SIZE])
{
    size_t count = 0;
    for (int tree = 0; tree < CGROUPS_V1_COUNT; tree++) {
        if (!v1->paths[tree][0])
            continue;
        snprintf(out_paths[count], CGROUP_PATH_SIZE, "%.460s/%.40s", v1->paths[tree], uuid);
        if (!cgroups_make_folder(out_paths[count]))
            continue;
        write_bounds((enum cgroups_v1_tree)tree, out_paths[count], bounds);
        count++;
    }
    return count;
}

static void kill_all(const char *folder)
{
    char path[CGROUP_PATH_SIZE + 32], line[32];
    snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
    FILE *processes = fopen(path, "re");
    while (processes && fgets(line, sizeof(line), processes))
        if (strtol(line, NULL, 10) > 1)
            (void)kill((pid_t)strtol(line, NULL, 10), SIGKILL);
    if (processes)
        fclose(processes);
}

void cgroups_v1_remove(const struct cgroups_v1 *v1, const char *uuid)
{
    char path[CGROUP_PATH_SIZE];
    for (int tree = 0; tree < CGROUPS_V1_COUNT; tree++) {
        bool is_there = v1->paths[tree][0] != '\0';
        snprintf(path, sizeof(path), "%.460s/%.40s", v1->paths[tree], uuid);
        for (int i = 0; is_there && i < REMOVE_TRIES; i++) {
            is_there = rmdir(path) < 0 && errno != ENOENT;
            if (!is_there)
                break;
            kill_all(path);
            nanosleep(&(struct timespec){.tv_nsec = REMOVE_PAUSE_NS}, NULL); // the killed take a moment
        }
    }
}
