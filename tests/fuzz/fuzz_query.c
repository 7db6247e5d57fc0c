// Query strings of the operations with the most parameters: decoding, lists, filterBy, types.
#include "api/http/parameters.h"
#include "api/http/path.h"
#include "api/http/request.h"
#include "base/arena.h"
#include "base/error.h"
#include <assert.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct error err = {0};
    if (size < 1)
        return 0;
    arena_init(&arena);
    const struct operation *operation = &OPERATIONS[data[0] % OPERATION_COUNT];
    struct path path = {.count = PATH_SEGMENT_MAX};
    for (size_t i = 0; i < PATH_SEGMENT_MAX; i++)
        path.segments[i] = "123e4567-e89b-12d3-a456-426614174000";
    struct request req = {.operation = operation, .arena = &arena};
    const char *query = arena_strndup(&arena, (const char *)data + 1, size - 1);
    if (parameters_read(&req, &path, query, &err) == 0) {
        for (size_t i = 0; i < req.filter_count; i++)
            assert(req.filters[i].field && req.filters[i].value[0]);
    } else {
        assert(err.code == ERROR_INVALID && err.message[0]);
    }
    arena_done(&arena);
    return 0;
}
