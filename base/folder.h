// Folders and what is in them.
#pragma once
#include <dirent.h>
#include <stdbool.h>

// Whether a name is "." or "..".
bool folder_is_dots(const char *name);
// Reads an open folder from its beginning; fd stays the caller's, at any place. NULL: it cannot be read, or fd is -1.
DIR *folder_read(int fd);
// Has the names in a folder on the disk: files created, renamed or removed there outlive a crash. 0, or -1 with errno.
int folder_sync(const char *path);
