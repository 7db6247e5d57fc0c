// This program itself, and programs that it starts.
#pragma once
#include <sys/types.h>

struct arena;
struct error;

// What it was built for, as releases of command lines are named; "": another machine.
#if defined(__x86_64__)
#define PROGRAM_MACHINE "amd64"
#elif defined(__aarch64__)
#define PROGRAM_MACHINE "arm64"
#else
#define PROGRAM_MACHINE ""
#endif

// Where its file lies, absolute; the arena's. NULL with err set: that cannot be said.
const char *program_path(struct arena *arena, struct error *err);
// Waits for a child, over interruptions: its exit status, 128 and the signal's number where one ended it; -1: there is
// no such child.
int program_wait(pid_t child);
