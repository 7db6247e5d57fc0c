// The socket's place: a folder that root alone can change, a lock that says whose the socket is, the socket. Who may
// come in is not the file's to say: all can connect, and hear why they may not go on.
#pragma once
#include <sys/types.h>

struct arena;
struct error;

struct socket_file {
    const char *path;
    int lock_fd;  // -1: not held
    dev_t device; // of the socket that was made
    ino_t inode;
};

// Whether a socket could stand at the path: ERROR_INVALID where others could put theirs in its place. A folder that is
// missing is fine where its parent exists.
int socket_file_check(const char *path, struct error *err);
// Makes the folder where it is missing, takes the lock, takes away what a killed server has left, and listens.
// Returns the listening socket, or -1: ERROR_INVALID where another server has it.
int socket_file_open(const char *path, struct arena *arena, struct socket_file *out_file, struct error *err);
// Takes the socket away, if it is still the one that was made, and gives the lock back.
void socket_file_close(struct socket_file *file);
