// How much memory a pod gets that names no limit.
#include "backends/local/cgroups/memory_bound.h"
#include "base/error.h"
#include "tests/support/check.h"

#include <stddef.h>

enum {
    UNTOUCHED = -7
};

static const int64_t GIB = INT64_C(1) << 30, MIB = INT64_C(1) << 20;

static const struct {
    const char *name, *text;
    int kind;
    int64_t bytes;
    const char *message;
} TEXTS[] = {
    {"share", "share", MEMORY_DEFAULT_SHARE, 0, ""},
    {"none", "none", MEMORY_DEFAULT_NONE, 0, ""},
    {"an amount", "32Gi", MEMORY_DEFAULT_AMOUNT, INT64_C(32) << 30, ""},
    {"nothing", "", UNTOUCHED, UNTOUCHED, "share, none, or an amount: : not an amount of memory"},
    {"no amount", "half", UNTOUCHED, UNTOUCHED, "share, none, or an amount: half: not an amount of memory"},
    {"no byte", "0", UNTOUCHED, UNTOUCHED, "share, none, or an amount: at least a byte, got 0"},
};

static void check_texts(void)
{
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
        struct memory_default rule = {.kind = (enum memory_default_kind)UNTOUCHED, .bytes = UNTOUCHED};
        struct error err = {0};
        memory_default_parse(TEXTS[i].text, &rule, &err);
        check_int((int)rule.kind, TEXTS[i].kind, "%s", TEXTS[i].name);
        check_int(rule.bytes, TEXTS[i].bytes, "%s", TEXTS[i].name);
        check_text(err.message, TEXTS[i].message, "%s", TEXTS[i].name);
    }
}

static void check_shares(void)
{
    struct memory_default share = {.kind = MEMORY_DEFAULT_SHARE}, none = {.kind = MEMORY_DEFAULT_NONE};
    struct memory_default amount = {MEMORY_DEFAULT_AMOUNT, 3 * GIB};
    const struct {
        const char *name;
        const struct memory_default *rule;
        struct memory_share share;
        int64_t wanted;
    } CASES[] = {
        {"one of eight", &share, {1000, 8000, 512 * GIB, 0}, 64 * GIB},
        {"a quarter of one of eight", &share, {250, 8000, 512 * GIB, 0}, 16 * GIB},
        {"all", &share, {8000, 8000, 512 * GIB, 0}, 512 * GIB},
        {"without GPUs an eighth", &share, {0, 8000, 512 * GIB, 0}, 64 * GIB},
        {"on a machine without any, too", &share, {0, 0, 512 * GIB, 0}, 64 * GIB},
        {"an instance of seven", &share, {1, 7, 7 * GIB, 0}, GIB},
        {"the request, where that is more", &share, {1000, 8000, 512 * GIB, 100 * GIB}, 100 * GIB},
        {"a small part", &share, {10, 8000, 512 * GIB, 0}, 655 * MIB},
        {"a smaller machine's", &share, {10, 8000, 16 * GIB, 0}, 512 * MIB},
        {"more than there is", &share, {9000, 8000, 512 * GIB, 0}, 512 * GIB},
        {"an amount", &amount, {1000, 8000, 512 * GIB, GIB}, 3 * GIB},
        {"an amount below the request", &amount, {1000, 8000, 512 * GIB, 4 * GIB}, 4 * GIB},
        {"none", &none, {1000, 8000, 512 * GIB, 4 * GIB}, 0},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++)
        check_int(memory_bound_by_default(CASES[i].rule, &CASES[i].share), CASES[i].wanted, "%s", CASES[i].name);
}

int main(void)
{
    char text[MEMORY_BOUND_TEXT_SIZE];
    check_texts();
    check_shares();
    check_text(memory_bound_say(32 * GIB, true, text), "32 GiB (--local-memory-default)", "whole GiB");
    check_text(memory_bound_say(2944 * MIB, true, text), "2944 MiB (--local-memory-default)", "whole MiB");
    check_text(memory_bound_say(1000000000, false, text), "1000000000 bytes (cpuMemoryLimit)", "neither");
    return check_finish();
}
