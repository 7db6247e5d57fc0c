// What is written into the files of a pod's cgroup, in a folder that only looks like one.
#include "backends/local/cgroups/cgroups.h"
#include "backends/local/cgroups/cgroups_v1.h"
#include "tests/support/check.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char UUID[] = "11111111-2222-4333-8444-555555555555";
static const char *const FILES[] = {"pids.max",         "memory.max", "memory.swap.max",
                                    "memory.oom.group", "cpu.max",    "cpu.weight"};

enum {
    FILE_COUNT = sizeof(FILES) / sizeof(FILES[0]),
    PATH_SIZE = 600
};

static void name_file(char path[PATH_SIZE], const char *folder, const char *file)
{
    snprintf(path, PATH_SIZE, "%.400s/%s%s%s", folder, UUID, file[0] ? "/" : "", file);
}

static void check_file(const char *folder, const char *file, const char *wanted)
{
    char path[PATH_SIZE], text[64] = "";
    name_file(path, folder, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    check_true(fd >= 0 && read(fd, text, sizeof(text) - 1) >= 0, "the folder");
    close(fd);
    check_text(text, wanted, "%s", file);
}

static void write_bounds(bool has_all, const char *const wanted[FILE_COUNT])
{
    char path[PATH_SIZE], made[CGROUP_PATH_SIZE];
    struct cgroups cgroups = {.has_memory = has_all, .has_cpu = has_all, .has_pids = has_all};
    struct cgroup_bounds bounds = {.memory_bytes = 1 << 20, .cpu_milli = 1500, .cpu_weight = 50};
    snprintf(cgroups.path, sizeof(cgroups.path), "/tmp/prorata-cgroup-XXXXXX");
    check_true(mkdtemp(cgroups.path) != NULL, "the folder");
    name_file(path, cgroups.path, "");
    check_true(mkdir(path, 0755) == 0, "the folder");
    for (size_t i = 0; i < FILE_COUNT; i++) {
        name_file(path, cgroups.path, FILES[i]);
        close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    }
    check_true(cgroups_create(&cgroups, UUID, &bounds, made), "the folder");
    for (size_t i = 0; i < FILE_COUNT; i++) {
        check_file(cgroups.path, FILES[i], wanted[i]);
        name_file(path, cgroups.path, FILES[i]);
        unlink(path);
    }
    check_true(rmdir(made) == 0 && rmdir(cgroups.path) == 0, "the folder");
}

// Each controller of v1 has files of its own in a folder of its own; here one folder looks like all of them.
static void write_v1(void)
{
    static const char *const V1_FILES[][2] = {{"memory.limit_in_bytes", "1048576"},
                                              {"memory.memsw.limit_in_bytes", "1048576"},
                                              {"cpu.cfs_period_us", "100000"},
                                              {"cpu.cfs_quota_us", "150000"},
                                              {"cpu.shares", "512"},
                                              {"pids.max", "4096"}};
    enum {
        V1_FILE_COUNT = sizeof(V1_FILES) / sizeof(V1_FILES[0])
    };
    static char made[CGROUPS_V1_COUNT][CGROUP_PATH_SIZE]; // large for a stack
    char path[PATH_SIZE];
    struct cgroups_v1 v1 = {.paths = {"/tmp/prorata-cgroup-XXXXXX"}};
    struct cgroup_bounds bounds = {.memory_bytes = 1 << 20, .cpu_milli = 1500, .cpu_weight = 50};
    const char *folder = mkdtemp(v1.paths[0]);
    check_true(folder != NULL, "the folder");
    for (int tree = 1; tree < CGROUPS_V1_COUNT; tree++)
        snprintf(v1.paths[tree], CGROUP_PATH_SIZE, "%s", folder);
    name_file(path, folder, "");
    check_true(mkdir(path, 0755) == 0, "the folder");
    for (size_t i = 0; i < V1_FILE_COUNT; i++) {
        name_file(path, folder, V1_FILES[i][0]);
        close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    }
    check_int((int64_t)cgroups_v1_create(&v1, UUID, &bounds, made), CGROUPS_V1_COUNT, "one in each tree");
    for (size_t i = 0; i < V1_FILE_COUNT; i++) {
        check_file(folder, V1_FILES[i][0], V1_FILES[i][1]);
        name_file(path, folder, V1_FILES[i][0]);
        unlink(path);
    }
    cgroups_v1_remove(&v1, UUID);
    check_true(access(made[0], F_OK) < 0, "removed");
    cgroups_v1_close(&v1);
    check_true(access(folder, F_OK) < 0, "the folder above, too");
}

int main(void)
{
    write_v1();
    write_bounds(true, (const char *const[]){"4096", "1048576", "0", "1", "150000 100000", "50"});
    write_bounds(false, (const char *const[]){"", "", "", "", "", ""});
    return check_finish();
}
