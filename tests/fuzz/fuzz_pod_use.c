// Files of /proc and of cgroups: any bytes. What comes of them is within its bounds.
#include "backends/local/machine_use.h"
#include "base/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *exact = memory_alloc(size + !size); // of its exact size: a byte too far shows
    struct process_use process;
    int64_t number;
    memcpy(exact, data, size);
    if (pod_use_parse_number(exact, size, &number))
        assert(number >= 0);
    if (pod_use_parse_word(exact, size, "inactive_file", &number))
        assert(number >= 0);
    if (pod_use_parse_process(exact, size, &process))
        assert(process.pid >= 0 && process.parent >= 0 && process.cpu_ticks >= 0 && process.children_ticks >= 0 &&
               process.resident_pages >= 0);
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(0, &cpus);
    if (machine_use_parse_stat(exact, size, &cpus, &number))
        assert(number >= 0);
    if (machine_use_parse_meminfo(exact, size, &number))
        assert(number >= 0);
    free(exact);
    return 0;
}
