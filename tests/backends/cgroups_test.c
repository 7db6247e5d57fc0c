// What is written into the files of a pod's cgroup, in a folder that only looks like one.
#include "backends/local/cgroups.h"
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
    const struct cgroup_bounds bounds = {.memory_bytes = 1 << 20, .cpu_milli = 1500, .cpu_weight = 50};
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

int main(void)
{
    write_bounds(true, (const char *const[]){"4096", "1048576", "0", "1", "150000 100000", "50"});
    write_bounds(false, (const char *const[]){"", "", "", "", "", ""});
    return check_finish();
}
