// A replica's metrics page: any bytes. The first line is the series that is asked for.
#include "reconciler/serving/metrics_page.h"
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line = memchr(data, '\n', size);
    size_t name = line ? (size_t)(line - data) : 0, at = line ? name + 1 : 0;
    char *own = calloc(1, name + 1), *page_text = malloc(size - at + 1); // of its exact size: a byte too far shows
    struct metrics_page page;
    if (!own || !page_text)
        abort();
    memcpy(own, data, name);
    memcpy(page_text, data + at, size - at);
    char *exact = realloc(page_text, size - at ? size - at : 1);
    metrics_page_read(exact ? exact : page_text, size - at, own[0] ? own : NULL, &page);
    assert(!(page.concurrency < 0) && !(page.requests < 0) && !(page.own < 0) && !(page.latency_count < 0));
    assert(page.has_concurrency || page.concurrency == 0);
    free(exact ? exact : page_text);
    free(own);
    return 0;
}
