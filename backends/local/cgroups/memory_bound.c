#include "backends/local/cgroups/memory_bound.h"

#include "base/error.h"
#include "base/quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FLOOR_BYTES (INT64_C(512) << 20)

enum {
    PART_WITHOUT_GPUS = 8, // an eighth
    MIB_SHIFT = 20,
    GIB_SHIFT = 30
};

int memory_default_parse(const char *text, struct memory_default *out, struct error *err)
{
    struct memory_default rule = {.kind = MEMORY_DEFAULT_AMOUNT};
    if (strcmp(text, "share") == 0)
        rule.kind = MEMORY_DEFAULT_SHARE;
    else if (strcmp(text, "none") == 0)
        rule.kind = MEMORY_DEFAULT_NONE;
    else if (quantity_parse_memory(text, &rule.bytes, err) < 0)
        return error_prefix(err, "share, none, or an amount: ");
    if (rule.kind == MEMORY_DEFAULT_AMOUNT && rule.bytes <= 0)
        return error_set(err, ERROR_INVALID, "share, none, or an amount: at least a byte, got %s", text);
    *out = rule;
    return 0;
}

int64_t memory_bound_by_default(const struct memory_default *rule, const struct memory_share *share)
{
    int64_t bytes = rule->bytes;
    if (rule->kind == MEMORY_DEFAULT_NONE)
        return 0;
    if (rule->kind == MEMORY_DEFAULT_SHARE) {
        bool has_gpus = share->held > 0 && share->all > 0;
        int64_t mib = share->machine_bytes >> MIB_SHIFT, held = share->held < share->all ? share->held : share->all;
        bytes = (has_gpus ? mib * held / share->all : mib / PART_WITHOUT_GPUS) << MIB_SHIFT;
        bytes = bytes < FLOOR_BYTES ? FLOOR_BYTES : bytes;
    }
    return bytes < share->request_bytes ? share->request_bytes : bytes;
}

char *memory_bound_say(int64_t bytes, bool is_default, char out[MEMORY_BOUND_TEXT_SIZE])
{
    bool is_gib = bytes % (INT64_C(1) << GIB_SHIFT) == 0, is_mib = bytes % (INT64_C(1) << MIB_SHIFT) == 0;
    snprintf(out, MEMORY_BOUND_TEXT_SIZE, "%" PRId64 " %s (%s)",
             is_gib   ? bytes >> GIB_SHIFT
             : is_mib ? bytes >> MIB_SHIFT
                      : bytes,
             is_gib   ? "GiB"
             : is_mib ? "MiB"
                      : "bytes",
             is_default ? "--local-memory-default" : "cpuMemoryLimit");
    return out;
}
