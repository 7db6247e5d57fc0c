// A person of this machine, and which groups its group database says he is in, now. What a process holds does not
// count: it keeps its groups when the person has left them.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;

struct machine_person {
    const char *name;
    uint32_t is_in;     // which of the groups that were asked about, a bit each
    const char *groups; // all of his, for people: "users, video"
};

// groups: at most 32. Texts are the arena's. ERROR_FORBIDDEN: the number has no name here. May take as long as the
// machine's directory does.
int machine_person_find(int64_t uid, const char *const *groups, size_t group_count, struct arena *arena,
                        struct machine_person *out_person, struct error *err);
