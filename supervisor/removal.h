// Removes a folder with all that users have put in it, by a process that may do everything: never by a path of theirs,
// never by a link, and never on another file system. For the supervisor, whose pod is over, and for the server where
// there was none to do it.
#pragma once
#include <sys/types.h>

// The folder `name` in an open folder, which nobody but this process's user can write to. A mount in it stays, with
// what is in it. What cannot be removed stays, too.
void removal_remove(int above_fd, dev_t device, const char *name);
