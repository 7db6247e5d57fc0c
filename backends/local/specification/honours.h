// What a machine can do for a workload's specification, field by field: a table. What it cannot do is either refused
// at the submission, or said by an event when a pod starts; what no row names is honoured.
#pragma once
#include <stddef.h>

struct arena;
struct error;
struct json_t;

// Under which circumstances a row speaks.
enum honour_place {
    HONOUR_ON_MACHINE = 1 << 0,     // the command runs on the machine itself
    HONOUR_IN_IMAGE = 1 << 1,       // a container runtime runs it
    HONOUR_WITHOUT_CPU = 1 << 2,    // nothing bounds its cores
    HONOUR_WITHOUT_MEMORY = 1 << 3, // nothing bounds the memory of all its processes together
    HONOUR_ANYWHERE = HONOUR_ON_MACHINE | HONOUR_IN_IMAGE
};

// ERROR_INVALID names the field that no pod on this machine could ever be given.
int honours_check(const struct json_t *spec, struct error *err);
// What will not be as the specification has it, a sentence each; the arena's.
size_t honours_notes(const struct json_t *spec, unsigned places, struct arena *arena, const char ***out_notes);
