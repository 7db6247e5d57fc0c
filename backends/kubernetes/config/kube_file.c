#include "backends/kubernetes/config/kube_file.h"

#include "base/buffer.h"
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int kube_file_read(const char *path, struct buffer *out, struct error *err)
{
    char bytes[4096 - 512];
    FILE *file = fopen(path, "re");
    if (!file)
        return error_set(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_INVALID, "%s: %s", path, strerror(errno));
    for (size_t got; !out->overflow && (got = fread(bytes, 1, sizeof(bytes), file)) > 0;)
        buffer_append(out, bytes, got);
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed || out->overflow)
        return error_set(err, ERROR_INVALID, "%s: %s", path, failed ? "cannot be read" : "larger than 1 MiB");
    return 0;
}
