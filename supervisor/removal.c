#include "supervisor/removal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DEPTH_MAX = 64,
    NAME_SIZE = 24
};

// What goes on where one removal stops: folders below DEPTH_MAX are moved up to the top and removed from there.
struct removal {
    int top_fd;
    dev_t device;
    unsigned tried, moved;
};

static int is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

// Never follows a link: a name is looked up in the folder that is open. A mount below stays, with what is in it.
static void remove_below(struct removal *removal, int at_fd, const char *name, int depth)
{
    char spare[NAME_SIZE];
    struct stat about;
    if (depth >= DEPTH_MAX) {
        snprintf(spare, sizeof(spare), ".deep-%u", removal->tried++);
        removal->moved += renameat(at_fd, name, removal->top_fd, spare) == 0;
        return;
    }
    int fd = openat(at_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd < 0 || fstat(fd, &about) < 0 || about.st_dev != removal->device ? NULL : fdopendir(fd);
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (!is_dots(entry->d_name) && unlinkat(fd, entry->d_name, 0) < 0 && (errno == EISDIR || errno == EPERM))
            remove_below(removal, fd, entry->d_name, depth + 1);
    if (folder)
        closedir(folder);
    else if (fd >= 0)
        close(fd);
    (void)unlinkat(at_fd, name, AT_REMOVEDIR);
}

// Again while something deep was moved to its top.
void removal_remove(int above_fd, dev_t device, const char *name)
{
    struct removal removal = {.device = device};
    unsigned before;
    do {
        before = removal.moved;
        removal.top_fd = openat(above_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (removal.top_fd < 0)
            return;
        remove_below(&removal, above_fd, name, 0);
        close(removal.top_fd);
    } while (removal.moved > before);
}
