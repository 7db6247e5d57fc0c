// Signals of a command in the foreground whose work runs elsewhere: on a thread of its own. Ctrl-C at a terminal asks
// once whether to stop the workload: "y" or a second Ctrl-C stops it; "n" ends this process, and the workload runs on.
// Without a terminal SIGINT and SIGTERM stop it; SIGTERM does so with one, too.
#pragma once
#include "cli/command.h"

struct interrupt;

// Before the submission: signals wait from then on. NULL with err set.
struct interrupt *interrupt_create(struct cli *cli, struct error *err);
// Whom they stop; the texts are borrowed until interrupt_destroy.
void interrupt_begin(struct interrupt *interrupt, const char *workload_uuid, const char *name, const char *project);
// The signal that stopped it; 0: none.
int interrupt_signal(const struct interrupt *interrupt);
void interrupt_destroy(struct interrupt *interrupt); // NULL is fine
