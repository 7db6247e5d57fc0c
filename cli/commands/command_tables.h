// The tables of commands, a file a family, and the flags that several of them take.
#pragma once
#include "cli/command.h"

// Each ends with words == NULL.
extern const struct command PEOPLE_COMMANDS[], CLUSTER_COMMANDS[], ASSETS_COMMANDS[], WORKLOADS_COMMANDS[],
    OLD_COMMANDS[];
extern const struct flag UUID_FLAGS[], DELETE_FLAGS[], FORM_FLAGS[], NODE_FLAGS[], WHICH_FLAGS[];

// The flag tables of a command, NULL last.
#define TABLES(name, ...) static const struct flag *const name[] = {__VA_ARGS__, NULL}
