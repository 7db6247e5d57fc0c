// Where a container's host paths lie for its runtime. podman and docker look up what they are told to mount with the
// server's rights; so they are told a place of root's alone, on which the very inode lies that the pod's user opened:
//
//   /run/prorata-host-paths    root's, 0700
//     SERVER.UUID              of a pod: a tmpfs, unbindable, so that a host path like "/" takes no other pod's along
//       folder, file           a mount is here until it is cut off from the one that it was made from
//       paths                  a tmpfs, shared: what goes from here goes from all namespaces of mounts
//         1, 2, ...            a path with what is mounted below it: follows the machine, which follows nothing of it
//
// Taken away by umount2() and rmdir() alone, never by what could remove people's files. Errors are errno's.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#define HOST_PLACES "/run/prorata-host-paths"

enum {
    HOST_PLACE_SIZE = 256
};

// The place of a pod's path, numbered from 1. `server`: a name of the server's own on this machine, without a dot.
void host_places_path(const char *server, const char *uuid, size_t number, char out[HOST_PLACE_SIZE]);
// Makes the pod's, without any path. Returns a descriptor of it, or -1.
int host_places_make(const char *server, const char *uuid);
// Puts what fd (O_PATH will do) has open on its place.
bool host_places_put(int pod_fd, int fd, size_t number);
// Takes all of a pod's away; where there is nothing, does nothing.
void host_places_remove(const char *server, const char *uuid);
// The same for the server's pods that do not live.
void host_places_sweep(const char *server, bool (*is_living)(const char *uuid, void *context), void *context);
