// Request targets through path splitting and the router.
#include "api/http/path.h"
#include "api/http/router.h"
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
    struct path path;
    arena_init(&arena);
    const char *raw = arena_strndup(&arena, (const char *)data, size);
    if (path_split(raw, &arena, &path, &err) == 0) {
        assert(path.count <= PATH_SEGMENT_MAX);
        for (size_t i = 0; i < path.count; i++) {
            const char *segment = path.segments[i];
            assert(*segment && !strchr(segment, '/') && strcmp(segment, "..") != 0);
            assert(utf8_is_valid(segment, strlen(segment)));
        }
        const struct route *route = router_find(&path);
        char allow[ROUTER_ALLOW_SIZE];
        if (route)
            router_allow(route, allow);
    } else {
        assert(err.code == ERROR_INVALID);
    }
    arena_done(&arena);
    return 0;
}
