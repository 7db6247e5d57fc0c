// CPU and memory of pods, from the kernel's files: what they say, and what nobody should believe.
#include "backends/local/machine_use.h"
#include "backends/local/pods/pod_use.h"
#include "base/arena.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    UNTOUCHED = -7
};

static const struct {
    const char *name, *text, *word; // word NULL: the file is one number
    int64_t want;
} NUMBERS[] = {
    {"a number", "4096\n", NULL, 4096},
    {"nothing", "", NULL, UNTOUCHED},
    {"a line of nothing", "\n", NULL, UNTOUCHED},
    {"torn: its end may be missing", "4096", NULL, UNTOUCHED},
    {"a word", "max\n", NULL, UNTOUCHED},
    {"negative", "-1\n", NULL, UNTOUCHED},
    {"with more behind it", "12 13\n", NULL, UNTOUCHED},
    {"the largest that counts", "576460752303423487\n", NULL, 576460752303423487},
    {"larger", "576460752303423488\n", NULL, UNTOUCHED},
    {"far too large", "99999999999999999999999999999999\n", NULL, UNTOUCHED},
    {"behind a word", "usage_usec 12\nuser_usec 7\n", "user_usec", 7},
    {"the whole word", "total_inactive_file 9\ninactive_file 5\n", "inactive_file", 5},
    {"not its beginning", "inactive_files 9\n", "inactive_file", UNTOUCHED},
    {"no such word", "anon 3\n", "inactive_file", UNTOUCHED},
    {"a torn last line", "anon 3\ninactive_file 45", "inactive_file", UNTOUCHED},
    {"a word alone", "inactive_file\n", "inactive_file", UNTOUCHED},
    {"a word and no number", "inactive_file x\n", "inactive_file", UNTOUCHED},
    {"nothing to look in", "", "inactive_file", UNTOUCHED},
};

static void test_numbers(void)
{
    for (size_t i = 0; i < COUNT(NUMBERS); i++) {
        int64_t number = UNTOUCHED;
        const char *text = NUMBERS[i].text;
        if (NUMBERS[i].word)
            (void)pod_use_parse_word(text, strlen(text), NUMBERS[i].word, &number);
        else
            (void)pod_use_parse_number(text, strlen(text), &number);
        check_int(number, NUMBERS[i].want, "%s", NUMBERS[i].name);
    }
}

#define REST " 0 -1 4194560 100 200 0 0 7 3 20 10 20 0 1 0 12345 1000000 50 18446744073709551615 1 1\n"

static const struct {
    const char *name, *text, *want; // pid parent ticks children's pages
} PROCESSES[] = {
    {"a process", "41 (sleep) S 40 41 41" REST, "41 40 10 30 50"},
    {"a name that looks like the rest", "41 (a) R 1 1 (b) S 40 41 41" REST, "41 40 10 30 50"},
    {"a name with a line", "41 (a\n) S 40 41 41" REST, "41 40 10 30 50"},
    {"torn", "41 (sleep) S 40 41 41 0 -1 4194560 100 200 0 0 7 3 2", ""},
    {"cut behind a field", "41 (sleep) S 40 41 41 0 -1\n", ""},
    {"nothing", "", ""},
    {"a bracket", ")", ""},
    {"no number", "x (sleep) S 40 41 41" REST, ""},
    {"a parent that is none", "41 (sleep) S x 41 41" REST, ""},
    {"a pid that is too large", "4294967297 (sleep) S 40 41 41" REST, ""},
};

static void test_processes(void)
{
    for (size_t i = 0; i < COUNT(PROCESSES); i++) {
        struct process_use process;
        char got[128] = "";
        if (pod_use_parse_process(PROCESSES[i].text, strlen(PROCESSES[i].text), &process))
            snprintf(got, sizeof(got), "%d %d %d %d %d", (int)process.pid, (int)process.parent, (int)process.cpu_ticks,
                     (int)process.children_ticks, (int)process.resident_pages);
        check_text(got, PROCESSES[i].want, "%s", PROCESSES[i].name);
    }
}

// 10 and 20 are supervisors; 30 is a child of 5, of another server.
static void test_sums(void)
{
    struct process_use processes[] = {
        {12, 11, 4, 0, 3},  {11, 10, 10, 2, 5}, {10, 1, 999, 6, 999}, {20, 1, 999, 8, 999},
        {30, 5, 50, 0, 50}, {5, 1, 1, 0, 1},    {90, 91, 1, 0, 1},    {91, 90, 1, 0, 1}, // a ring
    };
    static const pid_t ROOTS[] = {10, 20, 77};
    struct pod_use uses[COUNT(ROOTS)];
    struct arena arena;
    arena_init(&arena);
    int64_t tick_us = 1000000 / sysconf(_SC_CLK_TCK), page = sysconf(_SC_PAGESIZE);
    pod_use_sum_processes(processes, COUNT(processes), ROOTS, COUNT(ROOTS), &arena, uses);
    check_int(uses[0].cpu_us, (4 + 10 + 2 + 6) * tick_us, "processes, and children that are over; not the supervisor");
    check_int(uses[0].memory_bytes, 8 * page, "what is resident");
    check_int(uses[1].cpu_us, 8 * tick_us, "all of it is over");
    check_int(uses[1].memory_bytes, 0, "and uses no memory");
    check_int(uses[2].cpu_us, -1, "of a supervisor that is gone nothing is known");
    pod_use_sum_processes(NULL, 0, ROOTS, COUNT(ROOTS), &arena, uses);
    check_int(uses[0].cpu_us, -1, "no process");
    arena_done(&arena);
}

static void put(const char *folder, const char *name, const char *text)
{
    char path[CGROUP_PATH_SIZE + 64];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "we");
    fputs(text, file);
    fclose(file);
}

static const struct {
    const char *name, *text;
    int64_t want; // of CPUs 0 and 2
} STATS[] = {
    {"those that the server may run on",
     "cpu  9 9 9 9 9 9 9\ncpu0 1 2 3 90 80 4 5 6\ncpu1 7 7 7 7 7 7 7\ncpu2 10 0 0 0 0 0 0\n", 25},
    {"of older kernels", "cpu0 1 2 3 90 80 4 5\nintr 4\n", 15},
    {"none of them", "cpu  9 9 9 9 9 9 9\ncpu1 7 7 7 7 7 7 7\n", UNTOUCHED},
    {"a torn line", "cpu0 1 2 3 90 80 4 5\ncpu2 10 0 0 0 0 0 0", 15},
    {"a line that is too short", "cpu0 1 2 3\n", UNTOUCHED},
    {"a CPU that cannot be", "cpu99999999999999999999 1 2 3 4 5 6 7\ncpu4096 1 2 3 4 5 6 7\n", UNTOUCHED},
    {"a number that is too large", "cpu0 1 2 3 90 80 4 99999999999999999999\n", UNTOUCHED},
    {"no number", "cpu0 1 2 x 90 80 4 5\n", UNTOUCHED},
    {"nothing", "", UNTOUCHED},
};

static const struct {
    const char *name, *text;
    int64_t want;
} MEMINFOS[] = {
    {"all but what is available", "MemTotal:  100 kB\nMemFree: 7 kB\nMemAvailable:   60 kB\n", 40 * 1024},
    {"torn", "MemTotal:  100 kB\nMemAvailable:   60 kB", UNTOUCHED},
    {"not said", "MemTotal:  100 kB\nMemFree: 7 kB\n", UNTOUCHED},
    {"more than there is", "MemTotal: 100 kB\nMemAvailable: 101 kB\n", UNTOUCHED},
    {"no number", "MemTotal: 100 kB\nMemAvailable: x\n", UNTOUCHED},
};

static void test_machine(void)
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(0, &cpus);
    CPU_SET(2, &cpus);
    for (size_t i = 0; i < COUNT(STATS); i++) {
        int64_t ticks = UNTOUCHED;
        (void)machine_use_parse_stat(STATS[i].text, strlen(STATS[i].text), &cpus, &ticks);
        check_int(ticks, STATS[i].want, "/proc/stat: %s", STATS[i].name);
    }
    for (size_t i = 0; i < COUNT(MEMINFOS); i++) {
        int64_t bytes = UNTOUCHED;
        (void)machine_use_parse_meminfo(MEMINFOS[i].text, strlen(MEMINFOS[i].text), &bytes);
        check_int(bytes, MEMINFOS[i].want, "/proc/meminfo: %s", MEMINFOS[i].name);
    }
}

// Folders of cgroups, as files.
static void test_cgroups(void)
{
    char top[] = "/tmp/prorata-pod-use-XXXXXX", pod[64];
    static struct cgroups cgroups = {.has_memory = true}, v1; // too large for a stack
    struct pod_use use;
    check_true(mkdtemp(top) != NULL, "a folder");
    snprintf(pod, sizeof(pod), "%s/uuid", top);
    mkdir(pod, 0700);
    put(pod, "cpu.stat", "usage_usec 1500\nuser_usec 1000\n");
    put(pod, "memory.current", "1000000\n");
    put(pod, "memory.stat", "anon 400000\ninactive_file 300000\nactive_file 1\n");
    snprintf(cgroups.path, sizeof(cgroups.path), "%s", top);
    pod_use_read_cgroups(&cgroups, "uuid", &use);
    check_int(use.cpu_us, 1500, "v2: CPU");
    check_int(use.memory_bytes, 700000, "v2: memory without what nothing touches");
    pod_use_read_cgroups(&cgroups, "other", &use);
    check_true(use.cpu_us == -1 && use.memory_bytes == -1, "a pod without a cgroup");
    put(pod, "memory.current", "200000\n");
    pod_use_read_cgroups(&cgroups, "uuid", &use);
    check_int(use.memory_bytes, 0, "read at two moments: never below nothing");
    snprintf(v1.v1.paths[CGROUPS_V1_CPU], CGROUP_PATH_SIZE, "%s", top);
    snprintf(v1.v1.paths[CGROUPS_V1_MEMORY], CGROUP_PATH_SIZE, "%s", top);
    put(pod, "cpuacct.usage", "2500000\n");
    put(pod, "memory.usage_in_bytes", "900000\n");
    put(pod, "memory.stat", "inactive_file 1\ntotal_inactive_file 100000\n");
    pod_use_read_cgroups(&v1, "uuid", &use);
    check_int(use.cpu_us, 2500, "v1: CPU");
    check_int(use.memory_bytes, 800000, "v1: memory, with cgroups below it");
    static const char *const FILES[] = {"cpu.stat", "memory.current", "memory.stat", "cpuacct.usage",
                                        "memory.usage_in_bytes"};
    for (size_t i = 0; i < COUNT(FILES); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/%s", pod, FILES[i]);
        unlink(path);
    }
    rmdir(pod);
    rmdir(top);
}

int main(void)
{
    test_numbers();
    test_processes();
    test_sums();
    test_machine();
    test_cgroups();
    return check_finish();
}
