// A backup's file: any bytes are refused in one line, or read to their end with the sums they were written with.
#include "base/error.h"
#include "db/backup/tar.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tar tar;
    struct tar_entry entry;
    struct error err = {0};
    int rc, fd = memfd_create("backup", MFD_CLOEXEC), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    assert(fd >= 0 && nowhere >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, 0, SEEK_SET) == 0);
    tar_init(&tar, fd, "backup");
    while ((rc = tar_next(&tar, &entry, &err)) > 0) {
        assert(strlen(entry.name) <= TAR_NAME_SIZE && entry.size >= 0);
        rc = tar_extract(&tar, &entry, nowhere, &err);
        if (rc < 0)
            break;
    }
    assert(rc == 0 || (err.message[0] != '\0' && strchr(err.message, '\n') == NULL));
    assert((size_t)tar.bytes <= size);
    tar_done(&tar);
    close(fd);
    close(nowhere);
    return 0;
}
