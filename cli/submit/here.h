// What a workload takes along from where it is submitted: the folder, the variables, a Python environment. The pods
// see the same files only where the cluster is a machine with them: the local backend.
#pragma once
#include "cli/command.h"

// --env-from-shell, --conda, --venv, and the working folder; into a specification that has what other flags say, which
// stays. ERROR_INVALID names the flag that the server's backend cannot serve, or the folder that is missing.
int here_take(struct cli *cli, json_t *spec, struct error *err);
