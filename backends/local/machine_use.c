#include "backends/local/machine_use.h"

#include "base/arena.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
    STAT_MAX = 128 * 1024, // lines of more than a thousand CPUs
    MEMINFO_MAX = 4096,
    NUMBER_BASE = 10,
    US_IN_S = 1000 * 1000,
    BYTES_IN_KB = 1024,
    // Numbers of a CPU: user, nice, system, idle, iowait, irq, softirq, and what is not its own.
    FIELD_IDLE = 3,
    FIELD_IOWAIT = 4,
    FIELD_COUNT = 7
};
static const int64_t NUMBER_MAX = INT64_MAX / 65536; // sums of many stay in range

// The number behind blanks; *at goes behind it. False: there is none, or it is too large.
static bool read_number(const char **at, const char *end, int64_t *out_number)
{
    int64_t number = 0;
    const char *digit = *at;
    while (digit < end && *digit == ' ')
        digit++;
    const char *begin = digit;
    for (; digit < end && isdigit((unsigned char)*digit); digit++) {
        number = number * NUMBER_BASE + (*digit - '0');
        if (number > NUMBER_MAX)
            return false;
    }
    *at = digit;
    *out_number = number;
    return digit > begin;
}

// `cpuN user nice system ...`
static bool read_cpu(const char *at, const char *end, const cpu_set_t *cpus, int64_t *out_ticks)
{
    int64_t cpu, ticks = 0;
    if (end - at < 4 || memcmp(at, "cpu", 3) != 0 || !isdigit((unsigned char)at[3]))
        return false;
    at += 3;
    if (!read_number(&at, end, &cpu) || cpu >= CPU_SETSIZE || !CPU_ISSET((size_t)cpu, cpus))
        return false;
    for (int i = 0; i < FIELD_COUNT; i++) {
        int64_t number;
        if (!read_number(&at, end, &number))
            return false;
        ticks += i == FIELD_IDLE || i == FIELD_IOWAIT ? 0 : number;
    }
    *out_ticks = ticks;
    return true;
}

bool machine_use_parse_stat(const char *text, size_t length, const cpu_set_t *cpus, int64_t *out_ticks)
{
    int64_t sum = 0;
    bool is_there = false;
    const char *end = text + length, *stop;
    for (const char *at = text; at < end && (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1) {
        int64_t ticks;
        if (!read_cpu(at, stop, cpus, &ticks) || sum > INT64_MAX - ticks)
            continue;
        sum += ticks;
        is_there = true;
    }
    if (is_there)
        *out_ticks = sum;
    return is_there;
}

bool machine_use_parse_meminfo(const char *text, size_t length, int64_t *out_bytes)
{
    static const char *const NAMES[] = {"MemTotal:", "MemAvailable:"};
    int64_t kb[] = {-1, -1};
    const char *end = text + length, *stop;
    for (const char *at = text; at < end && (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1)
        for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
            size_t name_length = strlen(NAMES[i]);
            const char *number = at + name_length;
            if ((size_t)(stop - at) > name_length && memcmp(at, NAMES[i], name_length) == 0 &&
                !read_number(&number, stop, &kb[i]))
                kb[i] = -1;
        }
    if (kb[0] < 0 || kb[1] < 0 || kb[1] > kb[0])
        return false;
    *out_bytes = (kb[0] - kb[1]) * BYTES_IN_KB;
    return true;
}

static size_t read_file(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    for (ssize_t got; fd >= 0 && length < size && (got = read(fd, text + length, size - length)) > 0;)
        length += (size_t)got;
    if (fd >= 0)
        close(fd);
    return length;
}

void machine_use_read(struct arena *arena, struct pod_use *out_use)
{
    cpu_set_t cpus;
    int64_t ticks;
    char *text = arena_array(arena, STAT_MAX, 1);
    *out_use = (struct pod_use){-1, -1};
    if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0 &&
        machine_use_parse_stat(text, read_file("/proc/stat", text, STAT_MAX), &cpus, &ticks))
        out_use->cpu_us = ticks * (US_IN_S / sysconf(_SC_CLK_TCK));
    (void)machine_use_parse_meminfo(text, read_file("/proc/meminfo", text, MEMINFO_MAX), &out_use->memory_bytes);
}
