// The supervisors that run on this machine, whatever became of their pods' folders: by what they were started with.
#pragma once
#include "base/uuid.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct arena;

struct found_supervisor {
    char uuid[UUID_SIZE]; // its pod's
    pid_t pid;
    unsigned long long started;
    bool is_here; // its pods' folder is, or was, the one asked for
};
struct supervisors {
    struct found_supervisor *items; // the arena's
    size_t count, capacity;
};

// Those of this user; `home` is the folder above the pods' folders. Reads /proc once.
void supervisors_find(const char *home, struct arena *arena, struct supervisors *out);
