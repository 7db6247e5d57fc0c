// What `prorata doctor` found, for the files that look: doctor_machine.c and doctor_data.c.
#pragma once
#include "daemon/settings.h"

struct arena;

enum finding_level {
    FINDING_GOOD,
    FINDING_NOTE,   // works, with less than there could be
    FINDING_PROBLEM // a server with these settings would not work
};

struct finding {
    enum finding_level level;
    const char *check; // "gpus", "cgroups", ...: one word, part of what scripts read
    const char *says;
    const char *advice; // how to get more; NULL: nothing to do
};

enum {
    FINDINGS_MAX = 256
};

struct findings {
    struct arena *arena;
    struct finding items[FINDINGS_MAX];
    size_t count;
};

// Adds one; texts are the caller's or the arena's.
void findings_add(struct findings *findings, enum finding_level level, const char *check, const char *says,
                  const char *advice);

// GPUs, bounds, users, container runtimes, MPS, git, limits of this process.
void doctor_look_at_machine(const struct settings *settings, struct findings *findings);
// Of these: what bounds memory, cores and processes of pods, and what they have to themselves.
void doctor_look_at_bounds(const struct settings *settings, struct findings *findings);
// The cluster of --backend kubernetes: whether it answers, what we may do there, its nodes.
void doctor_look_at_kubernetes(const struct settings *settings, struct findings *findings);
// The Unix socket for people of this machine.
void doctor_look_at_socket(const struct settings *settings, struct findings *findings);
// The data folder, its disk, its database; the ports to listen on.
void doctor_look_at_data(const struct settings *settings, struct findings *findings);
