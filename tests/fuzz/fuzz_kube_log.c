// A log of Kubernetes: any bytes. However they are cut on their way, the same lines and the same position come of them,
// and reading from there on gives none of them again.
#include "backends/kubernetes/streams/kube_log_lines.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int64_t read_all(const uint8_t *data, size_t size, int64_t from, size_t piece, struct buffer *out)
{
    struct kube_log_lines lines;
    kube_log_lines_init(&lines, from, out);
    lines.max_bytes = 1 << 20;
    for (size_t at = 0; at < size; at += piece)
        if (!kube_log_lines_feed(&lines, (const char *)data + at, size - at < piece ? size - at : piece))
            break;
    kube_log_lines_finish(&lines, true);
    return lines.position;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buffer whole, parts;
    buffer_init(&whole, 0);
    buffer_init(&parts, 0);
    int64_t position = read_all(data, size, 0, size + 1, &whole);
    int64_t same = read_all(data, size, 0, size ? data[0] % 7 + 1 : 1, &parts);
    assert(position == same && position >= 0 && whole.length == parts.length);
    assert(whole.length == 0 || memcmp(whole.data, parts.data, whole.length) == 0);
    buffer_clear(&parts);
    same = read_all(data, size, position, size + 1, &parts);
    assert(same == position && parts.length == 0);
    buffer_done(&whole);
    buffer_done(&parts);
    return 0;
}
