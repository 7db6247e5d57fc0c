// The simulated cluster's file: any bytes give a cluster or one line that says what is wrong.
#include "backends/simulated/cluster_file.h"
#include "base/arena.h"
#include "base/error.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct error err = {0};
    struct cluster_description cluster = {0};
    char *text = memory_alloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    arena_init(&arena);
    if (cluster_text_read(text, "cluster.yaml", &arena, &cluster, &err) < 0)
        assert(err.message[0] != '\0' && strchr(err.message, '\n') == NULL);
    arena_done(&arena);
    free(text);
    return 0;
}
