// The user that a pod runs as. Where the server is root: as the user of this machine that its project or the one who
// submitted it is mapped to; else, where a user of this machine submitted it by the socket, as him; else as its
// project's own, or as the one that stands for all others; never as root. Elsewhere as the server's own user.
//
// The map is a file of lines, read again for each pod, so that it can be edited while the server runs:
//
//   project team-a  alice        # pods of project team-a run as alice
//   subject bob@example.org bob  # what bob@example.org submits runs as bob: a subject's line wins over a project's
#pragma once
#include "backends/local/users/uid_range.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct arena;
struct error;

enum {
    LOCAL_GROUPS_MAX = 64
};

struct local_user {
    bool changes; // the server is root: rights are dropped to these
    uid_t id;
    gid_t groups[LOCAL_GROUPS_MAX + 1]; // the first is the user's own; there is room for the pod's
    int group_count;
    bool is_projects; // nobody but the project's pods is this user
    const char *name;
    const char *home; // of a person whom a rule names; NULL: pods need one of their own
};

struct user_rules {
    const char *map_file;        // NULL: nobody is mapped
    const char *others;          // the name of the user of all others, where there is no range
    struct uid_range pod_groups; // each pod gets one as its own, and nobody else is in it; count 0: it gets none
    struct uid_range range;      // a user for each project that is not mapped, by its number from 1 on
};

// Whether the rules can be followed at all: ERROR_INVALID names the file's line, or the user that does not exist or is
// root, or says that others could write to the file.
int users_check(const struct user_rules *rules, struct arena *arena, struct error *err);
// What decides on a pod's user.
struct user_claim {
    const char *project;
    int64_t project_number; // which no other project ever has
    const char *subject;
    const char *machine_user; // who submitted it himself: NAME:NUMBER, as both were then; NULL or "": nobody did
};

// Texts are the arena's. with_devices: the groups that own graphics devices are added (video, render). ERROR_INVALID
// where the machine's user is no longer there, or the name is another's now.
int users_find(const struct user_rules *rules, const struct user_claim *claim, bool with_devices, struct arena *arena,
               struct local_user *out_user, struct error *err);
// The projects that the map has share a user, for people: `team-a, team-b (alice)`; NULL: none.
const char *users_shared(const struct user_rules *rules, struct arena *arena);
