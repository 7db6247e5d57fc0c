// What a server hands to a supervisor: any bytes. Only a whole one is taken, all of it, and nothing lies beyond it.
#include "base/arena.h"
#include "supervisor/handover.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Written again, kind by kind, it is as long as it was: no text was left out, none was cut.
static void check_whole(const char *text, size_t size, const struct handover *handover)
{
    static const char LETTERS[] = "ercbpafnk";
    size_t length = sizeof(HANDOVER_BEGIN) + sizeof(HANDOVER_END);
    for (const char *letter = LETTERS; *letter; letter++) {
        size_t count;
        char *const *list = handover_list(handover, (enum handover_kind) * letter, &count);
        assert(!list[count]);
        for (size_t i = 0; i < count; i++) {
            assert(list[i] > text && list[i] < text + size && list[i][-1] == *letter);
            length += 1 + strlen(list[i]) + 1;
        }
    }
    assert(length == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *exact = memory_alloc(size + !size); // of its exact size: a byte too far shows
    struct handover handover, torn;
    memcpy(exact, data, size);
    if (handover_parse(exact, size, &handover)) {
        size_t count;
        check_whole(exact, size, &handover);
        (void)handover_list(&handover, HANDOVER_NEED, &count);
        assert(count <= HANDOVER_NEEDS_MAX);
        (void)handover_list(&handover, HANDOVER_COMMAND, &count);
        assert(count > 0);
        assert(!handover_parse(exact, size - 1, &torn));
    } else {
        assert(!handover.texts);
    }
    handover_done(&handover);
    free(exact);
    return 0;
}
