// Quantities of Kubernetes: any bytes. What is taken is the same in units as in thousandths, rounded away from 0.
#include "backends/kubernetes/objects/kube_quantity.h"
#include "base/arena.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *exact = memory_alloc(size + !size); // of its exact size: a byte too far shows
    int64_t units = 0, milli = 0;
    memcpy(exact, data, size);
    int is_taken = kube_quantity_read(exact, size, KUBE_WHOLE, &units, NULL) == 0;
    assert((kube_quantity_read(exact, size, KUBE_MILLI, &milli, NULL) == 0) == is_taken);
    if (is_taken && milli < INT64_MAX && milli > -INT64_MAX)
        assert(units == milli / 1000 + (milli % 1000 > 0) - (milli % 1000 < 0));
    if (is_taken)
        assert((units < 0) == (milli < 0) && (units == 0) == (milli == 0));
    free(exact);
    return 0;
}
