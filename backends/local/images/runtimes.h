// The programs of this machine that run container images: podman, docker, apptainer.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct arena;

enum runtime_kind {
    RUNTIME_PODMAN,
    RUNTIME_DOCKER,
    RUNTIME_APPTAINER,
    RUNTIME_KIND_COUNT
};

struct runtime {
    enum runtime_kind kind;
    const char *name; // "podman"
    const char *path; // NULL: it is not installed
    bool answers;
    const char *says; // its version, or why it does not answer: one line
};

// Looks for each on PATH and asks it; takes seconds where one hangs, less when cancel_fd (-1: none) can
// be read. Texts are the arena's.
void runtimes_look(int cancel_fd, struct arena *arena, struct runtime out_runtimes[RUNTIME_KIND_COUNT]);
// The first that answers; NULL: none does.
const struct runtime *runtimes_choose(const struct runtime runtimes[RUNTIME_KIND_COUNT]);
